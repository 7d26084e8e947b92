/** Every option of a frontier in one process is carried by Redis, or refused by its name: none is ignored. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { FrontierOptions, Politeness, Rule } from "../../src/index.ts";
import { openRedisFrontier } from "../../src/integrations/redis/open-redis-frontier.ts";
import type { RedisFrontierOptions } from "../../src/integrations/redis/redis-options.ts";
import { createRedis } from "../support/conformance/redis.ts";
import type { Skipper } from "../support/skip.ts";

const { implementation, close } = createRedis();
afterAll(close);
let context: Skipper;
beforeEach((given) => {
  context = given;
});

/** What becomes of an option: a value that is carried, or one that is refused. */
type Fate = { readonly carried: unknown } | { readonly refused: unknown };

const OPTIONS: Record<Exclude<keyof FrontierOptions, "clock" | "name" | "seed">, Fate> = {
  directory: { refused: "/nowhere" },
  from: { refused: "/nowhere" },
  readOnly: { refused: true },
  rules: { carried: [{ id: "a" }] },
  defaults: { carried: { priority: 2 } },
  seen: { carried: { mode: "exact" } },
  capacity: { carried: 5 },
  maxFound: { carried: 5 },
  memoryBytes: { refused: 1_000_000 },
  snapshots: { refused: { keep: 2 } },
  records: { refused: "full" },
  durability: { refused: "sync" },
  leaseMs: { carried: 5 },
  maxLeases: { carried: 5 },
  maxDeliveries: { carried: 5 },
  maxUrlBytes: { carried: 500 },
  keepOpen: { carried: true },
  idleTimeoutMs: { carried: 5 },
  onIdle: { carried: () => false },
  accept: { refused: () => true },
  breaker: { refused: { failures: 3, withinMs: 10, pauseMs: 10 } },
  onProgress: { refused: () => undefined },
};

const RULE: Record<Exclude<keyof Rule, "id">, Fate> = {
  key: { carried: { sortQuery: false } },
  epoch: { carried: { calendar: "day" } },
  order: { carried: "lifo" },
  startLast: { carried: true },
  priority: { carried: 1 },
  traversal: { carried: "breadth-first" },
  depthPriority: { carried: 1 },
  maxDepth: { carried: 1 },
  follow: { carried: false },
  maxAttempts: { carried: 1 },
  backoff: { carried: { baseMs: 1 } },
  retryPriority: { carried: -2 },
  redirectPriority: { carried: 1 },
  freshHosts: { carried: "share" },
  politeness: { carried: { delayMs: 1 } },
  active: { carried: true },
  match: { carried: { hosts: ["a.org"] } },
  share: { carried: { weight: 1 } },
  seeds: { carried: ["http://a.org/"] },
  every: { carried: "1h" },
};

const POLITENESS: Record<keyof Politeness, Fate> = {
  delayMs: { carried: 1 },
  perHost: { carried: 2 },
  by: { refused: () => "one" },
  groups: { refused: [{ by: "domain", limit: 1 }] },
  adaptive: { carried: { factor: 2, minMs: 1, maxMs: 9 } },
  hostBackoff: { carried: { after: 1, baseMs: 1, maxMs: 2, giveUpAfter: 3 } },
  budget: { carried: { urls: 3 } },
};

async function check(name: string, fate: Fate, options: FrontierOptions): Promise<void> {
  const opening = implementation.open(context, options);
  if ("carried" in fate) {
    expect((await opening).frontier.name, name).toBeTypeOf("string");
    return;
  }
  const refusal = (await opening.catch((error: unknown) => error)) as Error & { code?: string };
  expect(refusal, `${name}: taken`).toBeInstanceOf(Error);
  expect(refusal.code, name).toBe("UNSUPPORTED");
  expect(refusal.message, name).toContain(name);
}

describe("a frontier on Redis", () => {
  it("carries or refuses every option", async () => {
    for (const [name, fate] of Object.entries(OPTIONS))
      await check(name, fate, { [name]: "carried" in fate ? fate.carried : fate.refused });
  });

  it("refuses a seed, since jitter is not shared", async () => {
    const options = { redis: "/nowhere", seed: 1 } as RedisFrontierOptions;
    await expect(openRedisFrontier(options)).rejects.toMatchObject({
      code: "UNSUPPORTED",
      message: expect.stringContaining("options.seed"),
    });
  });

  it("carries or refuses every field of a rule", async () => {
    for (const [name, fate] of Object.entries(RULE)) {
      const value = "carried" in fate ? fate.carried : fate.refused;
      const beside = name === "every" ? { seeds: ["http://a.org/"] } : {};
      await check(name, fate, { rules: [{ id: "r", ...beside, [name]: value }] });
    }
  });

  it("carries or refuses every field of politeness", async () => {
    for (const [name, fate] of Object.entries(POLITENESS)) {
      const value = "carried" in fate ? fate.carried : fate.refused;
      await check(name, fate, { defaults: { politeness: { [name]: value } } });
    }
  });

  it("carries the time of a poll's leases", async () => {
    const { frontier } = await implementation.open(context, { leaseMs: 60_000 });
    await frontier.pushMany(["http://a.org/1", "http://a.org/2"]);
    const [short] = await frontier.pollMany(1, { leaseMs: 1_000 });
    const [long] = await frontier.pollMany(1);
    expect((long?.deadlineMs ?? 0) - (short?.deadlineMs ?? 0)).toBeGreaterThan(50_000);
    await expect(frontier.pollMany(1, { leaseMs: 0 })).rejects.toThrow("leaseMs");
  });

  it("seeds a rule once, and again after its time: finished pages start anew, the others stay", async () => {
    const rules: Rule[] = [{ id: "r", seeds: ["http://a.org/[1-3]"], every: 1_000 }];
    const { frontier, pass, again } = await implementation.open(context, { rules });
    const first = await frontier.pollMany(9);
    expect(first.map(({ url }) => url)).toEqual([1, 2, 3].map((page) => `http://a.org/${page}`));
    await first[0]?.done();
    await first[1]?.fail("broken");
    await pass(999);
    expect(await frontier.pollMany(9)).toEqual([]);
    await pass(1);
    const second = (await frontier.pollMany(9)).map(({ url }) => url);
    expect(second).toEqual(["http://a.org/1", "http://a.org/2"]);
    const { frontier: later } = await again({ rules });
    expect((await later.report()).accepted).toBe(5);
  });
});
