/**
 * Restoration: a core that is filled from files. Records come and go as entries say, but stand nowhere until all was read:
 * then `placeRestored` puts each where its state and its key say, in the order of the keys.
 *
 *   entry, column ─▶ record with state, key, due ─ … ─▶ all read ─▶ pending: sorted, into the ranks
 *                                                                  waiting: heap · failed: lane · leased: pending
 *
 *   I1  Until it is settled a record keeps its due time in its link words, which nothing else uses meanwhile.
 *   I3  A record that memory had no room for stands in its lane, or on disk, until an entry names it (recovery-spill.ts).
 *   I2  Keys are unique, so the order of the ranks is theirs alone: what comes in order costs O(1) each.
 */
import { memoryFull } from "../../base/errors.ts";
import {
  type Core,
  createRule,
  DEPTH_COUNT_MAX,
  ruleOfId,
  type RuleState,
} from "../../frontier/core.ts";
import { sharesAdd } from "../../frontier/scheduling/rule-shares.ts";
import { unplaceRecord } from "../../frontier/records/place-records.ts";
import { recordOfValue, recordNamed } from "../../frontier/scheduling/spill-control.ts";
import { keepRecord } from "../../frontier/records/transitions.ts";
import { queueOf } from "../../structures/hosts/host-queue.ts";
import {
  HOST_ADMITTED_WORD,
  HOST_KEPT,
  hostFind,
  ruleQueueCreate,
  setHostFlag,
} from "../../structures/hosts/host-table.ts";
import {
  RECORD_FLAG_NO_IDENTITY,
  blobCreate,
  recordCreate,
  recordFlags,
  recordPlace,
  recordTextOffset,
  setBlobPeriod,
  setRecordAgain,
  setRecordAttempt,
  setRecordDeliveries,
  setRecordKey,
  setRecordState,
} from "../../structures/records/record.ts";
import { TABLE_RESERVED_MIN } from "../../layout/seen/table.ts";
import type { RestoreBatch } from "../../structures/records/restore-batch.ts";
import { seenFind, seenSet } from "../../structures/seen/seen-set.ts";
import { setWord } from "../../structures/store.ts";
import { goneOrder } from "../../frontier/rules/rule-state.ts";
import { freeRecord } from "../../frontier/records/transitions.ts";
import { VISITED_NOTE } from "../transfer/digest-file.ts";
import type { TransitionListener } from "../journal/transition-listener.ts";
import { wrong } from "./judge-fields.ts";
import {
  createNames,
  dropName,
  keepName,
  namedRecord,
  type Names,
} from "../journal/nameless-records.ts";

export interface Restoration {
  core: Core;
  names: Names;
  /** An empty core, for a frontier that was cleared. */
  readonly remake: () => Core;
  /** Rules by the index they were written under. */
  ruleIds: readonly string[];
  /** The same, by index, as they were asked for. */
  readonly rules: RuleState[];
  /** Those that came back as gone, by id, and the core that they came back to. */
  readonly gone: { core: Core; byId: Map<string, RuleState> };
  /** The last note of each name, packed. */
  readonly notes: Map<string, Uint8Array>;
  /** Records that are never written, by what became of them. */
  volatileLive: number;
  /** A memory does not count its volatile records: they are what the other counts leave. */
  isAlone: boolean;
  /** Handle of the parent of records that follow, or 0. */
  parent: number;
  /** The epoch of members that follow. */
  epoch: string;
  /** Names of the epochs that a journal has said members of. */
  readonly joined: Set<string>;
  /** Some epoch was forgotten: empty ones are looked for at the end. */
  hasForgotten: boolean;
  /** Hears again what is replayed. */
  listener?: TransitionListener | undefined;
  /** The time of the entries that follow. */
  timeMs: number;
  /** Room for records that are made many at once, from the first of them on. */
  rows: Rows | undefined;
  /** Memory is looked at again above so many bytes. */
  spillAt: number;
  /** Leases that were out at the end. */
  leases: number;
  /** The last host looked up. */
  hostLo: number;
  hostHi: number;
  host: number;
}

export function createRestoration(core: Core, remake: () => Core): Restoration {
  return {
    ...{ remake, core, names: createNames(core), ruleIds: [], rules: [], notes: new Map() },
    gone: goneOf(core),
    joined: new Set(),
    ...{
      volatileLive: 0,
      isAlone: false,
      parent: 0,
      rows: undefined,
      spillAt: 0,
      leases: 0,
      timeMs: 0,
      epoch: "",
      hasForgotten: false,
      hostLo: 0,
      hostHi: 0,
      host: 0,
    },
  };
}

/** Records under way in batches (restore-rows.ts). */
export interface Rows {
  readonly batch: RestoreBatch;
  readonly record: RestoredRecord;
  /** What texts are read from where a row is made one by one: the input's words, and where in the region they stand. */
  words: Uint32Array;
  offset: number;
  /** Parents that rows may name, and nobody else any more. */
  readonly parents: number[];
}

/** A record as its file has it; one object serves all. */
interface RestoredRecord {
  flags: number;
  lo: number;
  hi: number;
  hostLo: number;
  hostHi: number;
  rule: number;
  state: number;
  isAgain: boolean;
  attempt: number;
  deliveries: number;
  depth: number;
  key: number;
  priority: number;
  due: number;
  /** −1: as it is. */
  hostAdmitted: number;
  /** maxAttempts u16 and period u16. */
  maxAttempts: number;
  blob: Uint8Array | undefined;
  /** The text as words, from this one on. */
  text: Uint32Array;
  textAt: number;
  textLength: number;
}

export function createRestoredRecord(): RestoredRecord {
  return {
    ...{
      flags: 0,
      lo: 0,
      hi: 0,
      hostLo: 0,
      hostHi: 0,
      rule: 0,
      state: 0,
      isAgain: false,
      attempt: 1,
    },
    ...{ deliveries: 0, depth: 0, key: 0, priority: 0, due: 0, hostAdmitted: -1 },
    ...{ maxAttempts: 0, blob: undefined, text: new Uint32Array(0), textAt: 0, textLength: 0 },
  };
}

/** The live record of a name, in memory and standing nowhere (I3), or 0. */
export function restoredRecord(
  restoration: Restoration,
  isNameless: boolean,
  lo: number,
  hi: number,
): number {
  const { core, names } = restoration;
  const value = isNameless ? namedRecord(names, lo, hi) : seenFind(core.seen, lo, hi);
  // Finished, or claimed for a row that is still to be made.
  if (value === 0 || value >= TABLE_RESERVED_MIN) return 0;
  const behind = isNameless ? recordNamed : recordOfValue;
  const record = behind(core, value, lo, hi);
  if (record !== 0 && recordPlace(core.store, record) !== 0) unplaceRecord(core, record);
  return record;
}

/** Makes a record, in place of one of the same name; false: its host is not known. @hot */
export function restoreRecord(restoration: Restoration, from: RestoredRecord): boolean {
  const { core, names } = restoration;
  const { store } = core;
  const isNameless = (from.flags & RECORD_FLAG_NO_IDENTITY) !== 0;
  const before = restoredRecord(restoration, isNameless, from.lo, from.hi);
  if (before !== 0) dropRestored(restoration, before);
  const host = hostOfHash(restoration, from.hostLo, from.hostHi);
  if (host === 0) return false;
  const rule = ruleOfIndex(restoration, from.rule);
  const { draft } = core;
  draft.flags = from.flags;
  draft.priority = from.priority;
  draft.queue = queueOf(core.hosts, host, rule.handle);
  draft.lo = from.lo;
  draft.hi = from.hi;
  draft.depth = from.depth;
  draft.parent = restoration.parent;
  draft.blob =
    from.blob === undefined ? 0 : blobCreate(store, from.blob, from.maxAttempts & 65_535);
  draft.textLength = from.textLength;
  const record = draft.queue === 0 ? 0 : recordCreate(store, draft);
  if (record === 0 || (from.blob !== undefined && draft.blob === 0)) throw memoryFull();
  const { u32, f64 } = store.region.views;
  const to = recordTextOffset(store, record) >>> 2;
  const words = (from.textLength + 3) >>> 2;
  const { text, textAt } = from;
  // The record's memory ends at a multiple of eight: the last word is its own.
  for (let i = 0; i < words; i++) u32[to + i] = text[textAt + i] as number;
  if (draft.blob !== 0) setBlobPeriod(store, draft.blob, from.maxAttempts >>> 16);
  setRecordState(store, record, from.state);
  if (from.isAgain) setRecordAgain(store, record);
  setRecordAttempt(store, record, from.attempt);
  setRecordDeliveries(store, record, from.deliveries);
  setRecordKey(store, record, from.key);
  f64[record] = from.due; // I1
  keepRecord(core, record, host);
  if (from.hostAdmitted >= 0) {
    setWord(store, host, HOST_ADMITTED_WORD, from.hostAdmitted);
    setHostFlag(store, host, HOST_KEPT, true); // as spending does
  }
  if (isNameless) keepName(names, record);
  else if (!seenSet(core.seen, from.lo, from.hi, record)) throw memoryFull();
  return true;
}

/** Everything is gone but the notes, and of those the one of what was seen elsewhere. */
export function clearRestoration(restoration: Restoration): void {
  restoration.core = restoration.remake();
  restoration.notes.delete(VISITED_NOTE);
  restoration.names = createNames(restoration.core);
  restoration.volatileLive = 0;
  restoration.rules.length = 0;
  restoration.host = 0;
  restoration.parent = 0;
}

/** A record is gone, its name with it; an identity's last word is the caller's. */
export function dropRestored(restoration: Restoration, record: number): void {
  const { core, names } = restoration;
  if ((recordFlags(core.store, record) & RECORD_FLAG_NO_IDENTITY) !== 0) dropName(names, record);
  freeRecord(core, record);
}

export function dueOfRestored(core: Core, record: number): number {
  return core.store.region.views.f64[record] as number;
}

export function setDueOfRestored(core: Core, record: number, dueMs: number): void {
  core.store.region.views.f64[record] = dueMs;
}

/** The host of a hash, or 0. */
export function hostOfHash(restoration: Restoration, lo: number, hi: number): number {
  if (restoration.host !== 0 && restoration.hostLo === lo && restoration.hostHi === hi)
    return restoration.host;
  const host = hostFind(restoration.core.hosts, lo, hi);
  restoration.host = host;
  restoration.hostLo = lo;
  restoration.hostHi = hi;
  return host;
}

/** What the indices of rules mean from here on. */
export function setRuleIds(restoration: Restoration, ids: readonly string[]): void {
  restoration.ruleIds = ids;
  restoration.rules.length = 0;
}

/** The rule of an index as it was written. One that is no longer there comes back as one that has gone. */
export function ruleOfIndex(restoration: Restoration, index: number): RuleState {
  const known = restoration.rules[index];
  if (known !== undefined) return known;
  const { core, ruleIds } = restoration;
  const id = ruleIds[index];
  if (id === undefined) throw wrong(`a rule ${index} of ${ruleIds.length}`);
  const rule = id === "" ? core.none : (ruleOfId(core, id) ?? goneRule(restoration, id));
  restoration.rules[index] = rule;
  return rule;
}

/** Those that came back before, whoever brought them. */
function goneOf(core: Core): Restoration["gone"] {
  const gone = core.rules.filter(({ isGone }) => isGone);
  return { core, byId: new Map(gone.map((rule) => [rule.id, rule])) };
}

/** Rules that the new set does not name: the sweep after the recovery finds their records new ones. */
function goneRule({ core, gone }: Restoration, id: string): RuleState {
  if (gone.core !== core) Object.assign(gone, goneOf(core));
  const same = gone.byId.get(id);
  if (same !== undefined) return same;
  const index = core.rules.length;
  const handle = ruleQueueCreate(core.store, index);
  if (handle === 0) throw memoryFull();
  const { key, policy } = core.none;
  const rule = createRule(core.store, {
    id,
    index,
    handle,
    policy,
    key,
    order: goneOrder(index),
    rate: 1,
  });
  sharesAdd(core.shares, rule);
  rule.isGone = true;
  gone.byId.set(id, rule);
  core.rules.push(rule);
  core.sole = undefined;
  return rule;
}

/** Sequences go on behind the highest one that was given. */
export function noteKey({ core }: Restoration, key: number): void {
  const size = Math.abs(key);
  const sequence = size >= 2 ** 52 ? size - 2 ** 52 : size;
  if (sequence > core.sequence) core.sequence = sequence;
}

/** An admission is counted. */
export function countAdmission(core: Core, isDeferred: boolean, depth: number): void {
  const { counters } = core;
  if (isDeferred) counters.deferred++;
  else counters.accepted++;
  const at = Math.min(depth, DEPTH_COUNT_MAX);
  counters.depths[at] = (counters.depths[at] ?? 0) + 1;
}
