/**
 * Marks: all that must survive of a frontier as 64 bits. Two frontiers have equal marks if `knownOf` returns the same for their
 * records, finished identities, hosts and epochs; otherwise different ones, except with a probability of 2⁻⁶⁴. A mark takes a twentieth of the time of
 * the text, so that it can be taken at the end of every call of a long program.
 *
 *   item ─▶ its words, mixed in turn ─▶ two words, added to those of the others: the order of items has no effect
 */
import type { Core } from "../../src/frontier/core.ts";
import { isFinishedValue } from "../../src/frontier/records/finished-word.ts";
import { hostOf, sequenceOf } from "../../src/frontier/records/transitions.ts";
import { probeSpilled, placesSpilled } from "../../src/frontier/scheduling/spill-control.ts";
import type { Spilling } from "../../src/frontier/scheduling/spill-state.ts";
import { spillBlock } from "../../src/structures/spill/lane-spill.ts";
import { visitSpilled } from "../../src/structures/spill/visit-spilled.ts";
import { listRecords } from "../../src/frontier/records/record-walk.ts";
import { coldReading, openColdWalk } from "../../src/persistence/cold/cold-read.ts";
import { eachRow } from "../../src/persistence/cold/cold-walk.ts";
import { dueOf } from "../../src/persistence/journal/entry-fields.ts";
import { epochEach, epochName, epochNext } from "../../src/structures/seen/epoch-table.ts";
import { memberAddress } from "../../src/structures/hosts/group-table.ts";
import * as host from "../../src/structures/hosts/host-table.ts";
import * as record from "../../src/structures/records/record.ts";
import { seenFind } from "../../src/structures/seen/seen-set.ts";
import { float, storeSecret, word } from "../../src/structures/store.ts";
import {
  closeWalk,
  openWalk,
  walkHash,
  walkNext,
  walkValue,
} from "../../src/structures/table/table-walk.ts";
import type { RecordState } from "../../src/frontier/records/record-state.ts";
import { coreOf } from "../../src/engine/api/verify-frontier.ts";
import type { DurableRig } from "./durable-rig.ts";

const STATES: ReadonlySet<RecordState> = new Set([
  "pending",
  "waiting",
  "leased",
  "failed",
  "done",
]);
const HOST_DOUBLES = [
  host.HOST_TURN_WORD,
  host.HOST_READY_AT_WORD,
  host.HOST_BLOCK_UNTIL_WORD,
  host.HOST_DELAY_WORD,
  host.HOST_ADAPTIVE_WORD,
  host.HOST_BYTES_WORD,
];
const HOST_WORDS = [host.HOST_LIMIT_WORD, host.HOST_FAILURES_WORD, host.HOST_ADMITTED_WORD];
const HOST_FLAGS = host.HOST_HELD | host.HOST_STEERED | host.HOST_KEPT;

/** The mark of a frontier's records, identities, hosts and epochs. Counters and the user's state, which date from the last flush, are not in it. */
export function markOf({ files, frontier }: DurableRig): string {
  const core = coreOf(frontier);
  const mark = new Mark();
  const count = addRecords(mark, core);
  addHosts(mark, core);
  addEpochs(mark, core);
  addFinished(mark, core, files);
  return `${count} ${mark.text}`;
}

/** Two sums over items, each of them two mixed words. */
class Mark {
  #sumA = 0;
  #sumB = 0;
  #a = 0;
  #b = 0;
  readonly #double = new Float64Array(1);
  readonly #halves = new Uint32Array(this.#double.buffer);

  get text(): string {
    return `${(this.#sumA >>> 0).toString(16)}:${(this.#sumB >>> 0).toString(16)}`;
  }

  /** Begins an item of some sort. */
  begin(sort: number): void {
    this.#a = sort;
    this.#b = ~sort;
  }

  word(value: number): void {
    const a = Math.imul(this.#a ^ value, 0x9e3779b1);
    this.#a = (a << 13) | (a >>> 19);
    const b = Math.imul(((this.#b << 7) | (this.#b >>> 25)) ^ value, 0x85ebca77);
    this.#b = b ^ (b >>> 15);
  }

  double(value: number): void {
    this.#double[0] = value + 0; // −0 is 0
    this.word(this.#halves[0] as number);
    this.word(this.#halves[1] as number);
  }

  bytes(bytes: Uint8Array, from = 0, to = bytes.length): void {
    this.word(to - from);
    for (let at = from; at < to; at++) this.word(bytes[at] as number);
  }

  name(text: string): void {
    this.word(text.length);
    for (let at = 0; at < text.length; at++) this.word(text.charCodeAt(at));
  }

  end(): void {
    this.word(0x2545f491);
    this.word(this.#b);
    this.word(this.#a);
    this.#sumA = (this.#sumA + this.#a) | 0;
    this.#sumB = (this.#sumB + this.#b) | 0;
  }
}

function addRecords(mark: Mark, core: Core): number {
  const noted = listRecords(core, STATES);
  for (let index = 0; index < noted.count; index++) {
    addRecord(mark, core, noted.handles[index] as number);
  }
  let { count } = noted;
  for (const place of placesSpilled(core)) {
    probeSpilled(core, place, (one) => {
      addRecord(mark, core, one);
      count++;
    });
  }
  return count;
}

function addRecord(mark: Mark, core: Core, one: number): void {
  const { store } = core;
  const state = record.recordState(store, one);
  const blob = record.recordBlob(store, one);
  const parent = record.recordParent(store, one);
  const text = record.recordTextOffset(store, one);
  mark.begin(1);
  mark.bytes(store.region.views.u8, text, text + record.recordTextLength(store, one));
  mark.word(record.recordLo(store, one));
  mark.word(record.recordHi(store, one));
  // A lease returns as pending.
  mark.word(state === record.RECORD_LEASED ? record.RECORD_PENDING : state);
  mark.double(sequenceOf(core, one));
  mark.double(record.recordKey(store, one));
  mark.double(record.recordPriority(store, one));
  mark.word(record.recordAttempt(store, one));
  mark.word(record.recordDeliveries(store, one));
  mark.word(record.recordDepth(store, one));
  mark.word(record.recordFlags(store, one) & 31);
  mark.double(dueOf(core, one));
  mark.word(Number(record.isRecordAgain(store, one)));
  addHostHash(mark, core, hostOf(core, one));
  if (blob !== 0) {
    mark.word(record.blobPeriod(store, blob));
    mark.word(record.blobMaxAttempts(store, blob));
    mark.bytes(record.blobBytes(store, blob));
  }
  if (parent !== 0) mark.name(record.parentFingerprint(store, parent));
  mark.end();
}

/** Equal hosts have equal hashes under one secret. */
function addHostHash(mark: Mark, { store }: Core, one: number): void {
  mark.word(word(store, one, host.HOST_HASH_LO_WORD));
  mark.word(word(store, one, host.HOST_HASH_HI_WORD));
}

function addHosts(mark: Mark, core: Core): void {
  const { hosts, store } = core;
  const add = (one: number): void => {
    mark.begin(2);
    addHostHash(mark, core, one);
    for (const field of HOST_DOUBLES) mark.double(float(store, one, field));
    for (const field of HOST_WORDS) mark.word(word(store, one, field));
    mark.word(word(store, one, host.HOST_FLAGS_WORD) & HOST_FLAGS);
    mark.name(memberAddress(store, one) ?? "");
    mark.end();
  };
  for (let one = host.hostNextBusy(hosts, 0); one !== 0; one = host.hostNextBusy(hosts, one)) {
    add(one);
  }
  for (const place of placesSpilled(core)) {
    const { spill } = core.spilling as Spilling;
    visitSpilled(spill, spillBlock(spill, place), (_, away) => away.forEach(add));
  }
  for (let one = host.hostNextIdle(hosts, 0); one !== 0; one = host.hostNextIdle(hosts, one)) {
    if ((word(store, one, host.HOST_FLAGS_WORD) & host.HOST_MARKED) !== 0) add(one);
  }
}

/** Members whose identities are still known, by epoch; one that joined twice counts once. */
function addEpochs(mark: Mark, { epochs, seen }: Core): void {
  for (let epoch = epochNext(epochs, 0); epoch !== 0; epoch = epochNext(epochs, epoch)) {
    const name = epochName(epochs.store, epoch);
    mark.begin(3);
    mark.name(name);
    mark.end();
    const met = new Map<number, Set<number>>();
    epochEach(epochs, epoch, (lo, hi) => {
      const others = met.get(lo);
      if (others?.has(hi) === true || seenFind(seen, lo, hi) === 0) return;
      if (others === undefined) met.set(lo, new Set([hi]));
      else others.add(hi);
      mark.begin(4);
      mark.name(name);
      mark.word(lo);
      mark.word(hi);
      mark.end();
    });
  }
}

/** Finished identities of the hot table, and those of the cold tier that it does not override. */
function addFinished(mark: Mark, core: Core, files: DurableRig["files"]): void {
  const { seen, store } = core;
  const runs = seen.tiered?.cold.stats().runs ?? 0;
  const hot = new Map<number, Set<number>>();
  const add = (lo: number, hi: number, value: number): void => {
    if (!isFinishedValue(value)) return;
    mark.begin(5);
    mark.word(lo);
    mark.word(hi);
    mark.word(value);
    mark.end();
  };
  const walk = openWalk(seen.table);
  while (walkNext(walk)) {
    const { u32 } = store.region.views;
    for (let index = 0; index < walk.count; index++) {
      const at = walkHash(walk, index);
      const lo = u32[at] as number;
      const hi = u32[at + 1] as number;
      add(lo, hi, u32[walkValue(walk, index)] as number);
      if (runs === 0) continue;
      const others = hot.get(lo) ?? new Set();
      hot.set(lo, others.add(hi));
    }
  }
  closeWalk(walk);
  const reading = coldReading({ files, directory: "/dir/default" }, storeSecret(store));
  if (runs === 0 || reading === undefined) return;
  const { walk: cold, close } = openColdWalk(reading);
  eachRow(cold, (lo, hi, value) => {
    if (hot.get(lo)?.has(hi) !== true) add(lo, hi, value);
  });
  close();
}
