/** A frontier in a directory of its own for a benchmark, filled in calls of 1,000; the directory goes with the job. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Frontier, SnapshotInfo } from "../../../src/index.ts";
import { createCallLog } from "../../harness/call-log.ts";
import { nowNs } from "../../harness/case.ts";
import { urlChunk, type UrlShape } from "../../harness/urls.ts";

/** URLs of one push. */
const CALL = 1_000;
const CHUNK = 50_000;

/** A directory to be removed. */
export function temporary(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "bench-durability-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Pushes numbered URLs and lets the loop turn between calls; nanoseconds of the pushes and turns alone. */
export async function fill(frontier: Frontier, count: number, shape: UrlShape): Promise<number> {
  let spent = 0;
  for (let start = 0; start < count; start += CHUNK) {
    const urls = urlChunk(start, Math.min(CHUNK, count - start), shape);
    const from = nowNs();
    for (let at = 0; at < urls.length; at += CALL) {
      frontier.pushMany(urls.slice(at, at + CALL));
      await new Promise((resolve) => setImmediate(resolve));
    }
    spent += nowNs() - from;
  }
  return spent;
}

/** A snapshot of everything. Versions before the option write no other, and refuse it: HEAD's cases are run with them too. */
export function wholeSnapshot(frontier: Frontier): Promise<SnapshotInfo> {
  return frontier.snapshot({ whole: true }).catch(() => frontier.snapshot());
}

export interface Holds {
  /** The longest turn of the event loop by the clock on the wall. */
  readonly wallMs: number;
  /** The longest one after its collections and its waits for a core are taken off. */
  readonly ownMs: number;
  readonly collectionMs: number;
  readonly waitMs: number;
}

/** How long the event loop's turns are while something is awaited. */
export async function holdsDuring(work: Promise<unknown>): Promise<Holds> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  const turns = createCallLog();
  while (!isOver) {
    const from = turns.begin();
    await new Promise((resolve) => setImmediate(resolve));
    turns.end(from);
  }
  await over;
  const { percentiles, facts } = await turns.stop();
  const withoutCollections = facts["longest call without GC ms"] as number;
  return {
    wallMs: percentiles.max / 1e6,
    ownMs: facts["longest call without GC and waits ms"] ?? withoutCollections,
    collectionMs: facts["longest GC ms"] as number,
    waitMs: facts["longest wait for a core ms"] ?? 0,
  };
}
