/**
 * stores: what a URL costs on its way to disk and back, against stores that know no more than to keep it.
 *
 *   push n different URLs, 1,000 a call ─▶ durable ─▶ closed ─▶ opened again ─▶ all taken out, 1,000 a call, in order
 *          times: push                                          times: back (opening included)
 *
 *   pair               durable                          peer
 *   outrider-sync      when each call returns           lmdb: a transaction a call
 *                                                       redis: RPUSH, pipelined, appendfsync always
 *   outrider           100 ms later, or by flush        redis-everysec: a second later
 *   outrider-none      when the system likes            queuelib: the disk queue under Scrapy's JOBDIR
 *
 * The peers find no duplicates, make no canonical form, lease nothing. Checksum: every URL in the order in which it came back.
 *
 * Estimate, microseconds a URL: outrider 0.8 and 1.5, sync 1.3; lmdb 4 (a sync of 4 ms a call) and 2; redis 4 (parse and reply of a
 * command each) and 1, everysec 2.5; queuelib 6 and 5 (a system call or two each).
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FrontierOptions, openFrontier } from "../../../src/index.ts";
import {
  type BenchCase,
  type Job,
  type Measured,
  nowNs,
  numberOf,
  type Params,
  warmSize,
} from "../../harness/case.ts";
import { ROOT } from "../../harness/machine.ts";
import { createTextSum, type TextSum, urlChunk } from "../../harness/urls.ts";
import { packageMissing } from "../../peers/installed.ts";
import { pythonOf } from "../../peers/python.ts";
import { openLmdbList } from "../../peers/stores/lmdb.ts";
import { openRedis, redisMissing } from "../../peers/stores/redis.ts";
import { temporary } from "./directory.ts";

const CALL = 1_000;
const SHAPE = { hosts: 10_000, isUniform: true };
const MODES: Record<string, FrontierOptions["durability"]> = {
  outrider: { everyMs: 100 },
  "outrider-sync": "sync",
  "outrider-none": "none",
};

interface Store {
  push(urls: readonly string[]): unknown;
  /** The next ones, and they are gone. */
  take(max: number): string[] | Promise<string[]>;
  /** What was pushed is as durable as this side makes it. */
  settle?(): Promise<void>;
  close(): Promise<void>;
}

export const storesCase: BenchCase = {
  name: "stores",
  suite: "durability",
  about: "URLs to disk and back, against lmdb, Redis and the disk queue under Scrapy's JOBDIR",
  question: "What does a URL on disk cost, beside a store that only keeps it?",
  unit: "URL",
  process: "fresh",
  pairs: [
    ["outrider-sync", "lmdb"],
    ["outrider-sync", "redis"],
    ["outrider", "redis-everysec"],
    ["outrider-none", "queuelib"],
  ],
  sizes: {
    smoke: [{ urls: 2_000 }],
    real: [{ urls: 100_000 }, { urls: 1_000_000 }],
    suite: [{ urls: 100_000 }],
  },
  rounds: 3,
  setup,
  isGuest: (side) => !side.startsWith("outrider"),
  missing: (side) => {
    if (side === "lmdb") return packageMissing("lmdb");
    if (side.startsWith("redis")) return redisMissing();
    if (side !== "queuelib" || pythonOf("queuelib") !== undefined) return undefined;
    return "no Python with queuelib (BENCH_PYTHON)";
  },
};

async function setup(side: string, params: Params): Promise<Job> {
  const total = numberOf(params, "urls");
  const warm = side === "queuelib" ? 0 : warmSize(total);
  if (warm > 0) await measure(side, { from: 1_500_000_000, total: warm }, createTextSum());
  const sum = createTextSum();
  return { run: () => measure(side, { from: 0, total }, sum), checksum: () => sum.value() };
}

interface Span {
  readonly from: number;
  readonly total: number;
}

async function measure(side: string, span: Span, sum: TextSum): Promise<Measured> {
  const { path: directory, remove } = temporary();
  try {
    const run = side === "queuelib" ? byQueuelib : byStore;
    const { pushNs, backNs, bytes } = await run(side, { ...span, directory }, sum);
    const { total } = span;
    return {
      times: { push: pushNs / total, back: backNs / total },
      facts: { "bytes on disk/URL": bytes / total },
    };
  } finally {
    remove();
  }
}

type Run = { readonly pushNs: number; readonly backNs: number; readonly bytes: number };
type Task = Span & { readonly directory: string };

async function byStore(side: string, { directory, from, total }: Task, sum: TextSum): Promise<Run> {
  const store = await openStore(side, directory);
  let pushNs = 0;
  for (let start = 0; start < total; start += CALL) {
    const urls = urlChunk(from + start, Math.min(CALL, total - start), SHAPE);
    const at = nowNs();
    await store.push(urls);
    pushNs += nowNs() - at;
  }
  const settleAt = nowNs();
  await store.settle?.();
  pushNs += nowNs() - settleAt;
  await store.close();
  const bytes = sizeOf(directory);
  const openAt = nowNs();
  const again = await openStore(side, directory);
  let backNs = nowNs() - openAt;
  for (;;) {
    const at = nowNs();
    const urls = await again.take(CALL);
    backNs += nowNs() - at;
    if (urls.length === 0) break;
    for (const url of urls) sum.add(url);
  }
  await again.close();
  return { pushNs, backNs, bytes };
}

async function openStore(side: string, directory: string): Promise<Store> {
  if (side === "lmdb") return openLmdbList(directory);
  if (side.startsWith("redis")) {
    const { push, pop, close } = await openRedis(
      directory,
      side === "redis" ? "always" : "everysec",
    );
    return { push, take: pop, close };
  }
  const durability = MODES[side] as NonNullable<FrontierOptions["durability"]>;
  const snapshots = { everyBytes: 2 ** 40 };
  const frontier = await openFrontier({ directory, keepOpen: true, durability, snapshots });
  return {
    push: (urls) => frontier.pushMany(urls),
    take(max) {
      const leases = frontier.pollMany(max);
      const urls = leases.map(({ url }) => url);
      frontier.done(leases);
      return urls;
    },
    settle: () => (durability === "none" ? Promise.resolve() : frontier.flush()),
    close: () => frontier.close(),
  };
}

/** The same by a process of its own for each way; files carry the URLs, outside of its clock. */
async function byQueuelib(_: string, { directory, from, total }: Task, sum: TextSum): Promise<Run> {
  const given = join(directory, "given");
  const taken = join(directory, "taken");
  writeFileSync(given, "");
  for (let start = 0; start < total; start += CALL) {
    const urls = urlChunk(from + start, Math.min(CALL, total - start), SHAPE);
    writeFileSync(given, `${urls.join("\n")}\n`, { flag: "a" });
  }
  const pushNs = drive("push", directory, given);
  const bytes = sizeOf(join(directory, "queue"));
  const backNs = drive("back", directory, taken);
  for (const url of readFileSync(taken, "latin1").split("\n").slice(0, -1)) sum.add(url);
  return { pushNs, backNs, bytes };
}

function drive(mode: string, directory: string, file: string): number {
  const script = join(ROOT, "bench/peers/stores/drive_queuelib.py");
  const python = pythonOf("queuelib") as string;
  const { status, stdout } = spawnSync(python, [script, mode, directory, file], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`drive_queuelib.py ${mode} ended with ${status}`);
  return (JSON.parse(stdout) as { ns: number }).ns;
}

/** Bytes of all files in a directory, folders in it too. */
function sizeOf(directory: string): number {
  let bytes = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) bytes += sizeOf(path);
    else if (entry.isFile()) bytes += statSync(path).size;
  }
  return bytes;
}
