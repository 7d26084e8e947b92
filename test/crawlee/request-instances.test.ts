import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { requestMaker } from "../../src/integrations/crawlee/request-instances.ts";
import type { RequestClass as OurRequestClass } from "../../src/integrations/crawlee/crawlee-packages.ts";
import { loadCrawlee, type RequestClass } from "./crawlee-module.ts";

let Request: RequestClass & OurRequestClass;
beforeAll(async () => {
  Request = (await loadCrawlee()).Request as never;
});

/** The class, with something done to each instance that its constructor makes. */
function after(change: (made: object) => void): OurRequestClass {
  return new Proxy(Request, {
    construct(target, args, newTarget) {
      const made = Reflect.construct(target, args, newTarget) as object;
      change(made);
      return made;
    },
  });
}

/** The class, and how often it was constructed. */
function counting(): { Counted: OurRequestClass; count: () => number } {
  let count = 0;
  const Counted = after(() => {
    count += 1;
  });
  return { Counted, count: () => count };
}

const plain = { id: "id", url: "http://a.test/", uniqueKey: "http://a.test/" };

describe("instances of Crawlee's Request", () => {
  it("are assembled once a trial has shown no difference, and behave as constructed ones", () => {
    const { Counted, count } = counting();
    const make = requestMaker(Counted);
    const tried = count();
    const stored = {
      ...plain,
      ...{ method: "POST", payload: "p", retryCount: 3, errorMessages: ["e"], headers: { a: "b" } },
      userData: { label: "LIST", __crawlee: { crawlDepth: 2, skipNavigation: true } },
    };
    const made = make(structuredClone(stored)) as InstanceType<RequestClass>;
    expect(count(), "made without the constructor").toBe(tried);
    expect(made).toBeInstanceOf(Request);
    const { id, ...options } = structuredClone(stored);
    const constructed = Object.assign(new Counted(options as never), { id });
    expect(isDeepStrictEqual(made, constructed)).toBe(true);
    expect(JSON.stringify(made)).toBe(JSON.stringify(constructed));
    for (const request of [made, constructed] as Array<InstanceType<RequestClass>>) {
      request.pushErrorMessage("later");
      Object.assign(request, { label: "DETAIL", sessionRotationCount: 4 });
      request.userData = { fresh: 1 };
    }
    expect(JSON.stringify(made)).toBe(JSON.stringify(constructed));
    expect(JSON.stringify(made)).toContain('"sessionRotationCount":4');
  });

  it("share nothing with each other", () => {
    const make = requestMaker(Request);
    const [one, other] = [make({ ...plain }), make({ ...plain })];
    one.errorMessages?.push("x");
    Object.assign(one.userData as object, { own: 1 });
    expect(other.errorMessages).toEqual([]);
    expect(other.userData).toEqual({});
  });

  it("are constructed where the class does anything that assembly does not", () => {
    const Other = after((made) => Object.assign(made, { extra: 1 }));
    const made = requestMaker(Other)({ ...plain });
    expect(made).toHaveProperty("extra", 1);
  });

  it("are constructed for fields that assembly does not know", () => {
    const { Counted, count } = counting();
    const make = requestMaker(Counted);
    const tried = count();
    make({ ...plain, maxRetries: 2 } as never);
    expect(count()).toBe(tried + 1);
  });
});
