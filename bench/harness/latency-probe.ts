/**
 * What one dependent load costs in memory of a given size: the floor for a lookup that cannot overlap with others.
 *
 *   one word per 64-byte line ──▶ the index of another line, all lines in one cycle (Sattolo's shuffle)
 *
 * The next load waits for the last one, so neither the prefetcher nor the order of execution can help.
 */
import { mix } from "./urls.ts";

const LINE_BYTES = 64;
const LINE_WORDS = LINE_BYTES / 4;

export interface LatencyProbe {
  readonly lines: number;
  /** Follows the cycle for `count` loads and returns where it stands. */
  walk(count: number): number;
}

export function createLatencyProbe(bytes: number): LatencyProbe {
  const lines = Math.max(2, Math.floor(bytes / LINE_BYTES));
  const words = new Uint32Array(lines * LINE_WORDS);
  for (let line = 0; line < lines; line++) words[line * LINE_WORDS] = line * LINE_WORDS;
  for (let last = lines - 1; last > 0; last--) {
    const other = Math.floor((mix(last) / 4_294_967_296) * last);
    const kept = words[last * LINE_WORDS] as number;
    words[last * LINE_WORDS] = words[other * LINE_WORDS] as number;
    words[other * LINE_WORDS] = kept;
  }
  let at = 0;
  return {
    lines,
    walk(count) {
      let index = at;
      for (let i = 0; i < count; i++) index = words[index] as number;
      at = index;
      return index;
    },
  };
}
