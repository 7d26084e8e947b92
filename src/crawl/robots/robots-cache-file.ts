/**
 * robots.txt of each origin, as received, in a file beside a crawl's directory: the next process need not request all of them again.
 *
 *   answer with rules, or 4xx ─▶ keep ─▶ a line of the file (docs/formats/robots.md)
 *   next process ─▶ lines of the last `expiryMs` ─▶ take, at the first visit to the origin
 *
 *   I1  An answer is valid no longer than in the process that received it, and no longer than the present `expiryMs`.
 *   I2  A failed request is not stored: after a restart it should be repeated.
 *   I3  Bounded: the newest texts of CACHE_BYTES_MAX in memory until they are taken; twice as much in the file, which is then rewritten.
 *
 * Crash: the lines of the last moments may be missing or cut; those origins are requested again.
 */
import { listOf } from "../notes/durable-lines.ts";
import type { Clock } from "../../base/clock.ts";
import type { LineFile } from "../files.ts";

/** The answer of an origin. */
export interface CachedRobots {
  readonly atMs: number;
  /** undefined: there is none (4xx), and everything is allowed. */
  readonly text: string | undefined;
}

export type RobotsCacheFile = ReturnType<typeof openRobotsCacheFile>;

interface RobotsCacheOptions {
  readonly clock: Clock;
  readonly expiryMs: number;
  /** Opened for reading once, and again for each rewrite. */
  readonly open: () => LineFile;
  /** Default CACHE_BYTES_MAX. */
  readonly bytesMax?: number;
}

const CACHE_BYTES_MAX = 32 * 1024 * 1024;

export function openRobotsCacheFile(options: RobotsCacheOptions) {
  const { clock, expiryMs, open, bytesMax = CACHE_BYTES_MAX } = options;
  const holds = ({ atMs }: CachedRobots): boolean => {
    const nowMs = clock.now();
    return atMs <= nowMs && nowMs < atMs + expiryMs;
  };
  let file = open();
  const opened = newest(file.takeLines(), holds, bytesMax);
  const { notes } = opened;
  let bytes = opened.bytes;
  if (file.isCut || opened.isLess) file.rewrite(linesOf(notes));
  return {
    /** The valid answer of an origin, once: the caller remembers it. */
    take(origin: string): CachedRobots | undefined {
      const note = notes.get(origin);
      notes.delete(origin);
      return note !== undefined && holds(note) ? note : undefined;
    },
    keep(origin: string, note: CachedRobots): void {
      const line = lineOf(origin, note);
      file.append([line]);
      bytes += line.length;
      if (bytes <= 2 * bytesMax) return;
      file = open();
      const kept = newest(file.takeLines(), holds, bytesMax);
      file.rewrite(linesOf(kept.notes));
      bytes = kept.bytes;
    },
  };
}

/** The last line of each origin, beginning with the newest, as far as the bound allows. `isLess`: some were skipped, replaced or too old. */
function newest(
  lines: readonly string[],
  holds: (note: CachedRobots) => boolean,
  bytesMax: number,
) {
  const found: Array<[string, CachedRobots]> = [];
  const seen = new Set<string>();
  let bytes = 0;
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at] as string;
    const entry = entryOf(line);
    if (entry === undefined || seen.has(entry[0])) continue;
    seen.add(entry[0]);
    if (!holds(entry[1])) continue;
    if (bytes + line.length > bytesMax) break;
    bytes += line.length;
    found.push(entry);
  }
  return { notes: new Map(found.reverse()), bytes, isLess: found.length < lines.length };
}

function lineOf(origin: string, { atMs, text }: CachedRobots): string {
  return JSON.stringify([origin, atMs, text ?? null]);
}

function linesOf(notes: ReadonlyMap<string, CachedRobots>): string[] {
  return [...notes].map(([origin, note]) => lineOf(origin, note));
}

/** Reads a line; undefined when it is not an entry. The file may contain anything. */
function entryOf(line: string): [string, CachedRobots] | undefined {
  const [origin, atMs, text] = listOf(line);
  if (typeof origin !== "string" || !Number.isFinite(atMs)) return undefined;
  if (text !== null && typeof text !== "string") return undefined;
  return [origin, { atMs: atMs as number, text: text ?? undefined }];
}
