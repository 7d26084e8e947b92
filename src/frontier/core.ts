/**
 * Room `src/frontier`: the state of one frontier, which every room here works on, and the check of all its invariants.
 * Synchronous: no file, timer, thread or clock below this folder; time comes in as an argument.
 */

/**
 * Core: the state of one frontier, and nothing else. Synchronous, deterministic, single writer:
 * time comes in as an argument, transitions go out to the sink.
 *
 *   structures   what                                        kept in
 *   seen         identity → record handle or finished word   region
 *   hosts        name → host, host queues                    region
 *   waiting      records by due time                         region (heap)
 *   resting      done records that come again, by that time  region (heap)
 *   epochs       name → identities                           region
 *   deadlines    leased records by deadline                  region (timeline)
 *   clocks       hosts by the time they may go again         region (timeline)
 *   rules        a rule queue each: ranks, flags, counts     region; shares: columns; the rest: an object each
 *
 *   I1  A rule keeps its index while a record names it; the record finds it by way of its host queue.
 *   I2  sole is the one rule there is, or undefined where there are several.
 */
import type { EpochTable } from "../structures/seen/epoch-table.ts";
import type { GroupTable } from "../structures/hosts/group-table.ts";
import type { Heap } from "../structures/ordering/heap.ts";
import type { Timeline } from "../structures/ordering/timeline.ts";
import {
  type HostTable,
  QUEUE_RULE_WORD,
  RULE_QUEUE_FLAGS_WORD,
  RULE_QUEUE_INDEX_WORD,
} from "../structures/hosts/host-table.ts";
import type { SeenSet } from "../structures/seen/seen-set.ts";
import { type RecordDraft, isLone, recordQueue } from "../structures/records/record.ts";
import type { Scratch } from "../structures/records/kernel-scratch.ts";
import type { TransitionLog } from "./records/transition-log.ts";
import { type Store, word } from "../structures/store.ts";
import type { FrontierPolicy, GroupBy } from "./rules/rule-policy.ts";
import type { HandOut } from "./scheduling/hand-out.ts";
import type { Matcher } from "../url/matching/rule-matcher.ts";
import type { DomainMemo } from "../url/matching/row-domain.ts";
import type { NormalPolicy } from "../url/keys/key-policy.ts";
import type { LeaseTimes } from "./leases/lease-times.ts";
import type { Reasons } from "./records/outcome-reasons.ts";
import type { RuleList, RuleSpec } from "./rules/rule-specs.ts";
import type { RuleState } from "./rules/rule-state.ts";
import type { Sweep } from "./rules/sweep-state.ts";
import type { Shares } from "./scheduling/rule-shares.ts";
import type { Spilling } from "./scheduling/spill-state.ts";

export { createRule, type RuleState } from "./rules/rule-state.ts";

/** Counts of a frontier. The ledger alone writes them (records/ledger.ts): for all others they are read-only. */
export interface Counters {
  readonly pushed: number;
  readonly accepted: number;
  readonly deferred: number;
  readonly duplicate: number;
  readonly rejected: ReadonlyMap<string, number>;
  readonly full: number;
  readonly retried: number;
  readonly expired: number;
  readonly released: number;
  readonly lateResults: number;
  readonly leases: number;
  readonly pending: number;
  readonly waiting: number;
  readonly leased: number;
  readonly done: number;
  readonly failed: number;
  readonly forgotten: number;
  readonly removed: number;
  /** Identities admitted since the last forget: what the seen-set answers for. */
  readonly seen: number;
  /** Records admitted at each depth; the last place counts all deeper ones. */
  readonly depths: readonly number[];
}

/** Depths counted apart in the report; a crawl deeper than this is counted in the last place. */
export const DEPTH_COUNT_MAX = 1024;

export type TransitionKind =
  | "accepted"
  | "leased"
  | "done"
  | "retried"
  | "failed"
  | "expired"
  | "released";

/** What the engine receives of transitions; null while there is no listener, so that nothing is built. */
export interface TransitionSink {
  /** Called while the record still exists. */
  record(kind: TransitionKind, record: number, reason: string | undefined): void;
  /** A record has failed, or has left that state: `reason` is undefined then. Called with and without listeners. */
  failed?(record: number, reason: string | undefined): void;
  /** A failure for the breaker. */
  failure(nowMs: number): void;
  /** A user's function, by its name in the policy, returned no valid value; `url`: of the request that it was called for. */
  fault(stage: "of" | "by" | "groups", cause: unknown, url: string | undefined): void;
  /** The listener asks for `record` calls of this kind. */
  readonly wants: Record<TransitionKind, boolean>;
}

interface CoreLimits {
  readonly capacity: number;
  readonly maxLeases: number;
  readonly leaseMs: number;
  readonly maxDeliveries: number;
}

/** The share of hosts that were never leased (politeness/fresh-hosts.ts). */
export interface FreshTurns {
  /** By the keyed hash of a domain: the hand-out from which on its next new host goes first again. */
  readonly nextAt: Float64Array;
  decided: number;
}

export interface Core {
  readonly store: Store;
  readonly seen: SeenSet;
  readonly hosts: HostTable;
  readonly waiting: Heap;
  /** Done records of rules that re-crawl, by the time at which they come again. */
  readonly resting: Heap;
  readonly epochs: EpochTable;
  readonly deadlines: Timeline;
  readonly clocks: Timeline;
  /** Groups by the time they may go again. */
  readonly groupClocks: Heap;
  readonly groups: GroupTable;
  /** Kinds of group that rules have had: 'domain', 'address', functions (group-kinds.ts). */
  readonly groupKinds: GroupBy[];
  /** When each kind came to what it is, in stamps; the last one given. */
  readonly groupStamps: number[];
  groupStamp: number;
  /** A user's function is being asked from within: it must not come back in. */
  isAsking: boolean;
  /** Lane of failed records, in the order of their failing. */
  readonly failedLane: number;
  /** By index; those that have gone stand among them while a record names them. */
  readonly rules: RuleState[];
  /** Indexes of `rules` that nothing names. */
  readonly spare: number[];
  /** The set: its specifications, where each id stands among them, its rules in the same order, its version. */
  specs: readonly RuleSpec[];
  /** Those of them that have seeds, or come again. */
  seeders: readonly RuleSpec[];
  orders: RuleList["orders"];
  active: RuleState[];
  version: number | string;
  /** How many sets have come. */
  installs: number;
  matcher: Matcher;
  /** Answers of the list of public suffixes, by host. */
  readonly domains: DomainMemo;
  /** The rule of the set that takes every URL unasked. */
  plain: RuleState | undefined;
  /** What the set asks of each row of a batch: MODE_* (admission/admission-mode.ts). */
  mode: number;
  /** Some done record may rest for good with its data. */
  hasKept: boolean;
  /** Some request may have named its own politeness unit. */
  hasOwnUnits: boolean;
  /** The politeness unit that a record's request named itself; undefined: none. */
  readonly ownUnitOf: (record: number) => string | undefined;
  /** RULE_* that any rule has had: what none had is not looked for. */
  flagsSeen: number;
  /** The key policy that all rules of the set share. */
  soleKey: NormalPolicy | undefined;
  sole: RuleState | undefined;
  /** Stands for "no rule": what failed for want of one. */
  readonly none: RuleState;
  sweep: Sweep | undefined;
  /** Records that came back to a rule that has gone; adopted before the call ends. */
  readonly orphans: number[];
  /** rematch-records.ts, which stands above the schedule that calls it. */
  readonly adopt: (core: Core, record: number, nowMs: number) => void;
  readonly shares: Shares;
  readonly limits: CoreLimits;
  readonly counters: Counters;
  readonly reasons: Reasons;
  readonly leaseTimes: LeaseTimes;
  readonly sink: TransitionSink;
  /** Where changes go that survive the process; undefined: none do. */
  log: TransitionLog | undefined;
  /** Uniform numbers for jitter, from the frontier's own seed. */
  readonly random: () => number;
  /** One counter for places; the next record takes ++sequence. */
  sequence: number;
  /** One counter for hand-outs: lease fences and host turns. */
  leaseSequence: number;
  /** First turns of new hosts, if a rule limits those of one domain to a share; undefined: none has yet. */
  fresh: FreshTurns | undefined;
  /** Data of volatile requests that msgpack can not carry, by record; freed with the record. */
  readonly volatileData: Map<number, unknown>;
  /** Reused for every record made. */
  readonly draft: RecordDraft;
  readonly scratch: Scratch;
  /** Pending records beyond the memory they may take; undefined: all stay in memory. */
  readonly spilling: Spilling | undefined;
  /**
   * Leases that were laid out for a worker that has not begun them, by their sequences: at its deadline such a one was never
   * an attempt. Asked when a lease has run out; undefined: who has a lease has begun.
   */
  unbegun: (() => ReadonlyMap<number, HandOut>) | undefined;
}

declare const STEPPED: unique symbol;
/** A time to which the core was brought (`step` of leases/leases.ts): what the clock brought about until then has happened. */
export type SteppedMs = number & { readonly [STEPPED]: true };

/** (request ?? rule) − depth × depthPriority, a safe integer. */
export function effectivePriority(
  policy: FrontierPolicy,
  asked: number | undefined,
  depth: number,
): number {
  const base = asked ?? policy.priority;
  return policy.depthPriority === 0 ? base : clampPriority(base - depth * policy.depthPriority);
}

/** The inverse: what a push asks for where its record is to get this priority; undefined: nothing, it is its rule's. */
export function askedPriority(
  policy: FrontierPolicy | undefined,
  priority: number,
  depth: number,
): number | undefined {
  if (policy === undefined) return priority;
  if (priority === effectivePriority(policy, undefined, depth)) return undefined;
  return clampPriority(priority + depth * policy.depthPriority);
}

/** The rule of an id in the set that stands. */
export function ruleOfId({ active, orders }: Core, id: string): RuleState | undefined {
  const order = orders.get(id);
  return order === undefined || order < 0 ? undefined : active[order];
}

/** The rule of a record. @hot */
export function ruleOf(core: Core, record: number): RuleState {
  return core.sole ?? ruleAt(core, ruleQueueOf(core, record));
}

/** The rule queue under which a record stands. @hot */
export function ruleQueueOf({ sole, store }: Core, record: number): number {
  if (sole !== undefined) return sole.handle;
  const queue = recordQueue(store, record);
  return isLone(store, record) ? queue : word(store, queue, QUEUE_RULE_WORD);
}

/** RULE_* of a rule queue. @hot */
export function ruleFlags({ store }: Core, ruleQueue: number): number {
  return word(store, ruleQueue, RULE_QUEUE_FLAGS_WORD);
}

/** The rule of a host queue. @hot */
export function ruleOfQueue(core: Core, queue: number): RuleState {
  return core.sole ?? ruleAt(core, word(core.store, queue, QUEUE_RULE_WORD));
}

/** The rule of a rule queue. @hot */
export function ruleAt(core: Core, ruleQueue: number): RuleState {
  return core.rules[word(core.store, ruleQueue, RULE_QUEUE_INDEX_WORD)] as RuleState;
}

/** Priorities stay safe integers, whatever is added to them. */
export function clampPriority(priority: number): number {
  if (priority > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
  if (priority < Number.MIN_SAFE_INTEGER) return Number.MIN_SAFE_INTEGER;
  return priority;
}

export function createCounters(): Counters {
  return {
    pushed: 0,
    accepted: 0,
    deferred: 0,
    duplicate: 0,
    rejected: new Map(),
    full: 0,
    retried: 0,
    expired: 0,
    released: 0,
    lateResults: 0,
    leases: 0,
    pending: 0,
    waiting: 0,
    leased: 0,
    done: 0,
    failed: 0,
    forgotten: 0,
    removed: 0,
    seen: 0,
    depths: [],
  };
}
