/**
 * The date of a sitemap's or feed's entry, as W3C-DTF (sitemaps.org) or RFC 822 (RSS) writes it.
 *
 *   2026 · 2026-11 · 2026-11-26 · 2026-11-26T10:20Z · 2026-11-26T10:20:30.5+01:00 · Thu, 26 Nov 2026 10:20:30 GMT
 *
 * A date without a time is the whole of its day, month or year: the page may have changed at its end.
 */

export interface Lastmod {
  /** The earliest time that it may mean, in milliseconds since 1970. */
  readonly from: number;
  /** The latest. */
  readonly until: number;
}

const DATE = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](.+))?)?)?$/;
const TIME = /^\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/i;
const RFC_822 =
  /^(?:[a-z]+, *)?\d\d? [a-z]{3} \d\d(?:\d\d)? \d\d:\d\d(?::\d\d)?(?: [a-z]{1,4}| [+-]\d{4})?$/i;
/** Before the web there was no page. */
const EARLIEST_MS = Date.UTC(1990, 0, 1);
const TEXT_MAX = 64;

/** Reads a date; undefined: it is none, or of a time when no page was written. Total. */
export function readLastmod(text: unknown): Lastmod | undefined {
  if (typeof text !== "string" || text.length > TEXT_MAX) return undefined;
  const read = dateOf(text.trim());
  return read !== undefined && read.from >= EARLIEST_MS ? read : undefined;
}

function dateOf(text: string): Lastmod | undefined {
  const match = DATE.exec(text);
  if (match === null) return RFC_822.test(text) ? momentOf(text) : undefined;
  const [, year = "", month = "01", day = "01", time] = match;
  const date = `${year}-${month}-${day}`;
  if (time !== undefined) {
    if (!TIME.test(time)) return undefined;
    const isZoned = /(?:Z|[+-]\d\d:?\d\d)$/i.test(time);
    return momentOf(`${date}T${time.toUpperCase()}${isZoned ? "" : "Z"}`);
  }
  const from = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(from)) return undefined;
  const end = new Date(from);
  if (match[3] !== undefined) end.setUTCDate(end.getUTCDate() + 1);
  else if (match[2] !== undefined) end.setUTCMonth(end.getUTCMonth() + 1);
  else end.setUTCFullYear(end.getUTCFullYear() + 1);
  return { from, until: end.getTime() - 1 };
}

function momentOf(text: string): Lastmod | undefined {
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : { from: at, until: at };
}
