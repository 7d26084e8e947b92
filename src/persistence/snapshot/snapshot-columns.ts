/**
 * Columns: chunks of hosts and records, filled straight from the region's words, packed when full. Columns of records are the
 * readable twin of assembly/records/snapshot-columns.ts, which fills most of them.
 */
import type { Core } from "../../frontier/core.ts";
import { hostHashWord, loneHash, loneName, orderKeyOf } from "../../structures/hosts/lone-host.ts";
import {
  GROUP_HASH_HI_WORD,
  GROUP_HASH_LO_WORD,
  GROUP_READY_AT_WORD,
  memberAddress,
} from "../../structures/hosts/group-table.ts";
import {
  HOST_ADAPTIVE_WORD,
  HOST_ADMITTED_WORD,
  HOST_BLOCK_UNTIL_WORD,
  HOST_BYTES_WORD,
  HOST_DELAY_WORD,
  HOST_FAILURES_WORD,
  HOST_FLAGS_WORD,
  HOST_HASH_HI_WORD,
  HOST_HASH_LO_WORD,
  HOST_LIMIT_WORD,
  HOST_NAME_BYTES_WORD,
  HOST_NAME_WORD,
  HOST_READY_AT_WORD,
  HOST_TURN_WORD,
  HOST_PASSED,
} from "../../structures/hosts/host-table.ts";
import {
  blobBytes,
  isRecordAgain,
  RECORD_FLAG_VOLATILE,
  recordAttempt,
  recordBlob,
  recordDeliveries,
  recordDepth,
  recordFlags,
  recordHi,
  recordKey,
  recordLo,
  recordParent,
  recordPriority,
  recordState,
  recordTextLength,
  recordTextOffset,
} from "../../structures/records/record.ts";
import {
  type ColumnViews,
  type SeenViews,
  SNAPSHOT_KEPT_FLAGS,
  SNAPSHOT_ROWS_MAX,
} from "../../structures/records/snapshot-batch.ts";
import { float, word } from "../../structures/store.ts";
import { dueOf, ruleBits, ruleIndexOf } from "../journal/entry-fields.ts";
import type { BlockImage } from "../../structures/spill/host-images.ts";
import type {
  BlockChunk,
  GroupChunk,
  HostChunk,
  RecordChunk,
  SeenChunk,
} from "./snapshot-format.ts";

/** Rows of one chunk, as measured best for msgpackr. */
export const CHUNK_ROWS = SNAPSHOT_ROWS_MAX;
/** Words of text at first, and the most that are kept: a few long texts once do not justify holding their memory for good. */
const TEXT_WORDS = 32 * CHUNK_ROWS;
const TEXT_WORDS_KEPT = 8 * TEXT_WORDS;
/** A flag beside the state: the record came again by itself. */
export const AGAIN = 128;

export interface Columns {
  readonly core: Core;
  count: number;
  readonly hashes: Uint32Array;
  readonly doubles: Float64Array;
  readonly words: Uint32Array;
  text: Uint32Array;
  textWords: number;
  readonly parents: number[];
  readonly prints: number[];
  /** Index of each parent's print, by the handle that the parent had last. */
  readonly printOf: Map<number, number>;
  readonly blobs: number[];
  readonly blob: Uint8Array[];
}

export function createColumns(core: Core): Columns {
  return {
    ...{ core, count: 0, textWords: 0, text: new Uint32Array(TEXT_WORDS) },
    hashes: new Uint32Array(4 * CHUNK_ROWS),
    doubles: new Float64Array(6 * CHUNK_ROWS),
    words: new Uint32Array(4 * CHUNK_ROWS),
    ...{ parents: [], prints: [], printOf: new Map(), blobs: [], blob: [] },
  };
}

/** Adds a live record as it is now. */
export function addRecord(columns: Columns, record: number): void {
  const { core, hashes, doubles, words } = columns;
  const { store } = core;
  const row = columns.count++;
  const hash = hostHashWord(store, record);
  hashes[row * 4] = recordLo(store, record);
  hashes[row * 4 + 1] = recordHi(store, record);
  hashes[row * 4 + 2] = store.region.views.u32[hash] as number;
  hashes[row * 4 + 3] = store.region.views.u32[hash + 1] as number;
  doubles[row * 3] = orderKeyOf(store, record);
  doubles[row * 3 + 1] = recordPriority(store, record);
  doubles[row * 3 + 2] = dueOf(core, record);
  const flags = recordFlags(store, record) & SNAPSHOT_KEPT_FLAGS;
  const length = recordTextLength(store, record);
  const state = recordState(store, record) | (isRecordAgain(store, record) ? AGAIN : 0);
  words[row * 4] = state | (flags << 8) | ruleBits(ruleIndexOf(core, record));
  words[row * 4 + 1] = recordAttempt(store, record) | (recordDeliveries(store, record) << 16);
  words[row * 4 + 2] = recordDepth(store, record);
  words[row * 4 + 3] = length;
  addText(columns, recordTextOffset(store, record), length);
  addMore(columns, row, record);
}

/** Adds a record's parent and blob. */
export function addMore(columns: Columns, row: number, record: number): void {
  const { store } = columns.core;
  const parent = recordParent(store, record);
  if (parent !== 0) addParent(columns, row, parent);
  const blob = recordBlob(store, record);
  if (blob === 0) return;
  const bytes = blobBytes(store, blob);
  columns.blobs.push(row, word(store, blob, 1), bytes.length);
  columns.blob.push(bytes);
}

export function takeRecords(columns: Columns, from: ColumnViews = filled(columns)): RecordChunk {
  const { rows: n, hashes, doubles, words, text } = from;
  const { parents, prints, blobs, blob } = columns;
  let chunk: RecordChunk = { t: "records", n, hashes, doubles, words, text };
  if (parents.length > 0) chunk = { ...chunk, parents: packed(parents), prints: packed(prints) };
  if (blobs.length > 0) chunk = { ...chunk, blobs: packed(blobs), blob: Buffer.concat(blob) };
  clearColumns(columns);
  return chunk;
}

function filled({ count, hashes, doubles, words, text, textWords }: Columns): ColumnViews {
  return {
    rows: count,
    hashes: bytesOf(hashes, count * 4),
    doubles: bytesOf(doubles, count * 3),
    words: bytesOf(words, count * 4),
    text: bytesOf(text, textWords),
  };
}

/** A volatile record is never written. */
export function isVolatile({ store }: Core, record: number): boolean {
  return (recordFlags(store, record) & RECORD_FLAG_VOLATILE) !== 0;
}

const HOST_FLOATS = [
  ...[HOST_TURN_WORD, HOST_READY_AT_WORD, HOST_BLOCK_UNTIL_WORD],
  ...[HOST_DELAY_WORD, HOST_ADAPTIVE_WORD, HOST_BYTES_WORD],
];

/** Adds the host that a lone record stands for: its name and its turn. */
export function addLoneHost(columns: Columns, record: number): void {
  const { core, hashes, doubles, words } = columns;
  const { store } = core;
  const row = columns.count++;
  const { lo, hi } = loneHash(store, record);
  const { offset, bytes } = loneName(store, record);
  hashes[row * 3] = lo;
  hashes[row * 3 + 1] = hi;
  hashes[row * 3 + 2] = bytes;
  doubles.set([recordKey(store, record), 0, 0, -1, -1, 0], row * 6);
  words.fill(0, row * 4, row * 4 + 4);
  words[row * 4 + 3] = HOST_PASSED | core.hosts.loneFlags;
  addText(columns, offset, bytes);
}

export function addHost(columns: Columns, host: number): void {
  const { core, hashes, doubles, words } = columns;
  const { store } = core;
  const row = columns.count++;
  hashes[row * 3] = word(store, host, HOST_HASH_LO_WORD);
  hashes[row * 3 + 1] = word(store, host, HOST_HASH_HI_WORD);
  const length = word(store, host, HOST_NAME_BYTES_WORD);
  hashes[row * 3 + 2] = length;
  for (let i = 0; i < 6; i++) doubles[row * 6 + i] = float(store, host, HOST_FLOATS[i] as number);
  words[row * 4] = word(store, host, HOST_LIMIT_WORD);
  words[row * 4 + 1] = word(store, host, HOST_FAILURES_WORD);
  words[row * 4 + 2] = word(store, host, HOST_ADMITTED_WORD);
  words[row * 4 + 3] = word(store, host, HOST_FLAGS_WORD);
  addText(columns, word(store, host, HOST_NAME_WORD) * 8, length);
  const address = memberAddress(store, host);
  if (address === undefined) return;
  const bytes = Buffer.from(address, "utf8");
  columns.blobs.push(row, bytes.length);
  columns.blob.push(Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]));
}

/** Adds the clock of a group. */
export function addGroup(columns: Columns, group: number): void {
  const { hashes, doubles } = columns;
  const { store } = columns.core;
  const row = columns.count++;
  hashes[row * 2] = word(store, group, GROUP_HASH_LO_WORD);
  hashes[row * 2 + 1] = word(store, group, GROUP_HASH_HI_WORD);
  doubles[row] = float(store, group, GROUP_READY_AT_WORD);
}

export function takeGroups(columns: Columns): GroupChunk {
  const { count: n, hashes, doubles } = columns;
  const chunk = {
    ...{ t: "groups" as const, n },
    ...{ hashes: bytesOf(hashes, n * 2), clocks: bytesOf(doubles, n) },
  };
  clearColumns(columns);
  return chunk;
}

export function takeHosts(columns: Columns): HostChunk {
  const { count: n, hashes, doubles, words, blobs, blob } = columns;
  const pairs = new Uint32Array(n * 2);
  const lengths = new Uint32Array(n);
  for (let row = 0; row < n; row++) {
    pairs[row * 2] = hashes[row * 3] as number;
    pairs[row * 2 + 1] = hashes[row * 3 + 1] as number;
    lengths[row] = hashes[row * 3 + 2] as number;
  }
  const chunk = {
    t: "hosts" as const,
    n,
    hashes: bytesOf(pairs, n * 2),
    doubles: bytesOf(doubles, n * 6),
    words: bytesOf(words, n * 4),
    lengths: bytesOf(lengths, n),
    names: bytesOf(columns.text, columns.textWords),
    ...(blobs.length === 0 ? {} : { addresses: packed(blobs), address: Buffer.concat(blob) }),
  };
  clearColumns(columns);
  return chunk;
}

/** The section of a block of hosts. */
export function takeBlock(image: BlockImage): BlockChunk {
  const { first, last, priority, words, added, rule, records } = image;
  return {
    ...{ t: "block" as const, n: image.hosts, records, clocked: image.isClocked ? 1 : 0, rule },
    bounds: bytesOf(Float64Array.of(first, last, priority), 3),
    ...{ words: bytesOf(words, words.length), more: image.addedRecords },
    added: bytesOf(added, added.length),
  };
}

export function addSeen(columns: Columns, lo: number, hi: number, value: number): void {
  const row = columns.count++;
  columns.hashes[row * 2] = lo;
  columns.hashes[row * 2 + 1] = hi;
  columns.words[row] = value;
}

export function takeSeen(
  columns: Columns,
  { rows: n, hashes, words: values }: SeenViews = seenOf(columns),
): SeenChunk {
  const chunk = { t: "seen" as const, n, hashes, values };
  clearColumns(columns);
  return chunk;
}

function seenOf({ count: rows, hashes, words }: Columns): SeenViews {
  return { rows, hashes: bytesOf(hashes, rows * 2), words: bytesOf(words, rows) };
}

/** Adds a text, padded with zeros to a word; both sides are aligned to words. */
function addText(columns: Columns, offset: number, length: number): void {
  const words = (length + 3) >>> 2;
  const start = columns.textWords;
  if (start + words > columns.text.length) {
    const text = new Uint32Array(Math.max(columns.text.length * 2, start + words));
    text.set(columns.text.subarray(0, start));
    columns.text = text;
  }
  const { text } = columns;
  const source = columns.core.store.region.views.u32;
  const from = offset >>> 2;
  const shift = (offset & 3) << 3;
  for (let i = 0; i < words; i++) {
    const low = source[from + i] as number;
    // A name that stands before a text may begin within a word.
    text[start + i] =
      shift === 0 ? low : (low >>> shift) | ((source[from + i + 1] as number) << (32 - shift));
  }
  const rest = length & 3;
  if (rest !== 0) {
    const last = start + words - 1;
    text[last] = (text[last] as number) & ((1 << (rest * 8)) - 1);
  }
  columns.textWords = start + words;
}

function addParent(columns: Columns, row: number, parent: number): void {
  const { printOf, prints } = columns;
  const { u32 } = columns.core.store.region.views;
  const print = parent * 2 + 2;
  let at = printOf.get(parent);
  // The handle may belong to another parent by now: rows are added over many turns, and spilled records hold theirs only briefly.
  for (let i = 0; at !== undefined && i < 4; i++)
    if (prints[at * 4 + i] !== u32[print + i]) at = undefined;
  if (at === undefined) {
    at = prints.length / 4;
    printOf.set(parent, at);
    for (let i = 0; i < 4; i++) prints.push(u32[print + i] as number);
  }
  columns.parents.push(row, at);
}

/** Removes all rows. */
export function clearColumns(columns: Columns): void {
  columns.count = 0;
  columns.textWords = 0;
  if (columns.text.length > TEXT_WORDS_KEPT) columns.text = new Uint32Array(TEXT_WORDS);
  columns.printOf.clear();
  columns.parents.length = 0;
  columns.prints.length = 0;
  columns.blobs.length = 0;
  columns.blob.length = 0;
}

function packed(words: readonly number[]): Uint8Array {
  return new Uint8Array(new Uint32Array(words).buffer);
}

/** The bytes of the first `length` elements. */
function bytesOf(column: Uint32Array | Float64Array, length: number): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, length * column.BYTES_PER_ELEMENT);
}
