/** AsyncFrontier: the surface of Frontier with promises, as `openFrontierThread` gives it. */
import { afterEach, describe, expect, it } from "vitest";
import {
  type AsyncFrontier,
  type AsyncHost,
  type AsyncLease,
  type Frontier,
  type FrontierOptions,
  type HostView,
  type Lease,
  openFrontier,
  openFrontierThread,
  type RecordView,
} from "../../src/index.ts";

const opened: Array<Frontier | AsyncFrontier> = [];
afterEach(async () => {
  for (const frontier of opened.splice(0)) await frontier.close();
});

async function open(options?: FrontierOptions): Promise<AsyncFrontier> {
  const frontier = await openFrontierThread(options);
  opened.push(frontier);
  return frontier;
}

/** The compiler refuses this file where a member of the one surface is missing in the other. */
const nothing: [
  Exclude<keyof Frontier, keyof AsyncFrontier>,
  Exclude<keyof AsyncFrontier, keyof Frontier | "setState">,
  Exclude<keyof Lease, keyof AsyncLease | typeof Symbol.dispose>,
  Exclude<keyof HostView, keyof AsyncHost | keyof Awaited<ReturnType<AsyncHost["view"]>>>,
] = [] as never;

/** Names of an object's methods and its classes', symbols too. */
function membersOf(object: object): PropertyKey[] {
  const names = new Set<PropertyKey>();
  for (let each = object; each !== Object.prototype; each = Object.getPrototypeOf(each)) {
    for (const name of Reflect.ownKeys(each)) names.add(name);
  }
  return [...names].filter((name) => name !== "constructor");
}

const URLS = Array.from({ length: 700 }, (_, at) => `http://a.test/${at}`);

async function urlsOf(records: AsyncIterable<RecordView>, most = 1e9): Promise<string[]> {
  const urls: string[] = [];
  if (most === 0) return urls;
  for await (const { url } of records) {
    urls.push(url as string);
    if (urls.length === most) break;
  }
  return urls;
}

describe("an AsyncFrontier", () => {
  it("has each member of Frontier, its leases each of Lease, its hosts each of HostView", async () => {
    expect(nothing).toEqual([]);
    const here = await openFrontier();
    opened.push(here);
    const there = await open();
    const internal = ["abandon", "visit", "visited"];
    const missing = membersOf(here).filter((name) => !(name in there));
    expect(missing.filter((name) => !internal.includes(name as string))).toEqual([]);
    for (const frontier of [here, there]) await frontier.push("http://a.test/");
    const lease = (await there.poll()) as AsyncLease;
    const methods = ["done", "retry", "fail", "release", "redirect", "extend", Symbol.asyncDispose];
    expect(methods.filter((name) => !(name in lease))).toEqual([]);
    const { blockUntil, hold, unhold, ...facts } = here.host("a.test");
    const host = there.host("a.test");
    expect(Object.keys(host).sort()).toEqual(["blockUntil", "hold", "set", "unhold", "view"]);
    expect([blockUntil, hold, unhold].map((each) => typeof each)).not.toContain("undefined");
    expect(Object.keys(await host.view()).sort()).toEqual(Object.keys(facts).sort());
  });

  it("changes a host's settings by `set`, and blocks and holds it", async () => {
    const frontier = await open({ defaults: { politeness: { delayMs: 10 } } });
    const host = frontier.host("a.test");
    await host.set({ delayMs: 5_000, limit: 3, address: "192.0.2.7" });
    await host.blockUntil(new Date("2100-01-01"));
    await host.hold();
    expect(await host.view()).toMatchObject({
      ...{ key: "a.test", delayMs: 5_000, limit: 3, address: "192.0.2.7", held: true },
      readyAt: Date.parse("2100-01-01"),
    });
    await host.unhold();
    expect((await host.view()).held).toBe(false);
  });

  it("iterates over more records than one message holds, in the order of a frontier here", async () => {
    const here = await openFrontier();
    opened.push(here);
    const there = await open();
    here.pushMany(URLS);
    await there.pushMany(URLS);
    const expected = [...here.records()].map(({ url }) => url);
    expect(await urlsOf(there.records())).toEqual(expected);
    expect(await urlsOf(there.records(), 300)).toEqual(expected.slice(0, 300));
    const twice = there.records({ state: "pending" });
    expect(await urlsOf(twice, 1)).toEqual(await urlsOf(twice, 1));
  });

  it("ends an iteration amid a close or a clear, and refuses one that begins after close", async () => {
    const frontier = await open();
    await frontier.pushMany(URLS);
    const records = frontier.records()[Symbol.asyncIterator]();
    await records.next();
    const others = frontier.records()[Symbol.asyncIterator]();
    for (let count = 0; count < 256; count++) await others.next();
    await frontier.clear();
    expect((await others.next()).done).toBe(true);
    await frontier.close();
    let count = 1;
    while ((await records.next()).done !== true) count++;
    expect(count).toBe(256); // what had come in one message
    await expect(urlsOf(frontier.records())).rejects.toMatchObject({ code: "FRONTIER_CLOSED" });
    const odd = (await open()).records({ odd: 1 } as never);
    await expect(urlsOf(odd)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  });

  it("iterates over epochs", async () => {
    const frontier = await open();
    await frontier.pushMany(["a", "b", "c"].map((epoch) => ({ url: "http://a.test/", epoch })));
    const names: string[] = [];
    for await (const { name, pending } of frontier.epochs()) names.push(`${name} ${pending}`);
    expect(names.sort()).toEqual(["a 1", "b 1", "c 1"]);
  });
});
