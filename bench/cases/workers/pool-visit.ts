/**
 * Handlers of the case `pool`: ten links a page, eight of them known already, made without a look at anything.
 */
import type { Handler } from "../../../src/worker.ts";

/** Every run has at least so many seeds. */
export const KNOWN = 1_024;

/** The links of a page by its number. */
export function linksOf(url: string, depth: number): string[] {
  const page = Number(url.slice(url.lastIndexOf("/") + 1));
  const links: string[] = [];
  for (let at = 0; at < 8; at++) {
    const known = (page + at * 7) % KNOWN;
    links.push(`http://host${known % 64}.test/a/b/page/${known}`);
  }
  for (let at = 0; at < 2 && depth < 1; at++)
    links.push(`http://new${page % 64}.test/a/b/${at}/${page}`);
  return links;
}

export const visit: Handler = (lease, context) => {
  context.push(linksOf(lease.url, lease.depth));
};

/** One Piscina task per URL: receives a URL, returns its links. */
export function task({ url, depth }: { url: string; depth: number }): string[] {
  return linksOf(url, depth);
}
