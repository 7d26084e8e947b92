/**
 * Which hosts belong to a crawl: domains that were named, or those of the seeds, each with all below it.
 *
 *   I1  Until the seeds are known nothing is in scope but what was named.
 */
import type { Frontier, RequestLike, RequestView } from "../index.ts";

export interface Scope {
  /** Hook of the frontier. */
  readonly accept: (request: RequestView) => boolean;
  /** Takes the seeds' domains in, unless domains were named. */
  learn(frontier: Frontier, seeds: readonly RequestLike[]): void;
}

export function createScope(given: readonly string[] | "any" | undefined): Scope {
  const domains = new Set(given === "any" ? [] : given);
  return {
    accept({ url }) {
      let at = hostnameOf(url);
      for (;;) {
        if (domains.has(at)) return true;
        const dot = at.indexOf(".");
        if (dot < 0) return false;
        at = at.slice(dot + 1);
      }
    },
    learn(frontier, seeds) {
      if (given !== undefined) return;
      for (const seed of seeds) {
        const { domain } = frontier.explain(typeof seed === "string" ? seed : { url: seed.url });
        if (domain !== undefined) domains.add(domain);
      }
    },
  };
}

/** Of a serialised http(s) URL: no credentials stand there, and brackets belong to an address. */
function hostnameOf(url: string): string {
  const start = url.indexOf("://") + 3;
  const end = url.slice(start).search(/[/?#]/);
  const host = end < 0 ? url.slice(start) : url.slice(start, start + end);
  const bare = host.slice(host.lastIndexOf("@") + 1);
  return bare.startsWith("[") ? bare.slice(0, bare.indexOf("]") + 1) : bare.replace(/:\d*$/, "");
}
