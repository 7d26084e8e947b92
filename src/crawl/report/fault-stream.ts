/**
 * The error stream of a crawl: typed by the stage that failed, bounded; it never delays the crawl.
 *
 *   fault ─▶ listeners, at once ─▶ each open stream's ring of FAULT_COUNT_MAX: the oldest is dropped and counted
 *
 *   I1  Reporting a fault never waits, and a listener that throws stops nothing.
 *   I2  Every stream receives every fault that it does not drop; two streams do not share.
 */

/** The stage that failed. */
export type CrawlStage = "downloader" | "analyzer" | "pipeline" | "scheduler";

/** One thing that went wrong in a crawl. It never stops the crawl. */
export interface CrawlFault {
  /** The stage that failed. */
  readonly type: CrawlStage;
  /** Text of the form `crawler error: <type>: <what>`. */
  readonly message: string;
  /** The URL that it was about. */
  readonly url?: string;
  /** Name of the module that failed. */
  readonly module?: string;
  /** The error that was thrown. */
  readonly cause?: unknown;
}

/** Faults from now on, in order. It holds a thousand for a slow reader and ends with the crawl. */
export interface FaultStream extends AsyncIterable<CrawlFault> {
  /** Faults that were dropped because they were read too slowly. */
  readonly dropped: number;
}

export type FaultHub = ReturnType<typeof createFaultHub>;

/** Faults that a stream holds for a slow reader. */
const FAULT_COUNT_MAX = 1_000;

export function createFaultHub(onFault: (fault: CrawlFault) => void) {
  const counts: Record<CrawlStage, number> = {
    downloader: 0,
    analyzer: 0,
    pipeline: 0,
    scheduler: 0,
  };
  const streams = new Set<Stream>();
  let isClosed = false;
  let dropped = 0;
  return {
    counts,
    get dropped(): number {
      return dropped;
    },
    report({ what, ...rest }: Omit<CrawlFault, "message"> & { what: string }): void {
      counts[rest.type]++;
      const fault: CrawlFault = { ...rest, message: `crawler error: ${rest.type}: ${what}` };
      for (const stream of streams) dropped += Number(stream.take(fault));
      onFault(fault);
    },
    open(): FaultStream {
      const stream = createStream(() => streams.delete(stream));
      if (isClosed) stream.end();
      else streams.add(stream);
      return stream;
    },
    /** Ends every stream, after the faults that it still holds. */
    close(): void {
      isClosed = true;
      for (const stream of streams) stream.end();
      streams.clear();
    },
  };
}

interface Stream extends FaultStream {
  /** Whether an older fault was dropped for this one. */
  take(fault: CrawlFault): boolean;
  end(): void;
}

function createStream(leave: () => void): Stream {
  const held: CrawlFault[] = [];
  let wake: (() => void) | undefined;
  let isEnded = false;
  let dropped = 0;
  return {
    get dropped() {
      return dropped;
    },
    take(fault) {
      held.push(fault);
      const isDropping = held.length > FAULT_COUNT_MAX;
      if (isDropping) {
        held.shift();
        dropped++;
      }
      wake?.();
      return isDropping;
    },
    end() {
      isEnded = true;
      wake?.();
    },
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          const fault = held.shift();
          if (fault !== undefined) yield fault;
          else if (isEnded) return;
          else {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
            wake = undefined;
          }
        }
      } finally {
        leave();
      }
    },
  };
}
