/**
 * What conditional requests need on a recrawl: ETag and Last-Modified of the last good answer, of the VALIDATOR_COUNT_MAX
 * pages that were visited last. In memory: after a restart a page is read whole once.
 */
import type { Download } from "./modules.ts";

export interface Validators {
  headersFor(url: string): Record<string, string>;
  learn(answer: Download): void;
}

const VALIDATOR_COUNT_MAX = 100_000;
const NONE: Record<string, string> = Object.freeze({});

export function createValidators(isUsed: boolean): Validators {
  const known = new Map<string, Record<string, string>>();
  return {
    headersFor: (url) => known.get(url) ?? NONE,
    learn({ url, headers }) {
      if (!isUsed) return;
      const { etag, "last-modified": modified } = headers;
      known.delete(url);
      if (typeof etag !== "string" && typeof modified !== "string") return;
      if (known.size >= VALIDATOR_COUNT_MAX) known.delete(known.keys().next().value as string);
      known.set(url, {
        ...(typeof etag === "string" ? { "if-none-match": etag } : {}),
        ...(typeof modified === "string" ? { "if-modified-since": modified } : {}),
      });
    },
  };
}
