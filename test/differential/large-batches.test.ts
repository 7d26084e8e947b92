/**
 * Calls of very many: one program is made twice, in calls of up to BATCH_MAX and in calls of at most FEW, and both have the same answers. What
 * a request is follows from its number, so that each lease can be checked by itself: its own URL, data, priority, depth, rule, each once.
 *
 *   number n ─▶ requestOf(n) ─▶ pushed ─▶ leased: numberOf(url) = n, and all fields are those of requestOf(n)
 *
 *   EDGES_BATCH=200000   the largest batch; more with STRESS_SECONDS
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import {
  type Frontier,
  type FrontierOptions,
  type Lease,
  openFrontier,
  type PollOptions,
  type RequestLike,
  type Rule,
  type RulePolicy,
} from "../../src/index.ts";
import {
  checkLease,
  PRIORITIES,
  requestOf,
  START_MS,
  urlOf,
  type Web,
  webOf,
} from "../support/numbered-requests.ts";
import { sized } from "../support/size.ts";
import { stressSeconds, stressTime, testSeed } from "../support/seed.ts";

const FEW = 97;
const BATCH_MAX = Number(process.env.EDGES_BATCH ?? (stressSeconds() > 0 ? 200_000 : 2_500));
const STEPS = 24;
/** Live records of a program, and bytes of its longest URLs together. */
const LIVE_MAX = 2 * BATCH_MAX;
const LONG_BYTES = 24_000_000;
const KINDS = ["accepted", "duplicate", "rejected", "leased", "done", "retried", "failed"] as const;

interface Side {
  frontier: Frontier;
  readonly clock: ReturnType<typeof createVirtualClock>;
  readonly most: number;
  readonly directory: string | undefined;
  readonly leases: Lease[];
  readonly counts: Record<string, number>;
}

/** Calls of at most so many, one after the other. */
function pushAll({ frontier, most }: Side, list: readonly RequestLike[]): string[] {
  const verdicts: string[] = [];
  for (let at = 0; at < list.length || at === 0; at += most) {
    const some = list.slice(at, at + most);
    const result = frontier.pushMany(some);
    for (let index = 0; index < some.length; index++) {
      const { status, reason } = result.verdict(index);
      verdicts.push(`${status} ${reason}`);
    }
  }
  return verdicts;
}

function pollAll({ frontier, most, leases }: Side, max: number, options?: PollOptions): string[] {
  const shown: string[] = [];
  for (;;) {
    const asked = Math.min(most, max - shown.length);
    const list = asked === 0 ? [] : frontier.pollMany(asked, options);
    if (list.length === 0) return shown;
    for (const lease of list) {
      leases.push(lease);
      shown.push(shownLease(lease));
    }
  }
}

function shownLease(lease: Lease): string {
  const { url, priority, depth, attempt, deliveries, rule, parent, deadlineMs, host } = lease;
  const { handler, hostKey, method, data } = lease;
  const own = [priority, depth, attempt, deliveries, rule, parent, deadlineMs, host];
  return [url, ...own, handler, hostKey, method, JSON.stringify(data)].join(" ");
}

function doneAll({ frontier, most }: Side, list: readonly Lease[]): number {
  let count = 0;
  for (let at = 0; at < list.length; at += most) count += frontier.done(list.slice(at, at + most));
  return count;
}

class Program {
  readonly #random: Random;
  readonly #sides: readonly Side[];
  readonly #web: Web;
  readonly log: string[] = [];
  readonly #options: FrontierOptions;
  #next = 0;

  constructor(random: Random, sides: readonly Side[], web: Web, options: FrontierOptions) {
    this.#random = random;
    this.#sides = sides;
    this.#web = web;
    this.#options = options;
  }

  #below(most: number): number {
    return this.#random.below(most);
  }

  /** 1 … most, as likely small as large. */
  #size(most = BATCH_MAX): number {
    const size = Math.floor(2 ** ((this.#below(10_001) / 10_000) * Math.log2(most + 1)));
    const edge = [0, 1, 127, 128, 1_023, 1_024, 1_025, 65_535, 65_536][this.#below(30)];
    return Math.min(edge ?? size, most);
  }

  #same<T>(what: string, run: (side: Side) => T): T {
    this.log.push(what);
    const [one, other] = this.#sides.map((side) => run(side)) as [T, T];
    if (Array.isArray(one) && Array.isArray(other)) {
      expect(other.length, `${what}: lengths`).toBe(one.length);
      const at = one.findIndex((each, index) => each !== other[index]);
      if (at >= 0) expect(other[at], `${what}: at ${at} of ${one.length}`).toEqual(one[at]);
    } else expect(other, what).toEqual(one);
    return one;
  }

  async step(): Promise<void> {
    const { pending, waiting } = (this.#sides[0] as Side).frontier.report();
    const kind = this.#below(40);
    if (kind < 9 && pending + waiting < LIVE_MAX) this.#push();
    else if (kind < 18) this.#poll();
    else if (kind < 26) this.#end();
    else if (kind < 29) this.#endEach();
    else if (kind < 33) this.#pass();
    else if (kind < 38) this.#edit();
    else await this.#reopen();
    this.#same("report", ({ frontier, counts }) => ({ ...counts, ...countsOf(frontier) }));
  }

  #push(): void {
    const { filling } = this.#web;
    const most = filling === "" ? BATCH_MAX : Math.ceil(LONG_BYTES / filling.length);
    const count = this.#size(Math.min(BATCH_MAX, most));
    const isAgain = this.#below(4) === 0;
    const from = isAgain ? this.#below(this.#next + 1) : this.#next;
    const list = Array.from({ length: count }, (_, at) => requestOf(this.#web, from + at));
    this.#next = Math.max(this.#next, from + count);
    this.#same(`push ${count} from ${from}`, (side) => pushAll(side, list));
  }

  #poll(): void {
    const max = this.#size();
    const kind = this.#below(4);
    const options: PollOptions | undefined =
      kind === 0
        ? { leaseMs: 1 + this.#below(300) }
        : kind === 1
          ? {
              host: `w${this.#below(this.#web.hosts)}.s0.org`.replace(
                /^w(\d+).s0/,
                (_, n) => `w${n}.s${n % 7}`,
              ),
            }
          : undefined;
    const before = (this.#sides[0] as Side).leases.length;
    const what = `poll ${max} ${JSON.stringify(options)}`;
    this.#same(what, (side) => pollAll(side, max, options));
    for (const side of this.#sides)
      for (const lease of side.leases.slice(before)) checkLease(this.#web, lease);
  }

  /** Some of those out, from the front or mixed. */
  #chosen(most: number): number[] {
    const out = (this.#sides[0] as Side).leases.length;
    const count = Math.min(this.#size(), most, out);
    const from = this.#below(out - count + 1);
    const chosen = Array.from({ length: count }, (_, at) => from + at);
    if (this.#below(2) === 0) chosen.reverse();
    return chosen;
  }

  #end(): void {
    const chosen = this.#chosen(BATCH_MAX);
    this.#same(`done ${chosen.length}`, (side) =>
      doneAll(
        side,
        chosen.map((at) => side.leases[at] as Lease),
      ),
    );
    this.#drop(chosen);
  }

  #drop(chosen: readonly number[]): void {
    const gone = new Set(chosen);
    for (const side of this.#sides) {
      const left = side.leases.filter((_, at) => !gone.has(at));
      side.leases.length = 0;
      for (const lease of left) side.leases.push(lease);
    }
  }

  #endEach(): void {
    const chosen = this.#chosen(this.#below(3) === 0 ? BATCH_MAX : 300);
    const kind = this.#below(7);
    const foundCount = this.#size(BATCH_MAX / 4);
    const from = this.#next;
    const found = Array.from({ length: foundCount }, (_, at) => requestOf(this.#web, from + at));
    if (kind >= 5) {
      this.#next += foundCount;
      chosen.length = Math.min(chosen.length, 1);
    }
    this.#same(`end ${kind} of ${chosen.length}, ${foundCount}`, (side) =>
      chosen.map((at) => {
        const lease = side.leases[at] as Lease;
        if (kind === 0) return lease.release();
        if (kind === 1) return lease.retry({ delayMs: at % 3 === 0 ? 20 : 0 });
        if (kind === 2) return lease.fail("x");
        if (kind === 3) return lease.extend(at % 2 === 0 ? 1 : 31_536_000_000);
        if (kind === 4) return lease.done({ outcome: { status: 200, latencyMs: 5 } }).late;
        return JSON.stringify(lease.done({ found }));
      }),
    );
    if (kind !== 3) this.#drop(chosen);
  }

  #pass(): void {
    const ms = [1, 10, 60, 400, 1_000_000][this.#below(5)] as number;
    this.#same(`pass ${ms}`, ({ clock }) => clock.advance(ms));
  }

  #edit(): void {
    const kind = this.#below(8);
    const url = urlOf(this.#web, this.#below(this.#next + 1));
    const host = new URL(url).host;
    if (kind === 0) this.#same("requeue", ({ frontier }) => frontier.requeue({ state: "failed" }));
    else if (kind === 1) this.#same(`remove ${host}`, ({ frontier }) => frontier.remove({ host }));
    else if (kind === 2)
      this.#same(`forget ${url}`, ({ frontier }) => frontier.forget({ request: url } as never));
    else if (kind === 3 && this.#below(4) === 0)
      this.#same("forget", ({ frontier }) => frontier.forget());
    else if (kind === 4) {
      const priority = PRIORITIES[this.#below(PRIORITIES.length)] as number;
      this.#same(`update ${url}`, ({ frontier }) => frontier.update(url, { priority }));
    } else if (kind === 5)
      this.#same("hosts", ({ frontier }) => {
        const view = frontier.host(host);
        view.limit = 3;
        return view.delayMs;
      });
    else if (kind === 6)
      this.#same("peek", ({ frontier }) =>
        frontier.peek(1_000).map(({ url: own, priority, depth }) => `${own} ${priority} ${depth}`),
      );
    else
      this.#same("records", ({ frontier }) =>
        [...frontier.records({ state: "pending" })]
          .map((view) => `${view.url} ${view.depth}`)
          .sort(),
      );
  }

  async #reopen(): Promise<void> {
    if (this.#sides[0]?.directory === undefined) return;
    this.log.push("reopen");
    for (const side of this.#sides) {
      await side.frontier.close();
      side.leases.length = 0;
      side.frontier = await openSide(side, this.#options);
    }
  }

  verify(): void {
    for (const { frontier } of this.#sides) verifyFrontier(frontier);
  }

  /** Hands out and finishes all that is left. */
  drain(): void {
    this.#same("pass", ({ clock }) => clock.advance(1e6));
    for (let round = 0; round < 4; round++) {
      const before = (this.#sides[0] as Side).leases.length;
      this.#same("drain", (side) => pollAll(side, LIVE_MAX * 4));
      for (const side of this.#sides)
        for (const lease of side.leases.slice(before)) checkLease(this.#web, lease);
      this.#same("finish", (side) => doneAll(side, side.leases));
      for (const side of this.#sides) side.leases.length = 0;
      this.#same("pass", ({ clock }) => clock.advance(1e6));
    }
    this.#same("end", ({ frontier }) => countsOf(frontier));
  }
}

function countsOf(frontier: Frontier): Record<string, number> {
  const { accepted, deferred, duplicate, pending, waiting, leased, done, ...more } =
    frontier.report();
  const { failed, forgotten, removed, retried, expired, lateResults, rejected, full } = more;
  const gone = done + failed + forgotten + removed;
  expect(accepted + deferred, "I1").toBe(pending + waiting + leased + gone);
  const refused = JSON.stringify([rejected, full]);
  const counts = { accepted, deferred, duplicate, pending, waiting, leased, done, failed };
  return { ...counts, forgotten, removed, retried, expired, lateResults, refused } as never;
}

async function openSide(side: Side, options: FrontierOptions): Promise<Frontier> {
  const { clock, counts, directory } = side;
  const own = directory === undefined ? {} : { directory };
  const frontier = await openFrontier({ ...options, ...own, clock, keepOpen: true });
  if (counts.isOn === 1)
    for (const kind of KINDS)
      frontier.on(kind, (list: readonly unknown[]) => {
        counts[kind] = (counts[kind] ?? 0) + list.length;
      });
  return frontier;
}

function politenessOf(random: Random): RulePolicy["politeness"] {
  const kind = random.below(8);
  if (kind === 0) return { delayMs: 0, perHost: [1, 5, 100_000][random.below(3)] as number };
  if (kind === 1) return { delayMs: 15, perHost: [1, 50][random.below(2)] as number };
  if (kind === 2) return { delayMs: 0, perHost: 3, by: "domain" };
  if (kind === 3) return { delayMs: 5, groups: [{ by: "domain", delayMs: 1, limit: 200 }] };
  if (kind === 4)
    return { delayMs: 3, perHost: 9, hostBackoff: { after: 2, baseMs: 4, maxMs: 20 } };
  if (kind === 5) return { delayMs: 0, perHost: 1_000, budget: { urls: 400 } };
  return undefined;
}

function policyOf(random: Random): RulePolicy {
  const politeness = politenessOf(random);
  return {
    order: random.below(3) === 0 ? "lifo" : "fifo",
    startLast: random.below(4) === 0,
    depthPriority: [0, 0, 1, -1][random.below(4)] as number,
    maxAttempts: 2 + random.below(3),
    backoff: { baseMs: 3, jitter: 0 },
    ...(politeness === undefined ? {} : { politeness }),
    ...(random.below(6) === 0 ? { epoch: { every: 500 } } : {}),
    ...(random.below(9) === 0 ? { epoch: { calendar: "hour" } } : {}),
  };
}

function rulesOf(random: Random): Rule[] {
  const digits = [2, 5, 10][random.below(3)] as number;
  const rules: Rule[] = Array.from({ length: digits }, (_, digit) => ({
    id: `ends-${digit}`,
    match: { pattern: `${digit}$` },
    share:
      random.below(2) === 0 ? {} : { weight: random.below(300), priority: 1 + random.below(3) },
    ...(random.below(2) === 0 ? policyOf(random) : {}),
  }));
  return random.below(4) === 0 ? rules : [...rules, { id: "others" }];
}

function optionsOf(random: Random, isDirectory: boolean): FrontierOptions {
  const defaults = policyOf(random);
  return {
    defaults,
    seed: 5,
    leaseMs: 50 + random.below(200),
    maxDeliveries: 4,
    ...(random.below(2) === 0 ? {} : { rules: rulesOf(random) }),
    ...(random.below(6) === 0 ? { maxLeases: 1 + random.below(BATCH_MAX) } : {}),
    ...(random.below(8) === 0 ? { capacity: BATCH_MAX } : {}),
    ...(isDirectory ? directoryOptionsOf(random) : {}),
  };
}

function directoryOptionsOf(random: Random): FrontierOptions {
  return {
    memoryBytes: 2 ** (18 + random.below(6)),
    durability: (["sync", "none", { everyMs: 50 }] as const)[random.below(3)] as never,
    ...(random.below(3) === 0 ? { seen: { memoryBytes: 2 ** 18 } } : {}),
    ...(random.below(4) === 0 ? { snapshots: { everyBytes: 2 ** 18 } } : {}),
  };
}

async function run(seed: number, isDirectory: boolean): Promise<void> {
  const random = createRandom(seed);
  const options = optionsOf(random, isDirectory);
  const web = webOf(random);
  const isOn = random.below(4) === 0 ? 1 : 0;
  const made: string[] = [];
  const sides: Side[] = [];
  for (const most of [FEW, Number.POSITIVE_INFINITY]) {
    const directory = isDirectory ? mkdtempSync(join(tmpdir(), "outrider-large-")) : undefined;
    if (directory !== undefined) made.push(directory);
    const clock = createVirtualClock(START_MS);
    const side = { clock, most, directory, leases: [], counts: { isOn } } as never as Side;
    side.frontier = await openSide(side, options);
    sides.push(side);
  }
  const program = new Program(random, sides, web, options);
  try {
    for (let step = 0; step < STEPS; step++) await program.step();
    program.verify();
    program.drain();
    program.verify();
  } catch (error) {
    const shown = JSON.stringify({ seed, options, web: { ...web, filling: web.filling.length } });
    const text = `${shown}\n${program.log.slice(-12).join("\n")}\n${(error as Error).message}`;
    throw new Error(text, { cause: error });
  } finally {
    for (const { frontier } of sides) await frontier.close().catch(() => undefined);
    for (const directory of made) rmSync(directory, { recursive: true, force: true });
  }
}

it.each([
  ["in memory", false],
  ["in a directory", true],
])("large calls have the answers of small ones, %s", async (_, isDirectory) => {
  const seed = testSeed(`large batches ${isDirectory}`);
  const isTime = stressTime();
  const rounds = isDirectory ? sized(3, 1) : sized(6, 2);
  for (let round = 0; round < rounds || isTime(); round++) {
    await run((seed + round) >>> 0, isDirectory);
  }
});
