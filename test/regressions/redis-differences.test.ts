/** Where the frontier on Redis once differed from the engine, one test for each difference. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { FrontierOptions } from "../../src/index.ts";
import { createRedis } from "../support/conformance/redis.ts";
import type { Rig } from "../support/conformance/implementations.ts";
import type { Skipper } from "../support/skip.ts";

const { implementation, close } = createRedis();
afterAll(close);
let context: Skipper;
beforeEach((given) => {
  context = given;
});

function open(options: FrontierOptions = {}): Promise<Rig> {
  return implementation.open(context, options);
}

const POLITE = { delayMs: 10 };

describe("a frontier on Redis", () => {
  it("keeps start requests last across hosts of one rule without politeness, and behind the turn of hosts with it", async () => {
    const plain = await open({ defaults: { startLast: true } });
    await plain.frontier.push({ url: "http://a.org/1", start: true });
    await plain.frontier.push({ url: "http://a.org/2", hostKey: "other" });
    await plain.frontier.push({ url: "http://b.org/3" });
    const urls = (await plain.frontier.pollMany(3)).map(({ url }) => url);
    expect(urls).toEqual(["http://a.org/2", "http://b.org/3", "http://a.org/1"]);
    const polite = await open({ defaults: { startLast: true, politeness: POLITE } });
    await polite.frontier.push({ url: "http://a.org/1", start: true, hostKey: "b.org" });
    await polite.frontier.push("http://c.org/2");
    expect((await polite.frontier.poll())?.url).toBe("http://a.org/1");
  });

  it("keeps the turn of a host that had no work for a while", async () => {
    const { frontier, pass } = await open({ defaults: { politeness: POLITE } });
    await frontier.push("http://a.org/1");
    await (await frontier.poll())?.done();
    await frontier.push("http://b.org/1");
    await (await frontier.poll())?.done();
    await pass(20);
    await frontier.report();
    await frontier.pushMany(["http://b.org/2", "http://a.org/2"]);
    const urls = (await frontier.pollMany(2)).map(({ url }) => url);
    expect(urls).toEqual(["http://a.org/2", "http://b.org/2"]);
  });

  it("keeps running clocks and holds over a clear", async () => {
    const { frontier, pass } = await open({ defaults: { politeness: POLITE } });
    await frontier.pushMany(["http://a.org/1", "http://b.org/1"]);
    await frontier.host("b.org").hold();
    await frontier.poll();
    await frontier.clear();
    await frontier.pushMany(["http://a.org/2", "http://b.org/2"]);
    expect(await frontier.pollMany(2)).toEqual([]);
    await pass(10);
    expect((await frontier.pollMany(2)).map(({ url }) => url)).toEqual(["http://a.org/2"]);
  });

  it("takes a named epoch along with a redirect", async () => {
    const { frontier } = await open();
    await frontier.push({ url: "http://a.org/1", epoch: "v1" });
    await (await frontier.poll())?.redirect("http://a.org/2");
    expect((await frontier.push({ url: "http://a.org/2", epoch: "v1" })).status).toBe("duplicate");
    expect((await frontier.push("http://a.org/2")).status).toBe("accepted");
  });

  it("counts records that no rule takes under none", async () => {
    const { frontier } = await open({ rules: [{ id: "a", match: { hosts: ["a.org"] } }] });
    await frontier.push("http://a.org/1");
    await frontier.setRules([{ id: "b", match: { hosts: ["b.org"] } }]);
    const { rules } = await frontier.report();
    expect(rules).toMatchObject({ "": { failed: 1 } });
    expect(rules.a).toBeUndefined();
  });

  it("hands out under the next rule what came back after its rule had gone", async () => {
    const { frontier, pass } = await open({ rules: [{ id: "a" }], leaseMs: 50 });
    await frontier.pushMany([{ url: "http://a.org/1", priority: 3 }, "http://a.org/2"]);
    const leases = await frontier.pollMany(2);
    await frontier.setRules([{ id: "b", match: { pattern: "/1" } }]);
    await pass(60);
    for (const lease of leases) expect((await lease.done()).late).toBe(true);
    const again: string[][] = [];
    for (let round = 0; round < 3; round++)
      for (const { url, rule } of await frontier.pollMany(2)) again.push([url, rule]);
    expect(again).toEqual([["http://a.org/1", "b"]]);
    const { failed, leased, pending } = await frontier.report();
    expect({ failed, leased, pending }).toEqual({ failed: 1, leased: 1, pending: 0 });
  });

  it("counts leases of a rule without politeness for a rule with it", async () => {
    const { frontier } = await open({
      rules: [
        { id: "free", match: { pattern: "/free" } },
        { id: "polite", politeness: { perHost: 1 } },
      ],
    });
    await frontier.pushMany(["http://a.org/free", "http://a.org/2"]);
    const [free] = await frontier.pollMany(1);
    expect(free?.rule).toBe("free");
    expect(await frontier.pollMany(1)).toEqual([]);
    await free?.done();
    expect((await frontier.poll())?.url).toBe("http://a.org/2");
  });
});
