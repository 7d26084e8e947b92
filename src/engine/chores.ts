/**
 * Chores: what a frontier does by itself, in slices between the user's calls: the sweep after a change of rules, and seeds.
 *
 *   rule appears ─▶ its seeds, once        every T ─▶ its seeds again: what is finished or failed starts anew,
 *                                                     what is still on its way stays as it is
 *
 *   I1  One timer serves all (life.ts), however often rules are swapped, and only while there is something to do.
 *   I2  Seeds are admitted like anything pushed from outside: rules, scope, duplicates, capacity. Where there is no room
 *       they wait for it; none is dropped.
 *   I3  Seeds of templates are made when they are pushed, never as one list.
 */
import { type Core, ruleOfId } from "../frontier/core.ts";
import { isSweeping, sweepSlice } from "../frontier/sweeping.ts";
import type { RuleSpec } from "../frontier/rules.ts";
import { isSpillDue, relieve, spillFault } from "../frontier/spilling.ts";
import { seenIsBusy, seenStep } from "../structures/seen-set.ts";
import type { Sweep } from "../frontier/sweep.ts";
import { VERDICT_FULL, VERDICT_FULL_DISK, VERDICT_FULL_MEMORY } from "../frontier/verdict.ts";
import { expandSeed } from "../url/seed.ts";
import type { EventHub } from "./events.ts";
import { type Gate, pushList } from "./intake.ts";

/** Seeds pushed in one slice: about a millisecond. */
const SLICE_SEEDS = 500;
/** Beginning with the seeds of a rule costs as much as some seeds. */
const SEEDING_COST = 5;

/** Entries of the seen-set moved or merged in one slice: a millisecond or two, and one wait for the disk at most. */
const SLICE_ENTRIES = 4096;

/** A disk that refused is asked again after this long: a full one must not keep the event loop busy. */
const DISK_RETRY_MS = 1_000;

/** Seeds of one rule on their way in. */
interface Seeding {
  readonly id: string;
  readonly isAgain: boolean;
  readonly urls: Iterator<string>;
  /** Taken from `urls`, and refused for want of room. */
  left: string[];
}

export class Chores {
  readonly #gate: () => Gate;
  readonly #events: EventHub;
  readonly #seedings: Seeding[] = [];
  /** The ids of the rules among them. */
  readonly #seeding = new Set<string>();
  /** When each rule was seeded last. */
  #seededAt = new Map<string, number>();
  #toldSweep: Sweep | undefined;
  #nextAt = Number.POSITIVE_INFINITY;
  /** Before this the disk is not asked again; a clock set back does not prolong it. */
  #diskAt = Number.NEGATIVE_INFINITY;
  #hasEvery = false;

  constructor(gate: () => Gate, events: EventHub) {
    this.#gate = gate;
    this.#events = events;
  }

  /** Seeds are on their way in. */
  get isSeeding(): boolean {
    return this.#seedings.length > 0;
  }

  /** Some seeds will come again: a frontier is not finished by itself. */
  get hasEvery(): boolean {
    return this.#hasEvery;
  }

  /** When each rule was seeded last, for the journal; `restore` takes it back. */
  get seededAt(): Record<string, number> {
    return Object.fromEntries(this.#seededAt);
  }

  /** Seed times of an earlier process: rules that were seeded then are not new. */
  restore(seededAt: Record<string, number>): void {
    this.#seededAt = new Map(Object.entries(seededAt));
  }

  /** A core begins with the rules that it has: no sweep of its own is told of. */
  begin(core: Core, nowMs: number): void {
    this.#toldSweep = core.sweep;
    this.rulesChanged(core, nowMs);
  }

  /** New rules are seeded; the times of others stay. */
  rulesChanged(core: Core, nowMs: number): void {
    const isNew = ({ id, seeds }: RuleSpec): boolean => seeds.length > 0 && !this.#seededAt.has(id);
    this.#seed(core, core.specs.filter(isNew), nowMs, false);
    this.#hasEvery = core.specs.some(hasEvery);
    this.#findNext(core);
    this.run(core, nowMs);
  }

  /** When there is something to do; at `nowMs`: at once. A disk that refused is not asked again at once. */
  dueAt(core: Core, nowMs: number): number {
    if (isSweeping(core)) return nowMs;
    if (this.#seedings.length > 0 && roomOf(core) > 0) return nowMs;
    const isTidy = !seenIsBusy(core.seen) && !isSpillDue(core);
    if (isTidy) return this.#nextAt;
    return this.#waitsForDisk(nowMs) ? Math.min(this.#diskAt, this.#nextAt) : nowMs;
  }

  /** The earlier of a time and that of the next seeds; undefined: neither is known. */
  before(dueMs: number | undefined): number | undefined {
    const atMs = Math.min(dueMs ?? Number.POSITIVE_INFINITY, this.#nextAt);
    return atMs === Number.POSITIVE_INFINITY ? undefined : atMs;
  }

  /** One slice of each. */
  run(core: Core, nowMs: number): void {
    sweepSlice(core, nowMs);
    this.#tell(core);
    this.#tidy(core, nowMs);
    if (nowMs >= this.#nextAt) this.#seedAgain(core, nowMs);
    this.#push(core, nowMs);
  }

  /** Moves between memory and disk, a slice of them; what the disk refused is told and tried again later. */
  #tidy(core: Core, nowMs: number): void {
    if (this.#waitsForDisk(nowMs)) return;
    try {
      if (seenIsBusy(core.seen)) seenStep(core.seen, SLICE_ENTRIES);
    } catch (cause) {
      this.#refused("seen", cause, nowMs);
    }
    if (isSpillDue(core)) relieve(core, nowMs);
    const cause = spillFault(core);
    if (cause !== undefined) this.#refused("spill", cause, nowMs);
  }

  #waitsForDisk(nowMs: number): boolean {
    return nowMs < this.#diskAt && nowMs >= this.#diskAt - DISK_RETRY_MS;
  }

  #refused(stage: string, cause: unknown, nowMs: number): void {
    this.#diskAt = nowMs + DISK_RETRY_MS;
    this.#events.fault({ kind: "disk", stage, cause });
  }

  #tell(core: Core): void {
    const { sweep } = core;
    if (sweep === undefined || !sweep.isDone || sweep === this.#toldSweep) return;
    this.#toldSweep = sweep;
    const { version, unmatched, unmatchedCount, moved } = sweep;
    this.#events.emit("rulesApplied", { version, unmatched, unmatchedCount, moved });
  }

  #seedAgain(core: Core, nowMs: number): void {
    const isDue = (spec: RuleSpec): boolean => dueOf(spec, this.#seededAt) <= nowMs;
    this.#seed(core, core.specs.filter(isDue), nowMs, true);
    this.#findNext(core);
  }

  /** One note for all of them: it tells the times of every rule. */
  #seed(core: Core, specs: readonly RuleSpec[], nowMs: number, isAgain: boolean): void {
    for (const { id, seeds } of specs) {
      this.#seededAt.set(id, nowMs);
      if (this.#seeding.has(id)) continue; // the last round is not in yet
      this.#seeding.add(id);
      this.#seedings.push({ id, isAgain, urls: each(seeds), left: [] });
    }
    if (specs.length > 0) core.log?.note("seeded", this.seededAt);
  }

  #findNext(core: Core): void {
    let nextAt = Number.POSITIVE_INFINITY;
    for (const spec of core.specs) nextAt = Math.min(nextAt, dueOf(spec, this.#seededAt));
    this.#nextAt = nextAt;
  }

  /** Seeds of rule after rule, as many as a slice has time and the frontier has room for. */
  #push(core: Core, nowMs: number): void {
    let over = 0;
    for (let left = SLICE_SEEDS; left > 0; left -= SEEDING_COST) {
      const seeding = this.#seedings[over];
      const most = Math.min(left, roomOf(core));
      if (seeding === undefined || most === 0) break;
      const isGone = ruleOfId(core, seeding.id) === undefined;
      const pushed = isGone ? 0 : this.#pushSome(seeding, most, nowMs);
      left -= pushed;
      if (pushed === most) break; // it may have more
      this.#seeding.delete(seeding.id);
      over++;
    }
    this.#seedings.splice(0, over);
  }

  /** At most so many seeds of one rule; how many; `most` where it may have more. */
  #pushSome(seeding: Seeding, most: number, nowMs: number): number {
    const urls = seeding.left.splice(0, most);
    let isOver = false;
    while (urls.length < most && !isOver) {
      const next = seeding.urls.next();
      if (next.done) isOver = true;
      else urls.push(next.value);
    }
    const list = urls.map((url) => ({ url, start: true }));
    const { isAgain } = seeding;
    const codes = pushList(this.#gate(), list, {
      nowMs,
      isOutside: true,
      isAgain,
      depth: 0,
      parent: 0,
    });
    const isRefused = (_: string, at: number): boolean =>
      [VERDICT_FULL, VERDICT_FULL_DISK, VERDICT_FULL_MEMORY].includes(codes[at] as number);
    seeding.left.push(...urls.filter(isRefused));
    return isOver && seeding.left.length === 0 ? urls.length : most;
  }
}

function* each(templates: readonly string[]): Generator<string, void, undefined> {
  for (const template of templates) yield* expandSeed(template);
}

function hasEvery({ seeds, everyMs }: RuleSpec): boolean {
  return everyMs !== undefined && seeds.length > 0;
}

function dueOf(spec: RuleSpec, seededAt: ReadonlyMap<string, number>): number {
  if (spec.everyMs === undefined || !hasEvery(spec)) return Number.POSITIVE_INFINITY;
  return (seededAt.get(spec.id) ?? Number.NEGATIVE_INFINITY) + spec.everyMs;
}

/** How many more records may come from outside. */
function roomOf({ counters, limits }: Core): number {
  return Math.max(limits.capacity - counters.pending - counters.waiting, 0);
}
