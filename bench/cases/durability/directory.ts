/** A frontier in a directory of its own for a benchmark, filled in calls of 1,000; the directory goes with the job. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Frontier } from "../../../src/index.ts";
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

/** The longest time between two turns of the event loop while something is awaited, milliseconds. */
export async function longestHold(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  let longest = 0;
  for (let last = nowNs(); !isOver; ) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = nowNs();
    longest = Math.max(longest, now - last);
    last = now;
  }
  await over;
  return longest / 1e6;
}
