/**
 * Syntax of patterns: the source of a regular expression as a tree. The platform has compiled the source before, so it is valid.
 *
 *   The meaning of one letter or class stays with the platform: a `set` keeps its source text, and asks with it.
 *
 *   I1  Without the flag `u` the tree follows Annex B: `{`, `]` and `}` may be letters, `\1` without such a group is octal.
 */

/** What holds inside `(?ims: )`, as flags. */
export type Modifiers = string;

export type PatternNode =
  | { readonly kind: "set"; readonly source: string; readonly modifiers: Modifiers }
  | { readonly kind: "edge"; readonly edge: "^" | "$" | "b" | "B"; readonly isMultiline: boolean }
  | {
      readonly kind: "look";
      readonly body: PatternNode;
      readonly isBehind: boolean;
      readonly isNegative: boolean;
    }
  | { readonly kind: "group"; readonly body: PatternNode; readonly index: number }
  | { readonly kind: "reference"; readonly indexes: readonly number[]; readonly source: string }
  | Repeat
  | { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly options: readonly PatternNode[] };

export interface Repeat {
  readonly kind: "repeat";
  readonly body: PatternNode;
  readonly min: number;
  /** Infinity: without end. */
  readonly max: number;
  readonly isLazy: boolean;
  /** The part of the source, for messages. */
  readonly source: string;
}

export interface PatternTree {
  readonly root: PatternNode;
  readonly isUnicode: boolean;
  /** Capturing groups, with the whole match as number 0. */
  readonly groups: number;
  readonly hasReferences: boolean;
}

interface Reading {
  readonly source: string;
  readonly isUnicode: boolean;
  readonly groups: number;
  readonly names: ReadonlyMap<string, readonly number[]>;
  at: number;
  group: number;
  hasReferences: boolean;
}

export function parsePattern(source: string, isUnicode: boolean): PatternTree {
  const { groups, names } = groupsOf(source);
  const reading: Reading = {
    ...{ source, isUnicode, groups, names },
    ...{ at: 0, group: 0, hasReferences: false },
  };
  const root = choiceOf(reading, "");
  return { root, isUnicode, groups: groups + 1, hasReferences: reading.hasReferences };
}

const GROUP_NAME = /\(\?<([^=!>][^>]*)>/y;

/** Groups come before the tree: a reference may stand before its group. */
function groupsOf(source: string): { groups: number; names: Map<string, number[]> } {
  const names = new Map<string, number[]>();
  let groups = 0;
  for (let at = 0; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === "[") at = endOfClass(source, at) - 1;
    else if (source[at] === "(") {
      GROUP_NAME.lastIndex = at;
      const name = GROUP_NAME.exec(source)?.[1];
      if (name === undefined && source[at + 1] === "?") continue;
      groups++;
      if (name !== undefined) names.set(name, [...(names.get(name) ?? []), groups]);
    }
  }
  return { groups, names };
}

function endOfClass(source: string, start: number): number {
  let at = start + 1;
  while (at < source.length && source[at] !== "]") at += source[at] === "\\" ? 2 : 1;
  return at + 1;
}

function choiceOf(reading: Reading, modifiers: Modifiers): PatternNode {
  const options = [sequenceOf(reading, modifiers)];
  while (reading.source[reading.at] === "|") {
    reading.at++;
    options.push(sequenceOf(reading, modifiers));
  }
  return options.length === 1 ? (options[0] as PatternNode) : { kind: "choice", options };
}

function sequenceOf(reading: Reading, modifiers: Modifiers): PatternNode {
  const { source } = reading;
  const parts: PatternNode[] = [];
  while (reading.at < source.length && source[reading.at] !== "|" && source[reading.at] !== ")") {
    const start = reading.at;
    parts.push(repeatOf(reading, termOf(reading, modifiers), start));
  }
  return parts.length === 1 ? (parts[0] as PatternNode) : { kind: "sequence", parts };
}

const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})(\?)?/y;

function repeatOf(reading: Reading, body: PatternNode, start: number): PatternNode {
  const { source } = reading;
  QUANTIFIER.lastIndex = reading.at;
  const found = QUANTIFIER.exec(source);
  if (found === null) return body;
  const [whole, sign, low, comma, high, lazy] = found;
  reading.at += whole.length;
  const min = low === undefined ? Number(sign === "+") : Number(low);
  const most = high === undefined || high === "" ? Number.POSITIVE_INFINITY : Number(high);
  const bounded = comma === undefined ? Number(low) : most;
  const signed = sign === "?" ? 1 : Number.POSITIVE_INFINITY;
  const max = sign === undefined ? bounded : signed;
  const text = source.slice(start, reading.at);
  return { kind: "repeat", body, min, max, isLazy: lazy !== undefined, source: text };
}

function termOf(reading: Reading, modifiers: Modifiers): PatternNode {
  const { source, at } = reading;
  const letter = source[at] as string;
  if (letter === "^" || letter === "$") {
    reading.at++;
    return { kind: "edge", edge: letter, isMultiline: modifiers.includes("m") };
  }
  if (letter === "(") return parenthesisOf(reading, modifiers);
  if (letter === "\\") return escapeOf(reading, modifiers);
  const end = letter === "[" ? endOfClass(source, at) : at + letterLength(reading, at);
  return setOf(reading, end, modifiers);
}

function letterLength({ source, isUnicode }: Reading, at: number): number {
  return isUnicode && (source.codePointAt(at) as number) > 0xff_ff ? 2 : 1;
}

function setOf(reading: Reading, end: number, modifiers: Modifiers): PatternNode {
  const source = reading.source.slice(reading.at, end);
  reading.at = end;
  return { kind: "set", source, modifiers };
}

const OPENING = /\((?:\?(?:(<?[=!])|<[^>]+>|([ims]*)(?:-([ims]*))?:))?/y;

function parenthesisOf(reading: Reading, modifiers: Modifiers): PatternNode {
  OPENING.lastIndex = reading.at;
  const [opening, look, on, off] = OPENING.exec(reading.source) as RegExpExecArray;
  reading.at += opening.length;
  const isGroup = opening === "(" || opening.endsWith(">");
  const index = isGroup ? ++reading.group : 0;
  const kept = [...modifiers].filter((flag) => !(off ?? "").includes(flag)).join("");
  const body = choiceOf(reading, on === undefined ? modifiers : kept + on);
  reading.at++;
  if (isGroup) return { kind: "group", body, index };
  if (look === undefined) return body;
  return { kind: "look", body, isBehind: look.startsWith("<"), isNegative: look.endsWith("!") };
}

const REFERENCE = /\\(?:([1-9]\d*)|k<([^>]+)>)/y;
const HEX = "[\\da-fA-F]";
const PAIR = `u[dD][89abAB]${HEX}{2}\\\\u[dD][c-fC-F]${HEX}{2}`;
const ESCAPE = new RegExp(
  `\\\\(?:${PAIR}|u\\{${HEX}+\\}|[pP]\\{[^}]*\\}|u${HEX}{4}|x${HEX}{2}|c[A-Za-z]|[\\s\\S])`,
  "uy",
);
const ESCAPE_OF_B =
  /\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[0-3][0-7]{0,2}|[4-7][0-7]?|[\s\S])/y;

function escapeOf(reading: Reading, modifiers: Modifiers): PatternNode {
  const { source, at, isUnicode, groups, names } = reading;
  const next = source[at + 1];
  if (next === "b" || next === "B") {
    reading.at += 2;
    return { kind: "edge", edge: next, isMultiline: false };
  }
  REFERENCE.lastIndex = at;
  const [whole, number, name] = REFERENCE.exec(source) ?? [];
  const named = name === undefined ? [] : (names.get(name) ?? []);
  const isNumber = number !== undefined && (isUnicode || Number(number) <= groups);
  if (whole !== undefined && (isNumber || named.length > 0)) {
    reading.at += whole.length;
    reading.hasReferences = true;
    return { kind: "reference", indexes: isNumber ? [Number(number)] : named, source: whole };
  }
  const isLonely = next === "c" && !/[A-Za-z]/.test(source[at + 2] ?? "");
  if (!isUnicode && isLonely) {
    // Annex B: the backslash is a letter, and so is the c that follows.
    reading.at++;
    return { kind: "set", source: "\\\\", modifiers };
  }
  const expression = isUnicode ? ESCAPE : ESCAPE_OF_B;
  expression.lastIndex = at;
  return setOf(reading, at + (expression.exec(source) as RegExpExecArray)[0].length, modifiers);
}
