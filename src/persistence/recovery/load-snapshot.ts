/** Reads a snapshot into a core that is being restored: hosts first, then records and finished identities. */
import { FrontierError, memoryFull } from "../../base/errors.ts";
import type { Core } from "../../frontier/core.ts";
import { sharesReorder } from "../../frontier/scheduling/rule-shares.ts";
import { bloomFill, type BloomLayer } from "../../structures/bloom/bloom-copy.ts";
import { TABLE_RESERVED_MIN } from "../../layout/seen/table.ts";
import { epochAdd, epochOpen } from "../../structures/seen/epoch-table.ts";
import {
  parentCreate,
  parentRelease,
  RECORD_FLAG_NO_IDENTITY,
} from "../../structures/records/record.ts";
import {
  seenAdmitBatch,
  seenExpect,
  seenRemake,
  seenRemove,
  seenSet,
} from "../../structures/seen/seen-set.ts";
import { COLD_REMOVED } from "../../structures/storage-tiers.ts";
import { storeGive, storeTake } from "../../structures/store.ts";
import {
  contentOf,
  damaged,
  HASH_ALGORITHM,
  otherProfile,
  type Place,
  snapshotPath,
  otherFormat,
  unsupported,
} from "../directory/frontier-directory.ts";
import { RESTORE_ROWS_MAX } from "../../structures/records/restore-batch.ts";
import { dropCopied, noteCopied } from "./copied-records.ts";
import { spillDuringRecovery } from "./recovery-spill.ts";
import { restoreBlock } from "./restore-blocks.ts";
import { restoreColumns } from "./restore-rows.ts";
import { restoreGroup, restoreHost, setRestoredAddress, setRestoredHost } from "./restore-hosts.ts";
import {
  dropRestored,
  type Restoration,
  restoredRecord,
  ruleOfIndex,
  setRuleIds,
} from "./restore-records.ts";
import {
  type BitsChunk,
  type BloomChunk,
  doublesOf,
  type EpochChunk,
  type GroupChunk,
  type HostChunk,
  type RecordChunk,
  type Section,
  type SeenChunk,
  type SnapshotEnd,
  type SnapshotHead,
  pairsOf,
  wordsOf,
} from "../snapshot/snapshot-format.ts";
import { SnapshotReader } from "../snapshot/section-reader.ts";
import { addRuleTotals, restoreCounters } from "../../frontier/records/ledger.ts";

interface SnapshotLoad {
  readonly place: Place;
  readonly serial: number;
  /** Its path; undefined: its place among the generations. */
  readonly path?: string;
  /** Accepts only a file that needs no journal. */
  readonly standalone?: boolean;
  /** The key profile of the opening frontier; undefined: any. */
  readonly profile: string | undefined;
  /** Called with the head; creates the core to fill. */
  readonly begin: (head: SnapshotHead) => Restoration;
  /** Applies whole groups of entries that the file itself holds. */
  readonly replay: (entries: Uint32Array) => void;
  /** Called after each section: lets other work run, and reports progress. */
  readonly pause: (records: number, bytes: number, size: number) => Promise<void>;
}

/** Bytes of a finished identity in its columns. */
const SEEN_ROW_BYTES = 12;

/** Loads a whole snapshot. Throws SNAPSHOT_CORRUPT, FORMAT_UNSUPPORTED or PROFILE_MISMATCH, which names the file. */
export async function loadSnapshot(load: SnapshotLoad): Promise<SnapshotEnd> {
  const path = load.path ?? snapshotPath(load.place, load.serial);
  const reader = new SnapshotReader(load.place.files, path, load.serial);
  try {
    const head = reader.next();
    if (head?.t !== "head") throw damaged(path, 0, "no header");
    checkHead(path, head, load);
    const restoration = load.begin(head);
    contentOf(path, 0, () => applyHead(restoration, head));
    // No row is shorter than a finished identity: the count in the head is trusted only as far as the file has room.
    seenExpect(restoration.core.seen, Math.min(head.entries ?? 0, reader.size / SEEN_ROW_BYTES));
    reader.isPassing = true; // notes of the head are kept, nothing of later sections is
    const filler = createFiller(restoration);
    let end: SnapshotEnd | undefined;
    const tail: number[] = [];
    let records = 0;
    for (;;) {
      const start = reader.offset;
      const section = reader.next();
      if (section === undefined) break;
      if (end !== undefined) throw damaged(path, reader.offset, "bytes after its end");
      if (section.t === "end") end = section;
      else if (section.t === "journal") tail.push(start);
      else records += contentOf(path, start, () => applySection(filler, path, section));
      spillDuringRecovery(restoration);
      await load.pause(records, reader.offset, reader.size);
    }
    closeFiller(filler);
    if (end === undefined) throw damaged(path, reader.offset, "no end");
    for (const start of tail) {
      replayChunk(load, reader, start);
      await load.pause(records, start, reader.size);
    }
    return end;
  } finally {
    reader.close();
  }
}

/** Entries override all copies, wherever between them they were written (docs/formats/snapshot.md, S3). */
function replayChunk(load: SnapshotLoad, reader: SnapshotReader, start: number): void {
  reader.offset = start;
  const section = reader.next();
  if (section?.t !== "journal") throw damaged(reader.path, start, "not a journal");
  contentOf(reader.path, start, () => load.replay(wordsOf(section.entries)));
}

/** The head alone, checked; for callers that read nothing else. */
export function readSnapshotHead(place: Place, serial: number): SnapshotHead {
  const path = snapshotPath(place, serial);
  const reader = new SnapshotReader(place.files, path, serial);
  try {
    const head = reader.next();
    if (head?.t !== "head") throw damaged(path, 0, "no header");
    return head;
  } finally {
    reader.close();
  }
}

function checkHead(path: string, head: SnapshotHead, load: SnapshotLoad): void {
  const { serial, profile } = load;
  if (head.serial !== serial) throw damaged(path, 0, "the header of another snapshot");
  if (head.algorithm !== HASH_ALGORITHM) {
    throw otherFormat(path, `hash algorithm ${head.algorithm}`, `algorithm ${HASH_ALGORITHM}`);
  }
  if (load.standalone === true && head.alone !== true) {
    const expected = "a file that `snapshot({ path })` wrote; open this one by its directory";
    throw unsupported(path, "a snapshot that needs its journal", expected);
  }
  if (profile !== undefined && head.profile !== profile) {
    throw otherProfile(path, head.profile, profile);
  }
}

function applyHead(restoration: Restoration, head: SnapshotHead): void {
  const { core, notes } = restoration;
  const { hosts } = core;
  restoreCounters(core, head);
  core.sequence = head.sequence;
  restoration.copied.began = head.sequence;
  core.leaseSequence = head.leaseSequence;
  hosts.joined = head.joined;
  restoration.volatileLive = head.volatileLive;
  restoration.isAlone = head.alone === true;
  setRuleIds(
    restoration,
    head.rules.map(({ id }) => id),
  );
  head.rules.forEach(({ served, done, pass }, index) => {
    const rule = ruleOfIndex(restoration, index);
    // A rule that existed before and after a change of rules has two rows
    addRuleTotals(core.store, rule, served, done);
    core.shares.passes[rule.index] = Math.max(core.shares.passes[rule.index] as number, pass);
  });
  sharesReorder(core.shares);
  for (const [name, value] of Object.entries(head.notes)) notes.set(name, value);
}

/** Room in the region for a batch of hashes. */
interface Filler {
  readonly restoration: Restoration;
  readonly core: Core;
  /** Hashes, values, slots. */
  readonly page: number;
}

/** Rows of one batch: hashes, values and slots fill one page. */
const BATCH_ROWS = 1024;

function createFiller(restoration: Restoration): Filler {
  const { core } = restoration;
  const page = storeTake(core.store, 1);
  if (page === 0) throw memoryFull();
  return { restoration, core, page };
}

function closeFiller({ core, page }: Filler): void {
  storeGive(core.store, page, 1);
}

/** Applies a section; returns how many records it brought. */
function applySection(filler: Filler, path: string, section: Section): number {
  switch (section.t) {
    case "hosts":
      fillHosts(filler.restoration, section);
      return 0;
    case "groups":
      fillGroups(filler.core, section);
      return 0;
    case "epoch":
      fillEpoch(filler.core, section);
      return 0;
    case "bloom":
      fillBloom(filler.core, path, section);
      return 0;
    case "bits":
      fillBits(filler.core, path, section);
      return 0;
    case "seen":
      if (filler.core.seen.bloom === undefined) fillSeen(filler, section);
      else fillMembers(filler.restoration, section);
      return section.n;
    case "records":
      fillRecords(filler, section);
      return section.n;
    case "block": {
      const fill = (chunk: HostChunk | RecordChunk): void => {
        if (chunk.t === "hosts") fillHosts(filler.restoration, chunk);
        else fillRecords(filler, chunk);
      };
      restoreBlock({ restoration: filler.restoration, page: filler.page, fill }, section);
      return section.records + section.more;
    }
    default:
      throw damaged(path, 0, "a section of an unknown sort");
  }
}

function fillHosts(restoration: Restoration, chunk: HostChunk): void {
  const hashes = wordsOf(chunk.hashes);
  const doubles = doublesOf(chunk.doubles);
  const words = wordsOf(chunk.words);
  const lengths = wordsOf(chunk.lengths);
  const addresses = pairsOf(chunk.addresses, 2);
  let at = 0;
  let addressAt = 0;
  for (let row = 0; row < chunk.n; row++) {
    const length = lengths[row] as number;
    const lo = hashes[row * 2] as number;
    const turn = doubles[row * 6] as number;
    const hi = hashes[row * 2 + 1] as number;
    const host = restoreHost(restoration, chunk.names.subarray(at, at + length), { lo, hi, turn });
    const own = doubles.subarray(row * 6, row * 6 + 6);
    setRestoredHost(restoration, host, own, words.subarray(row * 4, row * 4 + 4));
    const [bytes = 0] = addresses?.get(row) ?? [];
    if (bytes > 0 && chunk.address !== undefined) {
      setRestoredAddress(restoration, host, chunk.address.subarray(addressAt, addressAt + bytes));
      addressAt += (bytes + 3) & ~3;
    }
    at += (length + 3) & ~3;
  }
}

function fillGroups(core: Core, { n, hashes, clocks }: GroupChunk): void {
  const words = wordsOf(hashes);
  const doubles = doublesOf(clocks);
  for (let row = 0; row < n; row++) {
    const lo = words[row * 2] as number;
    restoreGroup(core, lo, words[row * 2 + 1] as number, doubles[row] as number);
  }
}

function fillEpoch(core: Core, { name, n, hashes }: EpochChunk): void {
  const words = wordsOf(hashes);
  const epoch = epochOpen(core.epochs, name);
  for (let row = 0; row < n; row++) {
    const lo = words[row * 2] as number;
    const isIn = epoch !== 0 && epochAdd(core.epochs, epoch, lo, words[row * 2 + 1] as number);
    if (!isIn) throw memoryFull();
  }
}

/** Puts finished identities into the seen-set, a batch at a time. */
function fillSeen({ core, page, restoration }: Filler, chunk: SeenChunk): void {
  const hashes = wordsOf(chunk.hashes);
  const values = wordsOf(chunk.values);
  const valuesOffset = page + BATCH_ROWS * 8;
  const slotsOffset = valuesOffset + BATCH_ROWS * 4;
  for (let start = 0; start < chunk.n; start += BATCH_ROWS) {
    const count = Math.min(BATCH_ROWS, chunk.n - start);
    const before = core.store.region.views.u32;
    before.set(hashes.subarray(start * 2, (start + count) * 2), page >> 2);
    before.fill(0, valuesOffset >> 2, (valuesOffset >> 2) + count);
    if (seenAdmitBatch(core.seen, page, count, valuesOffset, slotsOffset) < 0) throw memoryFull();
    const { u32 } = core.store.region.views;
    const rare: number[] = [];
    for (let row = 0; row < count; row++) {
      const slot = u32[(slotsOffset >> 2) + row] as number;
      const known = u32[(valuesOffset >> 2) + row] as number;
      const value = values[start + row] as number;
      if (known < TABLE_RESERVED_MIN || value === COLD_REMOVED) rare.push(start + row);
      else u32[slot >>> 2] = value;
    }
    for (const row of rare) finish(restoration, hashes, values, row); // these may move slots
  }
}

/**
 * A row whose record was copied before it finished, since it returned from disk meanwhile: the record ends here. Or an identity that was
 * removed while the cold tier held it, and may still be there.
 */
function finish(
  restoration: Restoration,
  hashes: Uint32Array,
  values: Uint32Array,
  row: number,
): void {
  const { seen } = restoration.core;
  const lo = hashes[row * 2] as number;
  const hi = hashes[row * 2 + 1] as number;
  const value = values[row] as number;
  const record = restoredRecord(restoration, false, lo, hi);
  if (record !== 0) dropRestored(restoration, record);
  dropCopied(restoration, lo, hi);
  if (value === COLD_REMOVED) seenRemove(seen, lo, hi);
  else if (!seenSet(seen, lo, hi, value)) throw memoryFull();
}

/** A filter cannot be taken apart: only a frontier in mode bloom can continue with it. */
function fillBloom({ seen }: Core, path: string, { layers }: BloomChunk): void {
  if (seen.bloom === undefined) {
    const expected = "'bloom', as this directory was made with, or another directory";
    const message = `seen.mode: ${seen.mode} at ${path} (expected: ${expected})`;
    throw new FrontierError("PROFILE_MISMATCH", message, { path });
  }
  const words = wordsOf(layers);
  const list: BloomLayer[] = [];
  for (let at = 0; at + 3 <= words.length; at += 3) {
    const [blocks = 0, capacity = 0, inserted = 0] = words.subarray(at, at + 3);
    list.push({ blocks, capacity, inserted });
  }
  if (list.length === 0) throw damaged(path, 0, "a filter without layers");
  seenRemake(seen, list);
}

function fillBits({ seen }: Core, path: string, { layer, from, bits }: BitsChunk): void {
  const isPut = seen.bloom !== undefined && bloomFill(seen.bloom, layer, from, bits);
  if (!isPut) throw damaged(path, 0, "bits outside their filter");
}

/** Puts finished identities of an exact frontier into a filter. */
function fillMembers(restoration: Restoration, chunk: SeenChunk): void {
  const hashes = wordsOf(chunk.hashes);
  const values = wordsOf(chunk.values);
  for (let row = 0; row < chunk.n; row++) {
    if (values[row] !== COLD_REMOVED) finish(restoration, hashes, values, row);
  }
}

function fillRecords({ restoration, core }: Filler, chunk: RecordChunk): void {
  const hashes = wordsOf(chunk.hashes);
  const doubles = doublesOf(chunk.doubles);
  const words = wordsOf(chunk.words);
  const text = wordsOf(chunk.text);
  const parents = pairsOf(chunk.parents, 2);
  const handles = makeParents(core, chunk);
  const blobs = blobsOf(chunk);
  for (let start = 0, textAt = 0; start < chunk.n; start += RESTORE_ROWS_MAX) {
    const count = Math.min(RESTORE_ROWS_MAX, chunk.n - start);
    let textWords = 0;
    for (let row = start; row < start + count; row++) {
      textWords += ((words[row * 4 + 3] as number) + 3) >>> 2;
    }
    const parentOf = (row: number): number => {
      const parent = parents?.get(start + row);
      return parent === undefined ? 0 : (handles[parent[0] as number] as number);
    };
    // A host created after the hosts were copied has an entry in the journal, and so has its record, later.
    restoreColumns(restoration, {
      count,
      hashes: hashes.subarray(start * 4, (start + count) * 4),
      doubles: doubles.subarray(start * 3, (start + count) * 3),
      words: words.subarray(start * 4, (start + count) * 4),
      text: text.subarray(textAt, textAt + textWords),
      parentOf: parents === undefined ? undefined : parentOf,
      blobOf: blobs === undefined ? undefined : (row) => blobs.get(start + row),
    });
    textAt += textWords;
  }
  for (let row = 0; core.spilling !== undefined && row < chunk.n; row++) {
    if (((words[row * 4] as number) & (RECORD_FLAG_NO_IDENTITY << 8)) !== 0) continue;
    const key = doubles[row * 3] as number;
    noteCopied(restoration, key, hashes[row * 4] as number, hashes[row * 4 + 1] as number);
  }
  for (const handle of handles) parentRelease(core.store, handle);
}

/** By row: maxAttempts and period, and the bytes. */
function blobsOf(chunk: RecordChunk): Map<number, readonly [number, Uint8Array]> | undefined {
  const pairs = pairsOf(chunk.blobs, 3);
  if (pairs === undefined) return undefined;
  const blobs = new Map<number, readonly [number, Uint8Array]>();
  let at = 0;
  for (const [row, [maxAttempts = 0, length = 0]] of pairs) {
    blobs.set(row, [maxAttempts, (chunk.blob as Uint8Array).slice(at, at + length)]);
    at += length;
  }
  return blobs;
}

function makeParents(core: Core, { prints }: RecordChunk): number[] {
  const handles: number[] = [];
  for (let at = 0; prints !== undefined && at < prints.length; at += 16) {
    const print = Buffer.from(prints.subarray(at, at + 16)).toString("hex");
    const handle = parentCreate(core.store, print);
    if (handle === 0) throw memoryFull();
    handles.push(handle);
  }
  return handles;
}
