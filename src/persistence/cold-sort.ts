/**
 * Sorts (hash, value) pairs by their hash, high half first, unsigned: a stable radix sort of an index over the high half,
 * three passes of 11 bits, then an insertion pass among the few whose high halves are equal. O(n), no comparator.
 */
const DIGIT_BITS = 11;
const DIGITS = 2 ** DIGIT_BITS;

/** Indices of the first `count` hashes (words lo, hi) in ascending order. */
export function sortedOrder(hashes: Uint32Array, count: number): Uint32Array {
  let source = new Uint32Array(count);
  let target = new Uint32Array(count);
  for (let i = 0; i < count; i++) source[i] = i;
  const starts = new Uint32Array(DIGITS);
  for (let shift = 0; shift < 32; shift += DIGIT_BITS) {
    starts.fill(0);
    for (let i = 0; i < count; i++) {
      const digit = ((hashes[i * 2 + 1] as number) >>> shift) & (DIGITS - 1);
      starts[digit] = (starts[digit] as number) + 1;
    }
    let start = 0;
    for (let digit = 0; digit < DIGITS; digit++) {
      const size = starts[digit] as number;
      starts[digit] = start;
      start += size;
    }
    for (let i = 0; i < count; i++) {
      const index = source[i] as number;
      const digit = ((hashes[index * 2 + 1] as number) >>> shift) & (DIGITS - 1);
      const place = starts[digit] as number;
      target[place] = index;
      starts[digit] = place + 1;
    }
    [source, target] = [target, source];
  }
  orderLowHalves(hashes, source, count);
  return source;
}

/** Keyed hashes share a high half by chance only, so that runs of equal ones are two or three long. */
function orderLowHalves(hashes: Uint32Array, order: Uint32Array, count: number): void {
  for (let i = 1; i < count; i++) {
    const index = order[i] as number;
    const lo = hashes[index * 2] as number;
    const hi = hashes[index * 2 + 1] as number;
    let at = i;
    for (; at > 0; at--) {
      const before = order[at - 1] as number;
      if (hashes[before * 2 + 1] !== hi || (hashes[before * 2] as number) <= lo) break;
      order[at] = before;
    }
    order[at] = index;
  }
}
