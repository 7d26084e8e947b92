/**
 * Room `src/persistence/snapshot`: the whole state written to a file in slices, while the frontier runs. Decides what a
 * section holds; persistence/recovery reads it back.
 */

/**
 * Writes a snapshot beside the running frontier, slice by slice (docs/formats/snapshot.md argues why the result is exact).
 *
 *   segment begun ─▶ head (counters, rules, notes of that moment) ─▶ hosts ─▶ nameless records ─▶ identities ─▶ end
 *        └────────────── the frontier goes on; the journal from that segment on records every change
 *   end ─▶ journal synced to here ─▶ file synced ─▶ renamed ─▶ directory synced ─▶ older generations removed
 *
 *   S1  The head is taken at the first byte of segment `serial`, in the same turn.
 *   S2  Every table is walked in the order of its hashes. An entry that is there all the time is copied exactly once, as it
 *       is at that moment; one that comes, goes or changes meanwhile is in the segments from `serial` on.
 *   S2b Spilled records are copied with their blocks after the tables. One that returns to memory before that is copied at
 *       once. So every record that was skipped in a table because it was spilled is copied in one of the two ways. The same holds
 *       for hosts on disk, which precede their records: mostly their block is copied as it is.
 *   S2c An identity that was removed and is still in the cold tier is copied as removed, so that it does not return from there.
 *   S3  Entries hold values, so replaying all of them over the copies ends in the frontier's state.
 *   S4  The file gets its name only when the journal up to its last chunk is durable: no copy is ever ahead of it.
 *   S5  A change of what a name means (a new generation, rules, a clear) ends the snapshot unfinished.
 *
 * A slice runs in each turn of the event loop. A program that makes many calls in a turn lets few slices run: its calls run more of them
 * (`Slices`), so that the snapshot ends before the journal since then has grown too long.
 *
 * Crash: leaves a file without its name, which the next start removes.
 */
import type { Clock } from "../../base/clock.ts";
import type { Core } from "../../frontier/core.ts";
import type { Spilling } from "../../frontier/scheduling/spill-state.ts";
import { JOURNAL_FRAME_BYTES } from "../../layout/files/journal.ts";
import { bloomLayers, bloomPiece } from "../../structures/bloom/bloom-copy.ts";
import {
  type EpochTable,
  epochCopy,
  epochName,
  epochNext,
  epochStart,
} from "../../structures/seen/epoch-table.ts";
import type { FingerprintTable } from "../../structures/table/fingerprint-table.ts";
import { isSpilledHost } from "../../structures/hosts/host-table.ts";
import { isLoneHost, recordOfLone } from "../../structures/hosts/lone-host.ts";
import { GROUP_READY_AT_WORD } from "../../structures/hosts/group-table.ts";
import { float } from "../../structures/store.ts";
import { imageOf } from "../../structures/spill/host-images.ts";
import {
  holdsHosts,
  type Spill,
  spillBlock,
  spillPlaces,
} from "../../structures/spill/lane-spill.ts";
import { visitSpilled } from "../../structures/spill/visit-spilled.ts";
import {
  closeWalk,
  openWalk,
  type TableWalk,
  walkLook,
  walkNext,
  walkValue,
} from "../../structures/table/table-walk.ts";
import type { Names } from "../journal/nameless-records.ts";
import { type Place, snapshotPath } from "../directory/frontier-directory.ts";
import {
  addGroup,
  addHost,
  CHUNK_ROWS,
  type Columns,
  takeBlock,
  takeGroups,
  takeHosts,
  addLoneHost,
} from "./snapshot-columns.ts";
import { discardSnapshot, nameSnapshot, SnapshotFile } from "./snapshot-file.ts";
import type { RecordChunk, Section, SeenChunk, SnapshotHead } from "./snapshot-format.ts";
import { clearBuffers, type SnapshotBuffers } from "./snapshot-buffers.ts";
import { addRecords, addSlice, closeRows, endRows, openRows, type Rows } from "./snapshot-rows.ts";

/** A slice ends after this long, or after this many chunks where the clock stands still. */
const SLICE_MS = 1;
const SLICE_CHUNKS = 32;
/**
 * Entries of a table read between two checks of the clock, and in one slice: most may be skipped. Enough that the kernel's waits for
 * memory overlap, and few enough while code that is not compiled yet takes ten times as long.
 */
const LOOK_ROWS = 256;
const LOOK_HOSTS = 64;
const SLICE_ROWS = 65_536;
/** Words of hashes in one section of an epoch. */
const EPOCH_WORDS = 16_384;
/** Bytes of a bloom's bits in one section. */
const BITS_BYTES = 65_536;

interface SnapshotSource {
  readonly core: Core;
  /** Buffers of this core. */
  readonly room: SnapshotBuffers;
  readonly names: Names;
  readonly place: Place;
  readonly clock: Clock;
  readonly head: SnapshotHead;
  /** True when the snapshot can no longer be finished. */
  readonly isOver: () => boolean;
  /** Lets other work run between two slices. */
  readonly pause: () => Promise<void>;
  /** Rows of a chunk, with a pause after each: tests use few. undefined: the measured best. */
  readonly rows?: number | undefined;
  /** Fills columns without the kernel: tests compare both ways. */
  readonly isRowByRow?: boolean;
  /** The file's path; undefined: its place among the generations. */
  readonly path?: string;
  /** Whole groups logged since the last call, each with a frame's head: for a standalone file. */
  readonly tail?: (isLast: boolean) => readonly Uint8Array[];
  /** The position of the journal, with everything sealed. */
  readonly position: () => { segment: number; offset: number };
  /** Resolves when the journal is durable up to now. */
  readonly flush: () => Promise<void>;
  /** Receives what runs further slices between two turns. */
  readonly onSlices?: (slices: Slices) => void;
}

/** The slices of a snapshot that are still to come. */
export interface Slices {
  /** Bytes made so far. */
  readonly bytes: number;
  /** Runs the next one now. Returns false when there is none. A fault of it rejects the snapshot alone. */
  run(): boolean;
}

export interface SnapshotDone {
  readonly path: string;
  readonly records: number;
  readonly bytes: number;
  /** Longest slice, in milliseconds. */
  readonly longestMs: number;
}

/** Writes the whole snapshot; returns undefined when it was interrupted. Throws the disk's error and leaves nothing behind. */
export async function writeSnapshot(source: SnapshotSource): Promise<SnapshotDone | undefined> {
  const { files } = source.place;
  const path = source.path ?? snapshotPath(source.place, source.head.serial);
  const { serial } = source.head;
  const { free } = source.room;
  clearBuffers(source.room);
  const file = new SnapshotFile({ files, path: `${path}.tmp`, serial, free });
  const out = new Out(source, file);
  try {
    source.onSlices?.(out);
    while (out.run()) {
      await source.pause();
      await file.ready();
    }
    const isWhole = out.end();
    if (isWhole) {
      await file.written();
      await both(source.flush(), file.synced()); // S4
    }
    await file.close();
    if (!isWhole || source.isOver()) {
      files.remove(`${path}.tmp`);
      return undefined;
    }
  } catch (error) {
    out.stop();
    await discardSnapshot(files, file, `${path}.tmp`);
    throw error;
  }
  await nameSnapshot(source.place, path);
  return { path, records: out.records, bytes: file.offset, longestMs: out.longestMs };
}

/** The walk over the state: it stops after each slice. */
type Steps = Generator<undefined, boolean, undefined>;

/** The writing in progress: sections, and the slice they belong to. */
class Out implements Slices {
  records = 0;
  seen = 0;
  hosts = 0;
  longestMs = 0;
  readonly #source: SnapshotSource;
  readonly #file: SnapshotFile;
  #sliceAt: number;
  #chunks = 0;
  #looked = 0;
  readonly #rows: number;
  readonly #steps: Steps;
  #end: { readonly isWhole: boolean } | { readonly error: unknown } | undefined;

  constructor(source: SnapshotSource, file: SnapshotFile) {
    this.#source = source;
    this.#file = file;
    this.#rows = source.rows ?? CHUNK_ROWS;
    this.#sliceAt = source.clock.monotonic();
    this.#steps = this.#whole();
  }

  get bytes(): number {
    return this.#file.offset;
  }

  run(): boolean {
    if (this.#end !== undefined) return false;
    this.#sliceAt = this.#source.clock.monotonic();
    try {
      const { done = false, value } = this.#steps.next();
      if (done) this.#end = { isWhole: value === true };
    } catch (error) {
      this.#end = { error };
    }
    return this.#end === undefined;
  }

  /** Ends the walk where something else failed. */
  stop(): void {
    this.#end ??= { isWhole: false };
    this.#steps.return(false);
  }

  /** After the last slice: whether the snapshot is whole. Throws what ended it. */
  end(): boolean {
    const end = this.#end ?? { isWhole: false };
    if ("error" in end) throw end.error;
    return end.isWhole;
  }

  /** Each step is a slice. The value is false where the snapshot was interrupted. */
  *#whole(): Steps {
    const { core } = this.#source;
    const spill = core.spilling?.spill;
    if (spill !== undefined) spill.onHosts = (hosts) => this.#addHosts(hosts);
    try {
      return yield* this.#all();
    } finally {
      if (spill !== undefined) spill.onHosts = undefined;
    }
  }

  *#all(): Steps {
    const { core, head } = this.#source;
    this.#section(head);
    if (!(yield* this.#hosts(core.hosts.index))) return false;
    if (!(yield* this.#groups(core.groups.index))) return false;
    if (!(yield* this.#epochs(core.epochs))) return false;
    if (!(yield* this.#bloom(core.seen.bloom))) return false;
    if (!(yield* this.#records())) return false;
    this.#tail(true);
    const { records, seen, hosts } = this;
    this.#section({ t: "end", hosts, seen, records, ...this.#source.position() });
    return true;
  }

  /** Hosts on disk are copied with their blocks, or when they come back (S2b). */
  *#hosts(table: FingerprintTable): Steps {
    const columns = this.#source.room.live;
    const visit = (host: number): void => {
      if (!isSpilledHost(host)) this.#addHost(columns, host);
    };
    if (!(yield* this.#walk(table, LOOK_HOSTS, eachOf(visit)))) return false;
    if (columns.count > 0) this.#section(takeHosts(columns));
    return true;
  }

  /** Copies hosts at once, in sections of their own: their records follow. */
  #addHosts(hosts: readonly number[]): void {
    const columns = this.#source.room.returned;
    for (const host of hosts) this.#addHost(columns, host);
    if (columns.count > 0) this.#section(takeHosts(columns));
  }

  /** `host`: a host, or what the index holds of a lone one. */
  #addHost(columns: Columns, host: number): void {
    if (isLoneHost(host)) addLoneHost(columns, recordOfLone(host));
    else addHost(columns, host);
    this.hosts++;
    if (columns.count >= this.#rows) this.#section(takeHosts(columns));
  }

  /** An expired clock delays no host and is left out. */
  *#groups(table: FingerprintTable | undefined): Steps {
    if (table === undefined) return true;
    const { clock, core, room } = this.#source;
    const columns = room.live;
    const visit = (group: number): void => {
      if (float(core.store, group, GROUP_READY_AT_WORD) <= clock.now()) return;
      addGroup(columns, group);
      if (columns.count >= this.#rows) this.#section(takeGroups(columns));
    };
    if (!(yield* this.#walk(table, LOOK_HOSTS, eachOf(visit)))) return false;
    if (columns.count > 0) this.#section(takeGroups(columns));
    return true;
  }

  /**
   * Eight bytes a member. A member that joins meanwhile is in the journal too, and is kept once (place-restored.ts). One that is
   * forgotten meanwhile stays in the copy: the journal records that too.
   */
  *#epochs(table: EpochTable): Steps {
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
        if (this.#isSliceOver() && !(yield* this.#pause())) return false;
      }
    }
    return true;
  }

  /** Bits are only ever set: one that is set meanwhile is in the journal, and setting it twice is harmless. */
  *#bloom(bloom: Core["seen"]["bloom"]): Steps {
    if (bloom === undefined) return true;
    const layers = bloomLayers(bloom);
    const words = layers.flatMap(({ blocks, capacity, inserted }) => [blocks, capacity, inserted]);
    this.#section({ t: "bloom", layers: new Uint8Array(Uint32Array.from(words).buffer) });
    for (let layer = 0; layer < layers.length; layer++) {
      for (let from = 0; ; from += BITS_BYTES) {
        const bits = bloomPiece(bloom, layer, from, BITS_BYTES);
        if (bits.length === 0) break;
        this.#section({ t: "bits", layer, from, bits });
        if (this.#isSliceOver() && !(yield* this.#pause())) return false;
      }
    }
    return true;
  }

  *#tables(rows: Rows): Steps {
    const { core, names } = this.#source;
    if (names.table !== undefined && !(yield* this.#identities(names.table, rows))) return false;
    return yield* this.#identities(core.seen.table, rows);
  }

  #identities(table: FingerprintTable, rows: Rows): Steps {
    const look = Math.min(LOOK_ROWS, this.#rows);
    return this.#walk(table, look, (walk, from, end) => addSlice(rows, walk, from, end));
  }

  #take(chunk: RecordChunk | SeenChunk): void {
    if (chunk.t === "seen") this.seen += chunk.n;
    else this.records += chunk.n;
    this.#section(chunk);
  }

  /** Writes the records in memory, by names and by identities, then the spilled ones (S2b). */
  *#records(): Steps {
    const { core, room, isRowByRow = false } = this.#source;
    const take = (chunk: RecordChunk | SeenChunk): void => this.#take(chunk);
    const rows = openRows({ core, room, most: this.#rows, take, isRowByRow });
    const spill = core.spilling?.spill;
    try {
      if (spill === undefined) {
        if (!(yield* this.#tables(rows))) return false;
      } else if (!(yield* this.#withSpilled(rows, spill))) return false;
      endRows(rows);
      return true;
    } finally {
      closeRows(rows);
    }
  }

  *#withSpilled(rows: Rows, spill: Spill): Steps {
    let fault: { readonly error: unknown } | undefined;
    spill.onReturn = (records) => {
      try {
        addRecords(rows, records);
      } catch (error) {
        fault ??= { error }; // the caller that needed the records is not concerned
      }
    };
    try {
      if (!(yield* this.#tables(rows))) return false;
      for (const place of spillPlaces(spill)) {
        const block = spillBlock(spill, place);
        if (block === 0) continue; // it returned to memory meanwhile
        if (this.#addBlock(block)) {
          if (this.#isSliceOver() && !(yield* this.#pause())) return false;
          continue;
        }
        visitSpilled(spill, block, (records, hosts) => {
          this.#addHosts(hosts);
          addRecords(rows, records);
        });
        if (this.#isSliceOver() && !(yield* this.#pause())) return false;
      }
      if (fault !== undefined) throw (fault as { error: unknown }).error;
      return true;
    } finally {
      spill.onReturn = undefined;
    }
  }

  /** Copies a block of hosts as it is; false: it has no image. */
  #addBlock(block: number): boolean {
    const spilling = this.#source.core.spilling as Spilling;
    if (!holdsHosts(spilling.spill, block)) return false;
    const image = imageOf(spilling.away, block);
    if (image === undefined) return false;
    this.hosts += image.hosts;
    this.records += image.records + image.addedRecords;
    this.#section(takeBlock(image));
    return true;
  }

  /** Shows the entries of a table, `look` at a time, as they are at that moment (S2). */
  *#walk(
    table: FingerprintTable,
    look: number,
    show: (walk: TableWalk, from: number, end: number) => void,
  ): Steps {
    const walk = openWalk(table);
    try {
      while (walkNext(walk)) {
        if (this.#isSliceOver() && !(yield* this.#pause())) return false;
        for (let from = 0; from < walk.count; from += look) {
          // Entries may have changed since the walk read them: the table's current values count.
          const end = Math.min(walk.count, from + look);
          walkLook(walk, from, end);
          show(walk, from, end);
          this.#looked += look;
          if (this.#isSliceOver() && !(yield* this.#pause())) return false;
        }
      }
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

  /** Writes the entries logged meanwhile, in their order. */
  #tail(isLast: boolean): void {
    for (const frame of this.#source.tail?.(isLast) ?? []) {
      this.#section({ t: "journal", entries: frame.subarray(JOURNAL_FRAME_BYTES) });
    }
  }

  /** Ends a slice. The value is false where the snapshot is over. */
  *#pause(): Steps {
    this.#tail(false);
    this.#endSlice();
    yield;
    return !this.#source.isOver();
  }

  #endSlice(): void {
    this.#chunks = 0;
    this.#looked = 0;
    this.longestMs = Math.max(this.longestMs, this.#source.clock.monotonic() - this.#sliceAt);
  }

  #section(section: Section): void {
    this.#chunks++;
    this.#file.add(section);
  }
}

/** Resolves when both have resolved. Rejects when both have ended, with the first's error, or else the second's. */
async function both(one: Promise<void>, other: Promise<void>): Promise<void> {
  for (const end of await Promise.allSettled([one, other]))
    if (end.status === "rejected") throw end.reason;
}

/** Calls `visit` for the value of each entry, one by one. */
function eachOf(visit: (value: number) => void): (w: TableWalk, from: number, end: number) => void {
  return (walk, from, end) => {
    const { u32 } = walk.table.kernel.region.views;
    for (let index = from; index < end; index++) {
      const value = u32[walkValue(walk, index)] as number;
      if (value !== 0) visit(value);
    }
  };
}
