/**
 * The path patterns of robots.txt and the URLs that they take: RFC 9309, 2.2.2 and 2.2.3.
 *
 *   /a/*.html$    "/a/" ─ then, anywhere after it ─ ".html" ─ and then the end
 *
 *   spelling   what is made alike, in a pattern and in a path
 *   exact      %7e and %7E; letters beyond ASCII and their octets (pattern only); "<>^`{|}, a literal * or $, and their octets
 *   decoded    as exact; also %7E and ~, and in a query %2F and /, %3A and :
 *
 *   I1  A path is compared with each pattern at most once, by one search for each part between two stars.
 *   I2  Exact spellings that match always match. A Disallow takes decoded spellings also: none leads past it.
 *   I3  RFC 9309 has `%62` in a rule match `b` in a URL; Google's parser does not. An Allow follows Google there and a Disallow the RFC: the
 *       stricter one. Elsewhere they follow the RFC, so that an Allow may match octets that Google's parser compares as they are written.
 */

export interface RobotsPattern {
  readonly isAllow: boolean;
  /** Octets as Google's parser counts them; the longest pattern decides. */
  readonly length: number;
  readonly exact: Parts;
  /** undefined: as exact. */
  readonly decoded: Parts | undefined;
}

interface Parts {
  /** What stands between stars. */
  readonly parts: readonly string[];
  /** Nothing may follow. */
  readonly isWhole: boolean;
}

export interface RobotsPath {
  readonly exact: string;
  readonly decoded: string;
}

/** The patterns of one line; none where it is empty. */
export function patternsOf(isAllow: boolean, value: string): RobotsPattern[] {
  if (value === "") return [];
  const written = encoded(value);
  const pattern = patternOf(isAllow, written);
  const slash = written.lastIndexOf("/");
  // As Google's parser has it, an index page that is allowed allows its folder.
  const isIndex = isAllow && slash >= 0 && written.startsWith("/index.htm", slash);
  return isIndex ? [pattern, patternOf(true, `${written.slice(0, slash + 1)}$`)] : [pattern];
}

function patternOf(isAllow: boolean, written: string): RobotsPattern {
  const isWhole = written.endsWith("$");
  const body = (isWhole ? written.slice(0, -1) : written).replaceAll("$", "%24");
  const partsOf = (text: string): Parts => {
    const [first = "", ...rest] = text.split("*");
    // What is empty between two stars asks for nothing; a star at the end does, for all that follows.
    const parts = [first, ...rest.filter((part, at) => part !== "" || at === rest.length - 1)];
    return { parts, isWhole };
  };
  const exact = spelled(body);
  const decoded = decodedOf(exact, isAllow);
  return {
    isAllow,
    length: written.length,
    exact: partsOf(exact),
    decoded: decoded === exact ? undefined : partsOf(decoded),
  };
}

/** Both spellings of a URL's path and query. The URL is taken as it is; letters beyond ASCII must be encoded, as `new URL()` does. */
export function robotsPath(url: string): RobotsPath {
  const exact = spelled(pathOf(url).replace(/[*$]/g, (letter) => octet(letter)));
  return { exact, decoded: decodedOf(exact, false) };
}

export function matches(pattern: RobotsPattern, path: RobotsPath): boolean {
  if (fits(pattern.exact, path.exact)) return true;
  if (pattern.decoded === undefined && path.decoded === path.exact) return false;
  return fits(pattern.decoded ?? pattern.exact, path.decoded);
}

function fits({ parts, isWhole }: Parts, path: string): boolean {
  const [first = ""] = parts;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  const last = parts.length - 1;
  if (last === 0) return !isWhole || at === path.length;
  for (let index = 1; index < last; index++) {
    const part = parts[index] as string;
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  const tail = parts[last] as string;
  if (isWhole) return path.length - tail.length >= at && path.endsWith(tail);
  return path.indexOf(tail, at) >= 0;
}

/** Path and query of whatever is written like a URL, as Google's parser finds them; `/` where there are none. */
export function pathOf(url: string): string {
  const start = url.startsWith("//") ? 2 : 0;
  const early = indexOfAny(url, start);
  const scheme = url.indexOf("://", start);
  const isScheme = scheme >= 0 && (early < 0 || early > scheme);
  const found = indexOfAny(url, isScheme ? scheme + 3 : start);
  if (found < 0) return "/";
  const hash = url.indexOf("#", start);
  if (hash >= 0 && hash < found) return "/";
  const path = hash < 0 ? url.slice(found) : url.slice(found, hash);
  return path.startsWith("/") ? path : `/${path}`;
}

function indexOfAny(url: string, from: number): number {
  for (let at = from; at < url.length; at++) {
    const code = url.charCodeAt(at);
    if (code === 0x2f || code === 0x3f || code === 0x3b) return at; // "/", "?", ";"
  }
  return -1;
}

/** A pattern's letters beyond ASCII, and octets in capitals, as Google's parser has them. */
function encoded(pattern: string): string {
  return pattern
    .replace(/[^\0-\x7f]+/g, (some) => {
      try {
        return encodeURIComponent(some);
      } catch {
        return some; // half of a pair: no URL has it
      }
    })
    .replace(/%[\da-f]{2}/gi, (some) => some.toUpperCase());
}

/** Of these letters a URL has some as they are, some only in its query. */
function spelled(text: string): string {
  if (!/[%\0-\x20"<>^`{|}\x7f]/.test(text)) return text;
  return text.replace(/%[\da-f]{2}|[\0-\x20"<>^`{|}\x7f]/gi, (some) =>
    some.length === 3 ? some.toUpperCase() : octet(some),
  );
}

/** Octets that stand for themselves; in an Allow's pattern only the two of a query (I3). */
function decodedOf(text: string, isAllow: boolean): string {
  if (!text.includes("%")) return text;
  const query = text.indexOf("?");
  return text.replace(/%([\dA-F]{2})/g, (some, hex: string, at: number) => {
    const letter = String.fromCharCode(Number.parseInt(hex, 16));
    if (query >= 0 && at > query && /[/:]/.test(letter)) return letter;
    return !isAllow && /[\w.~-]/.test(letter) ? letter : some;
  });
}

function octet(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}
