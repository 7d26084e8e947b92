/**
 * Writing a snapshot beside the running frontier, slice by slice (docs/formats/snapshot.md argues why the result is exact).
 *
 *   segment begun ─▶ head (counters, rules, notes of that moment) ─▶ hosts ─▶ nameless records ─▶ identities ─▶ end
 *        └────────────── the frontier goes on; whatever it changes stands in the journal from that segment on
 *   end ─▶ journal synced to here ─▶ file synced ─▶ renamed ─▶ directory synced ─▶ older generations removed
 *
 *   S1  The head is taken at the first byte of segment `serial`, in the same turn.
 *   S2  Every table is walked in the order of its hashes: what stands in it all the time is copied exactly once, as it
 *       is at that moment; what comes, goes or changes meanwhile has entries in the segments from `serial` on.
 *   S2b Records that are spilled are copied with their blocks after the tables, and those that come back into memory before
 *       that at once: whatever was passed over in a table because it was spilled comes one way or the other.
 *   S2c What was removed and is still in the cold tier is copied as removed, so that it does not come back from there.
 *   S3  Entries hold values, so replaying all of them over the copies ends where the frontier stands.
 *   S4  The file gets its name only when the journal up to its last chunk is durable: no copy is ever ahead of it.
 *   S5  Whatever changes what a name means (a new generation, rules, a clear) ends the snapshot unfinished.
 *
 * Crash: a file without its name, removed at the next start.
 */
import type { Clock } from "../base/clock.ts";
import type { Core } from "../frontier/core.ts";
import { JOURNAL_FRAME_BYTES } from "../layout/journal.ts";
import { TABLE_RESERVED_MIN } from "../layout/table.ts";
import { bloomLayers, bloomPiece } from "../structures/bloom-copy.ts";
import {
  type EpochTable,
  epochCopy,
  epochName,
  epochNext,
  epochStart,
} from "../structures/epoch-table.ts";
import type { FingerprintTable } from "../structures/fingerprint-table.ts";
import { GROUP_READY_AT_WORD } from "../structures/group-table.ts";
import { float } from "../structures/store.ts";
import { spillBlock, spillPlaces, spillVisit } from "../structures/spill.ts";
import { isSpilledValue } from "../structures/spill-identity.ts";
import { COLD_REMOVED } from "../structures/tier.ts";
import { writeAll } from "./files.ts";
import {
  closeWalk,
  openWalk,
  walkHash,
  walkLook,
  walkNext,
  walkValue,
} from "../structures/table-walk.ts";
import type { Names } from "./names.ts";
import { type Place, snapshotPath } from "./place.ts";
import {
  addGroup,
  addHost,
  addRecord,
  addSeen,
  CHUNK_ROWS,
  type Columns,
  createColumns,
  takeGroups,
  takeHosts,
  takeRecords,
  takeSeen,
} from "./snapshot-columns.ts";
import { preamble, type Section, type SnapshotHead } from "./snapshot-format.ts";
import { addBytes, addSection, createSectionBuffer } from "./section-buffer.ts";
import { recordFlags, RECORD_FLAG_VOLATILE } from "../structures/record.ts";

/** A slice ends after this long, or after so many chunks where the clock stands still. */
const SLICE_MS = 1;
const SLICE_CHUNKS = 8;
/**
 * Entries of a table looked at between two looks at the clock, and in one slice: most may be passed over. Few, since code that is not
 * compiled yet takes ten times as long.
 */
const LOOK_ROWS = 64;
const SLICE_ROWS = 16_384;
/** Bytes written at once. */
const WRITE_BYTES = 256 * 1024;
const FINISHED = 0x8000_0000;
/** Words of hashes in one section of an epoch. */
const EPOCH_WORDS = 16_384;
/** Bytes of a bloom's bits in one section. */
const BITS_BYTES = 65_536;

export interface SnapshotSource {
  readonly core: Core;
  readonly names: Names;
  readonly place: Place;
  readonly clock: Clock;
  readonly head: SnapshotHead;
  /** It makes no sense to go on. */
  readonly isOver: () => boolean;
  /** Lets others run between two slices. */
  readonly pause: () => Promise<void>;
  /** Rows of a chunk, and a pause after each: tests want many. undefined: as measured best. */
  readonly rows?: number | undefined;
  /** The file's path; undefined: its place among the generations. */
  readonly path?: string;
  /** Whole groups said since it was asked last, each with a frame's head: for a file that stands alone. */
  readonly tail?: (isLast: boolean) => readonly Uint8Array[];
  /** Where the journal stands, all of it sealed. */
  readonly position: () => { segment: number; offset: number };
  /** Resolves when the journal is durable up to now. */
  readonly flush: () => Promise<void>;
}

export interface SnapshotDone {
  readonly path: string;
  readonly records: number;
  readonly bytes: number;
  /** Longest slice, in milliseconds. */
  readonly longestMs: number;
}

/** Writes it all; undefined: it was given up. Throws what the disk said, with nothing left behind. */
export async function writeSnapshot(source: SnapshotSource): Promise<SnapshotDone | undefined> {
  const { files } = source.place;
  const path = source.path ?? snapshotPath(source.place, source.head.serial);
  const file = files.open(`${path}.tmp`, "w");
  const out = new Out(source, file);
  try {
    const isWhole = await out.run();
    if (isWhole) {
      await source.flush(); // S4
      await later((done) => files.syncLater(file, done));
    }
    files.close(file);
    if (!isWhole || source.isOver()) {
      files.remove(`${path}.tmp`);
      return undefined;
    }
  } catch (error) {
    discard(source, file, `${path}.tmp`);
    throw error;
  }
  files.rename(`${path}.tmp`, path);
  await later((done) => files.syncDirectoryLater(source.place.directory, done));
  return { path, records: out.records, bytes: out.offset, longestMs: out.longestMs };
}

/** The file under way: buffered sections, and the slice they belong to. */
class Out {
  offset = 0;
  records = 0;
  seen = 0;
  hosts = 0;
  longestMs = 0;
  readonly #source: SnapshotSource;
  readonly #file: number;
  readonly #buffer = createSectionBuffer(WRITE_BYTES);
  #sliceAt: number;
  #chunks = 0;
  #looked = 0;
  readonly #rows: number;

  constructor(source: SnapshotSource, file: number) {
    this.#source = source;
    this.#file = file;
    this.#rows = source.rows ?? CHUNK_ROWS;
    this.#sliceAt = source.clock.monotonic();
  }

  /** False: given up. */
  async run(): Promise<boolean> {
    const { core, head } = this.#source;
    this.offset += addBytes(this.#buffer, preamble(head.serial));
    this.#section(head);
    if (!(await this.#hosts(core.hosts.index))) return false;
    if (!(await this.#groups(core.groups.index))) return false;
    if (!(await this.#epochs(core.epochs))) return false;
    if (!(await this.#bloom(core.seen.bloom))) return false;
    if (!(await this.#records())) return false;
    this.#tail(true);
    const { records, seen, hosts } = this;
    this.#section({ t: "end", hosts, seen, records, ...this.#source.position() });
    this.#write();
    return true;
  }

  async #hosts(table: FingerprintTable): Promise<boolean> {
    const columns = createColumns(this.#source.core);
    return this.#walk(
      table,
      (_lo, _hi, host) => {
        addHost(columns, host);
        this.hosts++;
        if (columns.count >= this.#rows) this.#section(takeHosts(columns));
      },
      () => {
        if (columns.count > 0) this.#section(takeHosts(columns));
      },
    );
  }

  /** A clock that has run out holds nobody: it is left out. */
  async #groups(table: FingerprintTable | undefined): Promise<boolean> {
    if (table === undefined) return true;
    const { clock, core } = this.#source;
    const columns = createColumns(core);
    const visit = (_lo: number, _hi: number, group: number): void => {
      if (float(core.store, group, GROUP_READY_AT_WORD) <= clock.now()) return;
      addGroup(columns, group);
      if (columns.count >= this.#rows) this.#section(takeGroups(columns));
    };
    return this.#walk(table, visit, () => {
      if (columns.count > 0) this.#section(takeGroups(columns));
    });
  }

  /**
   * Eight bytes a member. What joins meanwhile is in the journal too, and kept once (settle.ts); one that is forgotten meanwhile is
   * left where it stood, since the journal says that of all its members.
   */
  async #epochs(table: EpochTable): Promise<boolean> {
    const { store } = table;
    const hashes = new Uint32Array(EPOCH_WORDS);
    table.hand = table.first;
    for (let epoch = table.hand; epoch !== 0; epoch = table.hand) {
      const name = epochName(store, epoch);
      const place = epochStart(store, epoch);
      while (table.hand === epoch) {
        const words = epochCopy(store, place, hashes);
        if (words === 0) table.hand = epochNext(table, epoch);
        else {
          const bytes = new Uint8Array(hashes.buffer, 0, words * 4);
          this.#section({ t: "epoch", n: words / 2, name, hashes: bytes });
        }
        if (this.#isSliceOver() && !(await this.#pause())) return false;
      }
    }
    return true;
  }

  /** Bits are only ever set: what comes while they are copied is in the journal, and setting it twice does no harm. */
  async #bloom(bloom: Core["seen"]["bloom"]): Promise<boolean> {
    if (bloom === undefined) return true;
    const layers = bloomLayers(bloom);
    const words = layers.flatMap(({ blocks, capacity, inserted }) => [blocks, capacity, inserted]);
    this.#section({ t: "bloom", layers: new Uint8Array(Uint32Array.from(words).buffer) });
    for (let layer = 0; layer < layers.length; layer++) {
      for (let from = 0; ; from += BITS_BYTES) {
        const bits = bloomPiece(bloom, layer, from, BITS_BYTES);
        if (bits.length === 0) break;
        this.#section({ t: "bits", layer, from, bits });
        if (this.#isSliceOver() && !(await this.#pause())) return false;
      }
    }
    return true;
  }

  async #identities(table: FingerprintTable): Promise<boolean> {
    const { core } = this.#source;
    const finished = createColumns(core);
    const live = createColumns(core);
    const visit = (lo: number, hi: number, value: number): void => {
      if (value >= FINISHED) this.#addSeen(finished, { lo, hi, value });
      else if (value === COLD_REMOVED) this.#addSeen(finished, { lo, hi, value });
      else if (!isSpilledValue(value) && value < TABLE_RESERVED_MIN) this.#addRecord(live, value);
    };
    return this.#walk(table, visit, () => {
      if (finished.count > 0) this.#section(takeSeen(finished));
      if (live.count > 0) this.#section(takeRecords(live));
    });
  }

  async #tables(): Promise<boolean> {
    const { core, names } = this.#source;
    if (names.table !== undefined && !(await this.#identities(names.table))) return false;
    return this.#identities(core.seen.table);
  }

  /** What is in memory, by names and by identities, then what is spilled (S2b). */
  async #records(): Promise<boolean> {
    const { core } = this.#source;
    const spill = core.spilling?.spill;
    if (spill === undefined) return this.#tables();
    const back = createColumns(core);
    let fault: { readonly error: unknown } | undefined;
    spill.onReturn = (record) => {
      try {
        this.#addRecord(back, record);
      } catch (error) {
        fault ??= { error }; // whoever needed the record has nothing to do with it
      }
    };
    try {
      if (!(await this.#tables())) return false;
      for (const place of spillPlaces(spill)) {
        const block = spillBlock(spill, place);
        if (block === 0) continue; // it came back meanwhile
        spillVisit(spill, block, (record) => {
          this.#addRecord(back, record);
          return false;
        });
        if (this.#isSliceOver() && !(await this.#pause())) return false;
      }
      if (fault !== undefined) throw (fault as { error: unknown }).error;
      if (back.count > 0) this.#section(takeRecords(back));
      return true;
    } finally {
      spill.onReturn = undefined;
    }
  }

  #addSeen(columns: Columns, { lo, hi, value }: { lo: number; hi: number; value: number }): void {
    addSeen(columns, lo, hi, value);
    this.seen++;
    if (columns.count >= this.#rows) this.#section(takeSeen(columns));
  }

  #addRecord(columns: Columns, record: number): void {
    const { store } = this.#source.core;
    if ((recordFlags(store, record) & RECORD_FLAG_VOLATILE) !== 0) return;
    addRecord(columns, record);
    this.records++;
    if (columns.count >= this.#rows) this.#section(takeRecords(columns));
  }

  /** Visits what a table holds, as it is at the moment of the visit (S2); `flush` ends the last chunk. */
  async #walk(
    table: FingerprintTable,
    visit: (lo: number, hi: number, value: number) => void,
    flush: () => void,
  ): Promise<boolean> {
    const walk = openWalk(table);
    try {
      while (walkNext(walk)) {
        if (this.#isSliceOver() && !(await this.#pause())) return false;
        const look = Math.min(LOOK_ROWS, this.#rows);
        for (let index = 0; index < walk.count; ) {
          // Entries may have changed since the walk read them: what counts is what the table holds now.
          const end = Math.min(walk.count, index + look);
          walkLook(walk, index, end);
          const { u32 } = walk.table.kernel.region.views;
          for (; index < end; index++) {
            const at = walkHash(walk, index);
            const value = u32[walkValue(walk, index)] as number;
            if (value !== 0) visit(u32[at] as number, u32[at + 1] as number, value);
          }
          this.#looked += look;
          if (this.#isSliceOver() && !(await this.#pause())) return false;
        }
      }
      flush();
      return true;
    } finally {
      closeWalk(walk);
    }
  }

  #isSliceOver(): boolean {
    if (this.#rows < CHUNK_ROWS) return this.#chunks > 0;
    if (this.#chunks >= SLICE_CHUNKS || this.#looked >= SLICE_ROWS) return true;
    return this.#source.clock.monotonic() - this.#sliceAt >= SLICE_MS;
  }

  /** What the running frontier said meanwhile, in the order in which it was said. */
  #tail(isLast: boolean): void {
    for (const frame of this.#source.tail?.(isLast) ?? []) {
      this.#section({ t: "journal", entries: frame.subarray(JOURNAL_FRAME_BYTES) });
    }
  }

  async #pause(): Promise<boolean> {
    this.#tail(false);
    this.#endSlice();
    await this.#source.pause();
    this.#sliceAt = this.#source.clock.monotonic();
    return !this.#source.isOver();
  }

  #endSlice(): void {
    this.#chunks = 0;
    this.#looked = 0;
    this.longestMs = Math.max(this.longestMs, this.#source.clock.monotonic() - this.#sliceAt);
  }

  #section(section: Section): void {
    this.#chunks++;
    const { serial } = this.#source.head;
    this.offset += addSection(this.#buffer, section, { serial, offset: this.offset });
    if (this.#buffer.used >= WRITE_BYTES) this.#write();
  }

  #write(): void {
    const { bytes, used } = this.#buffer;
    if (used === 0) return;
    writeAll(this.#source.place.files, this.#file, bytes.subarray(0, used), this.offset - used);
    this.#buffer.used = 0;
  }
}

/** What is done beside the thread. */
function later(start: (done: (error: unknown) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error === undefined ? resolve() : reject(error)));
  });
}

function discard({ place }: SnapshotSource, file: number, path: string): void {
  try {
    place.files.close(file);
    place.files.remove(path);
  } catch {
    // What is left has no name of a snapshot; the next start removes it.
  }
}
