/** Queues of hundreds of numbers, on Redis and in one process: what is handed out, and what becomes of it, is the same. */
import { afterAll, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import { type AsyncFrontier, openFrontier, type RulePolicy } from "../../src/index.ts";
import { createRedis } from "../support/conformance/redis.ts";
import { stressRounds, testSeed } from "../support/seed.ts";

const { implementation, close } = createRedis();
afterAll(close);

const START_MS = 1_700_000_000_000;
const STEPS = 40;
const LEASE_MS = 50;
const POLICIES: readonly RulePolicy[] = [
  { order: "fifo" },
  { order: "lifo" },
  { order: "fifo", politeness: { delayMs: 2 }, retryPriority: 0 },
  { order: "lifo", politeness: { delayMs: 2 } },
  { order: "fifo", politeness: { delayMs: 0, perHost: 40 } },
  {
    order: "fifo",
    retryPriority: 0,
    politeness: {
      delayMs: 2,
      hostBackoff: { after: 1, baseMs: 40, maxMs: 400 },
    },
  },
];

type Lease = Awaited<ReturnType<AsyncFrontier["pollMany"]>>[number];

/** One end of a lease, drawn once for both sides. */
function drawEnd(random: Random, isReleased: boolean): (lease: Lease) => Promise<unknown> {
  const kind = isReleased ? 5 : random.below(12);
  if (kind < 2) return async (lease) => await lease.done();
  if (kind < 5) {
    const outcome = { status: random.below(3) === 0 ? 503 : 200, bytes: random.below(100) };
    return async (lease) => await lease.done({ outcome });
  }
  if (kind < 7) return async (lease) => await lease.release();
  if (kind < 9) return async (lease) => await lease.retry({ delayMs: 0 });
  if (kind < 10) return async (lease) => await lease.fail("x");
  const extensionMs = 1 + random.below(LEASE_MS);
  if (random.below(2) === 0) return async (lease) => await lease.extend(extensionMs);
  return (lease) => Promise.all([lease.extend(extensionMs), lease.done()]);
}

/** A host of either side: the engine's is its own view. */
async function viewOf(host: ReturnType<AsyncFrontier["host"]>): ReturnType<typeof host.view> {
  return "view" in host ? await host.view() : host;
}

/** Both sides, and what each has out: every step is made on both, and must have the same answer. */
class Pair {
  readonly #sides: readonly AsyncFrontier[];
  readonly #random: Random;
  readonly #out: Lease[][];
  /** One priority alone, so that each host has one queue. */
  readonly #isFlat: boolean;
  /** Few leases at a time. */
  readonly #isSlow: boolean;
  readonly #hosts: number;
  #made = 0;

  constructor(sides: readonly AsyncFrontier[], random: Random) {
    this.#sides = sides;
    this.#random = random;
    this.#isFlat = random.below(2) === 0;
    this.#isSlow = random.below(2) === 0;
    this.#hosts = random.below(3) === 0 ? 40 : 3;
    this.#out = sides.map(() => []);
  }

  async step(pass: (ms: number) => void): Promise<void> {
    const random = this.#random;
    const kind = random.below(24);
    if (kind < 6) await this.#push();
    else if (kind < 13) await this.#poll(1 + random.below(this.#isSlow ? 4 : 60));
    else if (kind < 18) await this.#end();
    else if (kind < 22) await this.#pass(pass, 1 + random.below(random.below(2) * LEASE_MS + 3));
    else if (kind < 23) await this.#update();
    else await this.#same((side) => side.remove({ pattern: `/${this.#made % 10}` }));
    await this.#same(async (side) => (await side.peek(5)).map(({ url }) => url));
  }

  /** Hands out and finishes all that is left. */
  async drain(pass: (ms: number) => void): Promise<void> {
    for (let left = 1; left > 0; ) {
      await this.#pass(pass, 20);
      left = await this.#poll(200);
      await this.#same(async (_, out) => {
        for (const lease of out.splice(0)) await lease.done();
      });
    }
    await this.#same(async (side) => {
      const { bytes, failures, leased } = await viewOf(side.host("h0.org"));
      return { bytes, failures, leased };
    });
    await this.#same(async (side) => {
      const { pending, leased, done, failed, removed, retried } = await side.report();
      return { pending, leased, done, failed, removed, retried };
    });
  }

  async #same<T>(run: (side: AsyncFrontier, out: Lease[]) => Promise<T>): Promise<T> {
    const answers: T[] = [];
    for (const [at, side] of this.#sides.entries()) {
      answers.push(await run(side, this.#out[at] as Lease[]));
    }
    expect(answers[1]).toEqual(answers[0]);
    return answers[0] as T;
  }

  #url(number: number): string {
    return `http://h${this.#random.below(this.#hosts)}.org/${number}`;
  }

  #priority(): number {
    return this.#isFlat ? 0 : this.#random.below(3) - 1;
  }

  /** Time goes on. A poll on Redis expires some leases alone; a report, all that have ended. */
  async #pass(pass: (ms: number) => void, ms: number): Promise<void> {
    pass(ms);
    await this.#same(async (side) => (await side.report()).expired);
  }

  async #push(): Promise<void> {
    const random = this.#random;
    const list = Array.from({ length: 1 + random.below(120) }, () => ({
      url: this.#url(random.below(5) === 0 ? random.below(this.#made + 1) : ++this.#made),
      priority: random.below(6) === 0 ? this.#priority() : 0,
    }));
    await this.#same((side) => side.pushMany(list));
  }

  async #poll(most: number): Promise<number> {
    const leases = await this.#same(async (side, out) => {
      const list = await side.pollMany(most);
      out.push(...list);
      return list.map(({ url, deliveries, attempt }) => [url, deliveries, attempt]);
    });
    return leases.length;
  }

  async #end(): Promise<void> {
    const held = this.#out[0]?.length ?? 0;
    const count = this.#random.below(held + 1);
    const from = this.#random.below(held - count + 1);
    const isReleased = this.#random.below(3) === 0;
    const ends = Array.from({ length: count }, () => drawEnd(this.#random, isReleased));
    await this.#same((_, out) =>
      Promise.all(out.splice(from, count).map((lease, index) => ends[index]?.(lease))),
    );
  }

  async #update(): Promise<void> {
    const priority = this.#priority();
    for (let each = 0; each < 40; each++) {
      const url = this.#url(this.#random.below(this.#made + 1));
      await this.#same((side) => side.update(url, { priority }));
    }
  }
}

it("long queues are handed out as in one process", async (context) => {
  const seed = testSeed("redis long queues");
  const rounds = stressRounds(36, 2, 12);
  for (let round = 0; round < rounds; round++) {
    const defaults = POLICIES[round % POLICIES.length] as RulePolicy;
    const clock = createVirtualClock(START_MS);
    const { frontier } = await implementation.open(context, { defaults, clock, leaseMs: LEASE_MS });
    const engine = await openFrontier({ defaults, clock, leaseMs: LEASE_MS });
    const pair = new Pair([engine as never, frontier], createRandom(seed + round));
    for (let step = 0; step < STEPS; step++) await pair.step((ms) => clock.advance(ms));
    await pair.drain((ms) => clock.advance(ms));
    await engine.close();
  }
});
