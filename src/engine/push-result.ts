/** PushResult: the verdicts of a batch as one byte each, counted once. */
import {
  VERDICT_ACCEPTED,
  VERDICT_DEFERRED,
  VERDICT_DUPLICATE,
  VERDICTS,
  type Verdict,
  verdictOf,
} from "../frontier/verdict.ts";
import { misuse } from "../base/errors.ts";
import type { DoneResult, PushResult } from "./types.ts";

class Verdicts implements DoneResult {
  readonly size: number;
  readonly accepted: number;
  readonly deferred: number;
  readonly duplicate: number;
  readonly rejected: number;
  readonly full: number;
  readonly late: boolean;
  readonly #codes: Uint8Array;

  constructor(codes: Uint8Array, late: boolean) {
    const counts = new Uint32Array(VERDICTS.length);
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i] as number;
      counts[code] = (counts[code] as number) + 1;
    }
    const sum = (status: Verdict["status"]): number =>
      VERDICTS.reduce((all, one, at) => (one.status === status ? all + (counts[at] ?? 0) : all), 0);
    this.size = codes.length;
    this.accepted = counts[VERDICT_ACCEPTED] as number;
    this.deferred = counts[VERDICT_DEFERRED] as number;
    this.duplicate = counts[VERDICT_DUPLICATE] as number;
    this.rejected = sum("rejected");
    this.full = sum("full");
    this.late = late;
    this.#codes = codes;
  }

  verdict(index: number): Verdict {
    const code = this.#codes[index];
    if (code === undefined) {
      throw misuse("ARGUMENT_INVALID", "index", index, `a whole number below ${this.size}`);
    }
    return verdictOf(code);
  }
}

export function pushResult(codes: Uint8Array): PushResult {
  return new Verdicts(codes, false);
}

export function doneResult(codes: Uint8Array): DoneResult {
  return new Verdicts(codes, false);
}

/** A done without children, and one that came too late: the same for everybody. */
export const DONE_PLAIN: DoneResult = Object.freeze(new Verdicts(new Uint8Array(0), false));
export const DONE_LATE: DoneResult = Object.freeze(new Verdicts(new Uint8Array(0), true));
