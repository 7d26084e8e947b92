/**
 * ShownTexts: which fours of words a site has shown so far.
 *
 *   slot = four, mixed with its host ─▶ SLOTS words of 32 bits, each the newest four that fell on it
 *
 *   I1  Of fixed size. A four that another one took the place of counts as new: an error in favour of the page.
 */
export interface Novelty {
  /** Fours that no page of the host had shown. */
  readonly count: number;
  /** Their share of the page. */
  readonly share: number;
  /** Some of them, always the same ones of the same text. */
  readonly marks: readonly number[];
}

/** 8 MiB, of which what was never written takes no memory. */
const SLOTS = 1 << 21;
const MARKS_MAX = 12;
const FNV_START = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

export class ShownTexts {
  readonly #slots = new Int32Array(SLOTS);

  /** What of these was new, and is known from now on. */
  take(host: string, fours: ReadonlySet<number>): Novelty {
    const salt = hashOf(host);
    const marks: number[] = [];
    let count = 0;
    for (const four of fours) {
      const mark = Math.imul(four ^ salt, FNV_PRIME) | 1;
      const slot = (mark >>> 1) & (SLOTS - 1);
      if (this.#slots[slot] === mark) continue;
      this.#slots[slot] = mark;
      count++;
      if (marks.length === MARKS_MAX && four >= (marks.at(-1) as number)) continue;
      marks.push(four);
      marks.sort((a, b) => a - b).splice(MARKS_MAX);
    }
    return { count, share: fours.size === 0 ? 0 : count / fours.size, marks };
  }
}

function hashOf(text: string): number {
  let hash = FNV_START;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  return hash;
}
