/**
 * A robots.txt as lines: the key and the value of each, by RFC 9309, 2.2, and by Google's parser where the RFC leaves it open.
 *
 *   text ─ CR, LF or CR LF ─▶ line, at most LINE_BYTES_MAX ─▶ without its comment ─▶ key ":" value
 *
 *   key           also written
 *   user-agent    useragent, user agent
 *   disallow      dissallow, dissalow, disalow, diasllow, disallaw
 *   sitemap       site-map
 *
 *   I1  A key is what begins with its name (`Disallow-all: /x` is a Disallow), and the colon may be missing where a line is two words.
 *   I2  Only ASCII blanks are removed: a byte order mark in the middle of a file makes its line unreadable, and nothing else.
 */

export type RobotsKey =
  | "user-agent"
  | "allow"
  | "disallow"
  | "sitemap"
  | "crawl-delay"
  | "content-usage"
  | "content-signal"
  | "other";

export interface RobotsLine {
  /** From 1. */
  readonly number: number;
  readonly key: RobotsKey;
  /** The key as it is written, in lower case. */
  readonly name: string;
  readonly value: string;
}

/** Eight times the longest URL that browsers take; what follows on a line is ignored, as Google's parser does. */
const LINE_BYTES_MAX = 2083 * 8 - 1;
const KEYS: ReadonlyArray<readonly [RobotsKey, RegExp]> = [
  ["user-agent", /^user[- ]?agent/],
  ["allow", /^allow/],
  ["disallow", /^(?:dis+al+ow|diasllow|disallaw)/],
  ["sitemap", /^site-?map/],
  ["crawl-delay", /^crawl-?delay$/],
  ["content-usage", /^content-usage$/],
  ["content-signal", /^content-signals?$/],
];
/** A byte order mark, whole or begun, decoded or as single bytes. */
const BYTE_ORDER_MARK = /^(?:\ufeff|\ufffd|\u00ef(?:\u00bb\u00bf?)?)/;

/** Reads every line that has a key and a value. Total; linear in the text. */
export function* readRobotsLines(text: string): Generator<RobotsLine> {
  let number = 0;
  for (const line of text.replace(BYTE_ORDER_MARK, "").split(/\r\n|\r|\n/)) {
    number++;
    const field = fieldOf(cutLine(line));
    if (field === undefined) continue;
    const [name, value] = field;
    const key = KEYS.find(([, pattern]) => pattern.test(name))?.[0] ?? "other";
    yield { number, key, name, value };
  }
}

function fieldOf(line: string): readonly [name: string, value: string] | undefined {
  const end = line.search(/[#\0]/);
  const written = trimmed(end < 0 ? line : line.slice(0, end));
  let separator = written.indexOf(":");
  if (separator < 0) {
    // Forgotten colons: of two words alone the first is meant as the key.
    const words = /^[^ \t]+[ \t]+[^ \t]+$/.test(written);
    separator = words ? written.search(/[ \t]/) : -1;
  }
  const name = trimmed(written.slice(0, Math.max(separator, 0))).toLowerCase();
  return name === "" ? undefined : [name, trimmed(written.slice(separator + 1))];
}

function cutLine(line: string): string {
  if (line.length * 3 <= LINE_BYTES_MAX || Buffer.byteLength(line) <= LINE_BYTES_MAX) return line;
  // A letter that the cut divides is left out.
  return new TextDecoder().decode(Buffer.from(line).subarray(0, LINE_BYTES_MAX), { stream: true });
}

/** Without ASCII blanks at both ends; linear, unlike a pattern that searches for blanks at the end. */
function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}
