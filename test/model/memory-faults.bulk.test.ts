/**
 * Every allocation of the calls that work on many at once fails in turn: plain URLs, new and known, on hosts that are new and known, pushed,
 * handed out and done in batches, and what the journal says of them read back. No model is needed: every URL comes once.
 */
import { describe, expect, it } from "vitest";
import { isMemoryFull } from "../../src/base/errors.ts";
import { createVirtualClock } from "../../src/base/clock.ts";
import { coreOf, verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import type { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { pushNamed } from "../../src/engine/api/push-list.ts";
import type { FrontierOptions, Lease, PushResult, RequestLike } from "../../src/index.ts";
import { openMemoryRig, openRig } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";
import { sized } from "../support/size.ts";

const ROUNDS_MAX = 600;
/** The whole frontier is verified after every so many calls: what one call breaks stays broken. */
const VERIFY_EVERY = sized(1, 5);
const BATCH = 24;

const groups = [{ by: "domain" as const, delayMs: 3, limit: 4 }];
const rules = ["a", "b", "c"].map((id) => ({ id, match: { pattern: `/${id}/` } }));
const KINDS: Array<[string, FrontierOptions]> = [
  ["one rule", {}],
  ["one rule, last in first out", { defaults: { order: "lifo" } }],
  ["hosts that take turns", { defaults: { politeness: { perHost: 2, delayMs: 2 } } }],
  ["groups", { defaults: { politeness: { perHost: 2, groups } } }],
  ["rules that take turns", { rules: [...rules, { id: "rest" }] }],
  [
    "rules, some with politeness",
    { rules: [...rules, { id: "rest", politeness: { delayMs: 1 } }] },
  ],
  ["epochs", { defaults: { epoch: { calendar: "hour" } } }],
  ["a version", { defaults: { epoch: { version: "v1" } } }],
  ["pages that come again", { defaults: { epoch: { every: 1_000_000 } } }],
  ["periods that adapt", { defaults: { epoch: { adaptive: { min: 9e8, max: 9e9 } } } }],
];

interface Tried<T> {
  readonly answer: T | undefined;
  readonly refused: number;
}

/** The call with its allocation number `at`, and perhaps all after it, refused; undefined: it threw MEMORY_FULL. */
function tryCall<T>(
  frontier: LocalFrontier,
  { at, isLasting }: { at: number; isLasting: boolean },
  call: () => T,
): Tried<T> {
  const { region } = coreOf(frontier).store;
  let asked = 0;
  let refused = 0;
  region.promised = 0;
  region.refuses = () => {
    asked++;
    if (isLasting ? asked < at : asked !== at) return false;
    refused++;
    return true;
  };
  let answer: T | undefined;
  try {
    answer = call();
  } catch (error) {
    if (!isMemoryFull(error)) throw error;
  } finally {
    region.refuses = undefined;
    region.promised = 0;
  }
  expect(region.isHeld).toBe(false);
  if (++calls % VERIFY_EVERY === 0) verifyFrontier(frontier);
  return { answer, refused };
}

let calls = 0;

/** New URLs: on hosts of before, and on some that nobody has met. */
function batchOf(round: number, isPlain: boolean): RequestLike[] {
  return Array.from({ length: BATCH }, (_, row) => {
    const host = row % 3 === 0 ? `new${round}-${row}.example` : `h${row % 5}.example`;
    const url = `https://${host}/${"abcd"[row % 4]}/${round}/${row}`;
    if (isPlain) return url;
    const dedup = row % 4 === 0 ? "skip" : "check";
    return { url, data: { row }, dedup, priority: row % 3, maxAttempts: 1 + (row % 2) } as const;
  });
}

/** Pushes requests, or plain URLs that each have a name and data. */
function push(frontier: LocalFrontier, list: readonly RequestLike[], isNamed = false): PushResult {
  if (!isNamed) return frontier.pushMany([...list]);
  const urls = list as readonly string[];
  const epochs = urls.map((url) => `q:${new URL(url).host}`);
  return pushNamed(frontier, { urls, epochs, data: urls.map(dataOf) });
}

function dataOf(url: string): unknown {
  return /\/[ab]\//.test(url) ? url : 7;
}

async function suffer(
  open: () => Promise<LocalFrontier>,
  how: { isPlain: boolean; isLasting: boolean; isNamed?: boolean },
  clock: ReturnType<typeof createVirtualClock>,
): Promise<LocalFrontier> {
  const frontier = await open();
  const seen = new Set<string>();
  let admitted = 0;
  let refusals = 0;
  let leased: Lease[] = [];
  const took = (leases: readonly Lease[] | undefined): void => {
    for (const lease of leases ?? []) {
      expect(seen.has(lease.url), lease.url).toBe(false);
      seen.add(lease.url);
      const isPushed = how.isNamed === true && !lease.url.includes("found");
      if (isPushed) expect(lease.data).toEqual(dataOf(lease.url));
      leased.push(lease);
    }
  };
  for (let at = 1; at < ROUNDS_MAX; at++) {
    const fault = { ...how, at };
    const list = batchOf(at, how.isPlain);
    const pushed = tryCall(frontier, fault, () => push(frontier, list, how.isNamed));
    const left = list.filter((_, row) => !pushed.answer?.verdict(row).admitted);
    // What found no room is as new as it was.
    expect(push(frontier, left, how.isNamed).accepted).toBe(left.length);
    admitted += list.length;
    if (at % VERIFY_EVERY === 0) verifyFrontier(frontier);
    expect(frontier.report().pending).toBe(admitted - seen.size);
    const polled = tryCall(frontier, fault, () => frontier.pollMany(BATCH));
    took(polled.answer);
    expect(frontier.report().leased).toBe(leased.length);
    took(frontier.pollMany(BATCH));
    const some = leased.splice(0, 16);
    const done = tryCall(frontier, fault, () => frontier.done(some));
    if (done.answer === undefined) leased = [...some, ...leased];
    else expect(done.answer).toBe(some.length);
    const one = leased.shift();
    const found = [`https://found${at}.example/`, `https://h1.example/found/${at}`];
    if (one !== undefined) {
      const result = tryCall(frontier, fault, () => one.done({ found }));
      if (result.answer === undefined) leased.push(one);
      else {
        const missed = found.filter((_, row) => !result.answer?.verdict(row).admitted);
        expect(frontier.pushMany(missed).accepted).toBe(missed.length);
        admitted += found.length;
      }
      refusals += result.refused;
    }
    expect(frontier.report()).toMatchObject({ leased: leased.length });
    refusals += pushed.refused + polled.refused + done.refused;
    clock.advance(1);
    if (pushed.refused + polled.refused + done.refused === 0) break;
  }
  expect(refusals).toBeGreaterThan(10);
  while (frontier.report().pending > 0) {
    took(frontier.pollMany(500));
    expect(frontier.done(leased)).toBe(leased.length);
    leased = [];
    clock.advance(3);
  }
  frontier.done(leased);
  expect(seen.size).toBe(admitted);
  expect(frontier.report()).toMatchObject({ done: admitted, leased: 0, pending: 0, failed: 0 });
  verifyFrontier(frontier);
  return frontier;
}

describe.each(KINDS)(
  "a frontier whose memory fails at every allocation of a batch: %s",
  (_, options) => {
    it.each([
      { isPlain: true, isLasting: true },
      { isPlain: true, isLasting: false },
      { isPlain: false, isLasting: true },
      { isPlain: false, isLasting: false },
      { isPlain: true, isLasting: true, isNamed: true },
      { isPlain: true, isLasting: false, isNamed: true },
    ])("gives every URL once, plain: $isPlain, for good: $isLasting", async (how) => {
      const clock = createVirtualClock(1_700_000_000_000);
      const open = async (): Promise<LocalFrontier> =>
        (await openMemoryRig(createMemoryFiles(), clock, options)).frontier;
      await (await suffer(open, how, clock)).close();
    });

    it.each([false, true])("and says so to its journal, named: %s", async (isNamed) => {
      const clock = createVirtualClock(1_700_000_000_000);
      const files = createMemoryFiles();
      const open = async (): Promise<LocalFrontier> =>
        (await openRig(files, clock, options)).frontier;
      const how = { isPlain: isNamed, isLasting: false, isNamed };
      const frontier = await suffer(open, how, clock);
      const { accepted, done, seen } = frontier.report();
      const epochs = [...frontier.epochs()].map(({ name, identities }) => `${name} ${identities}`);
      await frontier.close();
      const again = await open();
      expect(
        [...again.epochs()].map(({ name, identities }) => `${name} ${identities}`).sort(),
      ).toEqual(epochs.sort());
      expect(again.report()).toMatchObject({ accepted, done, seen, pending: 0, waiting: 0 });
      verifyFrontier(again);
      await again.close();
    });
  },
);
