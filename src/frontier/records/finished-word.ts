/**
 * The finished word: what the seen-set keeps of an identity whose visit is over.
 *
 *   bit 31  finished     30  removed by hand     29–20  attempts     19–0  depth
 */
const FINISHED_BIT = 0x8000_0000;
const REMOVED_BIT = 0x4000_0000;

/** Meaning of a finished word of the seen-set. */
export function finishedView(value: number): {
  isRemoved: boolean;
  attempts: number;
  depth: number;
} {
  return {
    isRemoved: (value & REMOVED_BIT) !== 0,
    attempts: (value >>> 20) & 1023,
    depth: value & 0xfffff,
  };
}

/** The word of what `finishedView` shows. */
export function finishedValue(depth: number, attempts: number, isRemoved: boolean): number {
  const removed = isRemoved ? REMOVED_BIT : 0;
  return (FINISHED_BIT | removed | ((attempts & 1023) << 20) | (depth & 0xfffff)) >>> 0;
}

export function isFinishedValue(value: number): boolean {
  return (value & FINISHED_BIT) !== 0;
}
