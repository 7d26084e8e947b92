/**
 * Order of uniform 64-bit hashes, high half first, unsigned: one pass of counting into buckets of about four by the
 * position between the smallest and the largest high half, then an insertion pass. O(n) for keyed hashes.
 *
 *   I1  The result is a permutation, ascending by (hi, lo), whatever the hashes; only its time counts on uniform ones.
 */

const PER_BUCKET = 4;

/** Room for orders of up to `max` hashes. */
export interface HashSorter {
  /** Indices of the hashes sorted last, in ascending order of the hashes. */
  readonly order: Uint32Array;
  /** Scratch: where each bucket goes on. */
  readonly ends: Uint32Array;
}

export function createHashSorter(max: number): HashSorter {
  const ends = new Uint32Array(Math.ceil(max / PER_BUCKET) + 1);
  return { order: new Uint32Array(max), ends };
}

/** Sorts the indices of `count` hashes (words lo, hi, from word `start` on) into `target.order`. */
export function sortHashes(
  words: Uint32Array,
  start: number,
  count: number,
  target: HashSorter,
): void {
  if (count === 0) return;
  const hashes = words.subarray(start, start + count * 2);
  const { order, ends } = target;
  let low = 0xffff_ffff;
  let high = 0;
  for (let i = 1; i < hashes.length; i += 2) {
    const hi = hashes[i] as number;
    if (hi < low) low = hi;
    if (hi > high) high = hi;
  }
  const buckets = Math.ceil(count / PER_BUCKET);
  const scale = buckets / (high - low + 1);
  ends.fill(0, 0, buckets + 1);
  for (let i = 1; i < hashes.length; i += 2) {
    const bucket = Math.trunc(((hashes[i] as number) - low) * scale) + 1;
    ends[bucket] = (ends[bucket] as number) + 1;
  }
  for (let at = 1; at <= buckets; at++) ends[at] = (ends[at] as number) + (ends[at - 1] as number);
  for (let i = 0; i < count; i++) {
    const bucket = Math.trunc(((hashes[i * 2 + 1] as number) - low) * scale);
    const place = ends[bucket] as number;
    order[place] = i;
    ends[bucket] = place + 1;
  }
  insertInOrder(hashes, order, count);
}

function insertInOrder(hashes: Uint32Array, order: Uint32Array, count: number): void {
  for (let i = 1; i < count; i++) {
    const index = order[i] as number;
    const lo = hashes[index * 2] as number;
    const hi = hashes[index * 2 + 1] as number;
    let at = i;
    for (; at > 0; at--) {
      const before = order[at - 1] as number;
      const other = hashes[before * 2 + 1] as number;
      if (other < hi || (other === hi && (hashes[before * 2] as number) <= lo)) break;
      order[at] = before;
    }
    order[at] = index;
  }
}
