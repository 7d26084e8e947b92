/**
 * RuleSeeds: the seeds of rules, in slices between the user's calls, once for each rule or every T.
 *
 *   rule appears ─▶ its seeds, once        every T ─▶ its seeds again: what is finished or failed starts anew,
 *                                                     what is still on its way stays as it is
 *
 *   I1  Seeds are admitted like anything pushed from outside: rules, scope, duplicates, capacity. Where there is no room
 *       they wait for it; none is dropped.
 *   I2  Seeds of templates are made when they are pushed, never as one list.
 *   I3  How far they have come is noted with each slice of them, in its group: the next process goes on there.
 *
 *   note "seeding"     the rules whose seeds are on their way in, the first one first, and whether they come again
 *   note "seedingAt"   how many of these rules are done, and how many seeds of the next one are in
 */
import { type Core, ruleOfId } from "../../frontier/core.ts";
import type { RuleSpec } from "../../frontier/rules/rule-specs.ts";
import {
  VERDICT_FULL,
  VERDICT_FULL_DISK,
  VERDICT_FULL_MEMORY,
} from "../../frontier/admission/verdicts.ts";
import { expandSeed } from "../../url/parsing/seed-templates.ts";
import type { IntakeContext } from "./intake-context.ts";
import { pushList } from "./push-requests.ts";

/** Seeds pushed in one slice: about a millisecond. */
const SLICE_SEEDS = 500;
/** Beginning with the seeds of a rule costs as much as some seeds. */
const SEEDING_COST = 5;

/** What refused, a full disk or memory, is asked again after this long: it must not keep the event loop busy. */
const RETRY_MS = 1_000;

/** Seeds of one rule on their way in. */
interface Seeding {
  readonly id: string;
  readonly isAgain: boolean;
  readonly urls: Iterator<string>;
  /** How many `urls` has given; with nothing left all of them are in. */
  taken: number;
  /** Taken from `urls`, and refused for want of room. */
  left: string[];
  /** So many of the first seeds are in for sure. */
  isIn: number;
}

/** What outlives the process: each under its own name among the notes of the journal. */
export interface SeedNotes {
  /** When each rule was seeded last. */
  readonly seeded?: Readonly<Record<string, number>>;
  /** Rules on their way in, and whether they come again. */
  readonly seeding?: ReadonlyArray<readonly [id: string, isAgain: boolean]>;
  /** How many of them are done, and how many seeds of the next are in. */
  readonly seedingAt?: readonly [rules: number, seeds: number];
}

export const SEED_NOTES = ["seeded", "seeding", "seedingAt"] as const;

export class RuleSeeds {
  readonly #intake: () => IntakeContext;
  readonly #seedings: Seeding[] = [];
  /** The ids of the rules among them. */
  readonly #seeding = new Set<string>();
  /** When each rule was seeded last. */
  #seededAt = new Map<string, number>();
  #nextAt = Number.POSITIVE_INFINITY;
  #hasEvery = false;
  /** So many of the rules that were noted are done, and so many seeds of the next are noted as in. */
  #doneRules = 0;
  #notedIn = 0;
  /** When seeds found no room last, for want of disk or memory. */
  #refusedAt = Number.NEGATIVE_INFINITY;
  /** What an earlier process had not ended, until the rules are known. */
  #unended: SeedNotes | undefined;

  constructor(intake: () => IntakeContext) {
    this.#intake = intake;
  }

  /** Seeds are on their way in. */
  get isSeeding(): boolean {
    return this.#seedings.length > 0;
  }

  /** Some will come again: a frontier is not finished by itself. */
  get hasEvery(): boolean {
    return this.#hasEvery;
  }

  /** When some come again. */
  get nextAt(): number {
    return this.#nextAt;
  }

  /** For the journal; `restore` takes it back. */
  get notes(): Required<SeedNotes> {
    return {
      seeded: Object.fromEntries(this.#seededAt),
      seeding: this.#seedings.map(({ id, isAgain }) => [id, isAgain]),
      seedingAt: [0, this.#seedings[0]?.isIn ?? 0],
    };
  }

  /** Of an earlier process: rules that were seeded then are not new, and seeds that were on their way come in. */
  restore(notes: SeedNotes): void {
    this.#seededAt = new Map(Object.entries(notes.seeded ?? {}));
    this.#unended = notes;
  }

  /** Continues what an earlier process had not finished, except for rules that have been removed. */
  resume(core: Core): void {
    const { seeding = [], seedingAt: [done, isIn] = [0, 0] } = this.#unended ?? {};
    this.#unended = undefined;
    const left = seeding.slice(done);
    if (left.length === 0) return;
    const specs = new Map(core.seeders.map((spec) => [spec.id, spec]));
    for (const [at, [id, isAgain]] of left.entries()) {
      const spec = specs.get(id);
      if (spec !== undefined) this.#enter(spec, isAgain, at === 0 ? isIn : 0);
    }
    this.#note(core);
  }

  #enter({ id, seeds }: RuleSpec, isAgain: boolean, isIn: number): void {
    if (this.#seeding.has(id)) return; // the last round is not in yet
    const urls = each(seeds);
    let passed = 0;
    while (passed < isIn && !urls.next().done) passed++;
    this.#seeding.add(id);
    this.#seedings.push({ id, isAgain, urls, taken: passed, left: [], isIn: passed });
  }

  /** One note for all of them: it holds the times of every rule. */
  #note(core: Core): void {
    if (core.log === undefined) return;
    const { notes } = this;
    for (const name of SEED_NOTES) core.log.note(name, notes[name]);
    this.#doneRules = 0;
    this.#notedIn = notes.seedingAt[1];
  }

  /** New rules are seeded; the times of others stay. */
  rulesChanged(core: Core, nowMs: number): void {
    const isNew = ({ id, seeds }: RuleSpec): boolean => seeds.length > 0 && !this.#seededAt.has(id);
    this.#seed(core, core.seeders.filter(isNew), nowMs, false);
    this.#hasEvery = core.seeders.some(({ everyMs }) => everyMs !== undefined);
    this.#findNext(core);
  }

  /** When some can come in; a disk that refused is not asked again at once. */
  dueAt(core: Core, nowMs: number): number {
    const canPush = this.#seedings.length > 0 && roomOf(core) > 0;
    const pushAt = canPush ? retryAt(this.#refusedAt, nowMs) : Number.POSITIVE_INFINITY;
    return Math.min(pushAt, this.#nextAt);
  }

  /** One slice. */
  run(core: Core, nowMs: number): void {
    if (nowMs >= this.#nextAt) this.#seedAgain(core, nowMs);
    this.#push(core, nowMs);
  }

  #seedAgain(core: Core, nowMs: number): void {
    const isDue = (spec: RuleSpec): boolean => dueOf(spec, this.#seededAt) <= nowMs;
    this.#seed(core, core.seeders.filter(isDue), nowMs, true);
    this.#findNext(core);
  }

  #seed(core: Core, specs: readonly RuleSpec[], nowMs: number, isAgain: boolean): void {
    for (const spec of specs) {
      this.#seededAt.set(spec.id, nowMs);
      this.#enter(spec, isAgain, 0);
    }
    if (specs.length > 0) this.#note(core);
  }

  #findNext(core: Core): void {
    let nextAt = Number.POSITIVE_INFINITY;
    for (const spec of core.seeders) nextAt = Math.min(nextAt, dueOf(spec, this.#seededAt));
    this.#nextAt = nextAt;
  }

  /** Seeds of rule after rule, as many as a slice has time and the frontier has room for. */
  #push(core: Core, nowMs: number): void {
    let over = 0;
    let all = 0;
    for (let left = SLICE_SEEDS; left > 0; left -= SEEDING_COST) {
      const seeding = this.#seedings[over];
      const most = Math.min(left, roomOf(core));
      if (seeding === undefined || most === 0) break;
      const isGone = ruleOfId(core, seeding.id) === undefined;
      const pushed = isGone ? 0 : this.#pushSome(seeding, most, nowMs);
      left -= pushed;
      all += pushed;
      if (pushed === most) break; // it may have more
      this.#seeding.delete(seeding.id);
      over++;
    }
    this.#seedings.splice(0, over);
    this.#doneRules += over;
    const isIn = this.#seedings[0]?.isIn ?? 0;
    if (over > 0 || isIn !== this.#notedIn) {
      this.#notedIn = isIn;
      core.log?.note("seedingAt", [this.#doneRules, isIn]);
    } else if (all > 0) this.#refusedAt = nowMs; // none found room
  }

  /** At most so many seeds of one rule; how many; `most` where it may have more. */
  #pushSome(seeding: Seeding, most: number, nowMs: number): number {
    const hadLeft = seeding.left.length > 0;
    const urls = seeding.left.splice(0, most);
    let isOver = false;
    while (urls.length < most && !isOver) {
      const next = seeding.urls.next();
      if (next.done) {
        isOver = true;
      } else {
        urls.push(next.value);
        seeding.taken++;
      }
    }
    const list = urls.map((url) => ({ url, start: true }));
    const { isAgain } = seeding;
    const codes = pushList(this.#intake(), list, {
      nowMs,
      isOutside: true,
      isAgain,
      depth: 0,
      parent: 0,
    });
    const isRefused = (_: string, at: number): boolean =>
      [VERDICT_FULL, VERDICT_FULL_DISK, VERDICT_FULL_MEMORY].includes(codes[at] as number);
    seeding.left.push(...urls.filter(isRefused));
    if (seeding.left.length === 0) seeding.isIn = seeding.taken;
    else if (!hadLeft) seeding.isIn = seeding.taken - urls.length + urls.findIndex(isRefused);
    return isOver && seeding.left.length === 0 ? urls.length : most;
  }
}

function* each(templates: readonly string[]): Generator<string, void, undefined> {
  for (const template of templates) yield* expandSeed(template);
}

function dueOf(spec: RuleSpec, seededAt: ReadonlyMap<string, number>): number {
  if (spec.everyMs === undefined || spec.seeds.length === 0) return Number.POSITIVE_INFINITY;
  return (seededAt.get(spec.id) ?? Number.NEGATIVE_INFINITY) + spec.everyMs;
}

/** When what refused last at `refusedAt` is asked again: after a while, or at once; a clock set back does not prolong it. */
export function retryAt(refusedAt: number, nowMs: number): number {
  return nowMs >= refusedAt && nowMs < refusedAt + RETRY_MS ? refusedAt + RETRY_MS : nowMs;
}

/** How many more records may come from outside. */
function roomOf({ counters, limits }: Core): number {
  return Math.max(limits.capacity - counters.pending - counters.waiting, 0);
}
