/** The key of a queue that its client did not name: the host as it stands in the URL, without the port. */

/** Longest key of a queue and longest ID of a crawl, in characters. */
export const KEY_LENGTH_MAX = 255;

/** Codes of `:`, `/`, `?` and `&`. */
const ENDS = [58, 47, 63, 38];

/** Returns undefined where there is none. */
export function missingKey(url: string): string | undefined {
  const scheme = url.indexOf("://");
  const start = scheme < 0 ? 0 : scheme + 3;
  let end = start;
  while (end < url.length && !ENDS.includes(url.charCodeAt(end))) end++;
  return end === start ? undefined : url.slice(start, end);
}

const CRAWL_DEFAULT = "DEFAULT";

/** The id of a crawl: an empty one is the default's. */
export function crawlIdOf(id: string): string {
  return id.trim() === "" ? CRAWL_DEFAULT : id;
}
