/** Edges of a pattern: `^`, `$`, `\b` and `\B`, each decided by what stands at both sides of a place. */
import { KIND_EDGE, KIND_LINE_END, KIND_WORD } from "./pattern-sets.ts";

export const EDGE_START = 0;
export const EDGE_END = 1;
export const EDGE_LINE_START = 2;
export const EDGE_LINE_END = 3;
export const EDGE_WORD = 4;
export const EDGE_NOT_WORD = 5;

export function edgeOf(edge: "^" | "$" | "b" | "B", isMultiline: boolean): number {
  if (edge === "^") return isMultiline ? EDGE_LINE_START : EDGE_START;
  if (edge === "$") return isMultiline ? EDGE_LINE_END : EDGE_END;
  return edge === "b" ? EDGE_WORD : EDGE_NOT_WORD;
}

/** `left`, `right`: KIND_* of what stands there. */
export function edgeHolds(edge: number, left: number, right: number): boolean {
  if (edge === EDGE_START) return left === KIND_EDGE;
  if (edge === EDGE_END) return right === KIND_EDGE;
  if (edge === EDGE_LINE_START) return left === KIND_EDGE || left === KIND_LINE_END;
  if (edge === EDGE_LINE_END) return right === KIND_EDGE || right === KIND_LINE_END;
  return ((left === KIND_WORD) !== (right === KIND_WORD)) === (edge === EDGE_WORD);
}
