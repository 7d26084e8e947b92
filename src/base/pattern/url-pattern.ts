/**
 * Room `src/base/pattern`: a caller's regular expression that is tested on URLs of strangers (UrlPattern). No platform, no state but its own automata.
 *
 * It means what ECMAScript means by it, and no text makes it run without end:
 *
 *   text is so short that every way through the pattern is few steps ─▶ the platform's expression
 *   longer, without back-references                                  ─▶ linear search
 *   longer, with back-references                                     ─▶ bounded search; no match where its steps run out
 */
import { createBoundedSearch } from "./bounded-search.ts";
import { createLinearSearch } from "./linear-search.ts";
import { buildAutomata, LOOKS_MAX, sizeOf, STATES_MAX } from "./pattern-automaton.ts";
import { createLetterSets } from "./pattern-sets.ts";
import { type PatternNode, type PatternTree, parsePattern, type Repeat } from "./pattern-syntax.ts";

/** Steps that the platform may take on a text: below a millisecond. */
const NATIVE_STEPS_MAX = 1_000_000;
/** No URL is longer. */
const LENGTH_MAX = 1 << 24;

interface Search {
  test(text: string): boolean;
}

export class UrlPattern {
  /** The platform's expression. */
  readonly native: RegExp;
  /** Texts up to this length are tested by it. */
  readonly nativeLengthMax: number;
  readonly #tree: PatternTree;
  /** Made when the first longer text is tested. */
  #search: Search | undefined;

  constructor(native: RegExp, tree: PatternTree) {
    this.native = native;
    this.#tree = tree;
    this.nativeLengthMax = nativeLengthOf(tree);
  }

  /** As the platform writes it. */
  get source(): string {
    return this.native.source;
  }

  get flags(): string {
    return this.native.flags;
  }

  test(text: string): boolean {
    if (text.length <= this.nativeLengthMax) return this.native.test(text);
    this.#search ??= searchOf(this.#tree);
    return this.#search.test(text);
  }
}

/** Compiles a source; throws what the platform throws at a source that is no pattern. A string is why one that is a pattern is refused. */
export function compileUrlPattern(source: string, flags: string): UrlPattern | string {
  const native = new RegExp(source, flags);
  const tree = parsePattern(source, native.unicode);
  return reasonAgainst(tree) ?? new UrlPattern(native, tree);
}

function searchOf(tree: PatternTree): Search {
  const sets = createLetterSets(tree.isUnicode);
  if (tree.hasReferences) return createBoundedSearch(tree, sets);
  const automata = buildAutomata(tree.root, sets);
  return createLinearSearch(automata, sets.classes(), tree.isUnicode);
}

/** The part that makes a pattern too large for a search, in the words of an error. */
function reasonAgainst({ root }: PatternTree): string | undefined {
  let part: string | undefined;
  const size = sizeOf(root, (found) => {
    part ??= found;
  });
  if (part !== undefined) return `counts that make at most ${STATES_MAX} states, not \`${part}\``;
  if (size > STATES_MAX) return `at most ${STATES_MAX} states, not ${size}`;
  const looks = looksIn(root);
  return looks > LOOKS_MAX ? `at most ${LOOKS_MAX} look-arounds, not ${looks}` : undefined;
}

function looksIn(node: PatternNode): number {
  if (node.kind === "look") return 1 + looksIn(node.body);
  if (node.kind === "sequence") return node.parts.reduce((sum, part) => sum + looksIn(part), 0);
  if (node.kind === "choice") return node.options.reduce((sum, one) => sum + looksIn(one), 0);
  return node.kind === "group" || node.kind === "repeat" ? looksIn(node.body) : 0;
}

/** The longest text on which the platform's search cannot take more than so many steps. */
function nativeLengthOf({ root }: PatternTree): number {
  const size = sizeOf(root, () => undefined);
  const isSlow = (length: number): boolean =>
    (beginsAtStart(root) ? 1 : length) * size * waysOf(root, length) > NATIVE_STEPS_MAX;
  if (!isSlow(LENGTH_MAX)) return LENGTH_MAX;
  let [short, long] = [0, LENGTH_MAX];
  while (long - short > 1) {
    const middle = (short + long) >> 1;
    if (isSlow(middle)) long = middle;
    else short = middle;
  }
  return short;
}

/** A pattern that is tried at one place alone. */
function beginsAtStart(node: PatternNode): boolean {
  if (node.kind === "sequence")
    return node.parts.length > 0 && beginsAtStart(node.parts[0] as PatternNode);
  if (node.kind === "choice") return node.options.every(beginsAtStart);
  if (node.kind === "group") return beginsAtStart(node.body);
  return node.kind === "edge" && node.edge === "^" && !node.isMultiline;
}

/** In how many ways a backtracking search can go through a tree from one place of a text of this length, at most. */
function waysOf(node: PatternNode, length: number): number {
  switch (node.kind) {
    case "sequence":
      return node.parts.reduce((ways, part) => ways * waysOf(part, length), 1);
    case "choice":
      return node.options.reduce((ways, option) => ways + waysOf(option, length), 0);
    case "group":
    case "look":
      return waysOf(node.body, length);
    case "repeat":
      return waysOfRepeat(node, length);
    case "reference":
      return length + 1;
    default:
      return 1;
  }
}

function waysOfRepeat({ body, min, max }: Repeat, length: number): number {
  const ways = waysOf(body, length);
  // The length of what one turn takes is fixed, so only the number of turns is open.
  if (ways === 1 && takesLetter(body)) return Math.min(max - min, length) + 1;
  if (max === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
  return (ways + 1) ** max;
}

function takesLetter(node: PatternNode): boolean {
  if (node.kind === "sequence") return node.parts.some(takesLetter);
  if (node.kind === "choice") return node.options.every(takesLetter);
  if (node.kind === "group") return takesLetter(node.body);
  if (node.kind === "repeat") return node.min > 0 && takesLetter(node.body);
  return node.kind === "set";
}
