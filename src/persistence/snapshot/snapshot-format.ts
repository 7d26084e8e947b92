/**
 * Snapshot files: a preamble, then sections of msgpack; docs/formats/snapshot.md is the specification.
 *
 *   preamble  "ORSN", version u32, serial u32, zero u32
 *   section   length u32, crc32 u32 (seeded by serial and place), msgpack
 *   sections  head, hosts …, groups …, epoch …, bloom, bits …, seen …, records …, block …, end; journal … anywhere
 *             or of a partial snapshot: partial
 *
 *   I1  A file whose last section is not `end` was never finished, and does not count.
 */
export const SNAPSHOT_VERSION = 3;
export const SNAPSHOT_VERSION_MIN = 1;
export const SNAPSHOT_MAGIC = 0x4e53_524f;
export const PREAMBLE_BYTES = 16;
export const SECTION_HEAD_BYTES = 8;

/** The first section of a snapshot: the state at the first byte of segment `serial`. */
export interface SnapshotHead {
  readonly t: "head";
  readonly serial: number;
  readonly algorithm: number;
  readonly secret: Uint8Array;
  readonly profile: string;
  readonly savedAt: number;
  /** Identities in memory when the snapshot began: a reader makes room for them. Missing in older files. */
  readonly entries?: number;
  readonly sequence: number;
  readonly leaseSequence: number;
  readonly joined: number;
  readonly volatileLive: number;
  readonly counters: Record<string, number>;
  readonly depths: readonly number[];
  readonly rejected: Record<string, number>;
  readonly rules: readonly SnapshotRule[];
  /** Notes by name, packed. */
  readonly notes: Record<string, Uint8Array>;
  /** The file is complete by itself; no segment of a journal belongs to it. */
  readonly alone?: boolean;
}

export interface SnapshotRule {
  readonly id: string;
  readonly served: number;
  readonly done: number;
  readonly pass: number;
}

/** Columns of up to a thousand hosts. */
export interface HostChunk {
  readonly t: "hosts";
  readonly n: number;
  /** lo, hi of each. */
  readonly hashes: Uint8Array;
  /** turn, readyAt, blockUntil, delayMs, adaptiveMs, bytes of each. */
  readonly doubles: Uint8Array;
  /** limit, failures, admitted, flags of each. */
  readonly words: Uint8Array;
  readonly lengths: Uint8Array;
  readonly names: Uint8Array;
  /** For each host with a known address: row, length; and the addresses, each padded to 4. */
  readonly addresses?: Uint8Array;
  readonly address?: Uint8Array;
}

/** Clocks of up to a thousand groups, by the hash of kind and name. */
export interface GroupChunk {
  readonly t: "groups";
  readonly n: number;
  /** lo, hi of each. */
  readonly hashes: Uint8Array;
  /** readyAt of each. */
  readonly clocks: Uint8Array;
}

/** Finished identities. */
export interface SeenChunk {
  readonly t: "seen";
  readonly n: number;
  readonly hashes: Uint8Array;
  readonly values: Uint8Array;
}

/** Columns of up to a thousand live records. */
export interface RecordChunk {
  readonly t: "records";
  readonly n: number;
  /** lo, hi of the name; lo, hi of the host: of each. */
  readonly hashes: Uint8Array;
  /** key, priority, due of each. */
  readonly doubles: Uint8Array;
  /** state u8 · flags u8 · rule u16; attempt u16 · deliveries u16; depth u16; bytes of text: of each. */
  readonly words: Uint8Array;
  /** Texts, each padded with zeros to a multiple of 4. */
  readonly text: Uint8Array;
  /** For each record that has one: index, position in `prints`. */
  readonly parents?: Uint8Array;
  /** 16 bytes each. */
  readonly prints?: Uint8Array;
  /** For each record that has one: index, maxAttempts, length. */
  readonly blobs?: Uint8Array;
  readonly blob?: Uint8Array;
}

/** A block of hosts on disk, with all their records (structures/spill/host-images.ts). */
export interface BlockChunk {
  readonly t: "block";
  /** Hosts, and records of theirs. */
  readonly n: number;
  readonly records: number;
  /** 1: in the order of clocks; 0: of turns, under `rule`. */
  readonly clocked: number;
  readonly rule: number;
  /** first, last, priority. */
  readonly bounds: Uint8Array;
  /** Host entries, with indices of rules. */
  readonly words: Uint8Array;
  /** Records that were added since: how many, and their entries. */
  readonly more: number;
  readonly added: Uint8Array;
}

/** Members of one epoch; a large one has several chunks. */
export interface EpochChunk {
  readonly t: "epoch";
  readonly n: number;
  readonly name: string;
  /** lo, hi of each. */
  readonly hashes: Uint8Array;
}

export interface SnapshotEnd {
  readonly t: "end";
  readonly hosts: number;
  readonly seen: number;
  readonly records: number;
  /** Position of the journal when the last chunk was taken. */
  readonly segment: number;
  readonly offset: number;
}

/** Mode bloom: the filter's layers, as they were at one moment of the writing. */
export interface BloomChunk {
  readonly t: "bloom";
  /** blocks, capacity, inserted of each. */
  readonly layers: Uint8Array;
}

/** A piece of a layer's bits. */
export interface BitsChunk {
  readonly t: "bits";
  readonly layer: number;
  /** Offset of the piece in the layer, in bytes. */
  readonly from: number;
  readonly bits: Uint8Array;
}

/** Entries logged while the file was written: whole groups. Only in a standalone file. */
interface JournalChunk {
  readonly t: "journal";
  readonly entries: Uint8Array;
}

/** The one section of a partial snapshot (partial-snapshot.ts). */
export interface PartialSection {
  readonly t: "partial";
  readonly serial: number;
  /** Serial of the whole snapshot that it continues. */
  readonly base: number;
  readonly savedAt: number;
  /** What the base and the journal since then add up to at the first byte of segment `serial`. */
  readonly totals: Record<string, number>;
}

export type Section =
  | JournalChunk
  | PartialSection
  | SnapshotHead
  | HostChunk
  | GroupChunk
  | EpochChunk
  | BloomChunk
  | BitsChunk
  | SeenChunk
  | RecordChunk
  | BlockChunk
  | SnapshotEnd;

export function preamble(serial: number): Uint8Array {
  const words = Uint32Array.of(SNAPSHOT_MAGIC, SNAPSHOT_VERSION, serial, 0);
  return new Uint8Array(words.buffer);
}

/** Bytes of a section's columns, each rounded up to a multiple of eight. */
export function alignedSize(section: object): number {
  let size = 0;
  for (const value of Object.values(section)) {
    if (value instanceof Uint8Array) size += (value.length + 7) & ~7;
  }
  return size;
}

/** Copies the columns of a section to `room`, each to a multiple of eight, and replaces them by the copies. */
export function alignColumns(section: object, room: Uint8Array): void {
  let at = 0;
  for (const [name, value] of Object.entries(section)) {
    if (!(value instanceof Uint8Array)) continue;
    room.set(value, at);
    Object.assign(section, { [name]: room.subarray(at, at + value.length) });
    at += (value.length + 7) & ~7;
  }
}

/** The words of a column; a copy where the bytes are not aligned to words. */
export function wordsOf(bytes: Uint8Array): Uint32Array {
  const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Uint32Array(whole.buffer, whole.byteOffset, whole.byteLength >> 2);
}

/** A sparse column: the values by row. */
export function pairsOf(
  bytes: Uint8Array | undefined,
  width: number,
): Map<number, number[]> | undefined {
  if (bytes === undefined) return undefined;
  const words = wordsOf(bytes);
  const map = new Map<number, number[]>();
  for (let at = 0; at < words.length; at += width) {
    map.set(words[at] as number, Array.from(words.subarray(at + 1, at + width)));
  }
  return map;
}

export function doublesOf(bytes: Uint8Array): Float64Array {
  const whole = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  return new Float64Array(whole.buffer, whole.byteOffset, whole.byteLength >> 3);
}
