/** Options of `openFrontier`, as a type; normalize-options.ts checks them. */
import type { Clock } from "../../base/clock.ts";
import type { Rule, RulePolicy } from "../../frontier/rules/rule-policy.ts";
import type { RecoveryProgress } from "./event-types.ts";
import type { RequestView } from "./view-types.ts";

/**
 * Options of `openFrontier`. A wrong or unknown one rejects with `OPTION_INVALID` before anything is opened.
 *
 * @example
 * const frontier = await openFrontier({
 *   directory: "crawl-data", // continues after a crash
 *   durability: { everyMs: 100 }, // at most 100 ms are lost
 *   leaseMs: 60_000, // a page that takes longer is handed out again
 *   defaults: { depthPriority: 1, politeness: { delayMs: 1_000 } },
 *   rules: [{ id: "news", match: { domains: ["example.org"] } }],
 * });
 */
export interface FrontierOptions {
  /**
   * Name of the frontier; one directory can hold several.
   * @defaultValue "default"
   */
  name?: string | undefined;
  /**
   * Where the frontier's files are. One process at a time can open a directory and name (`FRONTIER_LOCKED`).
   * @defaultValue none: in memory
   */
  directory?: string | undefined;
  /**
   * A file that `snapshot({ path })` wrote, to continue from. With a directory the file becomes its first
   * generation; `OPTION_INVALID` where it holds a frontier already.
   * @defaultValue none
   */
  from?: string | undefined;
  /**
   * Opens a copy of what the directory holds by now. It takes no lock and changes nothing, also beside the process
   * that owns the directory; pushes to the copy are gone when it is closed. `OPTION_INVALID` without a directory,
   * and with `from`; `DISK_GONE` where there is no frontier of that name, or no whole records for `records: 'full'`.
   * @defaultValue false
   */
  readOnly?: boolean | undefined;
  /**
   * The source of time.
   * @defaultValue the machine's clock
   */
  clock?: Clock | undefined;
  /**
   * Rules; without any, one rule named `default` takes everything. An empty list takes nothing.
   * @defaultValue the directory's, else none
   */
  rules?: Rule[] | undefined;
  /**
   * Policy of URLs for which their rule sets nothing else.
   * @defaultValue none
   */
  defaults?: RulePolicy | undefined;
  /**
   * How seen identities are kept.
   * @defaultValue by the directory
   */
  seen?:
    | {
        /**
         * `"exact"`: in memory. `"tiered"`: in memory up to `memoryBytes`, then on disk, exact still; needs a
         * directory. `"bloom"`: fixed memory, loses new URLs at `falsePositiveRate`.
         * @defaultValue "tiered" with a directory, else "exact"
         */
        mode?: "exact" | "tiered" | "bloom" | undefined;
        /**
         * Identities that the filter is made for. Beyond it mode `bloom` loses more than its rate.
         * @defaultValue 1,000,000; in mode `tiered` by `memoryBytes`
         */
        capacity?: number | undefined;
        /**
         * Share of new URLs that mode `bloom` takes for seen, between 0 and 1.
         * @defaultValue 0.001
         */
        falsePositiveRate?: number | undefined;
        /**
         * Most memory of mode `tiered` in bytes, kept from 8 MiB on; identities of records in memory come beside it.
         * @defaultValue 512 MiB
         */
        memoryBytes?: number | undefined;
      }
    | undefined;
  /**
   * Most pending records that pushes may make; then the verdict is `full`. Links of `done` are admitted beyond it.
   * @defaultValue no limit
   */
  capacity?: number | undefined;
  /**
   * Most links of one `done`; the others are rejected with reason `max-found`.
   * @defaultValue 100,000
   */
  maxFound?: number | undefined;
  /**
   * Memory of pending records in bytes; with a directory, what exceeds it moves to disk.
   * @defaultValue 1 GiB
   */
  memoryBytes?: number | undefined;
  /**
   * When a snapshot replaces the journal, and how many of them stay.
   * @defaultValue every 64 MiB, two
   */
  snapshots?:
    | {
        /**
         * A snapshot is written after this many milliseconds in which something changed; it is partial where that was little.
         * @defaultValue never
         */
        everyMs?: number | undefined;
        /**
         * A journal that has grown by this, and by the size of the last snapshot, is replaced.
         * @defaultValue 64 MiB
         */
        everyBytes?: number | undefined;
        /**
         * Generations that stay.
         * @defaultValue 2
         */
        keep?: number | undefined;
      }
    | undefined;
  /**
   * `"full"` keeps the whole history of every URL on disk (url, data, parent, times, trail), for `record()`,
   * `requeue({ state: 'done' })` and `records({ state: 'done' })`. Needs a directory (`OPTION_INVALID`) and the
   * package lmdb (`UNSUPPORTED`). Costs about 20 µs a transition, in slices between the calls.
   * @defaultValue "state"
   */
  records?: "state" | "full" | undefined;
  /**
   * When a change is on the disk: before its call returns, at an interval, or when the system writes it. In every mode
   * a sync begins where 16 MiB wait.
   * @defaultValue { everyMs: 100 } with a directory, else "none"
   */
  durability?:
    | "sync"
    | {
        /** Interval of flushes in milliseconds. */
        everyMs: number;
      }
    | "none"
    | undefined;
  /**
   * How long a lease lasts in milliseconds, unless `extend` moves its deadline. Then its URL comes back with an
   * attempt counted.
   * @defaultValue 300,000
   */
  leaseMs?: number | undefined;
  /**
   * Most leases out at once.
   * @defaultValue no limit
   */
  maxLeases?: number | undefined;
  /**
   * Hand-outs after which a record that comes back fails.
   * @defaultValue 10
   */
  maxDeliveries?: number | undefined;
  /**
   * Longest URL in bytes, at most 16 MiB; longer ones are rejected with reason `too-long`.
   * @defaultValue 8,192
   */
  maxUrlBytes?: number | undefined;
  /**
   * The frontier is never finished by itself: iteration and `take` wait for more work, and the process stays alive
   * until `close()`.
   * @defaultValue false
   */
  keepOpen?: boolean | undefined;
  /**
   * How long a frontier without work waits for more before it is finished, in milliseconds.
   * @defaultValue 0
   */
  idleTimeoutMs?: number | undefined;
  /**
   * Called when everything is done; returning true means not finished yet. It is called again every second while
   * a call waits.
   * @defaultValue none
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most hooks answer nothing.
  onIdle?: (() => boolean | void) | undefined;
  /**
   * Called for each request that would be admitted, and by `explain`. False rejects it with reason `hook`; an
   * object changes it. It must not call the frontier.
   * @defaultValue none
   */
  accept?:
    | ((request: RequestView) =>
        | boolean
        | {
            /**
             * Priority of the request.
             * @defaultValue as it was
             */
            priority?: number | undefined;
            /**
             * Data of the request.
             * @defaultValue as it was
             */
            data?: unknown;
          })
    | undefined;
  /**
   * Pauses the frontier after many failures in a short time.
   * @defaultValue none
   */
  breaker?:
    | {
        /** Failures, at most 1,000,000. */
        failures: number;
        /** The time in which they count, in milliseconds. */
        withinMs: number;
        /** How long nothing is handed out, in milliseconds. */
        pauseMs: number;
      }
    | undefined;
  /**
   * Called while a directory is read at opening.
   * @defaultValue none
   */
  onProgress?: ((progress: RecoveryProgress) => void) | undefined;
  /**
   * Seed of jitter and of everything random.
   * @defaultValue unpredictable
   */
  seed?: number | undefined;
}
