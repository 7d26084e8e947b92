/**
 * DeadWorkers: what is left of threads that have ended: unread results, copied out of the ring before the seat was cleared, and the
 * leases they held.
 *
 *   add ─▶ settle, some work a round: last words in their order ─▶ leases given back ─▶ settled
 *             └ the disk is full: the same again later
 *
 *   I1  A seat's last words are applied before its leases are given back: a result that was published counts.
 *   I2  A lease that had begun has lost an attempt; one that had not, or whose thread has left by itself, goes back as it came.
 */
import type { ResultDrain } from "./drain-results.ts";
import { isFull } from "./apply-result.ts";
import { RESULT_WORK } from "./drain-results.ts";
import type { OwnedLease } from "./owner-port.ts";
import type { Entry, Seat } from "./worker-seat.ts";

/** Why a thread is gone that has left by itself. */
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

  /** Leases that are to go back as they came. */
  *unbegun(): Generator<OwnedLease, void, undefined> {
    for (const { seat, reason } of this.#list) {
      for (const entry of seat.entries.values()) {
        if (!isAttempt(seat, entry, reason)) yield entry.lease;
      }
    }
  }

  /** Takes over what a seat has said and holds. Resolves when that is settled, or can not be now for want of disk. */
  add(seat: Seat, reason: string): Promise<void> {
    this.#results.copyUnread(seat);
    seat.noteBegun();
    return new Promise((settled) => {
      this.#list.push({ seat, reason, settled });
    });
  }

  /** Settles up to `most` work, the last of it included; what is left of that, or undefined: the disk is full. */
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

  /** Nothing more is settled: the frontier takes its leases back itself. */
  close(): void {
    for (const { settled } of this.#list.splice(0)) settled();
  }

  #settleOne({ seat, reason }: DeadWorker, most: number): number | undefined {
    const { isBlocked, isMore, work: said } = this.#results.takeLast(seat, most);
    if (isBlocked) return undefined;
    let work = said;
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

/** Whether a thread that is gone has lost an attempt of a lease (I2). */
function isAttempt(seat: Seat, entry: Entry, reason: string): boolean {
  return seat.hasBegun(entry) && reason !== LEFT;
}
