/**
 * PatternAutomaton: a tree without back-references as a nondeterministic automaton, to be read forwards or backwards.
 *
 *   op      argument           next             other
 *   set     number of the set  after the letter
 *   edge    EDGE_*             where it holds
 *   around  number × 2 + not   where the look-around holds
 *   split                      one way          the other way
 *   accept
 *
 *   I1  Look-arounds are numbered from the inside out: what stands inside a look-around has a smaller number.
 *   I2  A counted repeat is written out, so the size is bounded by STATES_MAX, which `sizeOf` finds before anything is made.
 */
import { edgeOf } from "./pattern-edges.ts";
import type { LetterSets } from "./pattern-sets.ts";
import type { PatternNode, Repeat } from "./pattern-syntax.ts";

export const OP_SET = 0;
export const OP_EDGE = 1;
export const OP_LOOK = 2;
export const OP_SPLIT = 3;
export const OP_ACCEPT = 4;

/** States of one pattern. A pattern without counted repeats has at most one for each of its letters and signs. */
export const STATES_MAX = 20_000;
/** Look-arounds of one pattern: each costs one pass over the text. */
export const LOOKS_MAX = 20;

export interface PatternAutomaton {
  readonly ops: number[];
  readonly args: number[];
  readonly nexts: number[];
  readonly others: number[];
  readonly isBackward: boolean;
  start: number;
}

/** One automaton for each look-around, and the whole pattern's as the last. */
export function buildAutomata(root: PatternNode, sets: LetterSets): PatternAutomaton[] {
  const automata: PatternAutomaton[] = [];
  automata.push(automatonOf(root, false, { sets, automata, looks: new Map() }));
  return automata;
}

interface Building {
  readonly sets: LetterSets;
  readonly automata: PatternAutomaton[];
  /** A look-around inside a counted repeat is written out with it, and stays one look-around. */
  readonly looks: Map<PatternNode, number>;
}

function automatonOf(root: PatternNode, isBackward: boolean, building: Building): PatternAutomaton {
  const automaton = { ops: [], args: [], nexts: [], others: [], isBackward, start: 0 };
  const accept = stateOf(automaton, OP_ACCEPT, 0, 0);
  automaton.start = entryOf(automaton, root, accept, building);
  return automaton;
}

function stateOf(
  { ops, args, nexts, others }: PatternAutomaton,
  op: number,
  arg: number,
  next: number,
): number {
  ops.push(op);
  args.push(arg);
  nexts.push(next);
  others.push(next);
  return ops.length - 1;
}

/** The state from which a tree is read and after which `next` follows. */
function entryOf(
  automaton: PatternAutomaton,
  node: PatternNode,
  next: number,
  building: Building,
): number {
  switch (node.kind) {
    case "set":
      return stateOf(automaton, OP_SET, building.sets.indexOf(node.source, node.modifiers), next);
    case "edge":
      return stateOf(automaton, OP_EDGE, edgeOf(node.edge, node.isMultiline), next);
    case "look":
      return stateOf(
        automaton,
        OP_LOOK,
        2 * lookOf(node, building) + Number(node.isNegative),
        next,
      );
    case "group":
      return entryOf(automaton, node.body, next, building);
    case "sequence": {
      const parts = automaton.isBackward ? node.parts : node.parts.toReversed();
      return parts.reduce((after, part) => entryOf(automaton, part, after, building), next);
    }
    case "choice": {
      const entries = node.options.map((option) => entryOf(automaton, option, next, building));
      return entries.reduceRight((after, entry) => splitOf(automaton, entry, after));
    }
    case "repeat":
      return repeatEntryOf(automaton, node, next, building);
    case "reference":
      throw new Error("a reference has no automaton");
  }
}

function splitOf(automaton: PatternAutomaton, one: number, other: number): number {
  const state = stateOf(automaton, OP_SPLIT, 0, one);
  automaton.others[state] = other;
  return state;
}

function repeatEntryOf(
  automaton: PatternAutomaton,
  { body, min, max }: Repeat,
  next: number,
  building: Building,
): number {
  let entry = next;
  if (max === Number.POSITIVE_INFINITY) {
    const loop = splitOf(automaton, next, next);
    automaton.nexts[loop] = entryOf(automaton, body, loop, building);
    entry = loop;
  } else {
    for (let n = min; n < max; n++) {
      entry = splitOf(automaton, entryOf(automaton, body, entry, building), next);
    }
  }
  for (let n = 0; n < min; n++) entry = entryOf(automaton, body, entry, building);
  return entry;
}

function lookOf(node: PatternNode & { kind: "look" }, building: Building): number {
  const known = building.looks.get(node);
  if (known !== undefined) return known;
  // What lies ahead of a place is read towards it, from the end: then one pass finds all places.
  const automaton = automatonOf(node.body, !node.isBehind, building);
  building.looks.set(node, building.automata.length);
  return building.automata.push(automaton) - 1;
}

/** The number of states, counted look-arounds written out; and the repeat that first goes beyond the bound. */
export function sizeOf(node: PatternNode, onTooLarge: (part: string) => void): number {
  switch (node.kind) {
    case "look":
    case "group":
      return sizeOf(node.body, onTooLarge) + 1;
    case "sequence":
      return node.parts.reduce((sum, part) => sum + sizeOf(part, onTooLarge), 0);
    case "choice":
      return node.options.reduce((sum, option) => sum + 1 + sizeOf(option, onTooLarge), 0);
    case "repeat": {
      const { body, min, max } = node;
      const times = max === Number.POSITIVE_INFINITY ? min + 1 : max;
      const size = times * (sizeOf(body, onTooLarge) + 1);
      if (size > STATES_MAX) onTooLarge(node.source);
      return size;
    }
    default:
      return 1;
  }
}
