/**
 * Names: finds live records that have no identity: those pushed past the duplicate check, second records of one identity, and all that
 * survived a `forget`. A name is the sequence of the record's place at that moment, which no other record ever had, passed through a
 * permutation of 64 bits. It is stored where other records store their hash.
 *
 *   identity ── hash ──▶ seen-set ──▶ record            no identity ── name ──▶ this table ──▶ record
 *
 *   I1  While a journal is kept, every live record in memory is found by exactly one of the two ways. A record on disk is found by its
 *       place, and returns under its name.
 *   I2  A name is used once: sequences only rise, and the permutation keeps different ones apart.
 */
import {
  type FingerprintTable,
  tableFind,
  tableInsert,
  tableRemove,
  tryCreateTable,
} from "../../structures/table/fingerprint-table.ts";
import { assert } from "../../base/assert.ts";
import { memoryFull } from "../../base/errors.ts";
import type { Core } from "../../frontier/core.ts";
import { spillBlock, spillPlaces } from "../../structures/spill/lane-spill.ts";
import { visitSpilled } from "../../structures/spill/visit-spilled.ts";
import { spillForget } from "../../structures/spill/forget-spilled.ts";
import { type SpillNames, spilledValue } from "../../structures/spill/spilled-identity.ts";
import { sequenceOf } from "../../frontier/records/transitions.ts";
import { listRecords } from "../../frontier/records/record-walk.ts";
import {
  RECORD_FAILED,
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_VOLATILE,
  recordFlags,
  recordHi,
  recordLo,
  recordState,
  setRecordFlags,
  setRecordName,
} from "../../structures/records/record.ts";

export interface Names {
  readonly core: Core;
  /** Created for the first record that needs it. */
  table: FingerprintTable | undefined;
}

export function createNames(core: Core): Names {
  const names: Names = { core, table: undefined };
  if (core.spilling !== undefined) core.spilling.spill.names = spillNames(names, true);
  return names;
}

/**
 * How records without identity are spilled and refilled under their names. While files are read, entries look records up by name, so the
 * table keeps their places. Afterwards nothing does, and a record on disk takes no room in the table.
 */
export function spillNames(names: Names, isReading: boolean): SpillNames {
  return {
    name: (record) => setName(names.core, record),
    keep: (record) => tryKeepName(names, record, record),
    drop: (record, place) => {
      // The table has this name already, so there is room.
      if (isReading) tryKeepName(names, record, spilledValue(place));
      else dropName(names, record);
    },
  };
}

/** While files are read: spilled records lose their identity and are found by the names derived from their keys. */
export function forgetSpilled(names: Names): void {
  const { spilling } = names.core;
  if (spilling === undefined) return;
  const { spill } = spilling;
  spillForget(spill);
  for (const place of spillPlaces(spill)) {
    visitSpilled(spill, spillBlock(spill, place), (records) => {
      for (const record of records) {
        assert(isNameFree(names, record, spilledValue(place)), "I2: a name is used once");
        if (!tryKeepName(names, record, spilledValue(place))) throw memoryFull();
      }
    });
  }
}

/** Creates the table; returns false when memory is exhausted. */
export function openNames(names: Names): boolean {
  names.table ??= tryCreateTable(names.core.store.kernel, { valued: true });
  return names.table !== undefined;
}

/** Names a record after its current place and removes its identity if it has one. */
export function nameRecord(names: Names, record: number): void {
  setName(names.core, record);
  keepName(names, record);
}

/** The same for a record that is read from a file, where two may claim one place: returns false then. */
export function tryNameRecord(names: Names, record: number): boolean {
  setName(names.core, record);
  if (!isNameFree(names, record, record)) return false;
  keepName(names, record);
  return true;
}

/** Whether no other record is found by the name that a record carries. */
export function isNameFree(names: Names, record: number, value: number): boolean {
  const { store } = names.core;
  const known = namedRecord(names, recordLo(store, record), recordHi(store, record));
  return known === 0 || known === value;
}

function setName(core: Core, record: number): void {
  const { store } = core;
  const sequence = sequenceOf(core, record);
  const lo = sequence >>> 0;
  const hi = Math.floor(sequence / 2 ** 32) >>> 0;
  const left = (lo ^ mixed(hi, 0x9e3779b9)) >>> 0;
  const right = (hi ^ mixed(left, 0x7f4a7c15)) >>> 0;
  const last = (left ^ mixed(right, 0x94d049bb)) >>> 0;
  setRecordFlags(store, record, recordFlags(store, record) | RECORD_FLAG_NO_IDENTITY);
  setRecordName(store, record, last, right);
}

/** Makes a record findable by the name that it carries. Throws when memory is exhausted. */
export function keepName(names: Names, record: number): void {
  if (!tryKeepName(names, record, record)) throw memoryFull();
}

function tryKeepName(names: Names, record: number, value: number): boolean {
  const { store } = names.core;
  if (!openNames(names) || names.table === undefined) return false;
  const slot = tableInsert(names.table, recordLo(store, record), recordHi(store, record));
  if (slot === 0) return false;
  store.region.views.u32[slot >>> 2] = value;
  return true;
}

/** Returns the record of a name: its handle, the value of its place when it is spilled, or 0. */
export function namedRecord(names: Names, lo: number, hi: number): number {
  const slot = names.table === undefined ? 0 : tableFind(names.table, lo, hi);
  return slot === 0 ? 0 : (names.core.store.region.views.u32[slot >>> 2] as number);
}

/** Removes the name of a record that has ended. */
export function dropName(names: Names, record: number): void {
  const { store } = names.core;
  if (names.table === undefined) return;
  tableRemove(names.table, recordLo(store, record), recordHi(store, record));
}

/**
 * Begins a new generation: every live record, in memory or on disk, loses its identity; failed records end with the old generation.
 * Calls `onVolatile` with the failed ones that no entry names.
 */
export function forgetNames(names: Names, onVolatile: (record: number) => void): void {
  const { core } = names;
  const noted = listRecords(core, new Set(["pending", "waiting", "leased", "failed"]));
  for (let index = 0; index < noted.count; index++) {
    const record = noted.handles[index] as number;
    const flags = recordFlags(core.store, record);
    const isFailed = recordState(core.store, record) === RECORD_FAILED;
    if ((flags & RECORD_FLAG_VOLATILE) !== 0) {
      if (isFailed) onVolatile(record);
    } else if ((flags & RECORD_FLAG_NO_IDENTITY) === 0) {
      if (!isFailed) nameRecord(names, record);
    } else if (isFailed) dropName(names, record);
  }
  if (core.spilling !== undefined) spillForget(core.spilling.spill);
}

/** One half of a Feistel round. Any function would be correct; a mixing one spreads the names over the table. */
function mixed(word: number, salt: number): number {
  let z = (word + salt) | 0;
  z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
  z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
  return (z ^ (z >>> 16)) >>> 0;
}
