/**
 * Converts hosts, domains and patterns of rules to the form that parsed URLs have.
 *
 *   Example.COM        ─▶ example.com      lower case, IDNA, addresses as the URL Standard writes them
 *   example.com:8443   ─▶ itself           80 and 443 are dropped: serialised URLs omit them
 *   ^https?://www\.example\.com/news/ ─▶ www.example.com, the only host on which it can match
 */
import { parseUrl, URL_BYTES_MAX } from "../parsing/canonical-parser.ts";

const NAME = /^[^\s/?#@\\*]+$/;
const PORT = /:([0-9]{1,5})$/;
const USUAL_PORTS = new Set([80, 443]);
/** A name already in its final form: ASCII, lower case, and unchanged by IDNA and by the address parser. */
const PLAIN_NAME = /^(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*$/;
/** The longest label that DNS allows; a name within it has no label that is too long. */
const PLAIN_LENGTH_MAX = 63;

/** A host with or without a port; undefined if no URL can have it. */
export function normalHost(text: string): string | undefined {
  if (isPlainName(text)) return text;
  if (!NAME.test(text)) return undefined;
  const port = PORT.exec(text)?.[1];
  const host = normalName(port === undefined ? text : text.slice(0, -port.length - 1));
  if (host === undefined || port === undefined) return host;
  const number = Number(port);
  if (number > 65_535) return undefined;
  return USUAL_PORTS.has(number) ? host : `${host}:${number}`;
}

/** A domain, without a port; a leading dot is allowed. */
export function normalDomain(text: string): string | undefined {
  if (isPlainName(text)) return text;
  const bare = text.startsWith(".") ? text.slice(1) : text;
  return NAME.test(bare) && !PORT.test(bare) ? normalName(bare) : undefined;
}

/** True for nearly every name in rules; the others are parsed. */
function isPlainName(text: string): boolean {
  return text.length <= PLAIN_LENGTH_MAX && PLAIN_NAME.test(text) && !text.includes("xn--");
}

function normalName(text: string): string | undefined {
  const parsed = parseUrl(`http://${text}/`, undefined, URL_BYTES_MAX);
  if (typeof parsed === "number" || parsed.portStart !== parsed.pathStart) return undefined;
  const host = parsed.href.slice(parsed.hostStart, parsed.pathStart);
  return host.endsWith(".") ? host.slice(0, -1) || undefined : host;
}

const ANCHORED =
  /^\^https?\??:\\?\/\\?\/((?:[a-zA-Z0-9-]|\\\.)+)(?:\\?\/|\(\?:\\?\/\|\$\))(?![?*{])/;

/** The only host (without port) on which a pattern can match, if its text shows it; undefined: any host. */
export function hostOfPattern(pattern: string): string | undefined {
  const found = ANCHORED.exec(pattern);
  if (found === null || hasOuterChoice(pattern)) return undefined;
  return (found[1] as string).replaceAll("\\.", ".").toLowerCase();
}

/** Whether a `|` stands outside of all brackets: then the part before it need not match. */
function hasOuterChoice(pattern: string): boolean {
  let depth = 0;
  let isInClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === "\\") at++;
    else if (isInClass) isInClass = char !== "]";
    else if (char === "[") isInClass = true;
    else if (char === "(") depth++;
    else if (char === ")") depth--;
    else if (char === "|" && depth === 0) return true;
  }
  return false;
}
