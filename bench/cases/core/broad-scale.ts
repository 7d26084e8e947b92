/**
 * broad-scale: a crawl of many hosts far beyond memory, pushed, visited, killed and opened again, at a size and at a part of it.
 *
 *   process 1   push all, in calls of 1,000 ─▶ visits with ten links each ─▶ flush ─▶ SIGKILL
 *   process 2   opened: the same counts? ─▶ pushed again, a sample: all known? ─▶ visits
 *   this one    times of both; the log of visits: was a host visited before its delay had passed?
 *
 * Memory is bounded by `MiB`, the seen-set's table by a quarter of it. Both sides do the same to each URL; the ratio shown is small / large, and 1
 * means that size costs nothing. The figures to look at are the facts: resident memory, what was lost, what came too early.
 *
 * Estimate, at 10⁸ URLs on 2·10⁷ hosts with 1 GiB: a push writes 60 bytes to the journal, twice that to snapshots and 100 to blocks of hosts: 4 µs. A
 * visit reads a block, writes one, and makes ten pushes to hosts that are mostly on disk: 100 µs. Resident: 1 GiB, 256 MiB, 20 bytes a host for its
 * index entry where half of the bound is not enough, 60 MB of Node: 1.5 GiB. Opening reads everything: 5 µs a URL, 500 s.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BenchCase, type Job, numberOf, type Params } from "../../harness/case.ts";
import type { BroadFacts, BroadLoad } from "./broad-scale-child.ts";

const CHILD = fileURLToPath(new URL("./broad-scale-child.js", import.meta.url));
const MIB = 2 ** 20;
const DELAY_MS = 1_000;
/** URLs from which on a run takes minutes. */
const LONG = 10_000_000;

export const broadScale: BenchCase = {
  name: "broad-scale",
  suite: "core",
  about: "a crawl of many hosts far beyond memory, killed and opened again, against a small one",
  question: "Does memory stay within its bound at 10⁸ URLs?",
  unit: "URL",
  process: "fresh",
  pairs: [["whole", "part"]],
  isSameWork: false,
  target: "10⁸ URLs: resident ≤ 1.6 GiB, nothing lost, nothing too early",
  sizes: {
    smoke: [{ hosts: 1_000, urls: 5_000, visits: 200, MiB: 1, part: 2 }],
    real: [{ hosts: 400_000, urls: 2_000_000, visits: 20_000, MiB: 32, part: 10 }],
    suite: [{ hosts: 100_000, urls: 500_000, visits: 5_000, MiB: 8, part: 5 }],
    large: [{ hosts: 20_000_000, urls: 100_000_000, visits: 2_000_000, MiB: 1_024, part: 100 }],
  },
  rounds: 1,
  setup,
};

function setup(side: string, params: Params): Job {
  const part = side === "part" ? numberOf(params, "part") : 1;
  const sized = (name: string): number => Math.ceil(numberOf(params, name) / part);
  const directory = mkdtempSync(join(tmpdir(), "bench-broad-scale-"));
  const bytes = sized("MiB") * MIB;
  const load = {
    ...{ directory, hosts: sized("hosts"), urls: sized("urls"), visits: sized("visits") },
    ...{ delayMs: DELAY_MS, memoryBytes: bytes, seenBytes: bytes / 4 },
  };
  let checked = "";
  return {
    run() {
      const first = play({ ...load, isSecond: false, nowMs: 1_700_000_000_000 });
      const second = play({ ...load, isSecond: true, nowMs: first.nowMs });
      const { early, visits } = tooEarly(join(directory, "visits.bin"));
      const lost = first.known - second.knownAtOpening + second.admittedAgain;
      checked = `${first.full} refused, ${lost} lost, ${early} too early`;
      return {
        times: {
          push: first.pushNs / load.urls,
          visit: first.visitNs / load.visits,
          open: second.openNs / second.knownAtOpening,
        },
        facts: {
          ...{ refused: first.full, lost, "too early": early, visits },
          "resident MB at most": Math.max(first.residentBytes, second.residentBytes) / 1e6,
          "resident MB at most, pushing": first.pushResidentBytes / 1e6,
          "resident MB at most, opened again": second.residentBytes / 1e6,
          "seconds to open": second.openNs / 1e9,
          "longest pushMany(1000), ms": first.longestMs,
          "longest pushMany(1000) without GC and waits, ms": first.longestOwnMs,
          snapshots: first.snapshots,
          "bytes on disk/URL": first.diskBytes / first.known,
        },
      };
    },
    checksum: () => checked,
    close: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** One process, from its start to its kill or its end. */
function play(load: BroadLoad): BroadFacts {
  const { stdout, stderr, status, signal } = spawnSync(
    process.execPath,
    [CHILD, JSON.stringify(load)],
    // What takes an hour shows how far it is.
    { encoding: "utf8", stdio: ["ignore", "pipe", load.urls < LONG ? "pipe" : "inherit"] },
  );
  if (load.isSecond ? status !== 0 : signal !== "SIGKILL")
    throw new Error(`broad-scale: ended with ${status ?? signal}: ${stderr}`);
  return JSON.parse(stdout) as BroadFacts;
}

/** Reads pairs of host and time, in the order of the visits. */
function tooEarly(path: string): { early: number; visits: number } {
  const bytes = readFileSync(path);
  const pairs = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length >> 3);
  const last = new Map<number, number>();
  let early = 0;
  for (let at = 0; at < pairs.length; at += 2) {
    const [host, atMs] = [pairs[at] as number, pairs[at + 1] as number];
    if (atMs - (last.get(host) ?? Number.NEGATIVE_INFINITY) < DELAY_MS) early++;
    last.set(host, atMs);
  }
  return { early, visits: pairs.length / 2 };
}
