/**
 * ShownTexts: which shingles, four words in a row (text-digest.ts), a site has shown so far.
 *
 *   slot = shingle, mixed with its host ─▶ SLOTS words of 32 bits, each the newest shingle that fell on it
 *                                       beside each the page that showed it first, and on how many it was
 *
 *   copy   a page with most of what another one was the first to show, and not much besides but what is on many pages
 *
 *   I1  Of fixed size. A shingle that another one took the place of counts as new: an error in favour of the page.
 */
import { distance, type Similarity } from "../page/text-digest.ts";
import { ChangingParts, type Run } from "./changing-parts.ts";

export interface Novelty {
  /** Shingles that no page of the host had shown. */
  readonly count: number;
  /** Their share of what is not on many pages. */
  readonly share: number;
  /** Some of them, always the same ones of the same text. */
  readonly marks: readonly number[];
  /** The URL of the page that showed most of this one first. */
  readonly firstOn: string | undefined;
  /** The same, where that page showed not much else. */
  readonly copyOf: string | undefined;
  /** A part of a longer page, for the first time by itself: so much as a site has text, and no more, can be shown so. */
  readonly isPart: boolean;
}

/** 18 MiB, of which what was never written takes no memory. */
const SLOTS = 1 << 21;
const OWNERS = 1 << 16;
const MARKS_MAX = 12;
const FNV_START = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** What is on so many pages is of the frame. */
const FRAME_PAGES = 8;
/** Fewest shingles that a page must have shown first before others count as its copies. The two shares are of its shingles and of the copy's. */
const OWN_MIN = 6;
const COPY_SHARE = 0.75;
const OF_COPY_SHARE = 0.75;
/** The share of a part that no third page shows. */
const PART_SHARE = 0.75;

interface Owner {
  readonly id: number;
  readonly url: string;
  /** Shingles that are not of the frame. */
  count: number;
}

export class ShownTexts {
  readonly #slots = new Int32Array(SLOTS);
  readonly #ownerIds = new Int32Array(SLOTS);
  readonly #pages = new Uint8Array(SLOTS);
  readonly #owners: Owner[] = [];
  readonly #changing = new ChangingParts();
  #lastId = 0;

  /** What of these was new, and is known from now on. */
  take(host: string, shingles: ReadonlySet<number>, url = ""): Novelty {
    const salt = hashOf(host);
    const found = new Map<number, number>();
    const id = ++this.#lastId;
    const runs: Run[] = [];
    let [inFrame, twice, before] = [0, 0, 0];
    let [runOf, run] = [0, 0];
    let fresh: number[] = [];
    for (const shingle of shingles) {
      const mark = Math.imul(shingle ^ salt, FNV_PRIME) | 1;
      const slot = (mark >>> 1) & (SLOTS - 1);
      if (this.#slots[slot] !== mark) {
        this.#slots[slot] = mark;
        this.#ownerIds[slot] = id;
        this.#pages[slot] = 1;
        fresh.push(shingle);
        continue;
      }
      if (fresh.length > 0) {
        runs.push({ before, after: shingle, shingles: fresh });
        fresh = [];
      }
      before = shingle;
      const owner = this.#ownerIds[slot] as number;
      if (this.#pages[slot] === 1) twice++;
      if (this.#isOfFrame(slot, owner)) {
        inFrame++;
        continue;
      }
      if (owner !== runOf) {
        if (run > 0) found.set(runOf, (found.get(runOf) ?? 0) + run);
        [runOf, run] = [owner, 0];
      }
      run++;
    }
    if (fresh.length > 0) runs.push({ before, after: 0, shingles: fresh });
    if (run > 0) found.set(runOf, (found.get(runOf) ?? 0) + run);
    const own = url === "" ? runs : this.#changing.ownOf(host, runs);
    const all = runs.reduce((sum, { shingles }) => sum + shingles.length, 0);
    const count = own.reduce((sum, { shingles }) => sum + shingles.length, 0);
    if (count >= OWN_MIN) this.#owners[id & (OWNERS - 1)] = { id, url, count };
    const size = shingles.size - inFrame - (all - count);
    const share = size === 0 ? 0 : count / size;
    const first = this.#firstOf(found, size);
    const isPart =
      first.firstOn !== undefined && first.copyOf === undefined && twice >= PART_SHARE * size;
    return { count, share, marks: marksOf(own), ...first, isPart };
  }

  /** Counts a page with this shingle. */
  #isOfFrame(slot: number, ownerId: number): boolean {
    const pages = this.#pages[slot] as number;
    if (pages >= FRAME_PAGES) return true;
    this.#pages[slot] = pages + 1;
    if (pages + 1 < FRAME_PAGES) return false;
    const owner = this.#owners[ownerId & (OWNERS - 1)];
    if (owner?.id === ownerId) owner.count--;
    return true;
  }

  #firstOf(found: ReadonlyMap<number, number>, size: number): Pick<Novelty, "firstOn" | "copyOf"> {
    let best: Owner | undefined;
    let most = 0;
    for (const [id, count] of found) {
      if (count <= most || count < OWN_MIN || count < OF_COPY_SHARE * size) continue;
      const owner = this.#owners[id & (OWNERS - 1)];
      if (owner?.id !== id) continue;
      [best, most] = [owner, count];
    }
    const firstOn = best?.url;
    const isCopy = best !== undefined && most >= COPY_SHARE * best.count;
    return { firstOn, copyOf: isCopy ? firstOn : undefined };
  }
}

/** The smallest of them, in order. */
function marksOf(runs: readonly Run[]): number[] {
  const marks: number[] = [];
  for (const { shingles } of runs)
    for (const shingle of shingles) {
      if (marks.length === MARKS_MAX && shingle >= (marks.at(-1) as number)) continue;
      marks.push(shingle);
      marks.sort((a, b) => a - b).splice(MARKS_MAX);
    }
  return marks;
}

function hashOf(text: string): number {
  let hash = FNV_START;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  return hash;
}

/** Two pages without enough text to compare show as little. */
export function areAlike(
  a: Similarity | undefined,
  b: Similarity | undefined,
  bits: number,
): boolean {
  if (a === undefined || b === undefined) return a === b;
  return distance(a, b) <= bits;
}
