/**
 * DeadWorkers: cleans up after threads that have ended: their unread results, copied out of the ring before the seat was cleared, and
 * their leases.
 *
 *   add ─▶ settle, some work a round: last results in their order ─▶ leases returned ─▶ settled
 *             └ the disk is full: the same again later
 *
 *   I1  A seat's last results are applied before its leases are returned: a published result counts.
 *   I2  A lease that had begun has lost an attempt. One that had not, or whose thread left by itself, returns unchanged. Where the words
 *       that count those were written over, the best one left counts as begun.
 */
import { type ResultDrain, RESULT_WORK } from "./drain-results.ts";
import { isFull } from "./apply-result.ts";
import type { OwnedLease } from "./owner-port.ts";
import type { Entry, Seat } from "./worker-seat.ts";

/** The reason for a thread that left by itself. */
export const LEFT = "left";

interface DeadWorker {
  readonly seat: Seat;
  readonly reason: string;
  readonly settled: () => void;
}

export class DeadWorkers {
  readonly #results: ResultDrain;
  readonly #list: DeadWorker[] = [];

  constructor(results: ResultDrain) {
    this.#results = results;
  }

  get isEmpty(): boolean {
    return this.#list.length === 0;
  }

  /** Leases that return unchanged. */
  *unbegun(): Generator<OwnedLease, void, undefined> {
    for (const { seat, reason } of this.#list) {
      for (const entry of seat.entries.values()) {
        if (!isAttempt(seat, entry, reason)) yield entry.lease;
      }
    }
  }

  /** Takes over a seat's unread results and leases. Resolves when they are settled, or cannot be for want of disk. */
  add(seat: Seat, reason: string): Promise<void> {
    this.#results.copyUnread(seat);
    seat.noteBegun();
    return new Promise((settled) => {
      this.#list.push({ seat, reason, settled });
    });
  }

  /** Settles up to `most` work, of which the last item may exceed it. Returns the work left over, or undefined when the disk is full. */
  settle(most: number): number | undefined {
    let left = most;
    for (let grave = this.#list[0]; grave !== undefined && left > 0; grave = this.#list[0]) {
      const work = this.#settleOne(grave, left);
      if (work === undefined) {
        for (const { settled } of this.#list) settled();
        return undefined;
      }
      left -= work;
      const { held, entries } = grave.seat;
      if (held.length > 0 || entries.size > 0) break;
      this.#list.shift();
      grave.settled();
    }
    return left;
  }

  /** Settles nothing more: the frontier takes its leases back itself. */
  close(): void {
    for (const { settled } of this.#list.splice(0)) settled();
  }

  #settleOne({ seat, reason }: DeadWorker, most: number): number | undefined {
    const { isBlocked, isMore, work: taken } = this.#results.takeLast(seat, most);
    if (isBlocked) return undefined;
    let work = taken;
    if (!isMore) seat.blameBest();
    for (const entry of isMore ? [] : seat.entries.inOrder()) {
      if (work >= most) break;
      try {
        giveBack(seat, entry, reason);
      } catch (cause) {
        if (isFull(cause)) return undefined;
        throw cause;
      }
      seat.entries.delete(entry.id);
      work += RESULT_WORK;
    }
    return work;
  }
}

function giveBack(seat: Seat, entry: Entry, reason: string): void {
  if (isAttempt(seat, entry, reason)) {
    const options = { delayMs: 0, reason: `worker: ${reason}` };
    entry.lease.retry(options as never);
  } else entry.lease.release();
}

/** Whether a dead thread's lease has lost an attempt (I2). */
function isAttempt(seat: Seat, entry: Entry, reason: string): boolean {
  return seat.hasBegun(entry) && reason !== LEFT;
}
