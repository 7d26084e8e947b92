/** Options of `openRedisFrontier`, as types. */
import type { Clock } from "../../base/clock.ts";
import type { RulePolicy, Rule } from "../../frontier/rules/rule-policy.ts";

/**
 * The commands that the frontier needs of a client, raw: arguments as strings or bytes, answers as the server sends them,
 * bulk strings as `Buffer`. ioredis, iovalkey and node-redis clients are recognised and need none of this.
 */
export interface RedisCommands {
  /** Sends one command; rejects with the server's error. `key` names the slot in a cluster. */
  call(key: string, name: string, args: ReadonlyArray<string | Uint8Array>): Promise<unknown>;
  /** Subscribes to a channel; returns a function that ends that. An empty message means that some may have been missed. */
  subscribe(channel: string, listener: (message: string) => void): Promise<() => Promise<void>>;
  /** Every master's own `call`, for settings of the servers; one without a cluster. */
  nodes(): Promise<Array<(name: string, args: readonly string[]) => Promise<unknown>>>;
  /** Ends what was opened for the frontier. */
  close(): Promise<void>;
}

/**
 * Options of `openRedisFrontier`. A wrong or unknown one rejects with `OPTION_INVALID` before anything is opened.
 *
 * @example
 * const options = {
 *   redis: "redis://127.0.0.1:6379",
 *   name: "news",
 *   partitions: 16,
 *   leaseMs: 60_000,
 *   defaults: { politeness: { delayMs: 1_000 } },
 * };
 */
export interface RedisFrontierOptions {
  /**
   * The server: a URL (`redis://`, `rediss://`, `unix://`), the path of a socket, options of ioredis, or a client of
   * ioredis, iovalkey or node-redis (`Cluster` and Sentinel ones too), or your own `RedisCommands`. A client that is
   * handed in stays open at `close`.
   */
  redis: string | object;
  /**
   * Name of the frontier. All processes that name the same one work on the same frontier.
   * @defaultValue "default"
   */
  name?: string | undefined;
  /**
   * Begins every key: `<prefix>:{<name>.<partition>}:<what>`.
   * @defaultValue "outrider"
   */
  prefix?: string | undefined;
  /**
   * Number of partitions of the hosts, fixed when the frontier is created. Order is exact within a partition.
   * @defaultValue 16, or what it was created with
   */
  partitions?: number | undefined;
  /**
   * How long a lease lasts in milliseconds of the server's clock.
   * @defaultValue 300,000
   */
  leaseMs?: number | undefined;
  /**
   * Rules; without any, one rule named `default` takes everything. Given at opening they replace those in the server.
   * @defaultValue those in the server
   */
  rules?: Rule[] | undefined;
  /**
   * Policy of URLs where their rule leaves a field out.
   * @defaultValue that in the server
   */
  defaults?: RulePolicy | undefined;
  /**
   * Most pending records that pushes may make; then the verdict is `full`. Needs `partitions: 1`.
   * @defaultValue no limit
   */
  capacity?: number | undefined;
  /**
   * Most leases out at once, of all processes. Needs `partitions: 1`.
   * @defaultValue no limit
   */
  maxLeases?: number | undefined;
  /**
   * Most links of one `done`; the others are rejected with reason `max-found`.
   * @defaultValue 100,000
   */
  maxFound?: number | undefined;
  /**
   * Hand-outs after which a record that comes back fails. Fixed when the frontier is created.
   * @defaultValue 10
   */
  maxDeliveries?: number | undefined;
  /**
   * Longest URL in bytes, at most 1 MiB; longer ones are rejected with reason `too-long`.
   * @defaultValue 8,192
   */
  maxUrlBytes?: number | undefined;
  /**
   * How seen identities are kept: exactly.
   * @defaultValue "exact"
   */
  seen?:
    | {
        /**
         * `"exact"`: no new URL is lost.
         * @defaultValue "exact"
         */
        mode?: "exact" | undefined;
      }
    | undefined;
  /**
   * The frontier is never finished by itself: iteration and `take` wait for more work.
   * @defaultValue false
   */
  keepOpen?: boolean | undefined;
  /**
   * How long a frontier without work waits for more before it is finished for this process, in milliseconds.
   * @defaultValue 0
   */
  idleTimeoutMs?: number | undefined;
  /**
   * Called when everything is done; returning true means not finished yet.
   * @defaultValue none
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most hooks answer nothing.
  onIdle?: (() => boolean | void) | undefined;
  /**
   * How long a call retries while the server does not answer, in milliseconds; then it rejects with `SERVER_GONE`.
   * @defaultValue 30,000
   */
  giveUpMs?: number | undefined;
  /** A frontier of this name must exist: none is created. @internal */
  mustExist?: boolean | undefined;
  /**
   * Source of time for tests, in place of the server's clock. All processes must share it.
   * @defaultValue the server's clock
   */
  clock?: Clock | undefined;
}
