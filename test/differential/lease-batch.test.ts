/**
 * Leases that the kernel hands out and ends (assembly/records/lease-records.ts), and leases handed out and ended one by one: two frontiers do
 * the same, and listeners for every lease make one of them take the long way. Whatever they answer must be equal, and so must
 * what a log hears of them.
 */
import { describe, expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import type {
  Frontier,
  FrontierOptions,
  Lease,
  RequestInput,
  Rule,
} from "../../src/engine/types/frontier-types.ts";
import { coreOf, verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import type { Core } from "../../src/frontier/core.ts";
import { LOG_ADMITTED, type TransitionLog } from "../../src/frontier/records/transition-log.ts";
import { PARENT_BYTES } from "../../src/layout/records/record.ts";
import { hostName } from "../../src/structures/hosts/host-table.ts";
import { admittedRecord } from "../../src/structures/records/entry-batch.ts";
import {
  recordAttempt,
  recordDeliveries,
  recordDepth,
  recordState,
} from "../../src/structures/records/record.ts";
import { recordUrl } from "../../src/structures/records/kernel-scratch.ts";
import { stressRounds, testSeed } from "../support/seed.ts";

const PROGRAMS = stressRounds(5, 1);
const STEPS = 30;
/** The two frontiers hash by secrets of their own: no URL may be taken for seen in one of them by chance. */
const BLOOM = { mode: "bloom", capacity: 1e5, falsePositiveRate: 1e-9 } as const;

interface Side {
  readonly frontier: Frontier;
  readonly clock: ReturnType<typeof createVirtualClock>;
  /** Every lease there was: those that ended are handed in again. */
  readonly leases: Lease[];
  /** What the log heard since it was looked at last, where there is one. */
  readonly heard: string[];
}

interface Choices {
  readonly options: FrontierOptions;
  readonly isLogged: boolean;
}

type Step = (side: Side) => unknown;

async function openSide({ options, isLogged }: Choices, isHeard: boolean): Promise<Side> {
  const clock = createVirtualClock(1_000_000);
  const frontier = await openFrontier({ ...options, clock, keepOpen: true });
  if (isHeard) {
    frontier.on("leased", () => {});
    frontier.on("done", () => {});
  }
  const heard: string[] = [];
  if (isLogged) coreOf(frontier).log = createNotes(coreOf(frontier), heard);
  return { frontier, clock, leases: [], heard };
}

/** A log that reads each record as it is told of it, as a journal does, and its URL as the archive of whole records does. */
function createNotes(core: Core, heard: string[]): TransitionLog {
  const noted =
    (what: string) =>
    (...values: unknown[]): void => {
      heard.push(`${what} ${JSON.stringify(values)}`);
    };
  const record = (kind: number, handle: number, value: number): void => {
    const { store } = core;
    const tries = [recordState(store, handle), recordAttempt(store, handle)];
    const own = [...tries, recordDeliveries(store, handle), recordDepth(store, handle)];
    heard.push(`record ${kind} ${value} ${own.join(" ")} ${recordUrl(core.scratch, handle)}`);
  };
  return {
    ready: () => true,
    record,
    admitted: (count) => {
      for (let at = 0; at < count; at++) record(LOG_ADMITTED, admittedRecord(core.scratch, at), 0);
    },
    host: (host, fields) => heard.push(`host ${hostName(core.store, host)} ${fields}`),
    address: noted("address"),
    group: noted("group"),
    hostForgotten: (host) => heard.push(`forgotten ${hostName(core.store, host)}`),
    forgotten: noted("generation"),
    joined: () => heard.push("joined"),
    identityForgotten: () => heard.push("identity"),
    disowned: (handle) => heard.push(`disowned ${recordUrl(core.scratch, handle)}`),
    // A record's name is its keyed hash, which differs from frontier to frontier.
    note: (name, value) => noted("note")(name.replace(/:[0-9a-f]+$/, ""), value),
    end: noted("end"),
  };
}

function optionsOf(random: Random): FrontierOptions {
  return {
    leaseMs: 20 + random.below(100),
    ...(random.below(3) === 0 ? { maxLeases: 700 } : {}),
    ...(random.below(4) === 0 ? { seen: BLOOM } : {}),
    ...(random.below(2) === 0 ? {} : { rules: rulesOf(random) }),
    defaults: {
      order: random.below(3) === 0 ? "lifo" : "fifo",
      startLast: random.below(3) === 0,
      depthPriority: random.below(3) === 0 ? 1 : 0,
      backoff: { baseMs: 3, jitter: 0 },
      maxAttempts: 2,
      ...(random.below(6) === 0
        ? { politeness: { hostBackoff: { after: 3, baseMs: 5, maxMs: 9 } } }
        : {}),
    },
  };
}

/** Rules that take turns, by the last digit of the URL: some of other shares, orders and manners. */
function rulesOf(random: Random): Rule[] {
  const digits = [2, 5, 10][random.below(3)] as number;
  const isEven = random.below(2) === 0;
  const rules: Rule[] = Array.from({ length: digits }, (_, digit) => ({
    id: `ends-${digit}`,
    match: { pattern: `${digit}$` },
    share: isEven ? {} : { weight: random.below(300), priority: 1 + random.below(3) },
    ...(random.below(4) === 0 ? { order: "lifo" } : {}),
    ...(random.below(5) === 0 ? { politeness: { delayMs: random.below(2), perHost: 1 } } : {}),
  }));
  return random.below(4) === 0 ? rules : [...rules, { id: "others" }];
}

/** Mostly plain ones; data, headers and what has no identity are the owner's to end. */
function requestOf(random: Random, hosts: number): RequestInput {
  const url = `https://h${random.below(hosts)}.example/p${random.below(9_000)}`;
  const kind = random.below(12);
  if (kind === 0) return { url, data: { kind } };
  if (kind === 1) return { url, dedup: "skip" };
  if (kind === 2) return { url, priority: random.below(3) };
  if (kind === 3) return { url, start: true };
  return kind === 4 ? { url, volatile: true, data: 7 } : { url };
}

function stepOf(random: Random, hosts: number): Step {
  const kind = random.below(20);
  const list = (most: number): RequestInput[] =>
    Array.from({ length: 1 + random.below(most) }, () => requestOf(random, hosts));
  if (kind < 4) {
    const urls = list(700).map(({ url }) => url);
    return ({ frontier }) => frontier.pushMany(urls).accepted;
  }
  if (kind === 4) {
    const requests = list(60);
    return ({ frontier }) => frontier.pushMany(requests).accepted;
  }
  if (kind < 10) return take(random.below(3) === 0 ? random.below(900) : random.below(90));
  if (kind < 14) return finish(random.below(400), random.below(1_000));
  if (kind === 14) {
    const found = list(200).map(({ url }) => url);
    return (side) => side.leases.at(-1 - random.below(3))?.done({ found }).late;
  }
  if (kind === 15) return giveUp(1 + random.below(9));
  if (kind < 18) {
    const ms = random.below(kind === 16 ? 3 : 60);
    return ({ clock }) => clock.advance(ms);
  }
  if (kind === 18 && random.below(3) === 0) {
    const rules = random.below(4) === 0 ? [{ id: "others" }] : rulesOf(random);
    return ({ frontier }) => frontier.setRules(rules);
  }
  const name = `h${random.below(hosts)}.example`;
  const isBlocked = random.below(2) === 0;
  return ({ frontier, clock }) => {
    if (isBlocked) frontier.host(name).blockUntil(clock.now() + 9);
    else frontier.remove({ host: name });
  };
}

function take(max: number): Step {
  return (side) => {
    const leases = side.frontier.pollMany(max);
    side.leases.push(...leases);
    const answers = leases.map((lease) => [
      ...[lease.url, lease.priority, lease.depth, lease.attempt, lease.deliveries, lease.rule],
      ...[lease.host, lease.parent, lease.data, lease.deadlineMs],
    ]);
    return JSON.stringify([answers, leases[0]?.fingerprint]);
  };
}

/** Many at once: the newest, some of which have ended, and one of them twice. */
function finish(count: number, back: number): Step {
  return (side) => {
    const from = Math.max(0, side.leases.length - back);
    const some = side.leases.slice(from, from + count);
    return side.frontier.done([...some, ...some.slice(0, 1)]);
  };
}

function giveUp(count: number): Step {
  const end = (lease: Lease, index: number): unknown => {
    if (index % 3 === 0) return lease.release();
    return index % 3 === 1 ? lease.retry({ delayMs: 2 }) : lease.fail("no");
  };
  return (side) => side.leases.slice(-count).map(end);
}

/** All but what depends on the secret of the hashes, or on when pages were taken. */
function stateOf({ frontier }: Side): unknown {
  const { memory, rates, seenSet, startedAt, ...report } = frontier.report();
  const next = frontier.peek(30).map(({ url, priority, depth }) => [url, priority, depth]);
  return { ...report, next };
}

async function runProgram(seed: number): Promise<void> {
  const [choices, ...programs] = [seed, seed + 1, seed + 1].map(createRandom);
  const options = optionsOf(choices as Random);
  const isLogged = (choices as Random).below(2) === 0;
  const hosts = [3, 40, 600][(choices as Random).below(3)] as number;
  const open = { options, isLogged };
  const sides = [await openSide(open, false), await openSide(open, true)];
  for (let step = 0; step < STEPS; step++) {
    const answers = sides.map((side, at) => {
      const answer = stepOf(programs[at] as Random, hosts)(side);
      if (step % 8 === 0) verifyFrontier(side.frontier);
      return [answer, stateOf(side), side.heard.splice(0)];
    });
    expect(answers[0], `step ${step} under ${JSON.stringify(options)}`).toEqual(answers[1]);
  }
  for (const { frontier } of sides) {
    verifyFrontier(frontier);
    await frontier.close();
  }
}

describe("leases by the kernel", () => {
  test("are those handed out and ended one by one, under every policy", async () => {
    const first = testSeed("lease-batch");
    for (let program = 0; program < PROGRAMS; program++) {
      await runProgram(first + program * 2).catch((error: Error) => {
        throw new Error(`SEED=${first + program * 2}: ${error.message}`, { cause: error });
      });
    }
  });

  test("leave a frontier empty, and its memory free, when all that was in it is done", async () => {
    const frontier = await openFrontier({ clock: createVirtualClock(1_000) });
    frontier.pushMany(
      Array.from({ length: 30 }, (_, index) => `http://s${index % 3}.example/${index}`),
    );
    for (const lease of frontier.pollMany(30)) {
      const found = Array.from({ length: 300 }, (_, index) => `${lease.url}/child-${index}`);
      lease.done({ found });
    }
    const before = frontier.report();
    expect([before.pending, before.depths[1]]).toEqual([9_000, 9_000]);
    const parents = new Set(frontier.peek(1_000).map(({ url }) => url.replace(/\/child.*/, "")));
    expect(parents.size).toBeGreaterThan(2);
    expect(frontier.done(frontier.pollMany(10_000))).toBe(9_000);
    const { pending, leased, done, rules } = frontier.report();
    expect({ pending, leased, done }).toEqual({ pending: 0, leased: 0, done: 9_030 });
    expect(Object.values(rules)[0]).toMatchObject({
      pending: 0,
      leased: 0,
      done: 9_030,
      served: 9_030,
    });
    expect(frontier.record("http://s0.example/0/child-7")).toMatchObject({
      state: "done",
      depth: 1,
    });
    verifyFrontier(frontier);
    const { counts } = coreOf(frontier).store.arena;
    expect(counts[PARENT_BYTES / 8], "parents that nobody names").toBe(0);
    await frontier.close();
  });
});
