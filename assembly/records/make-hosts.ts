/**
 * Hosts that a batch meets for the first time, all made in one crossing, and hosts that leave the idle list with their
 * first record (src/structures/hosts/host-table.ts has the same, one by one):
 *
 *   hosts in the index ── listHosts ──▶ rows, sizes ── owner takes three objects for each ──▶ makeHosts ──▶ idle
 *                              └──────▶ hosts of one row that may stay lone: their rows' records stand for them (lone-records.ts)
 *   idle ── wakeHost ──▶ busy
 *
 *   I1  Hosts join in the order of their rows, lone ones too; those made here have a queue under their rows' rules.
 *   I2  A host made is idle until a record names its queue.
 */
import {
  BATCH_COUNT_WORD,
  BATCH_HOST_HASHES_OFFSET_WORD,
  BATCH_ROWS_OFFSET_WORD,
  BATCH_ROW_BYTES,
  ROW_HOST_LENGTH_WORD,
  ROW_HOST_START_WORD,
  ROW_HREF_OFFSET_WORD,
} from "../../src/layout/calls/url-batch";
import {
  HOST_ADAPTIVE_WORD,
  HOST_DELAY_WORD,
  HOST_FLAGS_WORD,
  HOST_HASH_LO_WORD,
  HOST_IDLE,
  HOST_NAME_BYTES_WORD,
  HOST_NAME_WORD,
  HOST_QUEUES_WORD,
  HOST_SIZE_BYTES,
  HOST_TURN_WORD,
} from "../../src/layout/records/host";
import {
  MAKE_BATCH_WORD,
  MAKE_BUSY_FIRST_WORD,
  MAKE_FRESH_WORD,
  MAKE_HOSTS_WORD,
  MAKE_HOST_SLOTS_WORD,
  MAKE_IDLE_COUNT_WORD,
  MAKE_IDLE_FIRST_WORD,
  MAKE_IDLE_LAST_WORD,
  MAKE_LONE,
  MAKE_MET_WORD,
  MAKE_NAMES_WORD,
  MAKE_NAME_SIZES_WORD,
  MAKE_NEW_HOSTS_WORD,
  MAKE_NEW_QUEUES_WORD,
  MAKE_NEW_ROWS_WORD,
  MAKE_RULES_WORD,
  MAKE_RULE_WORD,
  MAKE_SIZES_WORD,
  MAKE_TURNS_WORD,
  MAKE_TURN_WORD,
  MAKE_KNOWN_WORD,
  MAKE_UNUSED_WORD,
} from "../../src/layout/calls/make-records";
import { TABLE_CLAIMED, TABLE_NEW } from "../../src/layout/seen/table";
import { copyText } from "./fill-record";
import { clear, joinBusy, openQueue } from "./host-objects";
import { isLoneHost, loneBytes, nameBytesOf, openLone } from "./lone-records";
import { at, bump, get, set } from "../batch-row";

/**
 * Lists the rows whose hosts the index has not met, the bytes of their names, and how many; those whose records will be lone are marked in
 * place of the index's value, and their records take the name.
 */
export function listHosts(job: usize): void {
  const batch = <usize>get(job, MAKE_BATCH_WORD);
  const count = get(batch, BATCH_COUNT_WORD);
  const rows = <usize>get(batch, BATCH_ROWS_OFFSET_WORD);
  const hosts = <usize>get(job, MAKE_HOSTS_WORD);
  const listed = <usize>get(job, MAKE_NEW_ROWS_WORD);
  const sizes = <usize>get(job, MAKE_NAME_SIZES_WORD);
  const slots = <usize>get(job, MAKE_HOST_SLOTS_WORD);
  const turns = <usize>get(job, MAKE_TURNS_WORD);
  const recordSizes = <usize>get(job, MAKE_SIZES_WORD);
  let made: u32 = 0;
  let met: u32 = 0;
  let known: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    // A second row of its host.
    if (get(hosts, i) === TABLE_CLAIMED) store<u32>(<usize>get(slots, i), MAKE_LONE);
  }
  for (let i: u32 = 0; i < count; i++) {
    const host = get(hosts, i);
    if (isLoneHost(host)) {
      set(listed, made, i);
      set(sizes, made++, max<u32>(nameBytesOf(host), 1));
      known++;
    }
    if (host !== TABLE_NEW) continue;
    const slot = <usize>get(slots, i);
    const isShared = load<u32>(slot) === MAKE_LONE;
    if (isShared) store<u32>(slot, TABLE_CLAIMED);
    set(turns, i, met++);
    const bytes = get(rows + <usize>i * BATCH_ROW_BYTES, ROW_HOST_LENGTH_WORD);
    const lone = isShared ? 0 : loneBytes(job, i, bytes);
    if (lone !== 0) {
      set(hosts, i, MAKE_LONE);
      set(recordSizes, i, lone);
      continue;
    }
    set(listed, made, i);
    set(sizes, made, bytes === 0 ? 1 : bytes);
    made++;
  }
  set(job, MAKE_FRESH_WORD, made);
  set(job, MAKE_MET_WORD, met);
  set(job, MAKE_KNOWN_WORD, known);
}

/** Makes the hosts of the first `count` rows listed, each of the objects that stand beside its row. */
export function makeHosts(job: usize, count: u32): void {
  set(job, MAKE_UNUSED_WORD, 0);
  const batch = <usize>get(job, MAKE_BATCH_WORD);
  const hashes = <usize>get(batch, BATCH_HOST_HASHES_OFFSET_WORD);
  const rules = <usize>get(job, MAKE_RULES_WORD);
  for (let n: u32 = 0; n < count; n++) {
    const i = get(<usize>get(job, MAKE_NEW_ROWS_WORD), n);
    const host = get(<usize>get(job, MAKE_NEW_HOSTS_WORD), n);
    const queue = get(<usize>get(job, MAKE_NEW_QUEUES_WORD), n);
    if (isLoneHost(get(<usize>get(job, MAKE_HOSTS_WORD), i))) {
      const isOpen = openLone(job, i, host, queue, get(<usize>get(job, MAKE_NAMES_WORD), n));
      if (!isOpen) bump(job, MAKE_UNUSED_WORD);
      else set(<usize>get(job, MAKE_NEW_HOSTS_WORD), n, 0);
      continue;
    }
    set(<usize>get(job, MAKE_NEW_HOSTS_WORD), n, 0);
    const rule = rules === 0 ? get(job, MAKE_RULE_WORD) : get(rules, i);
    const block = at(host);
    clear(block, HOST_SIZE_BYTES);
    nameHost(job, batch, block, n);
    store<u64>(block, load<u64>(hashes + ((<usize>i) << 3)), HOST_HASH_LO_WORD << 2);
    store<f64>(block, -1, HOST_DELAY_WORD << 2);
    store<f64>(block, -1, HOST_ADAPTIVE_WORD << 2);
    const turn =
      load<f64>(job, MAKE_TURN_WORD << 2) + <f64>get(<usize>get(job, MAKE_TURNS_WORD), i);
    store<f64>(block, turn, HOST_TURN_WORD << 2);
    set(block, HOST_QUEUES_WORD, queue);
    openQueue(queue, host, rule);
    restHost(job, host);
    set(<usize>get(job, MAKE_HOSTS_WORD), i, host);
    store<u32>(<usize>get(<usize>get(job, MAKE_HOST_SLOTS_WORD), i), host);
  }
}

/** The host's first record is about to name it: it leaves the idle list for the busy one. */
export function wakeHost(job: usize, block: usize): void {
  const next = get(block, 0);
  const previous = get(block, 1);
  if (previous === 0) set(job, MAKE_IDLE_FIRST_WORD, next);
  else set(at(previous), 0, next);
  if (next === 0) set(job, MAKE_IDLE_LAST_WORD, previous);
  else set(at(next), 1, previous);
  set(job, MAKE_IDLE_COUNT_WORD, get(job, MAKE_IDLE_COUNT_WORD) - 1);
  set(block, HOST_FLAGS_WORD, get(block, HOST_FLAGS_WORD) & ~HOST_IDLE);
  joinBusy(job, MAKE_BUSY_FIRST_WORD, <u32>(block >> 3));
}

/** At the end of the idle list. */
function restHost(job: usize, host: u32): void {
  const last = get(job, MAKE_IDLE_LAST_WORD);
  set(at(host), 0, 0);
  set(at(host), 1, last);
  if (last === 0) set(job, MAKE_IDLE_FIRST_WORD, host);
  else set(at(last), 0, host);
  set(job, MAKE_IDLE_LAST_WORD, host);
  set(job, MAKE_IDLE_COUNT_WORD, get(job, MAKE_IDLE_COUNT_WORD) + 1);
  set(at(host), HOST_FLAGS_WORD, HOST_IDLE);
}

/** The name of the host of row number `n` of the list. */
function nameHost(job: usize, batch: usize, block: usize, n: u32): void {
  const i = get(<usize>get(job, MAKE_NEW_ROWS_WORD), n);
  const name = get(<usize>get(job, MAKE_NAMES_WORD), n);
  const row = <usize>get(batch, BATCH_ROWS_OFFSET_WORD) + <usize>i * BATCH_ROW_BYTES;
  const bytes = get(row, ROW_HOST_LENGTH_WORD);
  copyText(
    <usize>(get(row, ROW_HREF_OFFSET_WORD) + get(row, ROW_HOST_START_WORD)),
    at(name),
    bytes,
  );
  set(block, HOST_NAME_WORD, name);
  set(block, HOST_NAME_BYTES_WORD, bytes);
}
