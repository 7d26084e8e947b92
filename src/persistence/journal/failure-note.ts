/**
 * The notes of failed records, as journal, snapshot and export hold them (docs/formats/journal.md).
 *
 *   "failed:<name>"   the record's name in 16 hex digits, the high word first: [reason, atMs, status or null, foundOn or null]
 *   "foundOn"         URLs of pages by their fingerprints, as bytes (engine/records/found-on.ts), in a snapshot
 *   "foundOn:<n>"     a piece of them, in a journal: [number, bytes]; n is the number modulo the pieces that are kept
 */

export const FOUND_ON_NOTE = "foundOn";
const PIECE_PREFIX = `${FOUND_ON_NOTE}:`;
const PREFIX = "failed:";

/** Why a record failed. */
export interface Failure {
  readonly reason: string;
  readonly atMs: number;
  readonly status?: number;
  readonly foundOn?: string;
}

/** The title of a record's note. */
export function failureTitle(name: string): string {
  return PREFIX + name;
}

/** The title of a piece of pages, at its place among those that are kept. */
export function pieceTitle(place: number): string {
  return PIECE_PREFIX + place;
}

/** Whether a note is a piece of pages. */
export function isPiece(title: string): boolean {
  return title.startsWith(PIECE_PREFIX);
}

/** The name of the record that a note is about; undefined when it is about none. */
export function failedName(title: string): string | undefined {
  return title.startsWith(PREFIX) ? title.slice(PREFIX.length) : undefined;
}

/** Whether a note is about failures. One table alone keeps such notes. */
export function isFailureNote(title: string): boolean {
  return title === FOUND_ON_NOTE || isPiece(title) || title.startsWith(PREFIX);
}

/** A record's name from the two words that it carries. */
export function recordName(lo: number, hi: number): string {
  return hexOf(hi) + hexOf(lo);
}

/** The value of a note. */
export function valueOfFailure({ reason, atMs, status, foundOn }: Failure): unknown[] {
  return [reason, atMs, status ?? null, foundOn ?? null];
}

/** Reads the value of a note. Throws a TypeError for any other value. */
export function failureOfValue(value: unknown): Failure {
  const [reason, atMs, status, foundOn] = Array.isArray(value) ? (value as unknown[]) : [];
  if (typeof reason !== "string" || typeof atMs !== "number") {
    throw new TypeError("a failure without reason or time");
  }
  return {
    ...{ reason, atMs },
    ...(typeof status === "number" ? { status } : {}),
    ...(typeof foundOn === "string" ? { foundOn } : {}),
  };
}

function hexOf(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}
