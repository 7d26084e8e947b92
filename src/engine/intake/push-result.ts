/** PushResult: the verdicts of a batch as one byte each, counted once. */
import {
  VERDICT_ACCEPTED,
  VERDICT_DEFERRED,
  VERDICT_DUPLICATE,
  VERDICTS,
  type Verdict,
  verdictOf,
} from "../../frontier/admission/verdicts.ts";
import { misuse } from "../../base/errors.ts";
import type { DoneResult, PushResult } from "../types/frontier-types.ts";

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
    const counts = countsOf(codes);
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

/** Every bit of four bytes but that of VERDICT_DUPLICATE. */
const OTHERS = 0xfdfd_fdfd | 0;
const ONES = 0x0101_0101;

/** How many codes there are of each sort: four at a time where all of them are accepted or duplicates. */
function countsOf(codes: Uint8Array): Uint32Array {
  const counts = new Uint32Array(VERDICTS.length);
  const { buffer, byteOffset, length } = codes;
  const words = (byteOffset & 3) === 0 ? length >> 2 : 0;
  const fours = new Int32Array(buffer, byteOffset & ~3, words);
  let duplicates = 0;
  let rest = 0;
  for (let at = 0; at < words; at++) {
    const four = fours[at] as number;
    if ((four & OTHERS) === 0) duplicates += Math.imul(four >> 1, ONES) >>> 24;
    else rest += tally(codes, at * 4, at * 4 + 4, counts);
  }
  rest += tally(codes, words * 4, length, counts);
  counts[VERDICT_DUPLICATE] = (counts[VERDICT_DUPLICATE] as number) + duplicates;
  counts[VERDICT_ACCEPTED] = (counts[VERDICT_ACCEPTED] as number) + length - rest - duplicates;
  return counts;
}

/** Counts the codes from `from` up to `end`; how many they are. */
function tally(codes: Uint8Array, from: number, end: number, counts: Uint32Array): number {
  for (let at = from; at < end; at++) {
    const code = codes[at] as number;
    counts[code] = (counts[code] as number) + 1;
  }
  return end - from;
}

export function pushResult(codes: Uint8Array): PushResult {
  return new Verdicts(codes, false);
}

export function doneResult(codes: Uint8Array): DoneResult {
  return new Verdicts(codes, false);
}

/** A done without children, and one that came too late: one shared object each. */
export const DONE_PLAIN: DoneResult = Object.freeze(new Verdicts(new Uint8Array(0), false));
export const DONE_LATE: DoneResult = Object.freeze(new Verdicts(new Uint8Array(0), true));
