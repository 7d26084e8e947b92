/**
 * TextDigest: what the visible text of a page is, in 64 bits: exactly, and so that like texts have like digests.
 *
 *   text ─▶ words ─▶ content      a hash over all words in their order: another word, another hash
 *                └─▶ similarity   each four words in a row vote on 64 bits, numbers all alike; texts that share most of them differ in few bits
 *                └─▶ sample       one in eight of these fours, the same ones on every page: which a page has that others had not
 *
 * The second one is Charikar's ("Similarity estimation techniques from rounding algorithms", 2002), as Manku, Jain and Das Sarma used it on pages
 * ("Detecting near-duplicates for web crawling", 2007). White space, markup, comments, scripts and styles are no text.
 *
 *   I1  Linear in the text, and bounded: of a longer page the first FOURS_MAX fours vote.
 */

export interface TextDigest {
  add(text: string): void;
  /** 16 hex digits; the same for the same words in the same order. */
  content(): string;
  /** The two halves of the similarity digest, or undefined where there is too little text to compare. */
  similarity(): Similarity | undefined;
  sample(): readonly number[];
}

export type Similarity = readonly [hi: number, lo: number];

const FOURS_MAX = 4_096;
/** Of fewer fours nothing is compared: pages of a few words would all be alike. */
const FOURS_MIN = 4;
const SAMPLE_MASK = 7;
/** What stands for a word with a digit. */
const NUMBER = 0x9e3779b9 | 0;
const [ZERO, NINE] = [48, 57];
const SPACE = 32;
const NO_BREAK_SPACE = 0xa0;
const FNV_START = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

export function createTextDigest(withSimilarity: boolean): TextDigest {
  const votes = new Int32Array(withSimilarity ? 64 : 0);
  const sample: number[] = [];
  let fours = 0;
  let words = 0;
  let [third, second, first] = [0, 0, 0];
  let isNumber = false;
  let word = FNV_START;
  let letters = 0;
  let a = 0;
  let b = FNV_START;
  const end = (): void => {
    if (letters === 0) return;
    const hash = mixed(word ^ letters);
    a = Math.imul(a ^ hash, FNV_PRIME);
    b = mixed((Math.imul(b, 5) + hash) | 0);
    if (withSimilarity && fours < FOURS_MAX) {
      const plain = isNumber ? NUMBER : hash;
      if (++words >= 4) {
        const four = mixed(joined(joined(joined(third, second), first), plain));
        vote(votes, four, mixed(four ^ NUMBER));
        if ((four & SAMPLE_MASK) === 0) sample.push(four);
        fours++;
      }
      [third, second, first] = [second, first, plain];
    }
    isNumber = false;
    word = FNV_START;
    letters = 0;
  };
  return {
    add(text) {
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at);
        if (code <= SPACE || code === NO_BREAK_SPACE) end();
        else {
          word = Math.imul(word ^ code, FNV_PRIME);
          if (code >= ZERO && code <= NINE) isNumber = true;
          letters++;
        }
      }
      end();
    },
    content: () => hex(mixed(a)) + hex(b),
    similarity: () => (fours < FOURS_MIN ? undefined : [bitsOf(votes, 0), bitsOf(votes, 32)]),
    sample: () => sample,
  };
}

/** In how many of their 64 bits two digests differ. */
export function distance(a: Similarity, b: Similarity): number {
  return ones(a[0] ^ b[0]) + ones(a[1] ^ b[1]);
}

function joined(before: number, next: number): number {
  return (Math.imul(before, 31) + next) | 0;
}

function vote(votes: Int32Array, hi: number, lo: number): void {
  for (let bit = 0; bit < 32; bit++) {
    votes[bit] = (votes[bit] as number) + (((hi >>> bit) & 1) * 2 - 1);
    votes[bit + 32] = (votes[bit + 32] as number) + (((lo >>> bit) & 1) * 2 - 1);
  }
}

function bitsOf(votes: Int32Array, from: number): number {
  let bits = 0;
  for (let bit = 0; bit < 32; bit++) if ((votes[from + bit] as number) > 0) bits |= 1 << bit;
  return bits >>> 0;
}

/** The last steps of MurmurHash3: every bit of the input moves every bit of the result. */
function mixed(word: number): number {
  let bits = word;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}
