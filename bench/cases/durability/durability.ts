/**
 * durability: the same pushes by mode against memory only, then a snapshot beside the running frontier and the way back.
 *
 *   push n in calls of 1,000 ─▶ flush ─▶ snapshot, twice ─▶ close ─▶ open (snapshot, and once more the journal alone)
 *        time: push                facts: MB/s of each, longest hold      facts: records/s of both
 *                                  the same bytes written raw, thrice, the one in the middle
 *
 * Checksum: how many are pending, also after the way back. A hold is a turn of the loop by the clock on the wall; beside it stand the
 * longest without its collections and its waits for a core, the longest collection and the longest wait.
 *
 * Estimate: an entry of 57 bytes of URL is 68 bytes written word by word, 60 ns beside a push of 600 ns: 0.8 to 0.9 × with a
 * timer. sync: one fdatasync a call of 1,000, 0.1 to 0.6 ms: 0.1 to 0.6 µs a URL more. Recovery sets a record of 120 bytes and two
 * table entries, four cache misses: 500 ns, two million a second at best. A snapshot finds each record by its hash (three lines of memory,
 * whose misses overlap: 46 ns where one takes 19), copies, checks and writes its 90 bytes (15 ns, 15 ns, 30 ns beside the thread): 80 ns a
 * record, 0.6 of raw writes at 2 GB/s, in slices of a millisecond between which the loop turns. The first one of a process has no memory
 * of its own yet, and code that is not compiled: half as fast again.
 */
import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Frontier, type FrontierOptions, openFrontier } from "../../../src/index.ts";
import {
  type BenchCase,
  type Job,
  nowNs,
  numberOf,
  type Params,
  warmSize,
} from "../../harness/case.ts";
import { openWarm } from "../../harness/open-warm.ts";
import { fill, type Holds, holdsDuring, temporary, wholeSnapshot } from "./directory.ts";

const SHAPE = { hosts: 10_000, isUniform: true };
const MODES: Record<string, FrontierOptions["durability"]> = {
  everyMs: { everyMs: 100 },
  sync: "sync",
  none: "none",
};

export const durabilityCase: BenchCase = {
  name: "durability",
  suite: "durability",
  about: "push by mode of durability against memory only; snapshot, its longest hold, recovery",
  question: "What does it cost to forget nothing?",
  unit: "URL",
  process: "fresh",
  pairs: [
    ["everyMs", "memory"],
    ["sync", "memory"],
    ["none", "memory"],
  ],
  target: "everyMs at least 0.6 × memory; sync 300,000 URLs/s; recovery 2 million records/s",
  sizes: {
    smoke: [{ urls: 2_000 }],
    real: [{ urls: 1_000_000 }, { urls: 10_000_000 }],
    suite: [{ urls: 200_000 }],
  },
  rounds: 3,
  setup,
};

async function setup(side: string, params: Params): Promise<Job> {
  const urls = numberOf(params, "urls");
  const warm = async (): Promise<Opened> => {
    const other = await open(side);
    await fill(other.frontier, warmSize(urls), SHAPE);
    return other;
  };
  const opened = await openWarm(warm, () => open(side));
  let left = 0;
  return {
    async run() {
      const { pending, ...measured } = await measure(opened, side, urls);
      left = pending;
      return measured;
    },
    checksum: () => `${left} pending`,
    close: () => opened.close(),
  };
}

interface Opened {
  readonly frontier: Frontier;
  readonly options: FrontierOptions;
  close(): Promise<void>;
}

/** A frontier in memory, or in a directory that goes with it. */
async function open(side: string): Promise<Opened> {
  if (side === "memory") {
    const frontier = await openFrontier({ keepOpen: true });
    return { frontier, options: {}, close: () => frontier.close() };
  }
  const { path: directory, remove } = temporary();
  const options = { directory, keepOpen: true, snapshots: { everyBytes: 2 ** 40 } };
  const frontier = await openFrontier({ ...options, durability: MODES[side] as "sync" });
  const close = async (): Promise<void> => {
    await frontier.close();
    remove();
  };
  return { frontier, options, close };
}

interface Run {
  readonly pending: number;
  readonly times: Record<string, number>;
  readonly facts: Record<string, number>;
}

async function measure({ frontier, options }: Opened, side: string, urls: number): Promise<Run> {
  let push = await fill(frontier, urls, SHAPE);
  if (side === "memory")
    return { pending: frontier.report().pending, times: { push: push / urls }, facts: {} };
  if (side !== "none") {
    const from = nowNs();
    await frontier.flush();
    push += nowNs() - from;
  }
  const journalBytes = frontier.report().durability.journalBytes / urls;
  await frontier.close();
  const byJournal = await recovery(options, urls);
  const snapshot = await snapshotOf(options);
  const bySnapshot = await recovery(options, urls);
  return {
    pending: bySnapshot.pending,
    times: { push: push / urls },
    facts: {
      journalBytes,
      journalRecordsPerSecond: byJournal.rate,
      ...snapshot,
      snapshotRecordsPerSecond: bySnapshot.rate,
    },
  };
}

async function recovery(
  options: FrontierOptions,
  urls: number,
): Promise<{ pending: number; rate: number }> {
  const from = nowNs();
  const frontier = await openFrontier(options);
  const rate = urls / ((nowNs() - from) / 1e9);
  const { pending } = frontier.report();
  await frontier.close();
  return { pending, rate };
}

async function snapshotOf(options: FrontierOptions): Promise<Record<string, number>> {
  const frontier = await openFrontier(options);
  await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
  const first = await timed(frontier);
  const second = await timed(frontier);
  const { size } = second;
  await frontier.close();
  const raw = Array.from({ length: RAW_TIMES }, () =>
    writeRaw(join(options.directory as string, "raw"), size),
  );
  const rawSeconds = raw.sort((a, b) => a - b)[RAW_TIMES >> 1] as number;
  const longest = (key: keyof Holds): number => Math.max(first.holds[key], second.holds[key]);
  return {
    firstSnapshotMBPerSecond: size / 1e6 / first.seconds,
    snapshotMBPerSecond: size / 1e6 / second.seconds,
    rawMBPerSecond: size / 1e6 / rawSeconds,
    snapshotOfRaw: rawSeconds / second.seconds,
    snapshotHoldMs: longest("wallMs"),
    snapshotOwnHoldMs: longest("ownMs"),
    snapshotCollectionMs: longest("collectionMs"),
    snapshotWaitMs: longest("waitMs"),
  };
}

async function timed(frontier: Frontier): Promise<{ holds: Holds; seconds: number; size: number }> {
  const from = nowNs();
  const snapshot = wholeSnapshot(frontier);
  const holds = await holdsDuring(snapshot);
  const seconds = (nowNs() - from) / 1e9;
  return { holds, seconds, size: statSync((await snapshot).path).size };
}

/** Collections that the way back has left to be done come to their end before a snapshot is looked at. */
const SETTLING_MS = 200;
/** The disk is uneven: what it takes is the median of so many. */
const RAW_TIMES = 3;

/** What the disk alone takes for so many bytes, in writes of a mebibyte and one fsync; seconds. */
function writeRaw(path: string, size: number): number {
  const piece = Buffer.alloc(2 ** 20);
  for (let at = 0; at < piece.length; at++) piece[at] = (at * 7_919) >>> 3;
  const from = nowNs();
  const file = openSync(path, "w");
  try {
    for (let at = 0; at < size; at += piece.length) {
      writeSync(file, piece, 0, Math.min(piece.length, size - at), at);
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  const seconds = (nowNs() - from) / 1e9;
  rmSync(path);
  return seconds;
}
