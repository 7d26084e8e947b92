/**
 * Room `src/persistence/inspection`: reads the files of a directory without opening it and without a lock. Changes
 * nothing.
 */

/**
 * Inspects a directory: reads every file of a frontier to its end, checks it, and changes none.
 *
 *   snapshots  every section's length, checksum and msgpack, and its end       older generations too
 *   segments   head, every frame's checksum; what follows the last whole one is a torn tail or damage
 *   seen/      manifest, every block of every run
 *   digests    of another program's requests: the whole file's checksum
 *   the rest   files that a start would remove or has set aside: listed, not checked
 */
import { join } from "node:path";
import { FrontierError } from "../../base/errors.ts";
import { COLD_MANIFEST_NAME } from "../cold/cold-manifest.ts";
import { coldRunPath } from "../cold/cold-run.ts";
import { coldReading, coldRunsOf, eachColdEntry } from "../cold/cold-read.ts";
import { DIGEST_BYTES, digestPaths, readDigests } from "../transfer/digest-file.ts";
import {
  damaged,
  listDirectory,
  partialPath,
  type Place,
  segmentPath,
  snapshotPath,
} from "../directory/frontier-directory.ts";
import { SegmentReader } from "../journal/segment-reader.ts";
import { readPartial } from "../snapshot/partial-snapshot.ts";
import { SnapshotReader } from "../snapshot/section-reader.ts";

/** The result of checking one file. */
export interface FileCheck {
  /** Its path. */
  readonly path: string;
  /** Its kind. */
  readonly kind: "snapshot" | "journal" | "seen" | "left";
  /** Its size in bytes. */
  readonly bytes: number;
  /** `whole`. `torn`: a crash cut it off after `offset`; the next start removes the rest. `damaged`. `left`: not part of the frontier. */
  readonly state: "whole" | "torn" | "damaged" | "left";
  /** Sections, frames or entries that are whole. */
  readonly parts: number;
  /** Offset of the first part that is not whole. */
  readonly offset?: number;
  /** What was cut off or damaged. */
  readonly what?: string;
}

/** Checks every file; pauses between two, so that other work can run. */
export async function* inspectPlace(
  place: Place,
  pause: () => Promise<void>,
): AsyncGenerator<FileCheck> {
  const { partials, segments, snapshots } = listDirectory(place);
  let secret: Uint32Array | undefined;
  for (const serial of snapshots) {
    const path = snapshotPath(place, serial);
    yield await checked(place, { path, kind: "snapshot" }, (note) => {
      return readSections(place, serial, note, pause, (bytes) => {
        secret = new Uint32Array(bytes.slice().buffer);
      });
    });
  }
  for (const serial of partials) {
    const path = partialPath(place, serial);
    yield await checked(place, { path, kind: "snapshot" }, (note) => {
      readPartial(place, serial);
      note.parts = 1;
      return "whole";
    });
  }
  for (const serial of segments) {
    const path = segmentPath(place, serial);
    const isLast = serial === segments.at(-1);
    yield await checked(place, { path, kind: "journal" }, async (note) => {
      await pause();
      return readFrames(place, serial, isLast, note, (words) => {
        secret = words;
      });
    });
  }
  if (secret !== undefined) yield* inspectCold(place, secret, pause);
  for (const path of digestPaths(place).filter((name) => name.endsWith(".sha1"))) {
    yield await checked(place, { path, kind: "seen" }, (note) => {
      note.parts = readDigests(place, path).length / DIGEST_BYTES;
      return "whole";
    });
  }
  for (const name of place.files.list(place.directory)) {
    if (!/\.(tmp|damaged)$|^discarded$/.test(name)) continue;
    const path = join(place.directory, name);
    yield { path, kind: "left", bytes: sizeOf(place, path), state: "left", parts: 0 };
  }
}

interface Note {
  parts: number;
  offset: number;
}

/** `torn`: the file is whole up to the offset noted. */
type Found = "whole" | "torn";

async function checked(
  place: Place,
  { path, kind }: Pick<FileCheck, "path" | "kind">,
  read: (note: Note) => Promise<Found> | Found,
): Promise<FileCheck> {
  const note: Note = { parts: 0, offset: 0 };
  const bytes = sizeOf(place, path);
  try {
    const state = await read(note);
    const rest = state === "torn" ? { offset: note.offset, what: "cut off by a crash" } : {};
    return { path, kind, bytes, state, parts: note.parts, ...rest };
  } catch (error) {
    if (!(error instanceof FrontierError)) throw error;
    const { offset = note.offset } = (error.details ?? {}) as { offset?: number };
    return { path, kind, bytes, state: "damaged", parts: note.parts, offset, what: error.message };
  }
}

async function readSections(
  ...[place, serial, note, pause, setSecret]: [
    Place,
    number,
    Note,
    () => Promise<void>,
    (secret: Uint8Array) => void,
  ]
): Promise<Found> {
  const reader = new SnapshotReader(place.files, snapshotPath(place, serial), serial);
  try {
    let last = "";
    for (;;) {
      note.offset = reader.offset;
      const section = reader.next();
      if (section === undefined) break;
      if (note.parts === 0 && section.t !== "head") throw damaged(reader.path, 0, "no header");
      if (last === "end") throw damaged(reader.path, note.offset, "bytes after its end");
      if (section.t === "head") setSecret(section.secret);
      last = section.t;
      note.parts++;
      await pause();
    }
    if (last !== "end") throw damaged(reader.path, note.offset, "no end");
    return "whole";
  } finally {
    reader.close();
  }
}

function readFrames(
  ...[place, serial, isLast, note, setSecret]: [
    Place,
    number,
    boolean,
    Note,
    (secret: Uint32Array) => void,
  ]
): Found {
  const reader = SegmentReader.open(place, serial);
  if (reader === undefined) throw damaged(segmentPath(place, serial), 0, "missing");
  try {
    const head = reader.head();
    if (head === undefined) {
      if (isLast) return "torn";
      throw damaged(reader.path, 0, "no header");
    }
    setSecret(head.secret);
    while (reader.next()) note.parts++;
    note.offset = reader.end;
    const rest = reader.rest();
    if (rest === "none") return "whole";
    if (isLast && rest === "torn") return "torn";
    throw damaged(reader.path, reader.end, "wrong checksum");
  } finally {
    reader.close();
  }
}

async function* inspectCold(
  place: Place,
  secret: Uint32Array,
  pause: () => Promise<void>,
): AsyncGenerator<FileCheck> {
  const reading = coldReading(place, secret);
  if (reading === undefined) return;
  const path = join(reading.directory, COLD_MANIFEST_NAME);
  let runs: ReturnType<typeof coldRunsOf> = [];
  yield await checked(place, { path, kind: "seen" }, (note) => {
    runs = coldRunsOf(reading);
    note.parts = runs.length;
    return "whole";
  });
  for (const run of runs) {
    yield await checked(
      place,
      { path: coldRunPath(reading, run.serial), kind: "seen" },
      async (note): Promise<Found> => {
        await pause();
        eachColdEntry(reading, run, () => {
          note.parts++;
        });
        return "whole";
      },
    );
  }
}

function sizeOf({ files }: Place, path: string): number {
  if (!files.exists(path)) return 0;
  const file = files.open(path, "r");
  try {
    return files.size(file);
  } finally {
    files.close(file);
  }
}
