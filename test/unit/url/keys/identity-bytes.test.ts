import { describe, expect, it } from "vitest";
import { createRandom, type Random } from "../../../../src/base/random.ts";
import {
  identityBytes,
  isExempt,
  isKeyOnly,
  keyOverride,
} from "../../../../src/url/keys/identity-bytes.ts";
import {
  type IdentityRequest,
  type KeyPolicy,
  normalizePolicy,
} from "../../../../src/url/keys/key-policy.ts";
import { testSeed } from "../../../support/seed.ts";

type Parts = Omit<IdentityRequest, "url">;

const KEY = "http://x/";

/** Identity bytes as text, with FF shown as a bar. */
function identity(request: Parts, policy: KeyPolicy = {}, key: string = KEY): string {
  const bytes = identityBytes(key, request, normalizePolicy(policy));
  return Buffer.from(bytes).toString("latin1").replaceAll("\xff", "|");
}

describe("identityBytes", () => {
  it("is the key alone for GET without body and chosen headers", () => {
    for (const request of [{}, { method: "GET" }, { method: "get" }, { body: "" }])
      expect(identity(request)).toBe(KEY);
    expect(identity({ body: new Uint8Array(0), headers: { accept: "a" } })).toBe(KEY);
    expect(identity({}, {}, "k\u00e9")).toBe("k\u00c3\u00a9");
  });

  it("holds method, body and chosen headers otherwise", () => {
    expect(identity({ method: "post" })).toBe(`${KEY}|POST|0|`);
    expect(identity({ body: "\u00e9" })).toBe(`${KEY}|GET|2|\u00c3\u00a9`);
    expect(identity({ method: "POST", body: Uint8Array.of(0x61, 0xff) })).toBe(`${KEY}|POST|2|a|`);
    const headers = { "X-B": "2", ACCEPT: "1", other: "3" };
    expect(identity({ headers }, { headers: ["x-b", "Accept"] })).toBe(
      `${KEY}|GET|0||accept:1|x-b:2`,
    );
    expect(identity({ headers }, { headers: ["none"] })).toBe(KEY);
  });

  it("does not depend on the order and the case of header names", () => {
    const policy: KeyPolicy = { headers: ["a", "b"] };
    const one = identity({ headers: { A: "1", b: "2", a: "0" } }, policy);
    expect(identity({ headers: { a: "0", B: "2", A: "1" } }, policy)).toBe(one);
    expect(one).toBe(`${KEY}|GET|0||a:0|a:1|b:2`);
  });

  it("writes GET and leaves the body out where methods are ignored", () => {
    const request: Parts = { method: "POST", body: "b", headers: { a: "1" } };
    for (const policy of [{ methods: "ignore" }, { profile: "url" }] as KeyPolicy[]) {
      expect(identity(request, policy)).toBe(KEY);
      expect(identity(request, { ...policy, headers: ["a"] })).toBe(`${KEY}|GET|0||a:1`);
    }
  });

  it("is different for different requests (I1)", () => {
    const random = createRandom(testSeed("identity injectivity"));
    const policy = normalizePolicy({ headers: ["a", "b"] });
    const seen = new Map<string, string>();
    for (let i = 0; i < 20_000; i++) {
      const { key, request, meaning } = anyRequest(random);
      const bytes = Buffer.from(identityBytes(key, request, policy)).toString("latin1");
      const before = seen.get(bytes);
      if (before !== undefined && before !== meaning) expect.fail(`${before} and ${meaning}`);
      seen.set(bytes, meaning);
      if (isKeyOnly(request, policy) !== (bytes === Buffer.from(key).toString("latin1")))
        expect.fail(`isKeyOnly: ${meaning}`);
    }
    expect(seen.size).toBeGreaterThan(2_000);
  });
});

/** A request out of few pieces that look like each other's separators, and what it means. */
function anyRequest(random: Random): { key: string; request: Parts; meaning: string } {
  const pieces = ["", "a", "0", "1", "\xff", "GET", ":", "a:0", "\xffPOST\xff0\xff"];
  const pick = (): string => pieces[random.below(pieces.length)] as string;
  const key = `k${pick()}${pick()}`;
  const method = ["GET", "POST", "A", "0"][random.below(4)] as string;
  const body = Buffer.from(pick() + pick(), "latin1");
  const headers: Record<string, string> = {};
  if (random.below(2) === 0) headers.a = pick();
  if (random.below(2) === 0) headers.b = pick();
  const meaning = JSON.stringify([key, method, body.toString("latin1"), headers]);
  return { key, request: { method, body, headers }, meaning };
}

describe("keyOverride", () => {
  const policy = normalizePolicy({ keyOf: ({ url }) => url.slice(0, 8) });

  it("takes the request's own key first, then what keyOf says", () => {
    expect(keyOverride({ url: "http://x/", key: "own\ud800" }, policy)).toBe("own\ufffd");
    expect(keyOverride({ url: "http://x/" }, policy)).toBe("http://x");
    expect(keyOverride({ url: "http://x/" }, normalizePolicy())).toBeUndefined();
  });

  it("answers why where keyOf throws or gives no text", () => {
    const thrown = new Error("no");
    const faultOf = (keyOf: () => string): unknown =>
      keyOverride({ url: "http://x/" }, normalizePolicy({ keyOf }));
    expect(
      faultOf(() => {
        throw thrown;
      }),
    ).toEqual({ cause: thrown });
    for (const answer of [1, undefined]) {
      const cause = { code: "ARGUMENT_INVALID", details: { value: answer } };
      expect(faultOf(() => answer as never)).toMatchObject({ cause });
    }
  });
});

describe("isExempt", () => {
  it("knows the exempt methods in any case", () => {
    const policy = normalizePolicy({ exemptMethods: ["post"] });
    expect(["POST", "Post", "GET", undefined].map((method) => isExempt(method, policy))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(isExempt(undefined, normalizePolicy({ exemptMethods: ["GET"] }))).toBe(true);
  });
});
