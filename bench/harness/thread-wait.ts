/**
 * How long the calling thread has stood in the run queue while it could have run, as the system counts it. Linux only;
 * elsewhere undefined. What a call loses there is the machine's. (The time that a thread ran is in the same file, but
 * is brought up to date by the timer's tick alone: 4 ms too coarse.)
 */
import { openSync, readSync } from "node:fs";
import { join, sep } from "node:path";

/** The kernel's word on the thread that opens it: time on a core, time waited, turns. */
export const THREAD_WAIT_FILE = join(sep, "proc", "thread-self", "schedstat");

/** A reader of the nanoseconds that this thread has waited since it began. Costs some 2 µs a call. */
export function openThreadWait(): (() => number) | undefined {
  let file: number;
  try {
    file = openSync(THREAD_WAIT_FILE, "r"); // this thread's from now on
  } catch {
    return undefined;
  }
  const room = Buffer.alloc(96);
  return () => {
    const size = readSync(file, room, 0, room.length, 0);
    return Number(room.latin1Slice(0, size).split(" ")[1]);
  };
}
