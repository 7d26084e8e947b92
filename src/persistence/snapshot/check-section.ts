/**
 * Checks a section before anything of it is trusted. A checksum detects what a disk has changed, not what was written on purpose:
 * columns of other lengths, rows that point outside and values that are not numbers would corrupt memory outside the records.
 *
 *   I1  After a check every column has as many rows as the section declares, and every length and index lies inside its column.
 *   I2  No double is NaN: keys, clocks and priorities can be ordered.
 *   I3  The memory that a section makes a reader allocate is bounded by the file's own size.
 */
import {
  RECORD_FLAG_VOLATILE,
  RECORD_PENDING,
  RECORD_RESTING,
} from "../../layout/records/record.ts";
import { COLD_REMOVED } from "../../structures/storage-tiers.ts";
import { damaged } from "../directory/frontier-directory.ts";
import { flagsIn } from "../journal/entry-fields.ts";
import { blockFault, isCount } from "./check-block.ts";
import {
  doublesOf,
  type HostChunk,
  type RecordChunk,
  type Section,
  type SnapshotHead,
  wordsOf,
} from "./snapshot-format.ts";

const FINISHED = 0x8000_0000;
/** No sequence is greater. */
const KEY_MAX = 2 ** 53;
const STATE_MASK = 127;
/** Bytes of a block of a filter. */
const BLOOM_BLOCK_BYTES = 32;
/** Objects among the counters, and `__proto__`: none of them is a number. */
const NO_COUNTERS = ["depths", "rejected", "__proto__"];

/** Where the section is, for the error. */
interface SectionPlace {
  readonly path: string;
  readonly offset: number;
  /** Bytes of the file. */
  readonly size: number;
}

/** Returns the section, or throws SNAPSHOT_CORRUPT with file and offset. */
export function checkSection(section: unknown, place: SectionPlace): Section {
  const isMap = typeof section === "object" && section !== null && !Array.isArray(section);
  const fault = isMap ? faultOf(section as Section, place.size) : "not a map";
  if (fault !== undefined) throw damaged(place.path, place.offset, `invalid content: ${fault}`);
  return section as Section;
}

/** Names the first field with an impossible value; undefined when there is none. */
function faultOf(section: Section, size: number): string | undefined {
  switch (section.t) {
    case "head":
      return headFault(section);
    case "hosts":
      return hostsFault(section);
    case "groups": {
      const { n, hashes, clocks } = section;
      return columnsFault(n, [hashes, 8], [clocks, 8]) ?? doublesFault(clocks);
    }
    case "epoch":
      if (typeof section.name !== "string") return "name";
      return columnsFault(section.n, [section.hashes, 8]);
    case "bloom":
      return layersFault(section.layers, size);
    case "bits":
      return isCount(section.layer) && isCount(section.from) && isBytes(section.bits)
        ? undefined
        : "bits";
    case "seen":
      return seenFault(section.n, section.hashes, section.values);
    case "records":
      return recordsFault(section);
    case "block":
      return blockFault(section);
    case "partial": {
      const { serial, base, savedAt, totals } = section;
      if (![serial, base].every(isCount) || base >= serial) return "serial";
      if (!isNumber(savedAt)) return "savedAt";
      return areNumbers(totals) ? undefined : "totals";
    }
    case "journal":
      return isBytes(section.entries) && section.entries.length % 4 === 0 ? undefined : "entries";
    case "end": {
      const { hosts, seen, records, segment, offset } = section;
      return [hosts, seen, records, segment, offset].every(isCount) ? undefined : "counts";
    }
    default:
      return "a section of an unknown sort";
  }
}

function headFault(head: SnapshotHead): string | undefined {
  const { serial, algorithm, secret, profile, savedAt, entries = 0, volatileLive } = head;
  if (!isBytes(secret) || secret.length !== 16) return "secret";
  if (typeof profile !== "string" || !isNumber(savedAt)) return "profile";
  if (![serial, algorithm, entries, volatileLive].every(isCount)) return "serial";
  if (![head.sequence, head.leaseSequence, head.joined].every(isCount)) return "sequence";
  if (!areNumbers(head.counters) || NO_COUNTERS.some((name) => Object.hasOwn(head.counters, name)))
    return "counters";
  if (!areNumbers(head.rejected)) return "rejected";
  const { depths, notes, rules } = head;
  if (!Array.isArray(depths) || !depths.every((count) => isNumber(count ?? 0))) return "depths";
  if (!Array.isArray(rules)) return "rules";
  for (const rule of rules as unknown[]) {
    const { id, served, done, pass } = (rule ?? {}) as Partial<SnapshotHead["rules"][number]>;
    if (typeof id !== "string" || ![served, done, pass].every(isNumber)) return "rules";
  }
  return isRecord(notes) && Object.values(notes).every(isBytes) ? undefined : "notes";
}

function hostsFault(chunk: HostChunk): string | undefined {
  const { n, hashes, doubles, words, lengths, names, addresses, address } = chunk;
  const fault = columnsFault(n, [hashes, 8], [doubles, 48], [words, 16], [lengths, 4]);
  if (fault !== undefined) return fault;
  if (!isBytes(names) || paddedSum(wordsOf(lengths), 0, 1) !== names.length) return "names";
  if (addresses !== undefined) {
    if (!arePairs(addresses, 2, n) || !isBytes(address)) return "addresses";
    if (paddedSum(wordsOf(addresses), 1, 2) > address.length) return "address";
  }
  return doublesFault(doubles);
}

function recordsFault(chunk: RecordChunk): string | undefined {
  const { n, hashes, doubles, words, text, parents, prints, blobs, blob } = chunk;
  const fault = columnsFault(n, [hashes, 16], [doubles, 24], [words, 16]);
  if (fault !== undefined) return fault;
  const rows = wordsOf(words);
  if (!isBytes(text) || paddedSum(rows, 3, 4) !== text.length) return "text";
  for (let at = 0; at < rows.length; at += 4) {
    const head = rows[at] as number;
    const state = head & STATE_MASK;
    if (state < RECORD_PENDING || state > RECORD_RESTING) return `state ${state}`;
    if (flagsIn(head) >= RECORD_FLAG_VOLATILE) return "flags";
  }
  const numbers = doublesOf(doubles);
  for (let at = 0; at < numbers.length; at += 3) {
    if (!(Math.abs(numbers[at] as number) <= KEY_MAX)) return "a place";
  }
  if (parents !== undefined) {
    if (!arePairs(parents, 2, n) || !isBytes(prints)) return "parents";
    const pairs = wordsOf(parents);
    for (let at = 1; at < pairs.length; at += 2) {
      if (((pairs[at] as number) + 1) * 16 > prints.length) return "parents";
    }
  }
  if (prints !== undefined && (!isBytes(prints) || prints.length % 16 !== 0)) return "prints";
  if (blobs !== undefined) {
    if (!arePairs(blobs, 3, n) || !isBytes(blob)) return "blobs";
    let bytes = 0;
    const pairs = wordsOf(blobs);
    for (let at = 2; at < pairs.length; at += 3) bytes += pairs[at] as number;
    if (bytes > blob.length) return "blob";
  }
  return doublesFault(doubles);
}

/** A value must be a finished identity's word: anything less would be taken for the place of a record. */
function seenFault(n: number, hashes: Uint8Array, values: Uint8Array): string | undefined {
  const fault = columnsFault(n, [hashes, 8], [values, 4]);
  if (fault !== undefined) return fault;
  for (const value of wordsOf(values)) {
    if (value < FINISHED && value !== COLD_REMOVED) return "values";
  }
  return undefined;
}

/** All bits of a filter are in the file that describes it. */
function layersFault(layers: Uint8Array, size: number): string | undefined {
  if (!isBytes(layers) || layers.length % 12 !== 0) return "layers";
  const words = wordsOf(layers);
  let bytes = 0;
  for (let at = 0; at < words.length; at += 3) bytes += (words[at] as number) * BLOOM_BLOCK_BYTES;
  return bytes > size ? "layers" : undefined;
}

function columnsFault(n: unknown, ...columns: Array<[Uint8Array, number]>): string | undefined {
  if (!isCount(n)) return "n";
  const isRight = columns.every(([bytes, width]) => isBytes(bytes) && bytes.length === n * width);
  return isRight ? undefined : "columns";
}

function doublesFault(bytes: Uint8Array): string | undefined {
  for (const value of doublesOf(bytes)) if (Number.isNaN(value)) return "not a number";
  return undefined;
}

/** Checks tuples of `width` words that each begin with a row. */
function arePairs(bytes: unknown, width: number, rows: number): bytes is Uint8Array {
  if (!isBytes(bytes) || bytes.length % (width * 4) !== 0) return false;
  const words = wordsOf(bytes);
  for (let at = 0; at < words.length; at += width) if ((words[at] as number) >= rows) return false;
  return true;
}

/** Bytes of texts padded to words; their lengths are at every `width` words. */
function paddedSum(words: Uint32Array, from: number, width: number): number {
  let sum = 0;
  for (let at = from; at < words.length; at += width) {
    const bytes = words[at] as number;
    sum += (bytes >>> 2) + ((bytes & 3) === 0 ? 0 : 1);
  }
  return sum * 4;
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && !Number.isNaN(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function areNumbers(value: unknown): value is Record<string, number> {
  return isRecord(value) && Object.values(value).every(isNumber);
}
