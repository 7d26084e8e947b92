/**
 * Sets of a pattern: the letters that each of its letters and classes takes, and the classes of letters that no set distinguishes.
 *
 *   class 0 is the end of the text; every other class holds letters that are in the same sets and of the same kind.
 *
 *   I1  The platform decides membership: membership is tested with the set's own source, under the flags of its place.
 */

/** What stands at one side of a place in the text; `^`, `$` and `\b` depend on nothing else. */
export const KIND_EDGE = 0;
export const KIND_WORD = 1;
export const KIND_LINE_END = 2;
export const KIND_OTHER = 3;

export const CLASS_END = 0;
const ASCII = 128;
const NO_ANSWERS = new Uint8Array(0);

export type LetterSets = ReturnType<typeof createLetterSets>;

export interface LetterClasses {
  /** Class of each ASCII letter. */
  readonly ofAscii: Uint8Array;
  /** By class: whether each set takes its letters, one byte a set. */
  readonly members: Uint8Array[];
  /** By class: KIND_*. */
  readonly kinds: number[];
  /** The class of any letter; makes one where the letter is like none before. */
  classOf(letter: number): number;
}

interface LetterSet {
  readonly literal: number;
  readonly expression: RegExp | undefined;
  /** By ASCII letter: 1 taken, 2 not, 0 not asked yet. */
  readonly answers: Uint8Array;
}

export function createLetterSets(isUnicode: boolean) {
  const sets: LetterSet[] = [];
  const indexes = new Map<string, number>();
  const has = (set: number, letter: number): boolean => {
    const { literal, expression, answers } = sets[set] as LetterSet;
    if (expression === undefined) return literal === letter;
    if (letter >= ASCII) return expression.test(String.fromCodePoint(letter));
    answers[letter] ||= expression.test(String.fromCodePoint(letter)) ? 1 : 2;
    return answers[letter] === 1;
  };
  return {
    /** The number of a set, by its source and modifiers. */
    indexOf(source: string, modifiers: string): number {
      const key = `${modifiers}/${source}`;
      const known = indexes.get(key);
      if (known !== undefined) return known;
      indexes.set(key, sets.length);
      sets.push(setOf(source, modifiers, isUnicode));
      return sets.length - 1;
    },
    /** Whether a set takes a letter. */
    has,
    /** The classes, once all sets are in. */
    classes: (): LetterClasses => classesOf(sets.length, has),
  };
}

function setOf(source: string, modifiers: string, isUnicode: boolean): LetterSet {
  const isLetter = source.length === 1 && source !== "." && source.charCodeAt(0) < ASCII;
  if (isLetter && !modifiers.includes("i")) {
    return { literal: source.charCodeAt(0), expression: undefined, answers: NO_ANSWERS };
  }
  const flags = `${isUnicode ? "u" : ""}${modifiers.replace("m", "")}`;
  const expression = new RegExp(`^${source}$`, flags);
  return { literal: -1, expression, answers: new Uint8Array(ASCII) };
}

function classesOf(count: number, has: (set: number, letter: number) => boolean): LetterClasses {
  const members: Uint8Array[] = [new Uint8Array(count)];
  const kinds: number[] = [KIND_EDGE];
  const bySignature = new Map<string, number>();
  const others = new Map<number, number>();
  const made = (letter: number): number => {
    const row = Uint8Array.from({ length: count }, (_, set) => Number(has(set, letter)));
    const kind = kindOf(letter);
    const signature = `${kind}/${row.join("")}`;
    const known = bySignature.get(signature);
    if (known !== undefined) return known;
    bySignature.set(signature, members.length);
    members.push(row);
    kinds.push(kind);
    return members.length - 1;
  };
  const ofAscii = Uint8Array.from({ length: ASCII }, (_, letter) => made(letter));
  return {
    ...{ ofAscii, members, kinds },
    classOf(letter) {
      if (letter < ASCII) return ofAscii[letter] as number;
      const known = others.get(letter) ?? made(letter);
      others.set(letter, known);
      return known;
    },
  };
}

const LINE_ENDS = [0x0a, 0x0d, 0x20_28, 0x20_29];

export function kindOf(letter: number): number {
  if (LINE_ENDS.includes(letter)) return KIND_LINE_END;
  return /\w/.test(String.fromCodePoint(letter)) ? KIND_WORD : KIND_OTHER;
}
