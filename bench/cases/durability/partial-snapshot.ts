/**
 * partial-snapshot: snapshots by hand, before each of which one per cent of the pending URLs was visited and as many were pushed.
 *
 *   push n ─▶ whole snapshot ─▶ [ n / 100 visited, n / 100 pushed, snapshot ] × rounds ─▶ close ─▶ open ─▶ whole snapshot ─▶ close ─▶ open
 *                                                        time: snapshot       disk used ─┘      └─ seconds to open, of the one and the other
 *
 * Side `partial` asks for snapshots as they come, side `whole` for whole ones, in a twentieth of the rounds.
 * Checksum: how many are pending at the end.
 *
 * Estimate: a visit and a push are 170 bytes of journal, a row of the whole snapshot is 100. A quarter of the whole snapshot is 25 bytes a
 * URL: reached after 15 rounds, so 6 or 7 of 100 snapshots are whole, and one costs a fifteenth of the time on average. The journal at an opening
 * is a quarter of the whole one at most, and replays at some 300 MB/s where rows are read at 200: 1.15 × the time. On disk: two whole ones, and the
 * journals since then: 2.5.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Frontier, openFrontier } from "../../../src/index.ts";
import { type BenchCase, type Job, nowNs, numberOf, type Params } from "../../harness/case.ts";
import { urlChunk } from "../../harness/urls.ts";
import { fill, temporary, wholeSnapshot } from "./directory.ts";

const SHAPE = { hosts: 10_000, isUniform: true };
/** Leases, and pushes, of one call. */
const CALL = 1_000;
const OPENINGS = 3;
/** The other side needs no more rounds for a steady time. */
const WHOLE_PART = 20;

export const partialSnapshotCase: BenchCase = {
  name: "partial-snapshot",
  suite: "durability",
  about: "snapshots by hand with one per cent changed before each, against whole ones",
  question: "Does a snapshot cost what changed?",
  unit: "snapshot",
  process: "fresh",
  pairs: [["partial", "whole"]],
  isSameWork: false,
  target: "at most a tenth of the bytes; opening and disk (≤ 3 ×) hold after a hundred",
  sizes: {
    smoke: [{ urls: 2_000, rounds: 20 }],
    real: [
      { urls: 1_000_000, rounds: 100 },
      { urls: 10_000_000, rounds: 100 },
    ],
    suite: [{ urls: 50_000, rounds: 50 }],
  },
  rounds: 1,
  setup,
};

function setup(side: string, params: Params): Job {
  const urls = numberOf(params, "urls");
  const isWhole = side === "whole";
  const rounds = Math.ceil(numberOf(params, "rounds") / (isWhole ? WHOLE_PART : 1));
  let left = 0;
  return {
    async run() {
      const { path: directory, remove } = temporary();
      try {
        const measured = await measure(directory, { urls, rounds, isWhole });
        left = measured.pending;
        return measured;
      } finally {
        remove();
      }
    },
    checksum: () => `${left} pending`,
  };
}

interface Load {
  readonly urls: number;
  readonly rounds: number;
  readonly isWhole: boolean;
}

async function measure(directory: string, { urls, rounds, isWhole }: Load) {
  const options = { directory, keepOpen: true, snapshots: { everyBytes: 2 ** 40 } };
  const frontier = await openFrontier(options);
  await fill(frontier, urls, SHAPE);
  const base = (await frontier.snapshot()).bytes;
  const changed = urls / 100;
  let [spent, wholes, bytes, partialBytes] = [0, 0, 0, 0];
  for (let round = 0; round < rounds; round++) {
    await change(frontier, urls + round * changed, changed);
    const from = nowNs();
    const snapshot = await (isWhole ? wholeSnapshot(frontier) : frontier.snapshot());
    spent += nowNs() - from;
    bytes += snapshot.bytes;
    if (snapshot.bytes > base / 2) wholes++;
    else partialBytes = Math.max(partialBytes, snapshot.bytes);
  }
  const used = diskBytes(join(directory, "default"));
  await frontier.close();
  const { seconds: openSeconds } = await reopened(options);
  const whole = await openFrontier(options);
  await wholeSnapshot(whole);
  await whole.close();
  const { seconds: openWholeSeconds, pending } = await reopened(options);
  return {
    pending,
    times: { snapshot: spent / rounds },
    facts: {
      "whole snapshots": wholes,
      "bytes of a partial one at most / a whole one": partialBytes / base,
      "bytes on average / a whole one": bytes / rounds / base,
      "bytes on disk / a whole one": used / base,
      "seconds to open": openSeconds,
      "seconds to open a whole one": openWholeSeconds,
    },
  };
}

/** Visits some and pushes as many new ones. */
async function change(frontier: Frontier, from: number, count: number): Promise<void> {
  for (let at = 0; at < count; at += CALL) {
    const calls = Math.min(CALL, count - at);
    frontier.done(frontier.pollMany(calls));
    frontier.pushMany(urlChunk(from + at, calls, SHAPE));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Opens some times; the shortest counts: the first one still waits for what was written before. */
async function reopened(options: object): Promise<{ seconds: number; pending: number }> {
  let [seconds, left] = [Number.POSITIVE_INFINITY, 0];
  for (let time = 0; time < OPENINGS; time++) {
    const from = nowNs();
    const frontier = await openFrontier(options);
    seconds = Math.min(seconds, (nowNs() - from) / 1e9);
    left = frontier.report().pending;
    await frontier.close();
  }
  return { seconds, pending: left };
}

/** Bytes of journal and snapshots. */
function diskBytes(directory: string): number {
  return readdirSync(directory)
    .filter((name) => /\.(log|msgpack)$/.test(name))
    .reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
}
