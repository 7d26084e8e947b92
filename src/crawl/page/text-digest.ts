/**
 * TextDigest: digests of the visible text of a page: an exact one, and one by which similar texts have similar digests.
 *
 *   text ─▶ words ─▶ content      a hash over all words in their order: another word, another hash
 *                ├─▶ masked       the same, without the words that are in the page's own URL
 *                ├─▶ shingles     each four words in a row of one sentence, hashed (Broder's, 1997): sentences in another order are no other text
 *                └─▶ similarity   each shingle votes on 64 bits, once a page
 *
 * In shingles, numbers are all alike, and so are the words of the page's URL: "no results for shoes" under ?q=shoes shows nothing of its own.
 * The similarity is Charikar's ("Similarity estimation techniques from rounding algorithms", 2002), as Manku, Jain and Das Sarma used it on pages
 * ("Detecting near-duplicates for web crawling", 2007). White space, markup, comments, scripts and styles are no text.
 *
 *   I1  Linear in the text, and bounded: of a longer page the first SHINGLES_MAX shingles vote and are kept.
 */

export interface TextDigest {
  /** The text of an element, or a part of it; of a link, numbers count for the page that they lead to. */
  add(text: string, isLink?: boolean): void;
  /** 16 hex digits; the same for the same words in the same order. */
  content(): string;
  masked(): string;
  /** The two halves of the similarity digest, or undefined where there is too little text to compare. */
  similarity(): Similarity | undefined;
  /** An image that the page shows. */
  image(url: string): void;
  images(): ReadonlySet<number>;
  /** Each once. */
  shingles(): ReadonlySet<number>;
  /** Numbers that are not in the URL, each with the word before it, each once: a time among other times, a value under its name. */
  numbers(): ReadonlySet<number>;
}

export type Similarity = readonly [hi: number, lo: number];

const SHINGLES_MAX = 4_096;
/** Of fewer shingles nothing is compared: pages of a few words would all be alike. */
const SHINGLES_MIN = 4;
/** Stands for a word with a digit, and for a word of the URL. */
const VARIES = 0x9e3779b9 | 0;
const [ZERO, NINE] = [48, 57];
/** Digits and what stands between and about them in times, dates, prices and shares; at least two letters. */
const NUMBER = /^(?=..)[-+($€£]?\d*(?:[-.,:/]\d+)*[-.,:)%°$€£]?$/;
const [SPACE, NO_BREAK_SPACE] = [32, 0xa0];
const FNV_START = 0x811c9dc5 | 0;
const FNV_PRIME = 0x01000193;
/** A letter in upper case, of ASCII, becomes the one in lower case. */
const LOWER = 0x20;
const URL_WORDS_MAX = 64;

/** `url`: compares texts as well, those of its own words left out. */
export function createTextDigest(url?: string): TextDigest {
  const isCompared = url !== undefined;
  const own = isCompared ? wordsOf(url) : NO_WORDS;
  const votes = new Int32Array(isCompared ? 64 : 0);
  const [shingles, numbers] = [new Set<number>(), new Set<number>()];
  let [third, second, first, previous] = [0, 0, 0, 0];
  let [a, b, maskedA, maskedB] = [0, FNV_START, 0, FNV_START];
  /** A word: itself, as it is shown, and as a part of shingles. */
  const end = (hash: number, shown: number, plain: number): void => {
    a = Math.imul(a ^ hash, FNV_PRIME);
    b = mixed((Math.imul(b, 5) + hash) | 0);
    if (!isCompared) return;
    maskedA = Math.imul(maskedA ^ shown, FNV_PRIME);
    maskedB = mixed((Math.imul(maskedB, 5) + shown) | 0);
    if (shingles.size >= SHINGLES_MAX) return;
    const shingle = mixed(joined(joined(joined(third, second), first), plain));
    if (!shingles.has(shingle)) {
      vote(votes, shingle, mixed(shingle ^ VARIES));
      shingles.add(shingle);
    }
    [third, second, first] = [second, first, plain];
  };
  return {
    add(text, isLink = false) {
      let word = FNV_START;
      // Of a word's runs of letters and digits the one at hand, and whether all are the URL's.
      let [letters, isNumber, run, runs] = [0, false, FNV_START, 0];
      let isOwn = own.size > 0;
      for (let at = 0; at <= text.length; at++) {
        const code = at < text.length ? text.charCodeAt(at) : SPACE;
        const isBlank = code <= SPACE || code === NO_BREAK_SPACE;
        if (isOwn) {
          if (!isBlank && isLetterOrDigit(code)) {
            const isFirst = run === FNV_START;
            run = Math.imul(run ^ lowerOf(code), FNV_PRIME);
            // Most words are none of the URL's by their first letter.
            if (isFirst && !own.has(run)) isOwn = false;
          } else if (run !== FNV_START) {
            isOwn = own.has(~run);
            runs++;
            run = FNV_START;
          }
        }
        if (!isBlank) {
          word = Math.imul(word ^ code, FNV_PRIME);
          if (code >= ZERO && code <= NINE) isNumber = true;
          letters++;
          continue;
        }
        if (letters === 0) continue;
        const hash = mixed(word ^ letters);
        const shown = isOwn && runs > 0 ? VARIES : hash;
        end(hash, shown, isNumber ? VARIES : shown);
        if (isSentenceEnd(text.charCodeAt(at - 1))) third = second = first = 0;
        const isOfPage = isNumber && !isLink && isCompared && shown === hash;
        if (isOfPage && isValue(text, at - letters, at)) numbers.add(joined(previous, hash));
        previous = hash;
        word = run = FNV_START;
        letters = runs = 0;
        isNumber = false;
        isOwn = own.size > 0;
      }
      third = second = first = 0;
    },
    content: () => hashOf(a, b),
    masked: () => hashOf(maskedA, maskedB),
    similarity: () => (shingles.size < SHINGLES_MIN ? undefined : similarityOf(votes)),
    ...{ shingles: () => shingles, numbers: () => numbers, ...createImages() },
  };
}

function createImages(): Pick<TextDigest, "image" | "images"> {
  const images = new Set<number>();
  return {
    image(url) {
      let hash = FNV_START;
      for (let at = 0; at < url.length; at++)
        hash = Math.imul(hash ^ url.charCodeAt(at), FNV_PRIME);
      if (images.size < SHINGLES_MAX) images.add(mixed(hash));
    },
    images: () => images,
  };
}

const NO_WORDS: ReadonlySet<number> = new Set();

/** Runs of letters and digits of a URL, behind its host: the hash of each inverted, beside the hash of its first letter. */
function wordsOf(url: string): ReadonlySet<number> {
  const words = new Set<number>();
  const path = `${decoded(url.slice(Math.max(0, url.indexOf("/", url.indexOf("://") + 3))))} `;
  let run = FNV_START;
  for (let at = 0; at < path.length && words.size < 2 * URL_WORDS_MAX; at++) {
    const code = path.charCodeAt(at);
    if (isLetterOrDigit(code)) {
      const isFirst = run === FNV_START;
      run = Math.imul(run ^ lowerOf(code), FNV_PRIME);
      if (isFirst) words.add(run);
    } else if (run !== FNV_START) {
      words.add(~run);
      run = FNV_START;
    }
  }
  return words;
}

function isSentenceEnd(code: number): boolean {
  return code === 46 || code === 33 || code === 63 || code === 0x3002; // . ! ? and 。
}

function isValue(text: string, from: number, to: number): boolean {
  return NUMBER.test(text.slice(from, to));
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // escapes that are not UTF-8
  }
}

function isLetterOrDigit(code: number): boolean {
  const lower = code | LOWER;
  return (code >= ZERO && code <= NINE) || (lower >= 97 && lower <= 122) || code > 127;
}

function lowerOf(code: number): number {
  return code < 128 ? code | LOWER : code;
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

function hashOf(a: number, b: number): string {
  return hex(mixed(a)) + hex(b);
}

function similarityOf(votes: Int32Array): Similarity {
  return [bitsOf(votes, 0), bitsOf(votes, 32)];
}

function bitsOf(votes: Int32Array, from: number): number {
  let bits = 0;
  for (let bit = 0; bit < 32; bit++) if ((votes[from + bit] as number) > 0) bits |= 1 << bit;
  return bits >>> 0;
}

/** The last steps of MurmurHash3: every bit of the input moves every bit of the result, which is signed: numbers beyond 31 bits are objects. */
function mixed(word: number): number {
  let bits = word;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}
