/** Reads what ends a lease: its outcome, errors, and links in their order, relative ones resolved against the page. */
import { readDone } from "../../base/argument-checks.ts";
import { VERDICT_INVALID_REQUEST } from "../../frontier/admission/verdicts.ts";
import type { Outcome } from "../../frontier/rules/rule-policy.ts";
import { absoluteLink, absoluteLinks } from "../../url/parsing/page-links.ts";
import { type Sifted, siftRequests } from "../intake/request-fields.ts";
import type { LeaseResult } from "../types/frontier-types.ts";
import { NO_RESULT } from "./record-lease.ts";

/** What was found: values that are no requests are reported as errors, all others are pushed. */
export interface Found extends Sifted {
  readonly size: number;
}

interface Result {
  readonly outcome: Outcome | undefined;
  readonly errors: readonly unknown[];
  readonly sifted: Found | undefined;
}

const NOTHING: Result = Object.freeze({ outcome: undefined, errors: [], sifted: undefined });

export function readResult(given: LeaseResult, base: string): Result {
  if (given === NO_RESULT) return NOTHING;
  const { found, errors, outcome } = readDone(given);
  return {
    outcome,
    errors: errors ?? [],
    sifted: found === undefined ? undefined : sift(found, base),
  };
}

/** Links in their order, relative ones resolved against the page. */
function sift(list: readonly unknown[], base: string): Found {
  const size = list.length;
  if (list.every((one) => typeof one === "string")) {
    return { size, good: absoluteLinks(list as readonly string[], base), bad: [] };
  }
  const { good, bad } = siftRequests(list, "found");
  const absolute = good.map((one) =>
    typeof one === "string"
      ? absoluteLink(one, base)
      : { ...one, url: absoluteLink(one.url, base) },
  );
  return { size, good: absolute, bad };
}

/** Inserts the verdicts of values that were no requests at their places. */
export function withBad(codes: Uint8Array, bad: Sifted["bad"]): Uint8Array {
  const all = new Uint8Array(codes.length + bad.length);
  const isBad = new Set(bad.map(({ index }) => index));
  let next = 0;
  for (let index = 0; index < all.length; index++) {
    all[index] = isBad.has(index) ? VERDICT_INVALID_REQUEST : (codes[next++] as number);
  }
  return all;
}
