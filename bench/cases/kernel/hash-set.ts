/**
 * hash-set: the set alone, new URLs that are canonical already.
 *
 *   chunk of 50,000 strings ─┬─ outrider         copy in, keyed hash, table: no parsing
 *                            ├─ outrider-hashes  hashes that lie in memory, table alone
 *                            └─ set              Set<string>.add
 *
 * Estimate at 10⁷: Set.add hashes the string and misses twice, and rehashes the whole set now and then: 350 ns. Ours: copy
 * 38, rows 10, hash 25, table 50: 125 ns, 2.8 times; the table alone 7 times.
 */
import type { BenchCase, Job, Params } from "../../harness/case.ts";
import { nowNs, numberOf } from "../../harness/case.ts";
import { createHistogram, percentilesOf, recordNs } from "../../harness/histogram.ts";
import { mix, urlChunk } from "../../harness/urls.ts";
import { tableInsertBatch, tableStats } from "../../../src/structures/table/fingerprint-table.ts";
import { batchLoad } from "../../../src/url/batch/url-batch.ts";
import { keysAsLoaded } from "./loaded-keys.ts";
import { openPipeline, type Pipeline } from "./pipeline.ts";

const CHUNK = 50_000;
const CALL = 256;
const WARM = 5_000;

export const hashSet: BenchCase = {
  name: "hash-set",
  suite: "kernel",
  about: "set of 64-bit hashes alone, new canonical URLs in batches, against Set<string>.add",
  unit: "URL",
  process: "fresh",
  pairs: [
    ["outrider", "set"],
    ["outrider-hashes", "set"],
  ],
  target: "≥ 3 × at 10⁷",
  sizes: { smoke: [{ urls: 30_000 }], real: [{ urls: 1_000_000 }, { urls: 10_000_000 }] },
  rounds: ({ urls }) => (Number(urls) > 1e6 ? 1 : 5),
  setup,
};

type Take = (urls: readonly string[], from: number, to: number) => void;

function setup(side: string, params: Params): Job {
  const total = numberOf(params, "urls");
  const shape = { hosts: Math.max(100, Math.floor(total / 20)) };
  const { take, count } = side === "set" ? plainSet() : tables(side);
  const run = (start: number, size: number, tell: (ns: number) => void): number => {
    const urls = urlChunk(start, size, shape);
    const before = nowNs();
    for (let from = 0; from < size; from += CALL) {
      const at = nowNs();
      take(urls, from, Math.min(size, from + CALL));
      tell(nowNs() - at);
    }
    return nowNs() - before;
  };
  run(1_500_000_000, WARM, () => {});
  return {
    run() {
      const histogram = createHistogram();
      let spent = 0;
      for (let start = 0; start < total; start += CHUNK) {
        spent += run(start, Math.min(CHUNK, total - start), (ns) => recordNs(histogram, ns));
      }
      return { times: { time: spent / total }, latencies: { call: percentilesOf(histogram) } };
    },
    checksum: () => `${count() - WARM} new`,
  };
}

interface Kept {
  readonly take: Take;
  count(): number;
}

function plainSet(): Kept {
  const seen = new Set<string>();
  return {
    take(urls, from, to) {
      for (let i = from; i < to; i++) seen.add(urls[i] as string);
    },
    count: () => seen.size,
  };
}

function tables(side: string): Kept {
  const line = openPipeline();
  const { batch, kernel, table } = line;
  const { hashes, values, slots } = batch.area;
  kernel.region.views.u32.fill(0, values >>> 2, (values >>> 2) + batch.area.capacity);
  let serial = 0;
  const insert = (rows: number): void => {
    if (tableInsertBatch(table, hashes, rows, values, slots) < 0) throw new Error("exhausted");
  };
  return {
    take(urls, from, to) {
      if (side === "outrider-hashes") {
        serial = writeHashes(line, serial, to - from);
        insert(to - from);
        return;
      }
      for (let at = from; at < to; ) {
        const rows = Math.min(batchLoad(batch, urls, at), to - at);
        batch.count = rows;
        keysAsLoaded(line, rows);
        kernel.exports.hashBatch(batch.area.header);
        insert(rows);
        at += rows;
      }
    },
    count: () => tableStats(table).count,
  };
}

/** Hashes that no two serials share; their making is a few nanoseconds of the time. */
function writeHashes({ batch, kernel }: Pipeline, serial: number, count: number): number {
  const { u32 } = kernel.region.views;
  let at = batch.area.hashes >>> 2;
  for (let i = 0; i < count; i++) {
    u32[at++] = mix(serial + i);
    u32[at++] = mix((serial + i) ^ 0x6a09e667);
  }
  return serial + count;
}
