/**
 * Calls of very many on Redis and on a thread of its own, against one process: the same answers, and each lease is what its number says.
 * On Redis with several partitions only the order between them may be another, so that polls take all there is.
 *
 *   EDGES_BATCH=20000   the largest batch; more with STRESS_SECONDS
 */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import {
  type AsyncFrontier,
  type AsyncLease,
  type FrontierOptions,
  openFrontier,
  openFrontierThread,
  type PollOptions,
  type RequestLike,
  type RulePolicy,
} from "../../src/index.ts";
import { openRedisFrontier } from "../../src/redis.ts";
import {
  checkLease,
  requestOf,
  START_MS,
  urlOf,
  type Web,
  webOf,
} from "../support/numbered-requests.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { stressRounds, stressSeconds, testSeed } from "../support/seed.ts";
import { skipUnless } from "../support/skip.ts";

const BATCH_MAX = Number(process.env.EDGES_BATCH ?? (stressSeconds() > 0 ? 20_000 : 1_500));
const STEPS = 16;
const LEASE_MS = 500;

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());

/** What a program may do beside pushes, polls and ends. */
interface Ways {
  readonly isOrdered: boolean;
  /** undefined: time stands still. */
  readonly pass: ((ms: number) => void) | undefined;
}

class Pair {
  readonly #sides: readonly AsyncFrontier[];
  readonly #random: Random;
  readonly #web: Web;
  readonly #ways: Ways;
  readonly #out: [AsyncLease[], AsyncLease[]] = [[], []];
  /** How many priorities there are. */
  readonly #priorities: number;
  readonly log: string[] = [];
  #next = 0;

  constructor(sides: readonly AsyncFrontier[], random: Random, web: Web, ways: Ways) {
    this.#sides = sides;
    this.#random = random;
    this.#web = web;
    this.#ways = ways;
    this.#priorities = [1, 3, 700][random.below(3)] as number;
  }

  async #same<T>(
    what: string,
    run: (side: AsyncFrontier, out: AsyncLease[]) => T,
  ): Promise<Awaited<T>> {
    this.log.push(what);
    const [one, other] = [
      await run(this.#sides[0] as AsyncFrontier, this.#out[0]),
      await run(this.#sides[1] as AsyncFrontier, this.#out[1]),
    ];
    if (Array.isArray(one) && Array.isArray(other)) {
      expect(other.length, what).toBe(one.length);
      const at = one.findIndex((each, index) => each !== other[index]);
      if (at >= 0) expect(other[at], `${what}: at ${at} of ${one.length}`).toEqual(one[at]);
    } else expect(other, what).toEqual(one);
    return one;
  }

  /** 0 … BATCH_MAX, as likely small as large. */
  #size(): number {
    const size = Math.floor(2 ** ((this.#random.below(10_001) / 10_000) * Math.log2(BATCH_MAX)));
    return [0, 1, 96, 97, 127, 128, 255, 256, 257, 1_023, 1_024][this.#random.below(40)] ?? size;
  }

  #requestOf(n: number): RequestLike {
    const request = requestOf(this.#web, n);
    if (typeof request === "string") {
      if (n % 2 === 0 || this.#priorities === 1) return request;
      return { url: request, priority: n % this.#priorities };
    }
    const { volatile: _, notBefore, ...given } = request;
    const isTimed = this.#ways.pass !== undefined && notBefore !== undefined;
    return isTimed ? { ...given, notBefore } : given;
  }

  async step(): Promise<void> {
    const kind = this.#random.below(12);
    if (kind < 3) await this.#push();
    else if (kind < 7) await this.#poll();
    else if (kind < 9) await this.#done();
    else if (kind < 11) await this.#end();
    else await this.#pass(1 + this.#random.below(900));
    await this.#counts();
  }

  async #counts(): Promise<void> {
    await this.#same("counts", async (side) => {
      const { pushed, accepted, deferred, duplicate, pending, waiting, ...more } =
        await side.report();
      const { leased, done, failed, forgotten, removed, seen, lateResults, retried } = more;
      const counts = { pushed, accepted, deferred, duplicate, pending, waiting, leased };
      const all = { ...counts, done, failed, forgotten, removed, seen, retried };
      return { ...all, late: this.#ways.pass === undefined ? 0 : lateResults };
    });
  }

  async #push(): Promise<void> {
    const count = this.#size();
    const isAgain = this.#random.below(4) === 0;
    const from = isAgain ? this.#random.below(this.#next + 1) : this.#next;
    const list = Array.from({ length: count }, (_, at) => this.#requestOf(from + at));
    this.#next = Math.max(this.#next, from + count);
    await this.#same(`push ${count} from ${from}`, async (side) => {
      const result = await side.pushMany(list);
      return list.map((_, at) => `${result.verdict(at).status} ${result.verdict(at).reason}`);
    });
  }

  async #poll(): Promise<void> {
    const { isOrdered } = this.#ways;
    const options: PollOptions = {};
    const kind = this.#random.below(4);
    const leaseMs = 1 + this.#random.below(2 * LEASE_MS);
    if (kind === 0) options.leaseMs = this.#ways.pass === undefined ? 1e9 : leaseMs;
    if (kind === 1) options.host = new URL(urlOf(this.#web, this.#random.below(50))).host;
    const max = isOrdered ? this.#size() : 1_000_000;
    await this.#same(`poll ${max} ${JSON.stringify(options)}`, async (side, out) => {
      const list = await side.pollMany(max, kind < 2 ? options : undefined);
      for (const lease of list) checkLease(this.#web, lease);
      if (!isOrdered) list.sort((a, b) => (a.url < b.url ? -1 : 1));
      for (const lease of list) out.push(lease);
      return list.map(({ url, priority, depth, attempt, deliveries, rule }) =>
        [url, priority, depth, attempt, deliveries, rule].join(" "),
      );
    });
  }

  async #done(): Promise<void> {
    const count = Math.min(this.#size(), this.#out[0].length);
    const from = this.#random.below(this.#out[0].length - count + 1);
    await this.#same(`done ${count}`, (side, out) => side.done(out.splice(from, count)));
  }

  async #end(): Promise<void> {
    const kind = this.#random.below(5);
    const count = Math.min(this.#size(), this.#out[0].length);
    const links = Array.from({ length: this.#size() }, (_, at) => this.#requestOf(this.#next + at));
    if (kind === 4) this.#next += links.length;
    await this.#same(`end ${kind} of ${count}, ${links.length}`, async (_, out) => {
      if (kind === 4) {
        const { accepted = 0, late } = (await out.pop()?.done({ found: links })) ?? {};
        return [accepted, late];
      }
      return await Promise.all(
        out.splice(0, count).map(async (lease) => {
          if (kind === 0) return await lease.release();
          if (kind === 1) return await lease.retry({ delayMs: 0 });
          if (kind === 2) return await lease.fail("x");
          return (await lease.done({ outcome: { status: 200, bytes: 3 } })).late;
        }),
      );
    });
  }

  async #pass(ms: number): Promise<void> {
    if (this.#ways.pass === undefined) return;
    this.#ways.pass(ms);
    await this.#same(`pass ${ms}`, async (side) => (await side.report()).expired);
  }

  /** Hands out and finishes all that is left. */
  async drain(): Promise<void> {
    for (let round = 0; round < 3; round++) {
      await this.#pass(1e7);
      await this.#same("drain", async (side, out) => {
        for (let list = await side.pollMany(1e6); list.length > 0; list = await side.pollMany(1e6))
          for (const lease of list) out.push(lease);
        for (const lease of out) checkLease(this.#web, lease);
        return out.map(({ url }) => url).sort();
      });
      await this.#same("finish", (side, out) => side.done(out.splice(0)));
    }
    await this.#counts();
  }
}

const POLICIES: readonly RulePolicy[] = [
  { order: "fifo" },
  { order: "lifo" },
  { order: "fifo", depthPriority: 1, startLast: true },
  { order: "fifo", politeness: { delayMs: 0, perHost: 100_000 } },
  { order: "lifo", politeness: { delayMs: 2 } },
  { order: "fifo", politeness: { delayMs: 0, perHost: 3, budget: { urls: 400 } } },
];

function optionsOf(random: Random): FrontierOptions {
  const defaults = POLICIES[random.below(POLICIES.length)] as RulePolicy;
  const rules = [3, 7].map((digit) => ({ id: `r${digit}`, match: { pattern: `${digit}$` } }));
  return {
    defaults: { ...defaults, maxAttempts: 3, retryPriority: 0 },
    ...(random.below(3) === 0 ? { rules: [...rules, { id: "others" }] } : {}),
  };
}

async function run(
  seed: number,
  ways: Ways,
  open: (options: FrontierOptions, random: Random) => Promise<readonly AsyncFrontier[]>,
): Promise<void> {
  const random = createRandom(seed);
  const web = { ...webOf(random), filling: "" };
  const options = optionsOf(random);
  const sides = await open(options, random);
  const pair = new Pair(sides, random, web, ways);
  try {
    for (let step = 0; step < STEPS; step++) await pair.step();
    await pair.drain();
  } catch (error) {
    const shown = JSON.stringify({ seed, options, web });
    const text = `${shown}\n${pair.log.slice(-12).join("\n")}\n${(error as Error).message}`;
    throw new Error(text, { cause: error });
  } finally {
    for (const side of sides) await side.close();
  }
}

describe("on Redis", () => {
  beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

  it.each([1, 3])(
    "large calls have the answers of one process, with %i partitions",
    async (partitions) => {
      const seed = testSeed(`large batches on Redis, ${partitions}`);
      const rounds = stressRounds(3, 0.2, 1);
      for (let round = 0; round < rounds; round++) {
        const clock = createVirtualClock(START_MS);
        const pass = (ms: number): void => clock.advance(ms);
        const name = `p${partitions}-${round}`;
        await run(seed + round, { isOrdered: partitions === 1, pass }, async (options) => {
          const given = { ...options, clock, leaseMs: LEASE_MS, keepOpen: true };
          const redis = server?.socket as string;
          const one = (await openFrontier(given)) as unknown as AsyncFrontier;
          return [one, await openRedisFrontier({ ...given, redis, name, partitions } as never)];
        });
      }
    },
  );
});

it("large calls have the answers of one thread on a thread of its own", async () => {
  const seed = testSeed("large batches on a thread");
  const rounds = stressRounds(4, 0.5, 2);
  for (let round = 0; round < rounds; round++) {
    await run(seed + round, { isOrdered: true, pass: undefined }, async (options) => {
      const { politeness: _, ...defaults } = options.defaults as RulePolicy;
      const given = { ...options, defaults, seed: 3, leaseMs: 1e9, keepOpen: true };
      const one = (await openFrontier(given)) as unknown as AsyncFrontier;
      return [one, await openFrontierThread(given)];
    });
  }
});
