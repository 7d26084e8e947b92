/**
 * The drives that the cases of this suite share: fill a queue, push, drain, with the clock on nothing else.
 *
 *   URLs of 50,000 (made outside the clock) ─▶ calls of 1,000 ─▶ each call's latency
 *   drain: calls of DRAIN leases, finished at once; polite queues get a millisecond of virtual time between two calls
 */
import { nowNs } from "../../harness/case.ts";
import type { CallLog } from "../../harness/call-log.ts";
import { openWarm } from "../../harness/open-warm.ts";
import { type TextSum, type UrlShape, urlChunk } from "../../harness/urls.ts";
import { openCrawlee } from "../../peers/crawlee/queue.ts";
import { openOutrider } from "../../peers/outrider/queue.ts";
import { openPlain } from "../../peers/plain/queue.ts";
import type { Queue } from "../../peers/queue.ts";

export const CALL = 1_000;
/** Leases a millisecond in polite drives; hosts come back after a 64th of their number of milliseconds. */
const POLITE_CALL = 32;
const CHUNK = 50_000;
/** Milliseconds without a lease after which a polite queue is taken for stuck. */
const EMPTY_MS_MAX = 1_000_000;

/** A delay under which hosts never run out, and none is due twice in a row. */
export function delayFor(hosts: number): number {
  return Math.max(1, Math.floor(hosts / 64));
}

export async function openQueue(side: string, delayMs: number): Promise<Queue> {
  if (side === "crawlee") return openCrawlee();
  return side === "plain" ? openPlain({ delayMs }) : openOutrider({ delayMs });
}

/** Most URLs of a warm-up: what compilers want to see. */
const WARM_MAX = 20_000;
/** Lets compilers do their work on a queue that is thrown away; `size` is that of the run to come. */
export async function warmUp(queue: Queue, delayMs: number, size: number): Promise<Queue> {
  const count = Math.min(WARM_MAX, Math.ceil(size / 2));
  const isPolite = delayMs > 0;
  const drive = {
    start: 1_500_000_000,
    count,
    shape: { hosts: 64 * Math.max(1, delayMs), isUniform: true },
  };
  await pushAll(queue, drive);
  await drainAll(queue, { count, isPolite });
  if (isPolite) return queue;
  await pushSingly(queue, { ...drive, start: drive.start + count });
  await drainSingly(queue, { count, isPolite });
  return queue;
}

/** A queue to be measured, after others of its kind. */
export function openWarmQueue(side: string, delayMs: number, size: number): Promise<Queue> {
  const open = (): Promise<Queue> => openQueue(side, delayMs);
  return openWarm(async () => warmUp(await open(), delayMs, size), open);
}

export interface PushDrive {
  readonly start: number;
  readonly count: number;
  readonly shape: UrlShape;
  /** Latency of each call of 1,000. */
  readonly calls?: CallLog;
}

/** Pushes `count` URLs from an index on; nanoseconds spent and how many were accepted. */
export async function pushAll(
  queue: Queue,
  drive: PushDrive,
): Promise<{ spent: number; accepted: number }> {
  const { start, count, shape, calls } = drive;
  let spent = 0;
  let accepted = 0;
  for (let done = 0; done < count; done += CHUNK) {
    const urls = urlChunk(start + done, Math.min(CHUNK, count - done), shape);
    for (let from = 0; from < urls.length; from += CALL) {
      const list = urls.slice(from, from + CALL);
      const at = calls === undefined ? nowNs() : calls.begin();
      const answer = queue.push(list);
      accepted += typeof answer === "number" ? answer : await answer;
      spent += calls === undefined ? nowNs() - at : calls.end(at);
    }
  }
  return { spent, accepted };
}

/** Pushes URLs one at a time; nanoseconds spent. */
export async function pushSingly(queue: Queue, drive: PushDrive): Promise<number> {
  const urls = urlChunk(drive.start, drive.count, drive.shape);
  const start = nowNs();
  for (const url of urls) {
    const answer = queue.pushOne(url);
    if (typeof answer !== "number") await answer;
  }
  return nowNs() - start;
}

export interface DrainDrive {
  /** How many to take; fewer come out only when the queue is empty. */
  readonly count: number;
  readonly isPolite: boolean;
  readonly sum?: TextSum;
}

/** Drains `count` URLs; nanoseconds spent in calls and how many came. */
export async function drainAll(
  queue: Queue,
  { count, isPolite, sum }: DrainDrive,
): Promise<{ spent: number; taken: number }> {
  let spent = 0;
  let taken = 0;
  let emptyMs = 0;
  while (taken < count) {
    const max = Math.min(isPolite ? POLITE_CALL : CALL, count - taken);
    const at = nowNs();
    const answer = queue.drain(max);
    const urls = Array.isArray(answer) ? answer : await answer;
    spent += nowNs() - at;
    taken += urls.length;
    if (sum !== undefined) for (const url of urls) sum.add(url);
    emptyMs = urls.length === 0 ? emptyMs + 1 : 0;
    if (!isPolite && urls.length === 0) break;
    if (emptyMs > EMPTY_MS_MAX) throw new Error("drain: nothing came out of a polite queue");
    if (isPolite) queue.advance(1);
  }
  return { spent, taken };
}

/** Drains one at a time; nanoseconds spent. */
export async function drainSingly(queue: Queue, drive: DrainDrive): Promise<number> {
  const urls: string[] = [];
  const start = nowNs();
  while (urls.length < drive.count) {
    const answer = queue.drainOne();
    const url = answer instanceof Promise ? await answer : answer;
    if (url === undefined) break;
    urls.push(url);
  }
  const spent = nowNs() - start;
  for (const url of urls) drive.sum?.add(url);
  return spent;
}
