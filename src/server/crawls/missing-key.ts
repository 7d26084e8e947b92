/** The key of a queue that its client did not name: the host as it stands in the URL, without the port. */

/** Longest key of a queue, in characters. */
export const KEY_LENGTH_MAX = 255;

/** Returns undefined where there is none. */
export function missingKey(url: string): string | undefined {
  const scheme = url.indexOf("://");
  let host = scheme < 0 ? url : url.slice(scheme + 3);
  for (const end of [":", "/", "?", "&"]) {
    const at = host.indexOf(end);
    if (at >= 0) host = host.slice(0, at);
  }
  return host === "" ? undefined : host;
}

const CRAWL_DEFAULT = "DEFAULT";

/** The id of a crawl: an empty one is the default's. */
export function crawlIdOf(id: string): string {
  return id.trim() === "" ? CRAWL_DEFAULT : id;
}
