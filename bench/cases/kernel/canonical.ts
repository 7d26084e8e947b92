/**
 * canonical: strings in, canonical strings out.
 *
 *   urls[1,000 … ] ─┬─ outrider  canonicalizeMany: one latin1 write ─▶ parse, key ─▶ a copy of the list, mended where it differs
 *                   └─ url       new URL(u).href                      corpus web: nothing to mend
 *                      url-sorted  … hash dropped, parameters sorted  corpus links: each has a fault
 *
 * Estimate: new URL is 550 ns on Node 20. Ours copies 71 bytes in (38 ns), checks them (44 ns), cuts the string out
 * (31 ns) and walks rows in JavaScript (some 40 ns): 155 ns, 3.5 times. Links are rewritten, which costs the
 * kernel 100 ns and a slice, but the sorted way of URL costs some 2 µs: 8 times.
 */
import type { BenchCase, Job, Params } from "../../harness/case.ts";
import { numberOf } from "../../harness/case.ts";
import { sampleSteps } from "../../harness/sample.ts";
import { createTextSum, linkChunk, urlChunk } from "../../harness/urls.ts";
import { canonicalizeMany } from "../../../src/index.ts";
import { plainCanonical } from "./pipeline.ts";

const HOSTS = 10_000;
/** What one page or one call of a user brings. */
const PORTION = 1_000;

const SIZES = {
  smoke: [{ urls: 5_000 }],
  real: [{ urls: 100_000 }],
};

export const canonicalWeb: BenchCase = {
  name: "canonical",
  suite: "kernel",
  about: "canonical form of a batch, JavaScript strings in and out, against new URL(u).href",
  unit: "URL",
  process: "shared",
  pairs: [["outrider", "url"]],
  target: "≥ 4 × on Node 20, ≥ 2 × on Node 24",
  sizes: SIZES,
  setup: (side, params) => setup(side, params, urlChunk),
};

export const canonicalLinks: BenchCase = {
  name: "canonical-links",
  suite: "kernel",
  about: "the same for URLs that need mending, against new URL with sorted parameters",
  unit: "URL",
  process: "shared",
  pairs: [["outrider", "url-sorted"]],
  sizes: SIZES,
  setup: (side, params) => setup(side, params, linkChunk),
};

function setup(side: string, params: Params, chunkOf: typeof urlChunk): Job {
  const count = numberOf(params, "urls");
  const portions: string[][] = [];
  for (let start = 0; start < count; start += PORTION) {
    portions.push(chunkOf(start, Math.min(PORTION, count - start), { hosts: HOSTS }));
  }
  const convert = converter(side);
  let outputs: (string | undefined)[][] = [];
  return {
    run() {
      outputs = [];
      const { median, mean } = sampleSteps({
        name: side,
        count: portions.length,
        size: Math.min(PORTION, count),
        total: count,
        work: (step) => void outputs.push(convert(portions[step] as string[])),
      });
      return { times: { time: median }, facts: { "mean ns": mean } };
    },
    checksum() {
      const sum = createTextSum();
      for (const texts of outputs) for (const text of texts) sum.add(text);
      return sum.value();
    },
  };
}

type Convert = (urls: readonly string[]) => (string | undefined)[];

function converter(side: string): Convert {
  if (side === "outrider") return (urls) => canonicalizeMany(urls);
  if (side === "url") return (urls) => urls.map((url) => new URL(url).href);
  return (urls) => urls.map(plainCanonical);
}
