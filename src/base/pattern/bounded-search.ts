/**
 * BoundedSearch: whether a pattern with back-references matches anywhere in a text, within a fixed number of steps.
 *
 * Back-references have no linear search (matching them is NP-hard), so this one tries as ECMAScript does, in the same order, and counts. A
 * text on which the steps run out does not match.
 *
 *   op       argument        next    other
 *   set      number of set   after
 *   edge     EDGE_*          after
 *   split                    first   second
 *   reset    range of groups after           a new turn of a repeat forgets the groups inside
 *   open     register        after           register = place
 *   close    group           after   register of the beginning
 *   moved    register        after           fails where a turn took nothing
 *   same     list of groups  after
 *   around   look-around     after
 *   accept
 *
 *   I1  `registers` holds the start and end of each group (−1: none), then the beginnings of turns. Each write is on the trail, and is
 *       undone when the search goes back.
 */
import { edgeHolds, edgeOf } from "./pattern-edges.ts";
import { KIND_EDGE, kindOf, type LetterSets } from "./pattern-sets.ts";
import type { PatternNode, PatternTree, Repeat } from "./pattern-syntax.ts";

/** Some 20 ms. The search of `.*(/[^/]+)/[^/]+\1/[^/]+\1/` takes as many on a URL of 500 letters. */
const STEPS_MAX = 300_000;

type Op =
  | "set"
  | "edge"
  | "split"
  | "reset"
  | "open"
  | "close"
  | "moved"
  | "same"
  | "around"
  | "accept";

interface Instruction {
  readonly op: Op;
  readonly arg: number;
  readonly next: number;
  other: number;
  readonly isBackward: boolean;
  /** Of `same`: groups of one name. Of `around`: nothing. */
  readonly groups: readonly number[];
  readonly isNegative: boolean;
}

interface Program {
  readonly code: Instruction[];
  readonly sets: LetterSets;
  readonly isUnicode: boolean;
  readonly groups: number;
  registers: number;
}

interface Search {
  readonly program: Program;
  readonly text: string;
  readonly registers: Int32Array;
  /** Register and former value, in turn. */
  readonly trail: number[];
  steps: number;
}

export function createBoundedSearch(tree: PatternTree, sets: LetterSets) {
  const { isUnicode, groups } = tree;
  const program: Program = { code: [], sets, isUnicode, groups, registers: 2 * groups };
  const accept = emit(program, "accept", 0, { next: 0 });
  const start = entryOf(program, tree.root, accept, false);
  return {
    test(text: string): boolean {
      const registers = new Int32Array(program.registers).fill(-1);
      const search: Search = { program, text, registers, trail: [], steps: STEPS_MAX };
      for (let at = 0; at <= text.length; at += at < text.length ? widthAfter(search, at) : 1) {
        if (attempt(search, start, at) >= 0) return true;
        if (search.steps <= 0) return false;
      }
      return false;
    },
  };
}

type Rest = Partial<Instruction> & { readonly next: number };

function emit({ code }: Program, op: Op, arg: number, rest: Rest): number {
  code.push({ op, arg, other: 0, isBackward: false, groups: [], isNegative: false, ...rest });
  return code.length - 1;
}

function entryOf(program: Program, node: PatternNode, next: number, isBackward: boolean): number {
  switch (node.kind) {
    case "set": {
      const set = program.sets.indexOf(node.source, node.modifiers);
      return emit(program, "set", set, { next, isBackward });
    }
    case "edge":
      return emit(program, "edge", edgeOf(node.edge, node.isMultiline), { next });
    case "reference":
      return emit(program, "same", 0, { next, groups: node.indexes, isBackward });
    case "sequence": {
      const parts = isBackward ? node.parts : node.parts.toReversed();
      return parts.reduce((after, part) => entryOf(program, part, after, isBackward), next);
    }
    case "choice": {
      const entries = node.options.map((option) => entryOf(program, option, next, isBackward));
      return entries.reduceRight((other, entry) =>
        emit(program, "split", 0, { next: entry, other }),
      );
    }
    case "group": {
      const other = program.registers++;
      const close = emit(program, "close", node.index, { next, other, isBackward });
      const begin = entryOf(program, node.body, close, isBackward);
      return emit(program, "open", other, { next: begin });
    }
    case "look": {
      const { isNegative } = node;
      const accept = emit(program, "accept", 0, { next: 0 });
      const other = entryOf(program, node.body, accept, node.isBehind);
      return emit(program, "around", 0, { next, other, isNegative });
    }
    case "repeat":
      return repeatEntryOf(program, node, next, isBackward);
  }
}

function repeatEntryOf(program: Program, node: Repeat, next: number, isBackward: boolean): number {
  const { body, min, max, isLazy } = node;
  const groups = groupsIn(body);
  const turnOf = (after: number): number =>
    emit(program, "reset", 0, { next: entryOf(program, body, after, isBackward), groups });
  const optionalOf = (after: number | undefined): number => {
    const register = program.registers++;
    const split = emit(program, "split", 0, { next, other: next });
    const moved = emit(program, "moved", register, { next: after ?? split });
    const turn = emit(program, "open", register, { next: turnOf(moved) });
    const ways = isLazy ? { next, other: turn } : { next: turn, other: next };
    program.code[split] = { ...(program.code[split] as Instruction), ...ways };
    return split;
  };
  let entry = next;
  if (max === Number.POSITIVE_INFINITY) entry = optionalOf(undefined);
  else for (let n = min; n < max; n++) entry = optionalOf(entry);
  for (let n = 0; n < min; n++) entry = turnOf(entry);
  return entry;
}

function groupsIn(node: PatternNode): number[] {
  if (node.kind === "group") return [node.index, ...groupsIn(node.body)];
  if (node.kind === "sequence") return node.parts.flatMap((part) => groupsIn(part));
  if (node.kind === "choice") return node.options.flatMap((option) => groupsIn(option));
  return node.kind === "look" || node.kind === "repeat" ? groupsIn(node.body) : [];
}

/** The end of a match that begins at a place; −1: none, or the steps ran out. */
function attempt(search: Search, start: number, from: number): number {
  const { code } = search.program;
  const { trail } = search;
  const base = trail.length;
  const choices: number[] = [];
  let at = start;
  let place = from;
  while (search.steps-- > 0) {
    const instruction = code[at] as Instruction;
    if (instruction.op === "accept") return place;
    if (instruction.op === "split") {
      choices.push(instruction.other, place, trail.length);
      at = instruction.next;
      continue;
    }
    const after = stepOf(search, instruction, place);
    if (after >= 0) {
      place = after;
      at = instruction.next;
      continue;
    }
    if (choices.length === 0) break;
    undo(search, choices.pop() as number);
    place = choices.pop() as number;
    at = choices.pop() as number;
  }
  undo(search, base);
  return -1;
}

function write({ registers, trail }: Search, register: number, value: number): void {
  trail.push(register, registers[register] as number);
  registers[register] = value;
}

function undo({ registers, trail }: Search, length: number): void {
  while (trail.length > length) {
    const former = trail.pop() as number;
    registers[trail.pop() as number] = former;
  }
}

/** The place after an instruction; −1: it fails. */
function stepOf(search: Search, instruction: Instruction, place: number): number {
  const { arg, other, isBackward, groups } = instruction;
  switch (instruction.op) {
    case "set": {
      const end = isBackward ? place - widthBefore(search, place) : place;
      const letter = letterAt(search, end);
      if (letter < 0 || !search.program.sets.has(arg, letter)) return -1;
      return isBackward ? end : place + widthAfter(search, place);
    }
    case "edge":
      return edgeHolds(arg, kindAt(search, place - 1), kindAt(search, place)) ? place : -1;
    case "open":
      write(search, arg, place);
      return place;
    case "close": {
      const begin = search.registers[other] as number;
      write(search, 2 * arg, Math.min(begin, place));
      write(search, 2 * arg + 1, Math.max(begin, place));
      return place;
    }
    case "reset":
      for (const group of groups) {
        write(search, 2 * group, -1);
        write(search, 2 * group + 1, -1);
      }
      return place;
    case "moved":
      return search.registers[arg] === place ? -1 : place;
    case "same":
      return sameOf(search, groups, place, isBackward);
    default:
      return lookOf(search, instruction, place);
  }
}

function lookOf(search: Search, { other, isNegative }: Instruction, place: number): number {
  const before = search.trail.length;
  const isFound = attempt(search, other, place) >= 0;
  if (isNegative) undo(search, before);
  return isFound === isNegative ? -1 : place;
}

function sameOf(search: Search, groups: readonly number[], place: number, back: boolean): number {
  const { registers, text } = search;
  const group = groups.find((index) => (registers[2 * index] as number) >= 0);
  if (group === undefined) return place;
  const part = text.slice(registers[2 * group], registers[2 * group + 1]);
  search.steps -= part.length;
  if (back) return text.slice(0, place).endsWith(part) ? place - part.length : -1;
  return text.startsWith(part, place) ? place + part.length : -1;
}

function letterAt({ text, program }: Search, place: number): number {
  if (place < 0 || place >= text.length) return -1;
  return program.isUnicode ? (text.codePointAt(place) as number) : text.charCodeAt(place);
}

function widthAfter(search: Search, place: number): number {
  return letterAt(search, place) > 0xff_ff ? 2 : 1;
}

function widthBefore(search: Search, place: number): number {
  return letterAt(search, place - 2) > 0xff_ff ? 2 : 1;
}

function kindAt({ text }: Search, place: number): number {
  return place < 0 || place >= text.length ? KIND_EDGE : kindOf(text.charCodeAt(place));
}
