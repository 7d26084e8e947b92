/**
 * LinearSearch: whether a pattern without back-references matches anywhere in a text, in time that grows with the text.
 *
 * The automata of the pattern run as deterministic ones, whose states are made when they are first met and thrown away when there are
 * too many. A look-around is a pass of its own that marks the places where it holds.
 *
 *   look-around 0 ─▶ marks ─▶ look-around 1 ─▶ marks ─▶ … ─▶ the pattern: stops at its first match
 *
 *   I1  A letter costs one look-up where the step is known, and at most the size of the automaton where it is not.
 *   I2  A step depends on the set of states, what stood before, the letter (its class), and the marks of its place.
 */
import {
  OP_ACCEPT,
  OP_EDGE,
  OP_SET,
  OP_SPLIT,
  type PatternAutomaton,
} from "./pattern-automaton.ts";
import { EDGE_END, EDGE_START, edgeHolds } from "./pattern-edges.ts";
import { CLASS_END, KIND_EDGE, type LetterClasses } from "./pattern-sets.ts";

/** Sets of states are kept up to this many numbers in all: some 2 MiB a pattern. */
const KEPT_MAX = 100_000;
/** Classes are at most 128 and a few: marks come above them in the name of a step. */
const CLASS_SPAN = 65_536;

/** A state of the automaton that is made as the text asks for it. */
interface LazyState {
  readonly set: readonly number[];
  /** KIND_* of what stood before. */
  readonly before: number;
  /** Where no look-around holds, by class. */
  readonly steps: (Step | undefined)[];
  /** Elsewhere, by class + marks × CLASS_SPAN. */
  readonly markedSteps: Map<number, Step>;
}

interface Step {
  readonly accepts: boolean;
  /** Undefined at the end of the text. */
  readonly next: LazyState;
}

interface LazyAutomaton {
  readonly automaton: PatternAutomaton;
  /** Whether a match can begin elsewhere than at the edge of the text. */
  readonly beginsAnywhere: boolean;
  readonly states: Map<string, LazyState>;
  kept: number;
  /** Where reading begins; made again when the states are thrown away. */
  first: LazyState | undefined;
  /** Numbers of visited states, by round. */
  readonly visits: Int32Array;
  round: number;
}

export function createLinearSearch(
  automata: readonly PatternAutomaton[],
  classes: LetterClasses,
  isUnicode: boolean,
) {
  const lazy = automata.map((automaton) => lazyOf(automaton));
  const pattern = lazy.pop() as LazyAutomaton;
  return {
    test(text: string): boolean {
      if (lazy.length === 0) {
        const found = runOverAscii(pattern, text, classes);
        if (found !== undefined) return found;
      }
      const letters = classesOf(text, classes, isUnicode);
      const marks = lazy.length === 0 ? undefined : new Int32Array(letters.length + 1);
      for (const [look, one] of lazy.entries()) run(one, letters, classes, { marks, look });
      return run(pattern, letters, classes, { marks, look: -1 });
    },
  };
}

function lazyOf(automaton: PatternAutomaton): LazyAutomaton {
  const visits = new Int32Array(automaton.ops.length);
  const states = new Map<string, LazyState>();
  const lazy = {
    automaton,
    beginsAnywhere: true,
    states,
    kept: 0,
    first: undefined,
    visits,
    round: 0,
  };
  // Once a letter was read, the edge where reading began holds no more. Any other edge may hold, and every look-around.
  const first = automaton.isBackward ? EDGE_END : EDGE_START;
  const later = closure(lazy, [automaton.start], (op, arg) => op !== OP_EDGE || arg !== first);
  return { ...lazy, beginsAnywhere: later.length > 0 };
}

function classesOf(text: string, classes: LetterClasses, isUnicode: boolean): Uint16Array {
  const letters = new Uint16Array(text.length);
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 128) letters[count++] = classes.ofAscii[unit] as number;
    else {
      const letter = isUnicode ? (text.codePointAt(at) as number) : unit;
      if (letter > 0xff_ff) at++;
      letters[count++] = classes.classOf(letter);
    }
  }
  return letters.subarray(0, count);
}

/** The pass of a pattern without look-arounds, as URLs are; undefined: the text has other letters. */
function runOverAscii(
  lazy: LazyAutomaton,
  text: string,
  classes: LetterClasses,
): boolean | undefined {
  const { ofAscii } = classes;
  const { length } = text;
  let state = firstOf(lazy);
  for (let at = 0; at <= length; at++) {
    const unit = at === length ? -1 : text.charCodeAt(at);
    if (unit >= 128) return undefined;
    const letter = unit < 0 ? CLASS_END : (ofAscii[unit] as number);
    const step = state.steps[letter] ?? stepOf(lazy, state, classes, { letter, held: 0 });
    if (step.accepts) return true;
    state = step.next;
    if (state.set.length === 0) return false;
  }
  return false;
}

interface Pass {
  /** Bit n of a place: look-around n holds there, its sign aside. */
  readonly marks: Int32Array | undefined;
  /** The look-around whose places are marked; −1: the pattern itself, whose first match ends the pass. */
  readonly look: number;
}

function run(
  lazy: LazyAutomaton,
  letters: Uint16Array,
  classes: LetterClasses,
  { marks, look }: Pass,
): boolean {
  const { isBackward } = lazy.automaton;
  const { length } = letters;
  let state = firstOf(lazy);
  for (let n = 0; n <= length; n++) {
    const place = isBackward ? length - n : n;
    const letter = n === length ? CLASS_END : (letters[isBackward ? place - 1 : place] as number);
    const held = marks === undefined ? 0 : (marks[place] as number);
    const known =
      held === 0 ? state.steps[letter] : state.markedSteps.get(letter + held * CLASS_SPAN);
    const step = known ?? stepOf(lazy, state, classes, { letter, held });
    if (step.accepts) {
      if (look < 0) return true;
      mark(marks as Int32Array, place, look);
    }
    state = step.next;
    if (state.set.length === 0) return false;
  }
  return false;
}

interface Place {
  /** Class of the letter that is read. */
  readonly letter: number;
  readonly held: number;
}

function stepOf(
  lazy: LazyAutomaton,
  state: LazyState,
  { kinds, members }: LetterClasses,
  { letter, held }: Place,
): Step {
  const { ops, args, nexts, isBackward, start } = lazy.automaton;
  const after = kinds[letter] as number;
  const [left, right] = isBackward ? [after, state.before] : [state.before, after];
  const reached = closure(lazy, state.set, (op, arg) =>
    op === OP_EDGE ? edgeHolds(arg, left, right) : ((held >> (arg >> 1)) & 1) !== (arg & 1),
  );
  const row = members[letter] as Uint8Array;
  const set: number[] = [];
  let accepts = false;
  for (const at of reached) {
    if (ops[at] === OP_ACCEPT) accepts = true;
    else if (row[args[at] as number] === 1) set.push(nexts[at] as number);
  }
  if (lazy.beginsAnywhere) set.push(start);
  const step = { accepts, next: stateFor(lazy, set, after) };
  if (held === 0) state.steps[letter] = step;
  else state.markedSteps.set(letter + held * CLASS_SPAN, step);
  return step;
}

function firstOf(lazy: LazyAutomaton): LazyState {
  lazy.first ??= stateFor(lazy, [lazy.automaton.start], KIND_EDGE);
  return lazy.first;
}

/** The state of a set, made where it is new. */
function stateFor(lazy: LazyAutomaton, reached: readonly number[], before: number): LazyState {
  const set = [...new Set(reached)].sort((a, b) => a - b);
  const key = `${before}/${set.join()}`;
  const known = lazy.states.get(key);
  if (known !== undefined) return known;
  if (lazy.kept > KEPT_MAX) {
    // States in use stay alive by themselves; their steps lead to states that are made again.
    for (const { steps, markedSteps } of lazy.states.values()) {
      steps.length = 0;
      markedSteps.clear();
    }
    lazy.states.clear();
    lazy.first = undefined;
    lazy.kept = 0;
  }
  const state = { set, before, steps: [], markedSteps: new Map<number, Step>() };
  lazy.states.set(key, state);
  lazy.kept += set.length + 8;
  return state;
}

/** States with a letter or an end that can be reached without a letter, where `holds` decides about edges and look-arounds. */
function closure(
  lazy: LazyAutomaton,
  from: readonly number[],
  holds: (op: number, arg: number) => boolean,
): number[] {
  const { visits, automaton } = lazy;
  const { ops, args, nexts, others } = automaton;
  const round = ++lazy.round;
  const reached: number[] = [];
  const stack = [...from];
  while (stack.length > 0) {
    const at = stack.pop() as number;
    if (visits[at] === round) continue;
    visits[at] = round;
    const op = ops[at] as number;
    if (op === OP_SET || op === OP_ACCEPT) reached.push(at);
    else if (op === OP_SPLIT) stack.push(nexts[at] as number, others[at] as number);
    else if (holds(op, args[at] as number)) stack.push(nexts[at] as number);
  }
  return reached;
}

function mark(marks: Int32Array, place: number, look: number): void {
  marks[place] = (marks[place] as number) | (1 << look);
}
