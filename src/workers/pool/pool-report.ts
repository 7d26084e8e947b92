/** Reports of a pool and its workers, as plain data. */
import {
  SEAT_ACCEPTED_WORD,
  SEAT_CALLED_WORD,
  SEAT_COMPLETED_WORD,
  SEAT_DUPLICATE_WORD,
  SEAT_HANDLING_WORD,
  SEAT_REFUSED_WORD,
  SEAT_THREAD_WORD,
} from "../../layout/threads/worker-seats.ts";

/** Counters of one worker of a pool. */
export interface WorkerReport {
  /** Its number. */
  readonly worker: number;
  /** Id of its thread. */
  readonly thread: number;
  /** Leases taken. */
  readonly called: number;
  /** Leases whose handler was found. */
  readonly accepted: number;
  /** Handlers that returned. */
  readonly completed: number;
  /** Handlers at work. */
  readonly handling: number;
  /** Leases that it holds and has not settled. */
  readonly leased: number;
  /** Links that it dropped as duplicates. */
  readonly duplicate: number;
  /** Links that it refused: invalid URLs, too deep, or without a rule. */
  readonly dropped: number;
}

/** Counters of a pool. */
export interface PoolReport {
  /** Threads that it keeps. */
  readonly threads: number;
  /** Whether `run()` is in progress. */
  readonly isRunning: boolean;
  /** Threads that died and were replaced. */
  readonly restarts: number;
  /** Threads that were replaced by `recycleAfter`. */
  readonly recycled: number;
  /** Leases taken. */
  readonly called: number;
  /** Leases whose handler was found. */
  readonly accepted: number;
  /** Handlers that returned. */
  readonly completed: number;
  /** Handlers at work. */
  readonly handling: number;
  /** Links that workers dropped as duplicates. */
  readonly duplicate: number;
  /** Links that workers refused: invalid URLs, too deep, or without a rule. */
  readonly dropped: number;
  /** The same for each worker of the run; after the run, the final counters. */
  readonly workers: readonly WorkerReport[];
}

const COUNTERS = [
  SEAT_CALLED_WORD,
  SEAT_ACCEPTED_WORD,
  SEAT_COMPLETED_WORD,
  SEAT_HANDLING_WORD,
  SEAT_REFUSED_WORD,
  SEAT_DUPLICATE_WORD,
] as const;

/** The fields read of a seat: its own type would bring the kernel's types into the package's. */
interface CountedSeat {
  readonly index: number;
  readonly words: Int32Array;
  readonly entries: { readonly size: number };
}

type Sums = Pick<PoolReport, "called" | "accepted" | "completed" | "duplicate" | "dropped">;

/** Counters of threads that have ended. */
export class PastWork {
  readonly #sums: number[] = COUNTERS.map(() => 0);

  /** Final reports of the run's workers that have left; the last one of each seat. */
  readonly #left = new Map<number, WorkerReport>();

  /** A run begins. */
  begin(): void {
    this.#left.clear();
  }

  get workers(): readonly WorkerReport[] {
    return [...this.#left.values()].sort((a, b) => a.worker - b.worker);
  }

  /** Adds the counters of a seat that is about to be cleared. */
  add(seat: CountedSeat): void {
    const { words } = seat;
    this.#left.set(seat.index, { ...reportOf(seat), handling: 0, leased: 0 });
    COUNTERS.forEach((word, at) => {
      this.#sums[at] = (this.#sums[at] as number) + (words[word] as number);
    });
  }

  /** The sums, with those of the current workers. */
  with(workers: readonly WorkerReport[]): Sums {
    const sum = (field: keyof Sums, at: number): number =>
      workers.reduce((all, one) => all + one[field], this.#sums[at] as number);
    return {
      called: sum("called", 0),
      accepted: sum("accepted", 1),
      completed: sum("completed", 2),
      duplicate: sum("duplicate", 5),
      dropped: sum("dropped", 4) - (this.#sums[5] as number),
    };
  }
}

export function reportOf({ index, words, entries }: CountedSeat): WorkerReport {
  const [called = 0, accepted = 0, completed = 0, handling = 0, refused = 0, duplicate = 0] =
    COUNTERS.map((word) => words[word] as number);
  const thread = (words[SEAT_THREAD_WORD] as number) - 1;
  return {
    ...{ worker: index, thread, called, accepted, completed, handling },
    ...{ leased: entries.size, duplicate, dropped: refused - duplicate },
  };
}
