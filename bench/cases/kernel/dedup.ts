/**
 * dedup: canonical form, hash and exact dedup of URLs that arrive as JavaScript strings.
 *
 *   chunk of 10,000 strings (made outside the clock; every tenth a URL of before in another spelling)
 *      ├─ outrider       256 a call: copy, parse, key, keyed hash, table           the hot path
 *      ├─ outrider-128   the same and the public 128-bit fingerprint of each
 *      ├─ outrider-one   one URL a call
 *      └─ plain          new URL, hash dropped, parameters sorted, Set<string>
 *
 * Checksum: how many were new. Latencies: of one call of 256 URLs (outrider-one: of one URL, each 64th), and for plain
 * of as many URLs in a row. A Set throws at 16,777,216 entries: 10⁷ is as far as the plain way goes.
 *
 * Estimate at 10⁷: plain 2 µs for URL and sort, 1 µs for the Set's misses and its rehashes, collections of a heap of
 * 1.5 GB on top: 5 µs. Ours: copy 40, parse and key 60, hash 25, table 60 (a miss each, overlapped), rows 40: 225 ns;
 * 20 times. The 128-bit fingerprint is one BLAKE2b block, 250 ns more, and a call: 500 ns, 10 times.
 */
import type { BenchCase, Job, Params } from "../../harness/case.ts";
import { nowNs, numberOf } from "../../harness/case.ts";
import { type CallLog, createCallLog } from "../../harness/call-log.ts";
import { memoryNow } from "../../harness/machine.ts";
import { linkChunk, urlChunk } from "../../harness/urls.ts";
import { tableStats } from "../../../src/structures/table/fingerprint-table.ts";
import { admitBatch, admitOne, openPipeline, plainCanonical, printRows } from "./pipeline.ts";

const CHUNK = 10_000;
const CALL = 256;
/** One URL of so many is timed alone: the clock costs as much as half a URL. */
const TIMED_EACH = 64;
const AGAIN_EACH = 10;

type Calls = Pick<CallLog, "begin" | "end">;
const NOT_LOGGED: Calls = { begin: nowNs, end: (startNs) => nowNs() - startNs };

/** One way of deduplication. `count` returns how many were new so far. */
interface Way {
  /** Takes a chunk, logs its calls and returns how long they took in all. */
  take(urls: readonly string[], calls: Calls): number;
  count(): number;
  facts(): Record<string, number>;
}

export const dedup: BenchCase = {
  name: "dedup",
  suite: "kernel",
  about: "canonical form, hash and exact dedup from JavaScript strings, against new URL and a Set",
  unit: "URL",
  process: "fresh",
  pairs: [
    ["outrider", "plain"],
    ["outrider-128", "plain"],
    ["outrider-one", "plain"],
  ],
  target: "batch ≥ 10 × at 10⁷; one URL at a time ≥ 4 ×; longest call ≤ 2 ms",
  sizes: { smoke: [{ urls: 30_000 }], real: [{ urls: 1_000_000 }, { urls: 10_000_000 }] },
  rounds: 3,
  worth: 3,
  setup,
};

function setup(side: string, params: Params): Job {
  const total = numberOf(params, "urls");
  const shape = { hosts: Math.max(100, Math.floor(total / 20)) };
  const way = wayOf(side);
  // A few thousand URLs so that compilers have done their work; they are none of those that count.
  way.take(urlChunk(1_500_000_000, 5_000, shape), NOT_LOGGED);
  const before = way.count();
  return {
    async run() {
      const memory = memoryNow();
      const calls = createCallLog();
      let spent = 0;
      for (let start = 0; start < total; start += CHUNK) {
        const urls = urlChunk(start, Math.min(CHUNK, total - start), shape);
        repeatSome(urls, start, shape.hosts);
        spent += way.take(urls, calls);
      }
      const { percentiles, facts } = await calls.stop();
      const heap = memoryNow().heapBytes - memory.heapBytes;
      const kept = way.count() - before;
      return {
        times: { time: spent / total },
        facts: { "JS heap bytes/URL": heap / kept, ...facts, ...way.facts() },
        latencies: { call: percentiles },
      };
    },
    checksum: () => `${way.count() - before} new`,
  };
}

/** Every tenth URL becomes one of the chunks before it, in another spelling. */
function repeatSome(urls: string[], start: number, hosts: number): void {
  if (start === 0) return;
  const earlier = linkChunk(start - CHUNK, Math.ceil(urls.length / AGAIN_EACH), { hosts });
  for (let i = 0; i < earlier.length; i++) urls[i * AGAIN_EACH] = earlier[i] as string;
}

function wayOf(side: string): Way {
  if (side === "plain") return plainWay();
  const line = openPipeline();
  const counts = {
    count: () => tableStats(line.table).count,
    facts: () => {
      const { bytes, count } = tableStats(line.table);
      return { "table bytes/URL": bytes / count };
    },
  };
  if (side === "outrider-one") {
    return {
      ...counts,
      take(urls, { end }) {
        const start = nowNs();
        for (let i = 0; i < urls.length; i++) {
          const isTimed = i % TIMED_EACH === 0;
          const at = isTimed ? nowNs() : 0;
          admitOne(line, urls[i] as string);
          if (isTimed) end(at);
        }
        return nowNs() - start;
      },
    };
  }
  const isPrinted = side === "outrider-128";
  return {
    ...counts,
    take(urls, { begin, end }) {
      let spent = 0;
      for (let start = 0; start < urls.length; ) {
        const at = begin();
        start += admitBatch(line, urls, start);
        if (isPrinted) printRows(line);
        spent += end(at);
      }
      return spent;
    },
  };
}

function plainWay(): Way {
  const seen = new Set<string>();
  return {
    take(urls, { begin, end }) {
      let spent = 0;
      for (let start = 0; start < urls.length; start += CALL) {
        const at = begin();
        const last = Math.min(start + CALL, urls.length);
        for (let i = start; i < last; i++) seen.add(plainCanonical(urls[i] as string));
        spent += end(at);
      }
      return spent;
    },
    count: () => seen.size,
    facts: () => ({}),
  };
}
