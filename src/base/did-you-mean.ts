/** The name that was probably meant: a few letters wrong, missing, too many or swapped, or the end left out. */

const SHORT_LETTERS = 5;
/** Fewer letters begin too many names. */
const PREFIX_LETTERS = 3;

/** The known name nearest to a word, letter case aside; undefined where none is near. */
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

/** The nearest name as a question in brackets; "" where none is near. */
export function didYouMean(word: string, known: readonly string[], before = ""): string {
  const best = nearestName(word, known);
  return best === undefined ? "" : ` (did you mean ${before}${best}?)`;
}

/** Steps from one to the other; two neighbours that change places are one (optimal string alignment). */
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
