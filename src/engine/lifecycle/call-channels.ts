/**
 * Channels of `node:diagnostics_channel`: what calls changed, for tools that observe a process without changing it.
 *
 *   end of a public call ─▶ is there a subscriber? ─▶ totals now − totals of the last message ─▶ push, lease, end
 *   event hub            ─▶ snapshot, fault
 *
 *   I1  Without a subscriber a call costs one check of each channel, and nothing is built.
 *   I2  The messages of a channel add up to the report, from the opening on: the first one counts what came before its subscriber.
 */
import { channel } from "node:diagnostics_channel";
import type { Core, Counters } from "../../frontier/core.ts";
import type { FrontierFault, SnapshotInfo } from "../types/frontier-types.ts";

/**
 * Messages of the channels `outrider:push`, `outrider:lease`, `outrider:end`, `outrider:snapshot` and `outrider:fault` of
 * `node:diagnostics_channel`, published at the end of the call that changed something. Numbers count since the channel's last message,
 * and add up to the report. Without a subscriber nothing is built.
 *
 * @example
 * type Push = DiagnosticsMessages["outrider:push"];
 * const show = ({ frontier, accepted }: Push): void => console.log(frontier, accepted);
 * // subscribe("outrider:push", show), of node:diagnostics_channel
 */
export interface DiagnosticsMessages {
  /** Requests came in. */
  "outrider:push": {
    /** Name of the frontier. */
    readonly frontier: string;
    /** Requests that were pushed. */
    readonly pushed: number;
    /** Requests that were admitted. */
    readonly accepted: number;
    /** Requests that were admitted for later. */
    readonly deferred: number;
    /** Requests whose identity was known. */
    readonly duplicate: number;
    /** Requests that were refused. */
    readonly rejected: number;
    /** Requests for which there was no room. */
    readonly full: number;
  };
  /** Leases were handed out. */
  "outrider:lease": {
    /** Name of the frontier. */
    readonly frontier: string;
    /** Leases. */
    readonly leased: number;
  };
  /** Leases ended. `done` and `failed` fall where finished records come back, by `requeue` for example. */
  "outrider:end": {
    /** Name of the frontier. */
    readonly frontier: string;
    /** Pages that were finished. */
    readonly done: number;
    /** Records that get another attempt. */
    readonly retried: number;
    /** Records that failed for good. */
    readonly failed: number;
    /** Leases that were returned without an attempt. */
    readonly released: number;
    /** Leases whose deadline passed. */
    readonly expired: number;
  };
  /** A snapshot was written. */
  "outrider:snapshot": SnapshotInfo & {
    /** Name of the frontier. */
    readonly frontier: string;
  };
  /** A fault. */
  "outrider:fault": FrontierFault & {
    /** Name of the frontier. */
    readonly frontier: string;
  };
}

const PUSHES = channel("outrider:push");
const LEASES = channel("outrider:lease");
const ENDS = channel("outrider:end");
const SNAPSHOTS = channel("outrider:snapshot");
const FAULTS = channel("outrider:fault");

/** Whether a channel of calls has a subscriber. @hot */
export function areCallsObserved(): boolean {
  return PUSHES.hasSubscribers || LEASES.hasSubscribers || ENDS.hasSubscribers;
}

export function publishSnapshot(frontier: string, info: SnapshotInfo): void {
  if (SNAPSHOTS.hasSubscribers) SNAPSHOTS.publish({ frontier, ...info });
}

export function publishFault(frontier: string, fault: FrontierFault): void {
  if (FAULTS.hasSubscribers) FAULTS.publish({ frontier, ...fault });
}

type Totals = Record<string, number>;

/** The totals that each channel of a frontier has published so far. */
export class CallChannels {
  readonly #frontier: string;
  /** The core whose counters were published: a cleared frontier counts anew. */
  #core: Core | undefined;
  #published = new Map<typeof PUSHES, Totals>();

  constructor(frontier: string) {
    this.#frontier = frontier;
  }

  /** Publishes what has changed since each channel's last message. */
  publish(core: Core): void {
    if (core !== this.#core) this.#published = new Map();
    this.#core = core;
    const { counters } = core;
    this.#publish(PUSHES, pushesOf(counters));
    this.#publish(LEASES, { leased: counters.leases });
    this.#publish(ENDS, endsOf(counters));
  }

  #publish(to: typeof PUSHES, totals: Totals): void {
    if (!to.hasSubscribers) return;
    const before = this.#published.get(to);
    this.#published.set(to, totals); // a subscriber may call the frontier
    const names = Object.keys(totals);
    const changes = names.map((name) => (totals[name] as number) - (before?.[name] ?? 0));
    if (changes.every((change) => change === 0)) return;
    const counts = Object.fromEntries(names.map((name, at) => [name, changes[at]]));
    to.publish({ frontier: this.#frontier, ...counts });
  }
}

function pushesOf({ pushed, accepted, deferred, duplicate, rejected, full }: Counters): Totals {
  let refused = 0;
  for (const count of rejected.values()) refused += count;
  return { pushed, accepted, deferred, duplicate, rejected: refused, full };
}

function endsOf({ done, retried, failed, released, expired }: Counters): Totals {
  return { done, retried, failed, released, expired };
}
