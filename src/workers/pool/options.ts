/** Options of a pool: checked at once, defaults filled in. */
import { availableParallelism } from "node:os";
import { pathToFileURL } from "node:url";
import { misuse } from "../../base/errors.ts";
import { CREW_SEATS } from "../../layout/crew.ts";

/** What a pool needs of its frontier. Every `Frontier` has it. */
export interface SharedFrontier {
  /** As `Frontier.share`. */
  share(): unknown;
}

/** Memory limits of a thread, as Node's `Worker` takes them. */
export interface ResourceLimits {
  /**
   * Heap of long-lived objects in MB.
   * @defaultValue Node's
   */
  maxOldGenerationSizeMb?: number;
  /**
   * Heap of new objects in MB.
   * @defaultValue Node's
   */
  maxYoungGenerationSizeMb?: number;
  /**
   * Memory of compiled code in MB.
   * @defaultValue Node's
   */
  codeRangeSizeMb?: number;
  /**
   * Stack in MB.
   * @defaultValue Node's
   */
  stackSizeMb?: number;
}

/** Options of a pool. A wrong or unknown one throws `OPTION_INVALID`. */
export interface WorkerPoolOptions {
  /** The frontier to work on, opened on this thread. */
  frontier: SharedFrontier;
  /** URL or path of the handler module. Its default export visits; `handler` of a request names another export. */
  handler: URL | string;
  /**
   * Worker threads.
   * @defaultValue one less than there are cores, at least 1
   */
  threads?: number;
  /**
   * Handlers at work at one time in each thread.
   * @defaultValue 16
   */
  concurrency?: number;
  /**
   * Slow start: visits under way grow evenly from one to `threads` × `concurrency` over this time in milliseconds,
   * in each run.
   * @defaultValue none
   */
  rampMs?: number;
  /**
   * Longest time of a handler in milliseconds; then its signal is aborted and its lease retried.
   * @defaultValue until the lease ends
   */
  timeoutMs?: number;
  /**
   * Leases after which a thread is replaced by a new one, for handlers that leak.
   * @defaultValue never
   */
  recycleAfter?: number;
  /**
   * Memory limits of each thread; one that exceeds them dies and is replaced.
   * @defaultValue Node's
   */
  resourceLimits?: ResourceLimits;
  /**
   * Passed to every thread as `workerData`.
   * @defaultValue none
   */
  workerData?: unknown;
}

export interface PoolSettings {
  readonly frontier: SharedFrontier;
  readonly handler: string;
  readonly threads: number;
  readonly concurrency: number;
  readonly rampMs: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly recycleAfter: number | undefined;
  readonly resourceLimits: ResourceLimits | undefined;
  readonly workerData: unknown;
}

const FIELDS = [
  "frontier",
  "handler",
  "threads",
  "concurrency",
  "rampMs",
  "timeoutMs",
  "recycleAfter",
  "resourceLimits",
  "workerData",
];
const CONCURRENCY = 16;
const CONCURRENCY_MAX = 65_536;

export function readPoolOptions(given: WorkerPoolOptions): PoolSettings {
  if (typeof given !== "object" || given === null) {
    throw misuse("OPTION_INVALID", "options", given, "an object");
  }
  for (const field of Object.keys(given)) {
    if (FIELDS.includes(field)) continue;
    throw misuse("OPTION_INVALID", `options.${field}`, "given", `one of ${FIELDS.join(", ")}`);
  }
  const { frontier, resourceLimits, workerData } = given;
  if (typeof frontier?.share !== "function") {
    throw misuse("OPTION_INVALID", "frontier", frontier, "what openFrontier gave");
  }
  const threads = given.threads ?? Math.max(1, availableParallelism() - 1);
  const { concurrency = CONCURRENCY, rampMs, timeoutMs, recycleAfter } = given;
  return {
    frontier,
    handler: handlerOf(given.handler),
    threads: countOf("threads", threads, CREW_SEATS),
    concurrency: countOf("concurrency", concurrency, CONCURRENCY_MAX),
    rampMs: rampMs === undefined ? undefined : countOf("rampMs", rampMs, 2 ** 31 - 1),
    timeoutMs: timeoutMs === undefined ? undefined : countOf("timeoutMs", timeoutMs, 2 ** 31 - 1),
    recycleAfter:
      recycleAfter === undefined
        ? undefined
        : countOf("recycleAfter", recycleAfter, Number.MAX_SAFE_INTEGER),
    resourceLimits: limitsOf(resourceLimits),
    workerData,
  };
}

const LIMITS = [
  "maxOldGenerationSizeMb",
  "maxYoungGenerationSizeMb",
  "codeRangeSizeMb",
  "stackSizeMb",
] as const;

function limitsOf(given: ResourceLimits | undefined): ResourceLimits | undefined {
  if (given === undefined) return undefined;
  const name = "resourceLimits";
  if (typeof given !== "object" || given === null) {
    throw misuse("OPTION_INVALID", name, given, "an object");
  }
  for (const [field, value] of Object.entries(given)) {
    const isKnown = (LIMITS as readonly string[]).includes(field);
    const isLimit = typeof value === "number" && Number.isFinite(value) && value > 0;
    if (isKnown && (value === undefined || isLimit)) continue;
    const expected = isKnown ? "a number of more than 0" : `one of ${LIMITS.join(", ")}`;
    throw misuse("OPTION_INVALID", `${name}.${field}`, value, expected);
  }
  return given;
}

function handlerOf(given: unknown): string {
  if (given instanceof URL) return given.href;
  if (typeof given === "string" && given !== "") {
    return /^(file|data):/.test(given) ? given : pathToFileURL(given).href;
  }
  throw misuse("OPTION_INVALID", "handler", given, "the URL or path of a module");
}

function countOf(name: string, value: unknown, most: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most) {
    return value as number;
  }
  throw misuse("OPTION_INVALID", name, value, `a whole number of 1 to ${most}`);
}
