/**
 * Room `src/crawl/traps`: endless families of URLs, recognised by what visits of them show, and bounds on families. No lease, no network.
 */

/**
 * The shapes of a URL: what it has in common with others of its site.
 *
 *   https://a.example/shop/red-42/7;v=1?size=9&color=red
 *
 *   families    /shop/red-#/#;v?color&size   what differs in numbers or in values of its query; ~ is a token of letters and digits
 *               /shop/red-#/#;v?             the same path with any query
 *               /shop/red-#/*                the same folder
 *               /shop/**                     the same first folder, where there are more; /shop/*‥* where a folder occurs twice
 *               /shop/red-*              the same folder and the same first word of a name of several
 *   variables   42, 7, ;v, color, size: each a part that could mean nothing, and the URL without it; color and size together; /shop/ and
 *               /red-#/: a folder that could be a mirror of what is there without it, by its name and by its place, or of the
 *               same under another first folder; capitals, double slashes, a slash at the end; a.example:
 *               a host that could be a mirror of the first one of its domain
 *
 *   I1  Total, and linear in the URL. At most VARIABLES_MAX variables.
 */

export interface Variable {
  /** The part, whatever its value: of one site. */
  readonly name: string;
  /** The URL, whatever the value of this part. */
  readonly rest: string;
  /** What there is a URL without as well: an entry of the query, several of them, or the folder at a place; or what its path or host is replaced by. */
  readonly part?:
    | string
    | number
    | readonly string[]
    | { readonly path: string }
    | { readonly host: string };
  /** Whether only a URL that is known may take its place. */
  readonly isGuess?: boolean;
  /** Whether it is how the path is written, which every URL has. */
  readonly isSpelling?: boolean;
  /** Whether the path is written that way already: it is never left for another way. */
  readonly isPlain?: boolean;
}

export interface UrlShape {
  readonly host: string;
  /** From the narrowest to the widest. */
  readonly families: readonly string[];
  /** Names of its query, each once, in order. */
  readonly names: NameSet;
  /** The URL as `rest` of another one has it, of which a variable of its query is missing here. */
  readonly self: string;
  readonly variables: readonly Variable[];
  /** Whether it is one of many combinations: several entries in its query, or one part of several words. */
  readonly isMixed: boolean;
}

const NO_SETS: readonly NameSet[] = [];
const VARIABLES_MAX = 16;
const NUMBERS_MAX = 4;
const SETS_MAX = 3;
/** Folders from the first one that could be a mirror. */
const FOLDERS_MAX = 2;
const URL_LETTERS_MAX = 2_048;
/** What stands between parts of a list, in a path or a value. */
const MIXED = /[,+|]|%2[bc]|%7c|-vs-/i;
/** What a folder shows where no name is given. */
const INDEX = /(?<=\/)(?:index|default)\.[a-z]{3,5}$/i;
/** Letters and digits in a row with a digit among them. */
const NUMBERS = /[\p{L}\p{N}]*\p{N}[\p{L}\p{N}]*/gu;

/** Names of a query that came together. */
export type NameSet = readonly string[];

/** What is known of a host that decides which parts of its URLs could mean nothing. */
export interface HostParts {
  /** Names of queries that could mean nothing together. */
  readonly sets: readonly NameSet[];
  /** The host that it could be a mirror of. */
  readonly main: string;
}

/** undefined: no URL of the web, or one that is too long. */
export function shapeOf(
  url: string,
  partsOf: (host: string) => HostParts | undefined = () => undefined,
): UrlShape | undefined {
  if (url.length > URL_LETTERS_MAX || !URL.canParse(url)) return undefined;
  const { host, pathname, searchParams } = new URL(url);
  const entries: Entry[] = [...searchParams];
  const segments = pathname
    .split("/")
    .slice(1)
    .map((segment) => withoutParameters(segment, entries));
  const plain = segments.map((segment) => segment.replace(NUMBERS, kindOf));
  const names = [...new Set(entries.map(([name]) => name))].sort();
  const query = names.length === 0 ? "" : `?${names.join("&")}`;
  const path = `${host}/${plain.join("/")}`;
  const folders = plain.slice(0, -1);
  const families = [path + query];
  if (names.length > 0) families.push(`${path}?`);
  const first = /^([^-_]+[-_])[^-_]/.exec(plain.at(-1) ?? "")?.[1];
  if (first !== undefined) families.push(`${host}/${[...folders, first].join("/")}*`);
  if (plain.length > 1) families.push(`${host}/${folders.join("/")}/*`);
  if (plain.length > 2) {
    const named = segments.slice(0, -1).filter((segment, at) => segment === folders[at]);
    const isRepeated = new Set(named).size < named.length;
    families.push(`${host}/${plain[0]}/${isRepeated ? "*‥*" : "**"}`);
  }
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const { sets = NO_SETS, main = host } = partsOf(host) ?? {};
  const parts: Parts = { host, main, segments, plain, sorted, sets: setsIn(names, sets) };
  const isMixed = entries.length > 1 || MIXED.test(url);
  const self = urlOf(parts, segments);
  return { host, families, names, isMixed, self, variables: variablesOf(parts) };
}

/** The shape of a link is needed several times in a row. */
export function shapesOf(
  partsOf: (host: string) => HostParts | undefined,
): (url: string) => UrlShape | undefined {
  let [last, shape]: [string | undefined, UrlShape | undefined] = [undefined, undefined];
  return (url) => {
    if (url !== last) [last, shape] = [url, shapeOf(url, partsOf)];
    return shape;
  };
}

/** A number, a word that ends with a number, or a token of letters and digits. */
function kindOf(part: string): string {
  const word = /^(\D*)\d+$/.exec(part)?.[1];
  return word === undefined ? "~" : `${word}#`;
}

/** Sets of which a query has all names: its own, and those that are known. */
function setsIn(names: NameSet, sets: readonly NameSet[]): NameSet[] {
  if (names.length < 2) return [];
  const within = sets.filter(
    (set) => set.length < names.length && set.every((name) => names.includes(name)),
  );
  return [names, ...within.slice(0, SETS_MAX)];
}

/** The URL without a part; undefined where there is no such URL. */
export function urlWithout(url: string, { part }: Variable): string | undefined {
  if (part === undefined) return undefined;
  const at = new URL(url);
  if (typeof part === "number") {
    const segments = at.pathname.split("/");
    segments.splice(part + 1, 1);
    at.pathname = segments.join("/");
  } else if (typeof part === "string") remove(at, part);
  else if ("path" in part) at.pathname = part.path;
  else if ("host" in part) at.host = part.host;
  else for (const name of part) remove(at, name);
  return at.href;
}

/** Takes the entries of a name out of a query, or out of the parameters of its path. */
function remove(at: URL, name: string): void {
  if (!name.startsWith(";")) {
    const entries = at.search.slice(1).split("&");
    at.search = entries.filter((entry) => !new URLSearchParams(entry).has(name)).join("&");
    return;
  }
  const segments = at.pathname.split("/").map((segment) =>
    segment
      .split(";")
      .filter((parameter, first) => first === 0 || nameOf(parameter) !== name)
      .join(";"),
  );
  at.pathname = segments.join("/");
}

type Entry = [name: string, value: string];

interface Parts {
  readonly host: string;
  readonly main: string;
  readonly segments: readonly string[];
  readonly plain: readonly string[];
  readonly sorted: readonly Entry[];
  readonly sets: readonly NameSet[];
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

function urlOf(
  { host, sorted }: Pick<Parts, "host" | "sorted">,
  segments: readonly string[],
  without: NameSet = [],
): string {
  const entries = sorted.filter(([name]) => !without.includes(name));
  const query = entries.map(([name, value]) => `${name}=${value}`);
  return `${host}/${segments.join("/")}?${query.join("&")}`;
}

function variablesOf(parts: Parts): Variable[] {
  const { host, main, segments, plain, sorted } = parts;
  const variables: Variable[] = [];
  if (main !== host) {
    const rest = urlOf({ host: main, sorted }, segments);
    variables.push({ name: `{${host}}/…`, rest, part: { host: main } });
  }
  for (const name of new Set(sorted.map(([each]) => each)))
    variables.push({ name: `${host}?${name}`, rest: urlOf(parts, segments, [name]), part: name });
  for (const set of parts.sets)
    variables.push({
      ...{ name: `${host}?${set.join("&")}`, rest: urlOf(parts, segments, set), part: set },
    });
  spellingsOf(parts, variables);
  for (let at = 0; at < Math.min(FOLDERS_MAX, segments.length - 1); at++) {
    const rest = [...segments.slice(0, at), ...segments.slice(at + 1)];
    const name = `${host}/${[...plain.slice(0, at), `{${plain[at]}}`].join("/")}/…`;
    variables.push({ name, rest: urlOf(parts, rest), part: at });
    const any = `${host}/{${at}}/…`;
    variables.push({ name: any, rest: urlOf(parts, rest), part: at, isGuess: true });
    // Compared with each other alone: without its folder a page may be the one above.
    if (at === 0) variables.push({ name: `${any}…`, rest: `${any} ${urlOf(parts, rest)}` });
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

/** Every way to write a path: with capitals, with slashes that are doubled or the name of a folder's index, with a slash at its end. */
function spellingsOf(parts: Parts, variables: Variable[]): void {
  const { host, segments } = parts;
  const path = `/${segments.join("/")}`;
  const spellingOf = (name: string, other: string): Variable => {
    const rest = `${name} ${urlOf(parts, other.slice(1).split("/"))}`;
    return { name, rest, isSpelling: true };
  };
  for (const [name, other] of [
    [`${host}/{A-Z}`, path.toLowerCase()],
    [`${host}/{//}`, path.replace(INDEX, "").replace(/\/{2,}/g, "/")],
  ] as const) {
    const way = other === path ? { isPlain: true } : { part: { path: other } };
    variables.push({ ...spellingOf(name, other), ...way });
  }
  variables.push(spellingOf(`${host}/{/}`, path.replace(/\/$/, "")));
}
