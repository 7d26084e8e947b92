/**
 * Seed templates: one string that stands for many URLs.
 *
 *   http://x/list_#.html#1#300#1    prefix # suffix # min # max # step, all of them inclusive
 *   http://x/[1-3]/[01-12]          ranges; several of them produce every combination
 *
 * The last range varies fastest. A range from a larger to a smaller number is empty, and so is the whole template. Leading zeros of the
 * first number set the width: [01-12] produces 01, 02 … 12. Brackets without a range (`[::1]`, `?a[]=1`) and a lone `#` are plain
 * text.
 *
 * I1  URLs are produced one at a time, when they are read; the template is checked at the call.
 */
import { misuse } from "../../base/errors.ts";

interface SeedRange {
  readonly from: number;
  readonly to: number;
  readonly step: number;
  readonly width: number;
}

/** Texts and ranges in turn, beginning and ending with a text. */
interface Seed {
  readonly texts: readonly string[];
  readonly ranges: readonly SeedRange[];
}

/** Most URLs of one template: more is taken for a mistake. */
const SEED_URLS_MAX = 1_000_000_000;

const TEMPLATE_LENGTH_MAX = 65_536;
const RANGE = /\[(\d+)-(\d+)\]/g;
const INTEGER = /^\d+$/;

/**
 * The URLs of a template, produced one at a time: costs no memory for those that are not read yet. Throws `ARGUMENT_INVALID` for a wrong template.
 *
 * @example
 * [...expandSeed("https://example.org/page/[1-3]")]; // …/page/1, …/page/2, …/page/3
 * frontier.pushMany(expandSeed("https://example.org/archive/[2001-2026]/[01-12]"));
 */
export function expandSeed(template: string): Iterable<string> {
  if (typeof template !== "string" || template.length > TEMPLATE_LENGTH_MAX)
    throw bad(template, `a string of at most ${TEMPLATE_LENGTH_MAX} characters`);
  const seed = parseSeed(template);
  const counts = seed.ranges.map(rangeCount);
  // Checked first: the product of the other counts may be Infinity, and Infinity × 0 is NaN.
  const count = counts.includes(0) ? 0 : counts.reduce((product, each) => product * each, 1);
  if (count > SEED_URLS_MAX) throw bad(template, `at most ${SEED_URLS_MAX} URLs, not ${count}`);
  return { [Symbol.iterator]: () => (count === 0 ? [].values() : expand(seed)) };
}

function* expand(seed: Seed): Generator<string, undefined, undefined> {
  const { texts, ranges } = seed;
  const turns = ranges.map(() => 0);
  while (true) {
    let url = texts[0] as string;
    ranges.forEach((range, i) => {
      const number = range.from + (turns[i] as number) * range.step;
      url += String(number).padStart(range.width, "0") + texts[i + 1];
    });
    yield url;
    let last = ranges.length - 1;
    while (last >= 0 && turns[last] === rangeCount(ranges[last] as SeedRange) - 1) {
      turns[last--] = 0;
    }
    if (last < 0) return undefined;
    turns[last] = (turns[last] as number) + 1;
  }
}

function parseSeed(template: string): Seed {
  const parts = template.split("#");
  const looksNumbered = parts.length > 2 && INTEGER.test(parts.at(-1) as string);
  if (parts.length !== 5) {
    if (looksNumbered) throw bad(template, "prefix#suffix#min#max#step");
    return parseRanges(template, template);
  }
  const [prefix, suffix, min, max, step] = parts as [string, string, string, string, string];
  if (!INTEGER.test(min) || !INTEGER.test(max) || !INTEGER.test(step))
    throw bad(template, "prefix#suffix#min#max#step with whole numbers");
  const head = parseRanges(prefix, template);
  const tail = parseRanges(suffix, template);
  return {
    texts: [...head.texts, ...tail.texts],
    ranges: [...head.ranges, rangeOf([min, max, step], template), ...tail.ranges],
  };
}

function parseRanges(text: string, template: string): Seed {
  const texts: string[] = [];
  const ranges: SeedRange[] = [];
  let end = 0;
  for (const found of text.matchAll(RANGE)) {
    texts.push(text.slice(end, found.index));
    ranges.push(rangeOf([found[1] as string, found[2] as string, "1"], template));
    end = found.index + found[0].length;
  }
  texts.push(text.slice(end));
  return { texts, ranges };
}

function rangeOf([min, max, by]: [string, string, string], template: string): SeedRange {
  const [from, to, step] = [Number(min), Number(max), Number(by)];
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || !Number.isSafeInteger(step))
    throw bad(template, "numbers below 2 ** 53");
  if (step === 0) throw bad(template, "a step of at least 1");
  return { from, to, step, width: min.length > 1 && min.startsWith("0") ? min.length : 0 };
}

function rangeCount(range: SeedRange): number {
  return range.from > range.to ? 0 : Math.floor((range.to - range.from) / range.step) + 1;
}

function bad(template: unknown, expected: string): Error {
  return misuse("ARGUMENT_INVALID", "template", template, expected);
}
