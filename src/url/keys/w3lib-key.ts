/**
 * Profile `w3lib`: the key that the Python function w3lib.url.canonicalize_url returns, so that a crawl that moves from Scrapy keeps its
 * duplicates (docs/formats/canonical-url.md §4).
 *
 *   scheme://netloc/path;params?query#fragment      split by plain search, not by the Standard
 *
 * Bytes are kept as Latin-1 strings: one character is one byte. Like the original, the function is not idempotent: `%2525` in a path
 * becomes `%25`, then `%`.
 */
import { type ParsedUrl, withoutControls } from "../parsing/canonical-parser.ts";
import { hexValue } from "../parsing/idna-host.ts";
import { percentByte } from "../parsing/percent-encoding.ts";

/** Bytes to encode: in parameters, query and fragment; in a path, where `#` is encoded too; in a name or value; in user info. */
const UNSAFE = /[^A-Za-z0-9._~:/?#[\]@!$&'()*+,;=|%-]/g;
const PATH_UNSAFE = /[^A-Za-z0-9._~:/?[\]@!$&'()*+,;=|%-]/g;
const QUERY_UNSAFE = /[^A-Za-z0-9._~ -]/g;
const HIGH = /[\x80-\xff]/g;

/** The w3lib key of a parsed URL, made from the string that was pushed. */
export function w3libKey(parsed: ParsedUrl, keepsFragment: boolean): string {
  const parts = splitUrl(withoutControls(parsed.pushed));
  const path = quote(unquotePath(quote(utf8(parts.path), PATH_UNSAFE)), PATH_UNSAFE) || "/";
  const params = quote(utf8(parts.params), UNSAFE);
  const query = queryKey(quote(utf8(parts.query), UNSAFE));
  const fragment = keepsFragment ? quote(utf8(parts.fragment), UNSAFE) : "";
  const netloc = netlocKey(parts.netloc, parsed);
  return (
    `${parts.scheme}:` +
    (netloc === "" ? "" : `//${netloc}`) +
    path +
    (params === "" ? "" : `;${params}`) +
    (query === "" ? "" : `?${query}`) +
    (fragment === "" ? "" : `#${fragment}`)
  );
}

function splitUrl(text: string) {
  const colon = text.indexOf(":");
  const scheme = text.slice(0, colon).toLowerCase();
  let rest = text.slice(colon + 1);
  let netloc = "";
  if (rest.startsWith("//")) {
    const end = rest.slice(2).search(/[/?#]/);
    netloc = end < 0 ? rest.slice(2) : rest.slice(2, 2 + end);
    rest = end < 0 ? "" : rest.slice(2 + end);
  }
  const [beforeHash, fragment] = cut(rest, "#");
  const [beforeQuery, query] = cut(beforeHash, "?");
  const [path, params] = cut(beforeQuery, ";");
  return { scheme, netloc, path, params, query, fragment };
}

function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** The host in lower case without colons at its end; a non-ASCII host as in the visit URL. */
function netlocKey(netloc: string, parsed: ParsedUrl): string {
  const at = netloc.lastIndexOf("@");
  const userInfo = quote(utf8(netloc.slice(0, at + 1)), HIGH);
  const host = netloc.slice(at + 1);
  let end = host.length;
  while (end > 0 && host[end - 1] === ":") end--;
  const shown = host.slice(0, end);
  if (!/[^\x20-\x7e]/.test(shown)) return userInfo + shown.toLowerCase();
  // A backslash ends the Standard's host but not this one: the Standard's host alone would merge two URLs.
  if (shown.includes("\\")) return userInfo + quote(utf8(shown.toLowerCase()), HIGH);
  const port = /:[0-9]*$/.exec(shown)?.[0] ?? "";
  return userInfo + parsed.href.slice(parsed.hostStart, parsed.portStart) + port;
}

function queryKey(query: string): string {
  const pairs: Array<[name: string, value: string]> = [];
  for (const field of query.split("&")) {
    if (field === "") continue;
    for (const part of field.split(";")) {
      const [name, value] = cut(part, "=");
      pairs.push([unquote(name.replaceAll("+", " ")), unquote(value.replaceAll("+", " "))]);
    }
  }
  pairs.sort((a, b) => order(a[0], b[0]) || order(a[1], b[1]));
  return pairs.map(([name, value]) => `${quotePlus(name)}=${quotePlus(value)}`).join("&");
}

/** Decodes every triple except those of `/` and `?`, which would change the path's structure. */
function unquotePath(path: string): string {
  return unquote(path.replace(/%(2f|3f)/gi, (_, hex: string) => `%25${hex.toUpperCase()}`));
}

function unquote(text: string): string {
  if (!text.includes("%")) return text; // nearly every name and value
  return text.replace(/%[0-9a-f]{2}/gi, (triple) => {
    const high = hexValue(triple.charCodeAt(1));
    return String.fromCharCode(high * 16 + hexValue(triple.charCodeAt(2)));
  });
}

function quotePlus(text: string): string {
  return quote(text, QUERY_UNSAFE).replaceAll(" ", "+");
}

function quote(text: string, unsafe: RegExp): string {
  return text.replace(unsafe, (byte) => percentByte(byte.charCodeAt(0)));
}

/** UTF-8 bytes as Latin-1 text. */
function utf8(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
