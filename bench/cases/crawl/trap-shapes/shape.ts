/**
 * What makes up a site of the case `traps`: shapes of good pages and of traps, each drawn from a seed.
 *
 *   Shape   makes  Part     parameters, paths and words drawn from the seed
 *   Part    has    good     every URL of it that is worth a visit; a trap has none
 *                  entries  links into it that other good pages have
 *                  page     the answer for a URL, or undefined where it is of another part
 */
import { createRandom, type Random } from "../../../../src/base/random.ts";

export interface Part {
  readonly good: readonly string[];
  readonly entries: (random: Random, path: string) => readonly string[];
  readonly page: (url: URL) => string | undefined;
}

export interface Draw {
  readonly random: Random;
  readonly words: (name: string, count: number) => string;
  readonly size: number;
  /** The page of any good URL of the site. */
  readonly goodAt: (path: string) => string | undefined;
  /** The good URLs of the site, once it is whole. */
  readonly goodPaths: () => readonly string[];
}

export interface Shape {
  readonly name: string;
  readonly make: (draw: Draw) => Part;
}

export const DAY_MS = 86_400_000;
const FIRST_LETTER = 97;
const LETTERS = 26;
const WORDS = 3_000;

export const link = (href: string, text = "more"): string =>
  `<a href="${href.replaceAll("&", "&amp;")}">${text}</a> `;

export function pick<T>(random: Random, from: readonly T[]): T {
  return from[random.below(from.length)] as T;
}

/** Letters, or letters and digits, in a row. */
export function token(random: Random, length: number, base = 36): string {
  return Array.from({ length }, () => random.below(base).toString(base)).join("");
}

export function letters(random: Random, length: number): string {
  const letter = (): string => String.fromCharCode(FIRST_LETTER + random.below(LETTERS));
  return Array.from({ length }, letter).join("");
}

export function numbersTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}

export function pageOf(title: string, ...parts: readonly string[]): string {
  const text = parts.map((part) => (part.startsWith("<") ? part : `<p>${part}</p>`)).join("\n");
  return `<!doctype html><title>${title}</title><h1>${title}</h1>${text}`;
}

/** Text from a vocabulary of the seed: the same name, the same text. */
export function wordsFrom(seed: number): Draw["words"] {
  const random = createRandom(seed);
  const vocabulary = numbersTo(WORDS).map(() => letters(random, 3 + random.below(7)));
  return (name, count) => {
    let start = 7;
    for (let at = 0; at < name.length; at++)
      start = (start * 31 + name.charCodeAt(at)) % 1_000_000_007;
    const draw = createRandom(start);
    return numbersTo(count)
      .map(() => pick(draw, vocabulary))
      .join(" ");
  };
}

/** A date as 2026-11-27. */
export function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** So many of them, each once. */
export function drawn<T>(random: Random, from: readonly T[], count: number): T[] {
  const left = [...from];
  const taken: T[] = [];
  while (taken.length < count && left.length > 0)
    taken.push(...left.splice(random.below(left.length), 1));
  return taken;
}

export function hashOf(text: string): number {
  let hash = 7;
  for (let at = 0; at < text.length; at++) hash = (hash * 31 + text.charCodeAt(at)) % 1_000_003;
  return hash;
}
