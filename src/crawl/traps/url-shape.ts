/**
 * Room `src/crawl/traps`: endless families of URLs, recognised by what visits of them show, and bounds on families. No lease, no network.
 */

/**
 * The shapes of a URL: what it has in common with others of its site.
 *
 *   https://a.example/shop/red-42/7;v=1?size=9&color=red
 *
 *   families    /shop/red-#/#;v?color&size   what differs in numbers or in values of its query
 *               /shop/red-#/#;v?             the same path with any query
 *               /shop/red-#/*                the same folder
 *               /shop/**                     the same first folder, where there are more; /shop/*‥* where a folder occurs twice
 *   variables   42, 7, ;v, color, size: each a part that could mean nothing, and the URL without it; /shop/ and /red-#/: a folder that
 *               could be a mirror of what is there without it
 *
 *   I1  Total, and linear in the URL. At most VARIABLES_MAX variables.
 */

export interface Variable {
  /** The part, whatever its value: of one site. */
  readonly name: string;
  /** The URL, whatever the value of this part. */
  readonly rest: string;
  /** The entry of the query, or the place of the folder, without which there is a URL as well. */
  readonly part?: string | number;
}

export interface UrlShape {
  readonly host: string;
  /** From the narrowest to the widest. */
  readonly families: readonly string[];
  /** The URL as `rest` of another one has it, of which a variable of its query is missing here. */
  readonly self: string;
  readonly variables: readonly Variable[];
  /** Whether it is one of many combinations: several entries in its query, or one part of several words. */
  readonly isMixed: boolean;
}

const VARIABLES_MAX = 12;
const NUMBERS_MAX = 4;
/** Folders from the first one that could be a mirror. */
const FOLDERS_MAX = 2;
const URL_LETTERS_MAX = 2_048;
/** What stands between parts of a list, in a path or a value. */
const MIXED = /[,+|]|%2[bc]|%7c/i;
/** Letters and digits in a row with a digit among them. */
const NUMBERS = /[\p{L}\p{N}]*\p{N}[\p{L}\p{N}]*/gu;

/** undefined: no URL of the web, or one that is too long to be looked at. */
export function shapeOf(url: string): UrlShape | undefined {
  if (url.length > URL_LETTERS_MAX || !URL.canParse(url)) return undefined;
  const { host, pathname, searchParams } = new URL(url);
  const entries: Entry[] = [...searchParams];
  const segments = pathname
    .split("/")
    .slice(1)
    .map((segment) => withoutParameters(segment, entries));
  const plain = segments.map((segment) => segment.replace(NUMBERS, "#"));
  const names = [...new Set(entries.map(([name]) => name))].sort();
  const query = names.length === 0 ? "" : `?${names.join("&")}`;
  const path = `${host}/${plain.join("/")}`;
  const folders = plain.slice(0, -1);
  const families = [path + query];
  if (names.length > 0) families.push(`${path}?`);
  if (plain.length > 1) families.push(`${host}/${folders.join("/")}/*`);
  if (plain.length > 2) {
    const named = segments.slice(0, -1).filter((segment, at) => segment === folders[at]);
    const isRepeated = new Set(named).size < named.length;
    families.push(`${host}/${plain[0]}/${isRepeated ? "*‥*" : "**"}`);
  }
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const parts: Parts = { host, segments, plain, sorted };
  const isMixed = entries.length > 1 || MIXED.test(url);
  return { host, families, isMixed, self: urlOf(parts, segments), variables: variablesOf(parts) };
}

/** The URL without a part; undefined where there is no such URL. */
export function urlWithout(url: string, { part }: Variable): string | undefined {
  if (part === undefined) return undefined;
  const at = new URL(url);
  const segments = at.pathname.split("/");
  if (typeof part === "number") segments.splice(part + 1, 1);
  else if (part.startsWith(";"))
    for (const [n, segment] of segments.entries())
      segments[n] = segment
        .split(";")
        .filter((parameter, first) => first === 0 || nameOf(parameter) !== part)
        .join(";");
  else {
    const entries = at.search.slice(1).split("&");
    at.search = entries.filter((entry) => !new URLSearchParams(entry).has(part)).join("&");
  }
  at.pathname = segments.join("/");
  return at.href;
}

type Entry = [name: string, value: string];

interface Parts {
  readonly host: string;
  readonly segments: readonly string[];
  readonly plain: readonly string[];
  readonly sorted: readonly Entry[];
}

/** A segment without what follows its first semicolon; that goes to the entries of the query, by names that begin with one. */
function withoutParameters(segment: string, entries: Entry[]): string {
  const [name = "", ...parameters] = segment.split(";");
  for (const parameter of parameters) {
    entries.push([nameOf(parameter), parameter.slice(parameter.indexOf("=") + 1)]);
  }
  return name;
}

function nameOf(parameter: string): string {
  return `;${parameter.slice(0, Math.max(parameter.indexOf("="), 0))}`;
}

function urlOf({ host, sorted }: Parts, segments: readonly string[], without?: string): string {
  const entries = sorted.filter(([name]) => name !== without);
  const query = entries.map(([name, value]) => `${name}=${value}`);
  return `${host}/${segments.join("/")}?${query.join("&")}`;
}

function variablesOf(parts: Parts): Variable[] {
  const { host, segments, plain, sorted } = parts;
  const variables: Variable[] = [];
  for (const name of new Set(sorted.map(([each]) => each)))
    variables.push({ name: `${host}?${name}`, rest: urlOf(parts, segments, name), part: name });
  for (let at = 0; at < Math.min(FOLDERS_MAX, segments.length - 1); at++) {
    const rest = [...segments.slice(0, at), ...segments.slice(at + 1)];
    const name = `${host}/${[...plain.slice(0, at), `{${plain[at]}}`].join("/")}/…`;
    variables.push({ name, rest: urlOf(parts, rest), part: at });
  }
  let numbers = 0;
  for (const [at, segment] of segments.entries()) {
    for (const { index, 0: number } of segment.matchAll(NUMBERS)) {
      if (numbers++ >= NUMBERS_MAX) break;
      const [before, after] = [segment.slice(0, index), segment.slice(index + number.length)];
      const rest = [...segments.slice(0, at), `${before}#${after}`, ...segments.slice(at + 1)];
      const name = `${host}/${[...plain.slice(0, at), before.replace(NUMBERS, "*")].join("/")}{#}`;
      variables.push({ name: name + after.replace(NUMBERS, "*"), rest: urlOf(parts, rest) });
    }
  }
  return variables.slice(0, VARIABLES_MAX);
}
