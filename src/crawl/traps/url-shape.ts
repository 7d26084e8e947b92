/**
 * Room `src/crawl/traps`: endless families of URLs, told by what visits of them show, and bounds on families. No lease, no network.
 */

/**
 * The shapes of a URL: what it has in common with others of its site.
 *
 *   https://a.example/shop/red-42/7?size=9&color=red
 *
 *   families    /shop/#/#?color&size    what differs in numbers or in values of its query
 *               /shop/#/#?              the same path with any query
 *               /shop/#/*               the same folder
 *               /shop/**                the same first folder, where there are more
 *   variables   /shop/… 42, 7, color, size: each a part that could mean nothing, and the URL without it
 *
 *   I1  Total, and linear in the URL. At most VARIABLES_MAX variables.
 */

export interface Variable {
  /** The part, whatever its value: of one site. */
  readonly name: string;
  /** The URL, whatever the value of this part. */
  readonly rest: string;
}

export interface UrlShape {
  readonly host: string;
  /** From the narrowest to the widest. */
  readonly families: readonly string[];
  /** The URL as `rest` of another one has it, of which a variable of its query is missing here. */
  readonly self: string;
  readonly variables: readonly Variable[];
  /** Names of its query. */
  readonly names: readonly string[];
}

const VARIABLES_MAX = 8;
const URL_LETTERS_MAX = 2_048;
/** Letters and digits in a row with a digit among them. */
const NUMBERS = /[\p{L}\p{N}]*\p{N}[\p{L}\p{N}]*/gu;

/** undefined: no URL of the web, or one that is too long to be looked at. */
export function shapeOf(url: string): UrlShape | undefined {
  if (url.length > URL_LETTERS_MAX || !URL.canParse(url)) return undefined;
  const { host, pathname, searchParams } = new URL(url);
  const segments = pathname.split("/").slice(1);
  const plain = segments.map((segment) => segment.replace(NUMBERS, "#"));
  const names = [...new Set(searchParams.keys())].sort();
  const query = names.length === 0 ? "" : `?${names.join("&")}`;
  const path = `${host}/${plain.join("/")}`;
  const folder = `${host}/${plain.slice(0, -1).join("/")}`;
  const families = [path + query];
  if (names.length > 0) families.push(`${path}?`);
  if (plain.length > 1) families.push(`${folder}/*`);
  if (plain.length > 2) families.push(`${host}/${plain[0]}/**`);
  const sorted = [...searchParams].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const self = `${host}/${segments.join("/")}?${textOf(sorted)}`;
  return { host, families, names, self, variables: variablesOf(host, segments, sorted) };
}

type Entries = ReadonlyArray<readonly [name: string, value: string]>;

function textOf(entries: Entries): string {
  return entries.map(([name, value]) => `${name}=${value}`).join("&");
}

function variablesOf(host: string, segments: string[], sorted: Entries): Variable[] {
  const variables: Variable[] = [];
  const path = segments.join("/");
  for (const [at, segment] of segments.entries()) {
    const plain = segment.replace(NUMBERS, "#");
    if (plain === segment || variables.length >= VARIABLES_MAX) continue;
    const before = segments.slice(0, at).map((each) => each.replace(NUMBERS, "#"));
    const rest = [...segments.slice(0, at), plain, ...segments.slice(at + 1)].join("/");
    variables.push({
      name: `${host}/${[...before, plain].join("/")}`,
      rest: `${host}/${rest}?${textOf(sorted)}`,
    });
  }
  for (const name of new Set(sorted.map(([each]) => each))) {
    if (variables.length >= VARIABLES_MAX) break;
    const others = sorted.filter(([each]) => each !== name);
    variables.push({ name: `${host}?${name}`, rest: `${host}/${path}?${textOf(others)}` });
  }
  return variables;
}
