/** Did you mean: finds the known name that a mistyped word probably stands for. The word may be cut short, or have a few letters wrong. */

const SHORT_LETTERS = 5;
/** Shorter prefixes match too many names. */
const PREFIX_LETTERS = 3;

/** The known name that is nearest to a word, ignoring case; undefined if none is near. */
export function nearestName(word: string, known: readonly string[]): string | undefined {
  const most = word.length <= SHORT_LETTERS ? 1 : 2;
  const lower = word.toLowerCase();
  let best: string | undefined;
  let least = most + 1;
  for (const name of known) {
    const steps = distance(lower, name.toLowerCase());
    if (steps < least) [best, least] = [name, steps];
  }
  if (best !== undefined || word.length < PREFIX_LETTERS) return best;
  const longer = known.filter((name) => name.toLowerCase().startsWith(lower));
  return longer.length === 1 ? longer[0] : undefined;
}

/** The nearest name as a question in brackets; "" if none is near. */
export function didYouMean(word: string, known: readonly string[], before = ""): string {
  const best = nearestName(word, known);
  return best === undefined ? "" : ` (did you mean ${before}${best}?)`;
}

/** Edit distance with swaps of two neighbours (optimal string alignment). */
function distance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row++) {
    const line = [row];
    for (let at = 1; at <= to.length; at++) {
      const isSame = from[row - 1] === to[at - 1];
      const [above = 0, left = 0, aside = 0] = [last[at], line[at - 1], last[at - 1]];
      let steps = Math.min(above + 1, left + 1, aside + Number(!isSame));
      const isSwapped = row > 1 && from[row - 1] === to[at - 2] && from[row - 2] === to[at - 1];
      if (isSwapped) steps = Math.min(steps, (beforeLast[at - 2] ?? 0) + 1);
      line.push(steps);
    }
    [beforeLast, last] = [last, line];
  }
  return last[to.length] as number;
}
