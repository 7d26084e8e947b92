/**
 * Links with the shape of a trap: paths that repeat themselves or have no end. Depth and budgets bound the visits of other
 * traps; this check keeps such links from using them up.
 */

const SEGMENTS_MAX = 40;
/** A segment that occurs more often in one path indicates a loop of relative links. */
const REPEATS_MAX = 4;

/** Whether a URL has the form of an endless family. Total. */
export function isTrapUrl(url: string): boolean {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  if (start < 0) return false;
  const end = url.search(/[?#]/);
  const path = end < 0 ? url.slice(start + 1) : url.slice(start + 1, end);
  let segments = 1;
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) segments++;
  if (segments <= REPEATS_MAX) return false;
  if (segments > SEGMENTS_MAX) return true;
  const counts = new Map<string, number>();
  for (const segment of path.split("/")) {
    if (segment === "") continue;
    const count = (counts.get(segment) ?? 0) + 1;
    if (count > REPEATS_MAX) return true;
    counts.set(segment, count);
  }
  return false;
}
