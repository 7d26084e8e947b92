/**
 * bloom: "maybe seen" for URLs that arrive as strings; insert n, then ask for those n and n others.
 *
 *   strings ─┬─ outrider       copy in, keyed hash, split-block bloom in WASM, batches of 256
 *            ├─ typed-array    hand-written: FNV over the characters, k bits by double hashing
 *            ├─ bloom-filters  the npm package
 *            └─ bloomfilter    another one, by hand over 32-bit words (npm run bench:peers)
 *
 * Checksum: members that were not found, which is 0. The rate of false answers is a fact beside the times; a side whose
 * rate is over twice the configured one fails.
 *
 * Estimate at 10⁵ (120 KB): the character loop costs 71 × 1 ns and seven probes 15 ns: 90 ns. Ours: copy 38, rows 10, hash
 * 25, one block 5: 80 ns; even, and more than even where the filter outgrows the cache, since one block is one
 * miss. The npm package hashes with 64-bit numbers made of JavaScript objects: 5 to 10 µs, 60 times.
 */
import type { BenchCase, Job, Params } from "../../harness/case.ts";
import { numberOf } from "../../harness/case.ts";
import { sampleSteps } from "../../harness/sample.ts";
import { urlChunk } from "../../harness/urls.ts";
import { importPackage, packageMissing } from "../../peers/installed.ts";
import { createTypedBloom } from "../../peers/typed-bloom.ts";
import {
  bloomInsertBatch,
  bloomProbeBatch,
  createBloom,
} from "../../../src/structures/bloom/bloom.ts";
import { batchLoad } from "../../../src/url/batch/url-batch.ts";
import { keysAsLoaded } from "./loaded-keys.ts";
import { openPipeline } from "./pipeline.ts";

const RATE = 0.01;
const CHUNK = 5_000;
const NPM_MAX = 100_000;

interface Filter {
  insert(urls: readonly string[]): void;
  /** How many may be members. */
  probe(urls: readonly string[]): number;
}

export const bloomCase: BenchCase = {
  name: "bloom",
  suite: "kernel",
  about: "bloom filter at 1 % from strings: inserts, and probes of which half are members",
  unit: "URL",
  process: "fresh",
  pairs: [
    ["outrider", "typed-array"],
    ["outrider", "bloom-filters"],
    ["outrider", "bloomfilter"],
  ],
  sizes: { smoke: [{ urls: 4_000 }], real: [{ urls: 100_000 }, { urls: 10_000_000 }] },
  rounds: ({ urls }) => (Number(urls) > 1e6 ? 1 : 5),
  setup,
  missing(side, params) {
    if (side === "bloomfilter") return packageMissing("bloomfilter");
    const isSlow = side === "bloom-filters" && numberOf(params, "urls") > NPM_MAX;
    return isSlow ? "minutes a round" : undefined;
  },
};

async function setup(side: string, params: Params): Promise<Job> {
  const total = numberOf(params, "urls");
  const shape = { hosts: 10_000 };
  const filter = await filterOf(side, total);
  const warm = await filterOf(side, 2_000);
  warm.insert(urlChunk(0, 2_000, shape));
  warm.probe(urlChunk(0, 2_000, shape));
  const facts: Record<string, number> = {};
  let lost = 0;
  return {
    run() {
      const insert = overChunks(0, total, (urls) => void filter.insert(urls));
      let found = 0;
      const known = overChunks(0, total, (urls) => {
        found += filter.probe(urls);
      });
      let foreign = 0;
      const others = overChunks(total, total, (urls) => {
        foreign += filter.probe(urls);
      });
      lost = total - found;
      facts["false positives %"] = (foreign / total) * 100;
      if (foreign / total > 2 * RATE) throw new Error(`${side}: ${foreign} of ${total} are false`);
      return { times: { insert, probe: (known + others) / 2 }, facts };
    },
    checksum: () => `${lost} lost`,
  };

  /** Nanoseconds a URL: the median of the chunks. */
  function overChunks(from: number, count: number, work: (urls: string[]) => void): number {
    const size = Math.min(CHUNK, count);
    let urls: string[] = [];
    return sampleSteps({
      ...{ name: side, count: Math.ceil(count / CHUNK), size, total: count },
      prepare(step) {
        const start = step * CHUNK;
        urls = urlChunk(from + start, Math.min(CHUNK, count - start), shape);
      },
      work: () => work(urls),
    }).median;
  }
}

async function filterOf(side: string, members: number): Promise<Filter> {
  if (side === "outrider") return kernelFilter(members);
  if (side === "typed-array") return oneByOne(createTypedBloom(members, RATE));
  if (side === "bloomfilter") return oneByOne(await smallFilter(members));
  const { default: bloomFilters } = await import("bloom-filters");
  return oneByOne(bloomFilters.BloomFilter.create(members, RATE));
}

interface Bloomfilter {
  add(url: string): void;
  test(url: string): boolean;
}

async function smallFilter(members: number): Promise<Parameters<typeof oneByOne>[0]> {
  const { BloomFilter } = (await importPackage("bloomfilter", "bloomfilter.js")) as {
    BloomFilter: { withTargetError(members: number, rate: number): Bloomfilter };
  };
  const filter = BloomFilter.withTargetError(members, RATE);
  return { add: (url) => filter.add(url), has: (url) => filter.test(url) };
}

function oneByOne(one: { add(url: string): void; has(url: string): boolean }): Filter {
  return {
    insert(urls) {
      for (const url of urls) one.add(url);
    },
    probe(urls) {
      let found = 0;
      for (const url of urls) if (one.has(url)) found++;
      return found;
    },
  };
}

function kernelFilter(members: number): Filter {
  const line = openPipeline();
  const { batch, kernel } = line;
  const bloom = createBloom(kernel, { capacity: members, falsePositiveRate: RATE, isFixed: true });
  const { header, hashes, values } = batch.area;
  const load = (urls: readonly string[], start: number): number => {
    const rows = batchLoad(batch, urls, start);
    keysAsLoaded(line, rows);
    kernel.exports.hashBatch(header);
    return rows;
  };
  return {
    insert(urls) {
      for (let start = 0; start < urls.length; start += batch.count) {
        bloomInsertBatch(bloom, hashes, load(urls, start), values);
      }
    },
    probe(urls) {
      let found = 0;
      for (let start = 0; start < urls.length; start += batch.count) {
        found += bloomProbeBatch(bloom, hashes, load(urls, start), values);
      }
      return found;
    },
  };
}
