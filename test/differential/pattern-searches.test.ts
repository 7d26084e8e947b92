/** The searches of base/pattern against the platform's expressions, on random patterns and short texts. */
import { describe, expect, it } from "vitest";
import { createBoundedSearch } from "../../src/base/pattern/bounded-search.ts";
import { createLinearSearch } from "../../src/base/pattern/linear-search.ts";
import { buildAutomata } from "../../src/base/pattern/pattern-automaton.ts";
import { createLetterSets } from "../../src/base/pattern/pattern-sets.ts";
import { parsePattern } from "../../src/base/pattern/pattern-syntax.ts";
import type { Random } from "../../src/base/random.ts";
import { testRandom } from "../support/seed.ts";

// No surrogates: V8 looks for `\B` inside a pair, where the Standard does not.
const LETTERS = ["a", "b", "/", "-", "1", "_", "\n", "é", "\u2028", "~"];
const SETS = [
  ...["a", "b", "/", "1", ".", "\\w", "\\d", "\\W", "\\s", "[ab]", "[^a]", "[^/]", "[]", "[^]"],
  ...["[\\w-]", "[\\]a]", "\\/", "\\x61", "\\u0062", "\\141", "\\8", "\\ca", "\\c", "\\-", "\\0"],
  ...["{", "}", "]", "\\k", "\\p{L}", "\\u{61}", "\\ud83d\\ude00", "😀", "é", "(?<n>a)", "\\k<n>"],
];
const EDGES = ["^", "$", "\\b", "\\B"];
const COUNTS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,3}?", "{2,}"];
const LOOKS = ["(?=", "(?!", "(?<=", "(?<!"];

function sourceOf(random: Random, depth: number): string {
  const pick = (list: readonly string[]) => list[random.below(list.length)] as string;
  const inner = () => sourceOf(random, depth - 1);
  switch (random.below(depth <= 0 ? 4 : 11)) {
    case 0:
    case 1:
      return pick(SETS);
    case 2:
      return pick(EDGES);
    case 3:
      return `\\${1 + random.below(4)}`;
    case 4:
      return `${inner()}${inner()}`;
    case 5:
      return `(?:${inner()}|${inner()})`;
    case 6:
      return `(${inner()})`;
    case 7:
      return `(?:${inner()})${pick(COUNTS)}`;
    case 8:
      return `${pick(LOOKS)}${inner()})`;
    case 9:
      return `${inner()}${inner()}${inner()}`;
    default:
      return `${pick(SETS)}${pick(COUNTS)}`;
  }
}

function compiled(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}

function searchesOf(source: string, isUnicode: boolean) {
  const tree = parsePattern(source, isUnicode);
  const sets = createLetterSets(isUnicode);
  const bounded = createBoundedSearch(tree, sets);
  if (tree.hasReferences) return [bounded];
  const automata = buildAutomata(tree.root, sets);
  return [bounded, createLinearSearch(automata, sets.classes(), isUnicode)];
}

describe("the searches of patterns", () => {
  it("answer what the platform's expression answers", () => {
    const random = testRandom("searches of patterns");
    let [linear, references, matches] = [0, 0, 0];
    for (let n = 0; n < 12_000; n++) {
      const source = sourceOf(random, 5);
      for (const flags of ["u", ""]) {
        const expression = compiled(source, flags);
        if (expression === undefined) continue;
        const searches = searchesOf(source, flags === "u");
        if (searches.length === 2) linear++;
        else references++;
        for (let t = 0; t < 8; t++) {
          const letters = Array.from({ length: random.below(9) }, () => random.below(10));
          const text = letters.map((letter) => LETTERS[letter]).join("");
          const want = expression.test(text);
          if (want) matches++;
          for (const search of searches) {
            if (search.test(text) === want) continue;
            expect.fail(`/${source}/${flags} on ${JSON.stringify(text)}: expected ${want}`);
          }
        }
      }
    }
    expect(Math.min(linear, references, matches)).toBeGreaterThan(1_000);
  });

  it("read letters beyond the basic plane as one under the flag u, and as two without it", () => {
    for (const flags of ["u", ""]) {
      for (const source of ["^.$", "^..$", "^(.)\\1$", "(?<=^.)$", "^[^a]$", "^😀+$", "(?<!😀)$"]) {
        for (const text of ["😀", "😀😀", "a😀", "\ud83d", "\ude00"]) {
          const want = new RegExp(source, flags).test(text);
          for (const search of searchesOf(source, flags === "u")) {
            expect(`${source} ${flags} ${search.test(text)}`).toBe(`${source} ${flags} ${want}`);
          }
        }
      }
    }
  });
});
