/** The key of a queue that its client did not name: the host as it stands in the URL, without the port. */

/** Longest key of a queue and longest ID of a crawl, in characters. */
export const KEY_LENGTH_MAX = 255;

const COLON = 58;
const SLASH = 47;
const QUESTION = 63;
const AMPERSAND = 38;

/** Returns undefined where there is none. */
export function missingKey(url: string): string | undefined {
  const scheme = url.indexOf("://");
  const start = scheme < 0 ? 0 : scheme + 3;
  let end = start;
  for (; end < url.length; end++) {
    const code = url.charCodeAt(end);
    if (code === SLASH || code === COLON || code === QUESTION || code === AMPERSAND) break;
  }
  return end === start ? undefined : url.slice(start, end);
}

const CRAWL_DEFAULT = "DEFAULT";

/** The id of a crawl: an empty one is the default's. */
export function crawlIdOf(id: string): string {
  return id.trim() === "" ? CRAWL_DEFAULT : id;
}
