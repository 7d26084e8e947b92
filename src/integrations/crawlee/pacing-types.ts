/** Shapes of version 4: what a crawler reports about the pace of requests, and what a queue reports about its next one. */

/**
 * A report about the pace at which requests may go out.
 *
 * @example
 * manager.recordPacingSignal({ reason: "rateLimited", url: request.url, waitMs: 5_000 });
 */
export type PacingSignal =
  | {
      /** A host refused a request that came too soon. */
      reason: "rateLimited";
      /** The URL. */
      url: string;
      /**
       * What the host asked for, in milliseconds.
       * @defaultValue doubled with each refusal
       */
      waitMs?: number;
      /**
       * What it is about.
       * @defaultValue "hostname"
       */
      scope?: string;
    }
  | {
      /** A host asks for a least time between two visits. */
      reason: "minInterval";
      /** A URL of it. */
      url: string;
      /** That time in milliseconds. */
      intervalMs: number;
      /** What it is about. */
      scope: string;
    }
  | {
      /** The crawler asks for a least time between two visits of each host. */
      reason: "minIntervalEverywhere";
      /** That time in milliseconds. */
      intervalMs: number;
      /** What it is about. */
      scope: string;
    };

/**
 * Whether a queue has a request to hand out.
 *
 * @example
 * const readiness = await manager.checkReadiness();
 * if (readiness.status === "waiting") console.log(readiness.readyAt);
 */
export type Readiness =
  | {
      /** One is due, or everything is handled. */
      status: "ready" | "finished";
    }
  | {
      /** None is due now. */
      status: "waiting";
      /**
       * When one is, in milliseconds since 1970.
       * @defaultValue unknown
       */
      readyAt?: number;
    }
  | {
      /** Hosts refuse everything. */
      status: "stalled";
      /** Which, and how. */
      reason: string;
    };
