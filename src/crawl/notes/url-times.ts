/**
 * UrlTimes: of each URL that a sitemap or feed lists, the newest date that was acted upon, and its last visit.
 *
 *   note ─▶ memory ─▶ file, once its visit is durable (docs/formats/lastmod.md)
 *
 *   I1  Bounded: of `countMax` URLs, those noted last. What was dropped counts as visited at `since`, the latest visit that was dropped.
 *
 * Crash: notes of the last moments are missing.
 */
import type { Clock } from "../../base/clock.ts";
import type { LineFile } from "../files.ts";
import { fingerprint } from "../../index.ts";
import { createDurableLines, type DurableLines, listOf } from "./durable-lines.ts";

export interface UrlTime {
  /** Milliseconds since 1970; 0: none. */
  readonly lastmod: number;
  /** Its last visit that is known, or a time before it, in milliseconds since 1970. */
  readonly visitedAt: number;
}

interface UrlTimesOptions {
  readonly clock: Clock;
  /** The file in which they outlive the process. */
  readonly file: LineFile | undefined;
  /** Most URLs; default COUNT_MAX. */
  readonly countMax?: number | undefined;
}

const COUNT_MAX = 250_000;
const KEY_LETTERS = 16;
const SINCE = "since";

export function createUrlTimes({ clock, file, countMax = COUNT_MAX }: UrlTimesOptions) {
  const known = new Map<string, UrlTime>();
  let since = clock.now();
  const keep = (key: string, time: UrlTime): void => {
    known.delete(key);
    if (known.size >= countMax) {
      const [oldest, { visitedAt }] = known.entries().next().value as [string, UrlTime];
      known.delete(oldest);
      since = Math.max(since, visitedAt);
    }
    known.set(key, time);
  };
  const stored = file?.takeLines() ?? [];
  for (const line of stored) {
    const [key, time] = entryOf(line) ?? [];
    if (key === undefined || time === undefined) continue;
    if (key === SINCE) since = Math.min(time.visitedAt, since);
    else keep(key, time);
  }
  const sinceLine = (): string => lineOf([SINCE, { lastmod: 0, visitedAt: since }]);
  const linesWithout = (early: ReadonlySet<string>): string[] => [
    sinceLine(),
    ...[...known].filter(([key]) => !early.has(key)).map(lineOf),
  ];
  let lines: DurableLines | undefined;
  if (file !== undefined) {
    const counts = { lineCount: stored.length, lineMax: 2 * countMax };
    lines = createDurableLines({ clock, file, ...counts, linesWithout });
    if (file.isCut || stored.length > known.size + 1) lines.compact();
  }
  return {
    get size(): number {
      return known.size;
    },
    /** When a URL that is not known counts as visited. */
    get since(): number {
      return since;
    },
    of: (url: string): UrlTime | undefined => known.get(keyOf(url)),
    note(url: string, time: UrlTime): void {
      const key = keyOf(url);
      if (stored.length + known.size === 0) lines?.add(SINCE, sinceLine());
      keep(key, time);
      lines?.add(key, lineOf([key, time]));
    },
    /** A flush ended at that time; Infinity: everything is durable. */
    flushed: (atMs: number): void => lines?.flushed(atMs),
  };
}

function keyOf(url: string): string {
  try {
    return fingerprint(url).slice(0, KEY_LETTERS);
  } catch {
    return url; // no URL that is visited
  }
}

function lineOf([key, { lastmod, visitedAt }]: [string, UrlTime]): string {
  return JSON.stringify([key, lastmod, visitedAt]);
}

/** Reads a line; undefined when it is not an entry. The file may contain anything. */
function entryOf(line: string): [key: string, time: UrlTime] | undefined {
  const [key, lastmod, visitedAt] = listOf(line);
  if (typeof key !== "string" || !Number.isFinite(lastmod) || !Number.isFinite(visitedAt))
    return undefined;
  return [key, { lastmod: lastmod as number, visitedAt: visitedAt as number }];
}
