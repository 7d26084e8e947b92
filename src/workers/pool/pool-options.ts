/** Options of a pool: checked at once, defaults filled in. */
import { availableParallelism } from "node:os";
import { pathToFileURL } from "node:url";
import { bare } from "../../base/argument-checks.ts";
import { kind, shape, whole } from "../../base/fields.ts";
import { SHARED_SEATS } from "../../layout/threads/worker-seats.ts";

/** The interface to a frontier that a pool needs. Every `Frontier` has it. */
export interface SharedFrontier {
  /** As `Frontier.share`. */
  share(): unknown;
}

/**
 * Memory limits of a thread, as Node's `Worker` takes them.
 *
 * @example
 * new WorkerPool({ frontier, handler: new URL("./visit.mjs", import.meta.url), resourceLimits: { maxOldGenerationSizeMb: 256 } });
 */
export interface ResourceLimits {
  /**
   * Heap of long-lived objects in MB.
   * @defaultValue Node's
   */
  maxOldGenerationSizeMb?: number | undefined;
  /**
   * Heap of new objects in MB.
   * @defaultValue Node's
   */
  maxYoungGenerationSizeMb?: number | undefined;
  /**
   * Memory of compiled code in MB.
   * @defaultValue Node's
   */
  codeRangeSizeMb?: number | undefined;
  /**
   * Stack in MB.
   * @defaultValue Node's
   */
  stackSizeMb?: number | undefined;
}

/**
 * Options of a pool. A wrong or unknown one throws `OPTION_INVALID`.
 *
 * @example
 * const pool = new WorkerPool({
 *   frontier,
 *   handler: new URL("./visit.mjs", import.meta.url),
 *   threads: 2,
 *   concurrency: 32, // visits at once in each thread
 * });
 * await pool.run(); // until nothing is pending
 */
export interface WorkerPoolOptions {
  /** The frontier to work on, opened on this thread. */
  frontier: SharedFrontier;
  /** URL or path of the handler module. Its default export visits; `handler` of a request names another export. */
  handler: URL | string;
  /**
   * Worker threads.
   * @defaultValue one less than there are cores, at least 1
   */
  threads?: number | undefined;
  /**
   * Handlers at work at one time in each thread.
   * @defaultValue 16
   */
  concurrency?: number | undefined;
  /**
   * Slow start: visits under way grow evenly from one to `threads` × `concurrency` over this time in milliseconds,
   * in each run.
   * @defaultValue none
   */
  rampMs?: number | undefined;
  /**
   * Longest time of a handler in milliseconds; then its signal is aborted and its lease retried.
   * @defaultValue until the lease ends
   */
  timeoutMs?: number | undefined;
  /**
   * Leases after which a thread is replaced by a new one, for handlers that leak.
   * @defaultValue never
   */
  recycleAfter?: number | undefined;
  /**
   * Memory limits of each thread; one that exceeds them dies and is replaced.
   * @defaultValue Node's
   */
  resourceLimits?: ResourceLimits | undefined;
  /**
   * Passed to every thread as `workerData`.
   * @defaultValue none
   */
  workerData?: unknown;
}

export interface PoolSettings extends Readonly<WorkerPoolOptions> {
  readonly handler: string;
  readonly threads: number;
  readonly concurrency: number;
}

const CONCURRENCY = 16;
const CONCURRENCY_MAX = 65_536;
const TIMER_MS_MAX = 2 ** 31 - 1;
const MEGABYTES = kind<number>(
  "a number above 0",
  (value) => Number.isFinite(value) && (value as number) > 0,
);

/** Otherwise no thread could start. */
function isCloneable(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}

const readOptions = shape<WorkerPoolOptions>(
  {
    frontier: bare(
      "frontier",
      kind("what openFrontier() returned", (value) => {
        return typeof (value as SharedFrontier | null)?.share === "function";
      }),
    ),
    handler: bare(
      "handler",
      kind("the URL or path of a module", (value) => {
        return value instanceof URL || (typeof value === "string" && value !== "");
      }),
    ),
    threads: bare("threads", whole(1, SHARED_SEATS)),
    concurrency: bare("concurrency", whole(1, CONCURRENCY_MAX)),
    rampMs: bare("rampMs", whole(1, TIMER_MS_MAX)),
    timeoutMs: bare("timeoutMs", whole(1, TIMER_MS_MAX)),
    recycleAfter: bare("recycleAfter", whole(1)),
    resourceLimits: bare(
      "resourceLimits",
      shape<ResourceLimits>({
        maxOldGenerationSizeMb: MEGABYTES,
        maxYoungGenerationSizeMb: MEGABYTES,
        codeRangeSizeMb: MEGABYTES,
        stackSizeMb: MEGABYTES,
      }),
    ),
    workerData: bare("workerData", kind("what structured clone can carry", isCloneable)),
  },
  { needed: ["frontier", "handler"] },
);

export function readPoolOptions(given: WorkerPoolOptions): PoolSettings {
  const options = readOptions(given, "options", "OPTION_INVALID");
  return {
    ...options,
    handler: handlerOf(options.handler),
    threads: options.threads ?? Math.max(1, availableParallelism() - 1),
    concurrency: options.concurrency ?? CONCURRENCY,
  };
}

function handlerOf(given: URL | string): string {
  if (given instanceof URL) return given.href;
  return /^(file|data):/.test(given) ? given : pathToFileURL(given).href;
}
