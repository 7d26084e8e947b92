/**
 * FailureNotes: why records failed, beside the records: reason, status, time, and the page it was found on.
 *
 *   fail, retry ─▶ status of the visit ─┐
 *   a record fails ─▶ reason ───────────┴─▶ note, by the record's name ─▶ journal, in the entry of that transition
 *   snapshot ─▶ all notes, and the pages that later failures may have been found on
 *
 *   I1  At most NOTES_MAX notes, the newest. A record whose note is gone is failed as before, without its reason.
 *   I2  A note counts while its record is failed: a start drops those of records that are not.
 */
import { givenOf } from "../../base/plain-copy.ts";
import type { Core } from "../../frontier/core.ts";
import { listRecords } from "../../frontier/records/record-walk.ts";
import {
  type Failure,
  failedName,
  failureOfValue,
  failureTitle,
  FOUND_ON_NOTE,
  isFailureNote,
  isPiece,
  pieceTitle,
  recordName,
  valueOfFailure,
} from "../../persistence/journal/failure-note.ts";
import { packr } from "../../persistence/msgpack.ts";
import {
  isParentShared,
  parentPrintOffset,
  RECORD_FLAG_VOLATILE,
  recordFlags,
  recordHi,
  recordLo,
  recordParent,
} from "../../structures/records/record.ts";
import type { FailureView } from "../types/view-types.ts";
import { FoundOn, PIECE_BYTES, PIECES_MAX } from "./found-on.ts";

const NOTES_MAX = 10_000;
const REASON_LENGTH_MAX = 500;

interface Note {
  readonly failure: Failure;
  /** Its record is never written, and so is this. */
  readonly isVolatile: boolean;
}

export class FailureNotes {
  readonly pages = new FoundOn();
  /** What the visit that is being ended has shown. */
  status: number | undefined;
  readonly #notes = new Map<string, Note>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A record has failed; undefined: it is failed no more. */
  record(core: Core, record: number, reason: string | undefined): void {
    const { store } = core;
    const name = recordName(recordLo(store, record), recordHi(store, record));
    this.#notes.delete(name);
    if (reason === undefined) return;
    const parent = recordParent(store, record);
    const { buffer } = store.region.views;
    const foundOn = parent === 0 ? undefined : this.pages.find(buffer, parentPrintOffset(parent));
    const { status } = this;
    const failure: Failure = {
      reason: reasonOf(reason),
      atMs: this.#now(),
      ...givenOf({ status, foundOn }),
    };
    const isVolatile = (recordFlags(store, record) & RECORD_FLAG_VOLATILE) !== 0;
    this.#keep(name, { failure, isVolatile });
    if (!isVolatile) core.log?.note(failureTitle(name), valueOfFailure(failure));
  }

  /** Why a failed record failed; undefined: it is not kept. */
  of({ store }: Core, record: number): FailureView | undefined {
    return this.#notes.get(recordName(recordLo(store, record), recordHi(store, record)))?.failure;
  }

  /** Takes note of a page's URL where a record that was admitted names the page; what is spilled cannot be asked. @hot */
  notePage({ store, spilling }: Core, parent: number, url: string): void {
    if (spilling === undefined && !isParentShared(store, parent)) return;
    this.pages.add(store.region.views.buffer, parentPrintOffset(parent), url);
  }

  clear(): void {
    this.#notes.clear();
    this.pages.clear();
  }

  /** What a snapshot keeps, packed by name. */
  *stored(): Generator<[string, Uint8Array]> {
    for (const [name, { failure, isVolatile }] of this.#notes) {
      if (isVolatile) continue;
      yield [failureTitle(name), Uint8Array.from(packr.pack(valueOfFailure(failure)))];
    }
    const pages = this.pages.pack();
    if (pages !== undefined) yield [FOUND_ON_NOTE, Uint8Array.from(packr.pack(pages))];
  }

  /**
   * Writes the pages to a journal that are in none yet; with `isEager` false only where they make a whole piece.
   * Returns whether there were any.
   */
  logPages(log: { note(name: string, value: unknown): void }, isEager: boolean): boolean {
    if (this.pages.newBytes < (isEager ? 1 : PIECE_BYTES)) return false;
    for (const { number, pages } of this.pages.takePieces()) {
      log.note(pieceTitle(number % PIECES_MAX), [number, pages]);
    }
    return true;
  }

  /** Takes its notes out of those that were found; of records that are not failed they are dropped (I2). */
  restore(core: Core, notes: Map<string, Uint8Array>): void {
    let failed: ReadonlySet<string> | undefined;
    const pieces: [number, unknown][] = [];
    for (const [title, packed] of [...notes]) {
      if (!isFailureNote(title)) continue;
      notes.delete(title);
      const name = failedName(title);
      if (isPiece(title)) pieces.push(packr.unpack(packed) as [number, unknown]);
      else if (name === undefined) this.pages.restore(packr.unpack(packed));
      else {
        failed ??= failedNames(core);
        const failure = failureOfValue(packr.unpack(packed));
        if (failed.has(name)) this.#keep(name, { failure, isVolatile: false });
      }
    }
    pieces.sort(([one], [other]) => one - other);
    for (const [number, pages] of pieces) this.pages.restore(pages, number);
  }

  #keep(name: string, note: Note): void {
    this.#notes.set(name, note);
    if (this.#notes.size > NOTES_MAX) this.#notes.delete(this.#notes.keys().next().value as string);
  }
}

/** A reason as it is kept. */
export function reasonOf(reason: string): string {
  return reason.slice(0, REASON_LENGTH_MAX).toWellFormed();
}

function failedNames(core: Core): Set<string> {
  const { store } = core;
  const names = new Set<string>();
  const noted = listRecords(core, new Set(["failed"]));
  for (let index = 0; index < noted.count; index++) {
    const record = noted.handles[index] as number;
    names.add(recordName(recordLo(store, record), recordHi(store, record)));
  }
  return names;
}
