/** The frontier on Redis as a type, and what opening one makes. */
import type { Clock } from "../../../base/clock.ts";
import type { AsyncFrontier } from "../../../engine/types/async-frontier.ts";
import type { RuleChange } from "../requests/rule-set.ts";
import type { PushParts } from "./pushes.ts";

/** What opening one has made (../open-redis-frontier.ts). */
export interface RedisParts extends Omit<PushParts, "changed" | "admitted"> {
  readonly name: string;
  readonly clock: Clock | undefined;
  readonly leaseMs: number;
  readonly maxLeases: number;
  readonly maxFound: number;
  readonly keepOpen: boolean;
  readonly idleTimeoutMs: number | undefined;
  // biome-ignore lint/suspicious/noConfusingVoidType: most hooks answer nothing.
  readonly onIdle: (() => boolean | void) | undefined;
  /** Ends subscriptions and what was opened for the frontier. */
  readonly end: () => Promise<void>;
  readonly drop: () => Promise<void>;
  /** Forgets everything, partition by partition. */
  readonly clear: () => Promise<void>;
}

/** A frontier on Redis. `drop` is its own. */
export interface RedisFrontier<Data = unknown> extends AsyncFrontier<Data> {
  /**
   * Deletes the frontier from the server, all of its keys and no others, a partition at a time, and closes it here. Other processes
   * that have it open get FRONTIER_CLOSED. Costs a call for each partition; the server frees the memory beside its other work.
   */
  drop(): Promise<void>;
  /** Replaces the rules by what `make` returns for those in force, in one step for all processes. @internal */
  changeRules(make: RuleChange, version?: number | string): Promise<void>;
}
