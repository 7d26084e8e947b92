/** Batches that hold a URL several times, on Redis and in one process: verdicts, counts, order and what is handed out are the same. */
import { Redis } from "ioredis";
import { afterAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import {
  type AsyncFrontier,
  openFrontier,
  type RequestInput,
  type RulePolicy,
} from "../../src/index.ts";
import { openRedisFrontier } from "../../src/redis.ts";
import { twiceCommands } from "../support/twice-commands.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { stressRounds, testSeed } from "../support/seed.ts";
import { skipUnless } from "../support/skip.ts";

const server = WITHOUT_REDIS === undefined ? await startRedis() : undefined;
afterAll(async () => await server?.close());
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_REDIS ?? ""));

const START_MS = 1_700_000_000_000;
const STEPS = 50;
const LEASE_MS = 50;
const HOSTS = 3;
const PAGES = 9;
const POLICIES: readonly RulePolicy[] = [
  { traversal: "breadth-first" },
  { traversal: "depth-first", politeness: { delayMs: 2 } },
  { order: "lifo", depthPriority: 2 },
  { order: "fifo", depthPriority: 1, politeness: { delayMs: 0, perHost: 9 } },
  { order: "fifo", politeness: { delayMs: 3, budget: { urls: 14 } }, retryPriority: 0 },
  { order: "fifo", depthPriority: -1, epoch: { every: 40 } },
];

type Lease = Awaited<ReturnType<AsyncFrontier["pollMany"]>>[number];

/** Both sides, and what each has out: every step is made on both, and must have the same answer. */
class Pair {
  readonly #sides: readonly AsyncFrontier[];
  readonly #random: Random;
  readonly #out: Lease[][];
  readonly log: string[] = [];
  readonly #now: () => number;

  constructor(sides: readonly AsyncFrontier[], random: Random, now: () => number) {
    this.#sides = sides;
    this.#random = random;
    this.#out = sides.map(() => []);
    this.#now = now;
  }

  async step(pass: (ms: number) => void): Promise<void> {
    const random = this.#random;
    const kind = random.below(26);
    if (kind < 7) await this.#push();
    else if (kind < 12) await this.#poll(1 + random.below(8));
    else if (kind < 17) await this.#done();
    else if (kind < 18) await this.#end();
    else if (kind < 20) await this.#put();
    else if (kind < 23) await this.#pass(pass, 1 + random.below(random.below(2) * LEASE_MS + 3));
    else await this.#edit();
    await this.#check();
  }

  async #check(): Promise<void> {
    await this.#same("order", async (side) =>
      (await side.peek(12)).map(({ url, depth, priority }) => [url, depth, priority]),
    );
    await this.#same("counts", async (side) => {
      const { pushed, accepted, deferred, duplicate, pending, waiting, ...more } =
        await side.report();
      const { leased, done, failed, forgotten, removed, seen } = more;
      const counts = { pushed, accepted, deferred, duplicate, pending, waiting, leased };
      return { ...counts, done, failed, forgotten, removed, seen };
    });
  }

  async #same<T>(what: string, run: (side: AsyncFrontier, out: Lease[]) => Promise<T>): Promise<T> {
    this.log.push(what);
    const answers: T[] = [];
    for (const [at, side] of this.#sides.entries()) {
      answers.push(await run(side, this.#out[at] as Lease[]));
    }
    expect(answers[1], this.log.slice(-12).join("\n")).toEqual(answers[0]);
    return answers[0] as T;
  }

  #url(): string {
    return `http://h${this.#random.below(HOSTS)}.org/${this.#random.below(PAGES)}`;
  }

  /** A time that lies before, at or after now; undefined as a rule. */
  #due(): number | undefined {
    const random = this.#random;
    return random.below(4) === 0 ? this.#now() - 5 + random.below(20) : undefined;
  }

  #request(): RequestInput {
    const random = this.#random;
    const notBefore = this.#due();
    const dedup = (["record", "skip"] as const)[random.below(24)];
    return {
      url: this.#url(),
      depth: random.below(4),
      ...(random.below(4) === 0 ? { priority: random.below(3) - 1 } : {}),
      ...(notBefore === undefined ? {} : { notBefore }),
      ...(random.below(8) === 0 ? { epoch: `v${random.below(2)}` } : {}),
      ...(dedup === undefined ? {} : { dedup }),
    };
  }

  async #push(): Promise<void> {
    const list = Array.from({ length: 1 + this.#random.below(12) }, () => this.#request());
    await this.#same(`push ${JSON.stringify(list)}`, (side) => side.pushMany(list));
  }

  async #put(): Promise<void> {
    const request = { url: this.#url(), depth: this.#random.below(3) };
    const dueAt = this.#due();
    const options = dueAt === undefined ? {} : { dueAt };
    await this.#same(`put ${JSON.stringify([request, options])}`, (side) =>
      side.put(request, options),
    );
  }

  async #poll(most: number): Promise<void> {
    await this.#same(`poll ${most}`, async (side, out) => {
      const list = await side.pollMany(most);
      out.push(...list);
      return list.map(({ url, depth, deliveries, attempt }) => [url, depth, deliveries, attempt]);
    });
  }

  /** Several pages are done in one call, each with links; some links are on several of them. */
  async #done(): Promise<void> {
    const count = this.#random.below((this.#out[0]?.length ?? 0) + 1);
    const found = Array.from({ length: count }, () =>
      Array.from({ length: this.#random.below(5) }, () => this.#url()),
    );
    await this.#same(`done ${JSON.stringify(found)}`, (_, out) =>
      Promise.all(out.splice(0, count).map((lease, at) => lease.done({ found: found[at] ?? [] }))),
    );
  }

  async #end(): Promise<void> {
    const kind = this.#random.below(3);
    await this.#same(`end ${kind}`, async (_, out) => {
      const [lease] = out.splice(0, 1);
      if (kind === 0) return await lease?.release();
      if (kind === 1) return await lease?.retry({ delayMs: 0 });
      return await lease?.fail("x");
    });
  }

  async #edit(): Promise<void> {
    const random = this.#random;
    const url = this.#url();
    const kind = random.below(5);
    if (kind === 0) await this.#same("requeue", (side) => side.requeue({ state: "failed" }));
    else if (kind === 1) {
      const pattern = `/${random.below(PAGES)}`;
      await this.#same(`remove ${pattern}`, (side) => side.remove({ pattern }));
    } else if (kind === 2)
      await this.#same(`forget ${url}`, (side) => side.forget({ request: url } as never));
    else if (kind === 3) await this.#same("forget v1", (side) => side.forget({ epoch: "v1" }));
    else {
      const change = random.below(2) === 0 ? { priority: 5 } : { notBefore: this.#now() + 9 };
      await this.#same(`update ${url} ${JSON.stringify(change)}`, (side) =>
        side.update(url, change),
      );
    }
  }

  /** Time goes on. A poll on Redis expires some leases alone; a report, all that have ended. */
  async #pass(pass: (ms: number) => void, ms: number): Promise<void> {
    pass(ms);
    await this.#same(`pass ${ms}`, async (side) => (await side.report()).expired);
  }

  /** Hands out and finishes all that is left. */
  async drain(pass: (ms: number) => void): Promise<void> {
    for (let round = 0; round < 15; round++) {
      await this.#pass(pass, 20);
      await this.#poll(60);
      await this.#same("finish", async (_, out) => {
        for (const lease of out.splice(0)) await lease.done();
      });
    }
    await this.#check();
  }
}

it.each([
  ["once", false],
  ["and every script is carried out twice", true],
])("batches with the same URL several times end as in one process, %s", async (_, isTwice) => {
  const seed = testSeed(`redis mixed batches${isTwice ? ", twice" : ""}`);
  const rounds = stressRounds(12, 1, 6);
  const own = new Redis(server?.socket as string);
  onTestFinished(() => void own.disconnect());
  const redis = isTwice ? twiceCommands(own) : own;
  for (let round = 0; round < rounds; round++) {
    const defaults = POLICIES[round % POLICIES.length] as RulePolicy;
    const clock = createVirtualClock(START_MS);
    const given = { defaults, clock, leaseMs: LEASE_MS };
    const name = `${isTwice}${round}`;
    const frontier = await openRedisFrontier({ redis, name, partitions: 1, ...given });
    const engine = await openFrontier(given);
    const now = (): number => clock.now();
    const pair = new Pair([engine as never, frontier], createRandom(seed + round), now);
    for (let step = 0; step < STEPS; step++) await pair.step((ms) => clock.advance(ms));
    await pair.drain((ms) => clock.advance(ms));
    await engine.close();
    await frontier.drop();
  }
});
