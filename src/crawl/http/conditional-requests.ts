/**
 * Validators for conditional requests on a recrawl: ETag and Last-Modified of the last good answer, and a hash of its visible text, by which the
 * next one shows whether the page has changed; for the VALIDATOR_COUNT_MAX most recently visited pages.
 *
 *   done page (pending-validators.ts) ─▶ learn ─▶ memory ─▶ file, once the frontier reports its end as durable (docs/formats/validators.md)
 *   lease of a page that comes again by itself ─▶ If-None-Match, If-Modified-Since
 *
 *   I1  Only rules whose pages come again by themselves (epoch `every` or `adaptive`) request conditionally: elsewhere a page is
 *       new in its epoch, and an answer without a body would hide its links. Pages of other rules are not stored either.
 *   I2  A line is written only after the end of its page is durable: after a crash no page that must be worked on again
 *       is requested conditionally.
 *   I3  Bounded: at most VALIDATOR_COUNT_MAX pages in memory, and twice as many lines in the file, which is then rewritten.
 *
 * Crash: the lines of the last moments are missing, and those pages are read whole once.
 */
import type { Clock } from "../../base/clock.ts";
import type { Rule, RulePolicy } from "../../index.ts";
import { createDurableLines, listOf } from "../notes/durable-lines.ts";
import type { LineFile } from "../files.ts";
import type { Download } from "../module-registry.ts";

/** Headers of a conditional request. */
export type ValidatorHeaders = Readonly<Record<string, string>>;

/** A page as a visit found it. */
export interface PageState {
  readonly headers?: ValidatorHeaders | undefined;
  /** Hash of its text. */
  readonly content?: string | undefined;
}

export type Validators = ReturnType<typeof createValidators>;

interface ValidatorOptions {
  readonly clock: Clock;
  readonly defaults: RulePolicy | undefined;
  /** The file in which they outlive the process. */
  readonly file: LineFile | undefined;
  /** Most pages that are remembered; default VALIDATOR_COUNT_MAX. */
  readonly countMax?: number;
}

const VALIDATOR_COUNT_MAX = 100_000;
const NONE: ValidatorHeaders = Object.freeze({});

export function createValidators(options: ValidatorOptions) {
  const { clock, defaults, file, countMax = VALIDATOR_COUNT_MAX } = options;
  const known = new Map<string, PageState>();
  let again = rulesAgain([], defaults);
  const keep = (url: string, page: PageState): void => {
    known.delete(url);
    if (page.headers === undefined && page.content === undefined) return;
    if (known.size >= countMax) known.delete(known.keys().next().value as string);
    known.set(url, page);
  };
  let lineCount = 0;
  for (const line of file?.takeLines() ?? []) {
    lineCount++;
    const entry = entryOf(line);
    if (entry !== undefined) keep(entry.url, entry.page);
  }
  const linesWithout = (early: ReadonlySet<string>): string[] =>
    [...known].filter(([url]) => !early.has(url)).map(([url, page]) => lineOf(url, page));
  const lines =
    file === undefined
      ? undefined
      : createDurableLines({ clock, file, lineCount, lineMax: 2 * countMax, linesWithout });
  if (file?.isCut || lineCount > known.size) lines?.compact();
  const isWanted = (rule: string): boolean => again.get(rule) ?? again.get(OTHERS) ?? false;
  return {
    /** Whether pages of a rule are requested conditionally; nothing is learned from others. */
    isWanted,
    /** Headers for a request of a URL under a rule; none where it is not requested conditionally. */
    headersFor: (url: string, rule: string): ValidatorHeaders =>
      (isWanted(rule) ? known.get(url)?.headers : undefined) ?? NONE,
    /** Hash of the text of the last answer; undefined: it is not known. */
    contentFor: (url: string, rule: string): string | undefined =>
      isWanted(rule) ? known.get(url)?.content : undefined,
    learn(url: string, rule: string, page: PageState): void {
      if (!isWanted(rule)) return;
      const line = lineOf(url, page);
      const isSame = line === lineOf(url, known.get(url) ?? {});
      keep(url, page);
      if (!isSame) lines?.add(url, line);
    },
    /** Another set of rules is in force. */
    setRules(rules: readonly Rule[]): void {
      again = rulesAgain(rules, defaults);
    },
    /** A flush ended at that time; Infinity: everything is durable. */
    flushed: (atMs: number): void => lines?.flushed(atMs),
  };
}

/** Validators of an answer; undefined when it has none. */
export function validatorsOf({ headers }: Pick<Download, "headers">): ValidatorHeaders | undefined {
  const { etag, "last-modified": modified } = headers;
  if (typeof etag !== "string" && typeof modified !== "string") return undefined;
  return {
    ...(typeof etag === "string" ? { "if-none-match": etag } : {}),
    ...(typeof modified === "string" ? { "if-modified-since": modified } : {}),
  };
}

function lineOf(url: string, { headers, content }: PageState): string {
  const isNone = headers === undefined && content === undefined;
  return JSON.stringify([url, isNone ? null : { ...headers, content }]);
}

interface Entry {
  readonly url: string;
  readonly page: PageState;
}

/** Reads a line; undefined when it is not an entry. The file may contain anything. */
function entryOf(line: string): Entry | undefined {
  const [url, found] = listOf(line);
  if (typeof url !== "string") return undefined;
  if (found === null) return { url, page: {} };
  if (typeof found !== "object") return undefined;
  const fields = found as Record<string, unknown>;
  const { "if-none-match": etag, "if-modified-since": modified, content } = fields;
  const headers = { etag, "last-modified": modified } as Download["headers"];
  const page = { headers: validatorsOf({ headers }) };
  return { url, page: typeof content === "string" ? { ...page, content } : page };
}

/** The key for rules without an entry. */
const OTHERS = "*";

/** By a rule's id: whether its pages come again by themselves. */
function rulesAgain(
  rules: readonly Rule[],
  defaults: RulePolicy | undefined,
): Map<string, boolean> {
  const comesAgain = (epoch: RulePolicy["epoch"]): boolean =>
    typeof epoch === "object" && ("every" in epoch || "adaptive" in epoch);
  const known = new Map([[OTHERS, comesAgain(defaults?.epoch)]]);
  for (const { id, epoch } of rules) known.set(id, comesAgain(epoch ?? defaults?.epoch));
  return known;
}
