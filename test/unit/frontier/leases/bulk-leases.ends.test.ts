/** Ends of polite visits: many at once by the kernel do what they do one by one. */
import { describe, expect, it } from "vitest";
import { coreOf, verifyFrontier } from "../../../../src/engine/api/verify-frontier.ts";
import {
  createVirtualClock,
  type Frontier,
  type FrontierOptions,
  openFrontier,
} from "../../../../src/index.ts";
import { createRandom, type Random } from "../../../../src/base/random.ts";
import { testSeed } from "../../../support/seed.ts";

const HOSTS = 12;
const ROUNDS = 60;
/** A visit that showed something, if nothing of weight, ends by itself. */
const SHOWN = { outcome: {} };

interface Side {
  readonly frontier: Frontier;
  readonly clock: ReturnType<typeof createVirtualClock>;
  end(leases: ReturnType<Frontier["pollMany"]>): number;
}

async function openSide(options: FrontierOptions, isBulk: boolean): Promise<Side> {
  const clock = createVirtualClock(1_700_000_000_000);
  const frontier = await openFrontier({ ...options, clock, seed: 7, keepOpen: true });
  return {
    frontier,
    clock,
    end: (leases) =>
      isBulk
        ? frontier.done(leases)
        : leases.reduce((sum, lease) => sum + (lease.done(SHOWN).late ? 0 : 1), 0),
  };
}

function viewOf(host: ReturnType<Frontier["host"]>): unknown {
  const { leased, readyAt, blockedUntil, delayMs, limit } = host;
  return { leased, readyAt, blockedUntil, delayMs, limit };
}

/** The same steps on both sides. */
function step({ frontier, clock, end }: Side, random: Random): unknown {
  const hosts = Array.from({ length: HOSTS }, (_, n) => `h${n}.example`);
  const pushed = frontier.pushMany(
    Array.from({ length: random.below(40) }, () => ({
      url: `https://${hosts[random.below(HOSTS)]}/${random.below(1_000)}`,
      priority: random.below(3),
    })),
  );
  const host = frontier.host(hosts[random.below(HOSTS)] as string);
  if (random.below(4) === 0) host.delayMs = random.below(90);
  if (random.below(6) === 0) host.blockUntil(clock.now() + random.below(90));
  if (random.below(6) === 0) host.limit = 1 + random.below(3);
  const leases = frontier.pollMany(random.below(30));
  clock.advance(random.below(25));
  const ended = end(leases.slice(random.below(3)));
  verifyFrontier(frontier);
  return {
    accepted: pushed.accepted,
    urls: leases.map(({ url }) => url),
    ended,
    hosts: hosts.map((name) => viewOf(frontier.host(name))),
    next: frontier.peek(HOSTS).map(({ url }) => url),
  };
}

const POLITE = { politeness: { delayMs: 40, perHost: 2 } };

describe("many ends of polite visits", () => {
  it.each<[string, FrontierOptions]>([
    ["one rule", { defaults: POLITE }],
    ["last in, first out", { defaults: { ...POLITE, order: "lifo" } }],
    [
      "rules with and without politeness on the same hosts",
      {
        rules: [
          { id: "polite", match: { pattern: "/[0-4]" }, ...POLITE },
          { id: "other", match: { pattern: "/[5-9]" } },
        ],
      },
    ],
  ])("are as many single ones: %s", async (name, options) => {
    const seed = testSeed(`many ends, ${name}`);
    const sides = [await openSide(options, true), await openSide(options, false)];
    const randoms = sides.map(() => createRandom(seed));
    for (let round = 0; round < ROUNDS; round++) {
      const [bulk, single] = sides.map((side, at) => step(side, randoms[at] as Random));
      expect(bulk, `seed ${seed}, round ${round}`).toEqual(single);
    }
    for (const { frontier } of sides) await frontier.close();
  });

  it("are ended by the kernel", async () => {
    const { frontier, clock } = await openSide({ defaults: POLITE }, true);
    frontier.pushMany(Array.from({ length: 64 }, (_, n) => `https://h${n}.example/`));
    const leases = frontier.pollMany(64);
    const { kernel } = coreOf(frontier).store;
    const { exports } = kernel;
    const called = new Set<string>();
    const noted = new Proxy(exports, {
      get(target, name: keyof typeof exports) {
        called.add(name);
        return target[name];
      },
    });
    Object.assign(kernel, { exports: noted });
    clock.advance(1);
    expect(frontier.done(leases)).toBe(64);
    Object.assign(kernel, { exports });
    expect(called).toEqual(new Set(["touchRecords", "endRecords"]));
    await frontier.close();
  });
});
