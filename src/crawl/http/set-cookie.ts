/**
 * One Set-Cookie line, read as browsers do (RFC 6265, 5.1.1 and 5.2): anything between the semicolons may be wrong, and is then
 * ignored.
 */
import { dateMs } from "../../base/clock.ts";

/** The fields of a line, before the check who may set it. */
export interface SetCookie {
  readonly name: string;
  readonly value: string;
  /** undefined: it lives as long as the crawl. */
  readonly untilMs: number | undefined;
  /** In lower case, without a leading dot; undefined: only the host itself. */
  readonly domain: string | undefined;
  /** undefined: derived from the URL of its page. */
  readonly path: string | undefined;
  readonly isSecure: boolean;
}

const PAIR_LETTERS_MAX = 4_096;
const ATTRIBUTE_LETTERS_MAX = 1_024;
/** Control characters except the tab. */
const CONTROL = /[^\t\x20-\x7e\x80-\u{10ffff}]/u;

/** Returns undefined when the line is not a cookie. Total. */
export function readSetCookie(line: string, nowMs: number): SetCookie | undefined {
  if (CONTROL.test(line)) return undefined;
  const [pair = "", ...rest] = line.split(";");
  const equals = pair.indexOf("=");
  const name = pair.slice(0, Math.max(equals, 0)).trim();
  const value = pair.slice(equals + 1).trim();
  if (name.length + value.length === 0 || name.length + value.length > PAIR_LETTERS_MAX)
    return undefined;
  let expiresMs: number | undefined;
  let ageMs: number | undefined;
  let domain: string | undefined;
  let path: string | undefined;
  let isSecure = false;
  // The last attribute of a name counts.
  for (const attribute of rest) {
    const at = attribute.indexOf("=");
    const value = at < 0 ? "" : attribute.slice(at + 1).trim();
    if (value.length > ATTRIBUTE_LETTERS_MAX) continue;
    switch ((at < 0 ? attribute : attribute.slice(0, at)).trim().toLowerCase()) {
      case "expires":
        expiresMs = cookieDateMs(value) ?? expiresMs;
        break;
      case "max-age":
        if (/^-?\d+$/.test(value)) ageMs = Number(value) * 1_000;
        break;
      case "domain":
        domain = value.replace(/^\./, "").toLowerCase() || undefined;
        break;
      case "path":
        path = value.startsWith("/") ? value : undefined;
        break;
      case "secure":
        isSecure = true;
    }
  }
  const untilMs = ageMs === undefined ? expiresMs : ageMs > 0 ? nowMs + ageMs : PAST;
  return { name, value, untilMs, domain, path, isSecure };
}

const PAST = Number.NEGATIVE_INFINITY;
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/** Separators between two words of a date: everything but digits, letters, colons and characters beyond ASCII. */
const BETWEEN = /[\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+/;

/** A date in a cookie's form, always UTC; undefined when it is not one. */
function cookieDateMs(text: string): number | undefined {
  let time: RegExpExecArray | undefined;
  let day: number | undefined;
  let month: number | undefined;
  let year: number | undefined;
  for (const word of text.split(BETWEEN)) {
    const clock = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)/.exec(word);
    const named = MONTHS.indexOf(word.slice(0, 3).toLowerCase());
    if (time === undefined && clock !== null) time = clock;
    else if (day === undefined && /^\d{1,2}(?!\d)/.test(word)) day = Number.parseInt(word, 10);
    else if (month === undefined && named >= 0) month = named;
    else if (year === undefined && /^\d{2,4}(?!\d)/.test(word)) year = Number.parseInt(word, 10);
  }
  if (time === undefined || day === undefined || month === undefined || year === undefined)
    return undefined;
  if (year < 100) year += year < 70 ? 2_000 : 1_900;
  const [, hours = "", minutes = "", seconds = ""] = time;
  const two = (value: number | string): string => String(value).padStart(2, "0");
  const date = `${String(year).padStart(4, "0")}-${two(month + 1)}-${two(day)}`;
  const ms = dateMs(`${date}T${two(hours)}:${two(minutes)}:${two(seconds)}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}
