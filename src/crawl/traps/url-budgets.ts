/**
 * UrlBudgets: at most so many URLs of a host below a path, and of a path with the same names in its query.
 *
 *   link ─▶ /search/…   host and each prefix that is named ─▶ counted ─▶ beyond its number: left, `rejected.budget`
 *        └▶ ?a=1&b=2    host, path and a&b ───────────────▶ counted ┘
 *
 *   I1  Bounded, whatever sites do: counts are kept in a count-min sketch (Cormode and Muthukrishnan, 2005) of ROWS × COLUMNS. None is ever too low; one
 *       may be too high by the mean of a column, and the least of the rows counts.
 *   I2  Only links that are new to the frontier are counted, so that a page that is linked to often counts once.
 *
 * Crash: with a directory the counts of the last second are missing, and so many URLs more may come in.
 */
import type { LineFile } from "../files.ts";

export interface UrlBudgets {
  /** Counts a link; false: a budget that it falls under is used up. */
  admits(url: string): boolean;
  /** A flush ended: counts are written. */
  flushed(): void;
}

interface UrlBudgetsOptions {
  /** Most URLs by path prefix. */
  readonly paths: Readonly<Record<string, number>>;
  /** Most URLs of a path with the same names in its query. */
  readonly perQuery: number | undefined;
  readonly isNew: (url: string) => boolean;
  /** The file in which counts outlive the process. */
  readonly file: LineFile | undefined;
}

const ROWS = 2;
const COLUMNS = 65_536;
const FNV_PRIME = 0x01000193;
const STARTS = [0x811c9dc5, 0x9e3779b9];

export function createUrlBudgets(options: UrlBudgetsOptions): UrlBudgets {
  const { paths, perQuery, isNew, file } = options;
  const prefixes = Object.entries(paths);
  const counts = new Uint32Array(ROWS * COLUMNS);
  const dirty = new Set<number>();
  const stored = file?.takeLines() ?? [];
  let lineCount = stored.length;
  for (const line of stored) {
    const [slot = 0, count = 0] = line.split(" ").map(Number);
    const isSlot = Number.isInteger(slot) && slot >= 0 && slot < counts.length;
    if (isSlot && Number.isInteger(count) && count > (counts[slot] as number)) counts[slot] = count;
  }
  const lineOf = (slot: number): string => `${slot} ${counts[slot]}`;
  return {
    admits(url) {
      const groups = groupsOf(url, prefixes, perQuery);
      if (groups.length === 0 || !isNew(url)) return true;
      const slots = groups.map(({ key }) => slotsOf(key));
      const isFull = groups.some(
        ({ most }, at) => Math.min(...(slots[at] ?? []).map((slot) => counts[slot] ?? 0)) >= most,
      );
      if (isFull) return false;
      for (const slot of slots.flat()) {
        counts[slot] = (counts[slot] as number) + 1;
        dirty.add(slot);
      }
      return true;
    },
    flushed() {
      if (file === undefined || dirty.size === 0) return;
      lineCount += dirty.size;
      if (lineCount > 2 * counts.length) {
        const slots = [...counts.keys()].filter((slot) => (counts[slot] as number) > 0);
        file.rewrite(slots.map(lineOf));
        lineCount = slots.length;
      } else file.append([...dirty].map(lineOf));
      dirty.clear();
    },
  };
}

interface Group {
  readonly key: string;
  readonly most: number;
}

function groupsOf(
  url: string,
  prefixes: ReadonlyArray<readonly [string, number]>,
  perQuery: number | undefined,
): Group[] {
  if (!URL.canParse(url)) return [];
  const { host, pathname, searchParams } = new URL(url);
  const groups: Group[] = [];
  for (const [prefix, most] of prefixes)
    if (pathname.startsWith(prefix)) groups.push({ key: `${host} ${prefix}`, most });
  if (perQuery !== undefined && searchParams.size > 0) {
    const names = [...new Set(searchParams.keys())].sort().join("&");
    groups.push({ key: `${host}${pathname}?${names}`, most: perQuery });
  }
  return groups;
}

function slotsOf(key: string): number[] {
  return STARTS.map((start, row) => {
    let hash = start;
    for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), FNV_PRIME);
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    return row * COLUMNS + ((hash ^ (hash >>> 13)) & (COLUMNS - 1));
  });
}
