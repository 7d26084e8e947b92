/**
 * One observation of a peer: a driver in a process of its own, and what it lost or handed out twice.
 *
 *   lost      different URLs of the workload that never came out
 *   doubled   URLs that came out again; after a kill also those that were said to be done before it
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CHILD_FLAGS } from "../../harness/child.ts";
import { type Params, numberOf } from "../../harness/case.ts";
import { type Answer, type Mode, startDriver } from "../../peers/driver.ts";
import { peerOf } from "../../peers/index.ts";
import type { Peer } from "../../peers/peer.ts";
import { readWorkload, type WorkloadReader } from "../../workload/format.ts";
import type { Recipe } from "../../workload/generate.ts";
import { workloadFile } from "../../workload/store.ts";

const CHILD = fileURLToPath(new URL("../../peers/child.js", import.meta.url));
const CALL = 10_000;

export interface Course {
  readonly answer: Answer;
  readonly polled: readonly string[];
}

export interface Ground {
  readonly workload: string;
  /** All different URLs. */
  readonly wanted: ReadonlySet<string>;
  course(mode: Mode): Promise<Course>;
  close(): void;
}

/** Crawl-shaped, 70 to 80 % duplicates; where hosts are said, different URLs evenly over them. */
function recipeOf(params: Params): Recipe {
  const urls = numberOf(params, "urls");
  if (params.hosts !== undefined)
    return { kind: "uniform", urls, hosts: numberOf(params, "hosts") };
  return { kind: "crawl", urls, hosts: Math.ceil(urls / 200), menu: 8 };
}

export function openGround(name: string, params: Params): Ground {
  const peer = peerOf(name);
  const workload = workloadFile(recipeOf(params));
  const folder = mkdtempSync(join(tmpdir(), "bench-peer-"));
  return {
    workload,
    wanted: urlsOf(readWorkload(workload)),
    async course(mode) {
      const polledFile = join(folder, `${mode}.txt`);
      const directory = join(folder, "kept");
      const answer = await startDriver(commandOf(peer), { mode, workload, polledFile, directory });
      const polled = readFileSync(polledFile, "latin1").split("\n").slice(0, -1);
      return { answer, polled };
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function commandOf(peer: Peer): readonly string[] {
  return peer.command?.() ?? [process.execPath, ...CHILD_FLAGS, CHILD, peer.name];
}

function urlsOf(reader: WorkloadReader): Set<string> {
  const wanted = new Set<string>();
  for (let urls = reader.next(CALL); urls.length > 0; urls = reader.next(CALL))
    for (const url of urls) wanted.add(url);
  reader.close();
  return wanted;
}

/** What came out of `polled` against what should have. */
export function tally(
  wanted: ReadonlySet<string>,
  polled: readonly string[],
): { lost: number; doubled: number; foreign: number } {
  const out = new Set(polled);
  let foreign = 0;
  for (const url of out) if (!wanted.has(url)) foreign++;
  const came = out.size - foreign;
  return { lost: wanted.size - came, doubled: polled.length - out.size, foreign };
}

/** What both cases say of a run besides its times. */
export function factsOf(answer: Answer, distinct: number): Record<string, number> {
  return {
    "distinct URLs": distinct,
    "peak RSS MB": answer.peakBytes / 1e6,
    "resident bytes/URL": (answer.fullBytes - answer.restBytes) / Math.max(1, answer.accepted),
    "longest push call ms": answer.longestCallNs / 1e6,
    ...(answer.longestGcNs === undefined ? {} : { "longest GC ms": answer.longestGcNs / 1e6 }),
  };
}

/** Below so many URLs only what needs nothing installed is started: it is shown that the steps run. */
const URLS_MIN = 1_000;
const ALWAYS = ["outrider", "outrider-sync", "outrider-hosts", "plain"];

/** Whether a side is a program of others, whose failures are its own. */
export function isGuest(name: string): boolean {
  return name !== "plain" && !name.startsWith("outrider");
}

/** Why a peer is left out of a run. */
export function peerMissing(name: string, params: Params, isDurable: boolean): string | undefined {
  const peer = peerOf(name);
  const urls = numberOf(params, "urls");
  if (isDurable && !peer.isDurable) return "keeps nothing on disk by itself";
  if (urls < URLS_MIN && !ALWAYS.includes(name)) return "too few URLs to start it for";
  const most = isDurable ? (peer.durableUrlsMax ?? peer.urlsMax) : peer.urlsMax;
  return peer.missing() ?? (urls > most ? "minutes a round" : undefined);
}
