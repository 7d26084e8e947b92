/**
 * Restoration: fills a core from files. Records come and go as entries require, but have no place until everything was read.
 * Then `placeRestored` puts each where its state and its key require, in the order of the keys.
 *
 *   entry, column ─▶ record with state, key, due ─ … ─▶ all read ─▶ pending: sorted, into the ranks
 *                                                                  waiting: heap · failed: lane · leased: pending
 *
 *   I1  Until it is placed, a record keeps its due time in its link words, which nothing else uses meanwhile.
 *   I3  A record for which memory had no room is in its lane, or on disk, alone or with its host, until an entry names it
 *       (recovery-spill.ts).
 *   I2  Keys are unique, so they alone decide the order of the ranks: records inserted in order cost O(1) each.
 */
import { memoryFull } from "../../base/errors.ts";
import { type Core, createRule, ruleOfId, type RuleState } from "../../frontier/core.ts";
import { sharesAdd } from "../../frontier/scheduling/rule-shares.ts";
import { unplaceRecord } from "../../frontier/records/place-records.ts";
import { recordOfValue, recordNamed } from "../../frontier/scheduling/spill-control.ts";
import { addToSpilled, guestQueueOf, takesRecord } from "../../frontier/scheduling/spill-hosts.ts";
import { keepRecord, freeRecord } from "../../frontier/records/transitions.ts";
import { queueOf } from "../../structures/hosts/host-queue.ts";
import {
  HOST_ADMITTED_WORD,
  HOST_KEPT,
  hostFind,
  hostLook,
  isSpilledHost,
  ruleQueueCreate,
  setHostFlag,
} from "../../structures/hosts/host-table.ts";
import {
  RECORD_FLAG_NO_IDENTITY,
  RECORD_PENDING,
  blobCreate,
  parentRetain,
  recordCreate,
  recordFlags,
  recordHi,
  recordLo,
  recordPlace,
  recordTextOffset,
  setBlobPeriod,
  setRecordAgain,
  setRecordAttempt,
  setRecordDeliveries,
  setRecordKey,
} from "../../structures/records/record.ts";
import { TABLE_RESERVED_MIN } from "../../layout/seen/table.ts";
import type { RestoreBatch } from "../../structures/records/restore-batch.ts";
import { seenFind, seenRecover, seenSet } from "../../structures/seen/seen-set.ts";
import { setWord } from "../../structures/store.ts";
import { goneOrder } from "../../frontier/rules/rule-state.ts";
import { VISITED_NOTE } from "../transfer/digest-file.ts";
import type { TransitionListener } from "../journal/transition-listener.ts";
import { wrong } from "./check-fields.ts";
import { clearCopied, type CopiedRecords, createCopied, dropCopied } from "./copied-records.ts";
import {
  createNames,
  dropName,
  keepName,
  namedRecord,
  type Names,
} from "../journal/nameless-records.ts";
import { bookPlace, restoreState } from "../../frontier/records/ledger.ts";

/** Where a frame is. */
export interface FramePlace {
  readonly serial: number;
  readonly offset: number;
}

export interface Restoration {
  core: Core;
  names: Names;
  /** Creates an empty core, for a frontier that was cleared. */
  readonly remake: () => Core;
  /** The time of the opening. */
  readonly nowMs: number;
  /** Ids of rules by the index under which they were written. */
  ruleIds: readonly string[];
  /** The same rules by index, filled as they are needed. */
  readonly rules: RuleState[];
  /** Rules that are no longer in the set, by id, and the core in which they were created. */
  readonly gone: { core: Core; byId: Map<string, RuleState> };
  /** The last note of each name, packed. */
  readonly notes: Map<string, Uint8Array>;
  /** The frame of each of them; undefined: a snapshot. */
  readonly notedAt: Map<string, FramePlace | undefined>;
  /** Live volatile records. */
  volatileLive: number;
  /** A frontier in memory does not count its volatile records: their number is what the other counts leave. */
  isAlone: boolean;
  /** Handle of the parent of the records that follow, or 0. */
  parent: number;
  /** The epoch of the members that follow. */
  epoch: string;
  /** Names of the epochs of which a journal named members. */
  readonly joined: Set<string>;
  /** Some identity was forgotten: empty epochs are dropped at the end. */
  hasForgotten: boolean;
  /** Something that no frontier leaves was corrected: two records in one place, or counters that do not add up. */
  isCorrected: boolean;
  /** Notified again of the transitions that are replayed. */
  listener?: TransitionListener | undefined;
  /** The time of the entries that follow. */
  timeMs: number;
  readonly copied: CopiedRecords;
  /** Buffers for records that are created in batches; made for the first of them. */
  rows: Rows | undefined;
  /** The highest clock of a host that was named, less the host's own delay. */
  latestClock: number;
  /** Memory is checked again above so many bytes that are held, or used. */
  spillAt: number;
  spillUsedAt: number;
  /** Bytes of the snapshot, and of the segments opened so far. */
  snapshotBytes: number;
  journalBytes: number;
  /** Leases that were out at the end. */
  leases: number;
  /** The last host looked up. */
  hostLo: number;
  hostHi: number;
  host: number;
}

export function createRestoration(core: Core, remake: () => Core, nowMs: number): Restoration {
  seenRecover(core.seen);
  return {
    ...{ remake, core, nowMs, names: createNames(core), ruleIds: [], rules: [], notes: new Map() },
    gone: goneOf(core),
    copied: createCopied(),
    joined: new Set(),
    notedAt: new Map(),
    ...{
      volatileLive: 0,
      isAlone: false,
      parent: 0,
      rows: undefined,
      latestClock: 0,
      spillAt: 0,
      spillUsedAt: 0,
      snapshotBytes: 0,
      journalBytes: 0,
      leases: 0,
      timeMs: 0,
      epoch: "",
      hasForgotten: false,
      isCorrected: false,
      hostLo: 0,
      hostHi: 0,
      host: 0,
    },
  };
}

/** Rows collected for a batch (restore-rows.ts). */
export interface Rows {
  readonly batch: RestoreBatch;
  readonly record: RestoredRecord;
  /** Where texts are read from when a row is made by itself: the input's words, and their offset in the region. */
  words: Uint32Array;
  offset: number;
  /** Parents that only collected rows still name. */
  readonly parents: number[];
}

/** A record as its file holds it; one object serves all. */
interface RestoredRecord {
  flags: number;
  lo: number;
  hi: number;
  hostLo: number;
  hostHi: number;
  rule: number;
  state: number;
  /** It replaces a record of its name, which goes on as this one; any other record is new. */
  isMoved: boolean;
  isAgain: boolean;
  attempt: number;
  deliveries: number;
  depth: number;
  key: number;
  priority: number;
  due: number;
  /** −1: unchanged. */
  hostAdmitted: number;
  /** maxAttempts u16 and period u16. */
  maxAttempts: number;
  blob: Uint8Array | undefined;
  /** The text as words, beginning at `textAt`. */
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
      isMoved: false,
      isAgain: false,
      attempt: 1,
    },
    ...{ deliveries: 0, depth: 0, key: 0, priority: 0, due: 0, hostAdmitted: -1 },
    ...{ maxAttempts: 0, blob: undefined, text: new Uint32Array(0), textAt: 0, textLength: 0 },
  };
}

/** The live record of a name, brought into memory and out of its place (I3), or 0. */
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

/**
 * Creates a record, replacing one of the same name. Returns false when its host is not known, when one that is new replaced another, or
 * when one that was moved replaced none: only entries that a snapshot holds already may do so. @hot
 */
export function restoreRecord(restoration: Restoration, from: RestoredRecord): boolean {
  const { core, names } = restoration;
  const { store } = core;
  const rule = ruleOfIndex(restoration, from.rule);
  if (core.hosts.spilled > 0 && restoreAway(restoration, from, rule)) return !from.isMoved;
  const isNameless = (from.flags & RECORD_FLAG_NO_IDENTITY) !== 0;
  const host = hostOfHash(restoration, from.hostLo, from.hostHi);
  // Before anything is dropped: the identity would go on pointing to it.
  if (host === 0) return false;
  const before = restoredRecord(restoration, isNameless, from.lo, from.hi);
  if (before !== 0) dropRestored(restoration, before);
  const record = makeRecord(restoration, from, queueOf(core.hosts, host, rule.handle));
  store.region.views.f64[record] = from.due; // I1
  keepRecord(core, record, host);
  if (from.hostAdmitted >= 0) {
    setWord(store, host, HOST_ADMITTED_WORD, from.hostAdmitted);
    setHostFlag(store, host, HOST_KEPT, true); // as spending a budget does
  }
  if (isNameless) keepName(names, record);
  else if (!seenSet(core.seen, from.lo, from.hi, record)) throw memoryFull();
  return (before !== 0) === from.isMoved;
}

/**
 * Adds a new pending record to its host on disk, where it waits with the host's block, which is not read (structures/spill/added-records.ts). False,
 * with nothing changed: the host is in memory, or must come back for this record.
 */
function restoreAway(restoration: Restoration, from: RestoredRecord, rule: RuleState): boolean {
  const { core } = restoration;
  const { handle: ruleQueue, isGone, policy } = rule;
  const { hostLo, hostHi, priority } = from;
  const value = hostLook(core.hosts, hostLo, hostHi);
  if (!isSpilledHost(value) || from.state !== RECORD_PENDING || from.isAgain) return false;
  if ((from.flags & RECORD_FLAG_NO_IDENTITY) !== 0 || from.isMoved || from.hostAdmitted >= 0) {
    return false;
  }
  if (isGone || !policy.isPolite || policy.groups.length > 0) return false;
  if (!takesRecord(core, { value, ruleQueue, priority })) return false;
  if (restoredRecord(restoration, false, from.lo, from.hi) !== 0) return false;
  const host = { name: NO_NAME, lo: hostLo, hi: hostHi };
  const record = makeRecord(restoration, from, guestQueueOf(core, host, ruleQueue));
  const { parent } = core.draft;
  if (parent !== 0) parentRetain(core.store, parent);
  bookPlace(core, record, 1);
  const place = addToSpilled(core, value, record, from.depth);
  if (!seenSet(core.seen, from.lo, from.hi, place)) throw memoryFull();
  return true;
}

/** The guest provides only the rule and the host's hash, so it needs no name. */
const NO_NAME = new Uint8Array(0);

/** Makes the record in a queue; it stands nowhere. Throws MEMORY_FULL. @hot */
function makeRecord(restoration: Restoration, from: RestoredRecord, queue: number): number {
  const { draft, store } = restoration.core;
  draft.flags = from.flags;
  draft.priority = from.priority;
  draft.queue = queue;
  draft.lo = from.lo;
  draft.hi = from.hi;
  draft.depth = from.depth;
  draft.parent = restoration.parent;
  draft.blob =
    from.blob === undefined ? 0 : blobCreate(store, from.blob, from.maxAttempts & 65_535);
  draft.textLength = from.textLength;
  const record = draft.queue === 0 ? 0 : recordCreate(store, draft);
  if (record === 0 || (from.blob !== undefined && draft.blob === 0)) throw memoryFull();
  const { u32 } = store.region.views;
  const to = recordTextOffset(store, record) >>> 2;
  const words = (from.textLength + 3) >>> 2;
  const { text, textAt } = from;
  // The record's memory ends at a multiple of eight: the last word is its own.
  for (let i = 0; i < words; i++) u32[to + i] = text[textAt + i] as number;
  if (draft.blob !== 0) setBlobPeriod(store, draft.blob, from.maxAttempts >>> 16);
  restoreState(store, record, from.state);
  if (from.isAgain) setRecordAgain(store, record);
  setRecordAttempt(store, record, from.attempt);
  setRecordDeliveries(store, record, from.deliveries);
  setRecordKey(store, record, from.key);
  return record;
}

/** Drops everything but the notes, and of the notes the one about requests that another program made. */
export function clearRestoration(restoration: Restoration): void {
  clearCopied(restoration);
  restoration.core = restoration.remake();
  restoration.notes.delete(VISITED_NOTE);
  restoration.names = createNames(restoration.core);
  restoration.volatileLive = 0;
  restoration.rules.length = 0;
  restoration.host = 0;
  restoration.parent = 0;
  restoration.spillAt = 0;
  restoration.spillUsedAt = 0;
}

/** Drops a record with its name. The caller sets the last word of its identity. */
export function dropRestored(restoration: Restoration, record: number): void {
  const { core, names } = restoration;
  const { store } = core;
  if ((recordFlags(store, record) & RECORD_FLAG_NO_IDENTITY) !== 0) dropName(names, record);
  else dropCopied(restoration, recordLo(store, record), recordHi(store, record));
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

/** Sets the ids that the indices of rules mean from here on. */
export function setRuleIds(restoration: Restoration, ids: readonly string[]): void {
  restoration.ruleIds = ids;
  restoration.rules.length = 0;
}

/** The rule of an index as it was written. A rule that is no longer in the set is created again, as gone. */
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

/** The rule of an entry that admits or moves a record: it has one. */
export function checkRuleOf(core: Core, rule: RuleState): void {
  if (rule === core.none) throw wrong("a record without a rule");
}

/** Rules of the core that are already gone. */
function goneOf(core: Core): Restoration["gone"] {
  const gone = core.rules.filter(({ isGone }) => isGone);
  return { core, byId: new Map(gone.map((rule) => [rule.id, rule])) };
}

/** Creates a rule that the new set does not name: the sweep after the recovery moves its records to other rules. */
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

/** New sequences continue after the highest one used. */
export function noteKey({ core }: Restoration, key: number): void {
  const size = Math.abs(key);
  const sequence = size >= 2 ** 52 ? size - 2 ** 52 : size;
  if (sequence > core.sequence) core.sequence = sequence;
}
