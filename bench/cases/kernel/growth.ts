/**
 * growth: what a table holds and stalls while it grows from nothing.
 *
 *   hashes, 256 a call ─▶ insert: every call into the histogram, bytes and count noted each 65,536 hashes
 *   outrider: a word beside each hash, as frontiers use it · outrider-bare: hashes alone
 *   set: Set of as many numbers, which is what JavaScript has nearest: its bytes are the heap's growth
 *
 * "bytes/URL, average" is the area under the bytes divided by the area under the count, from 1 to the end.
 *
 * Estimate: five hashes and values a 64-byte line at a load of 0.83 to 0.92: 14.6 bytes; bare eight hashes a line: 9.2. The
 * longest call sweeps one segment of at most 7 pages, 448 KiB, at some 1 GB/s: 0.5 ms. The memory is reserved at once, as that of a
 * frontier is: growing it costs a collection each time.
 */
import type { BenchCase, Job, Params } from "../../harness/case.ts";
import { numberOf } from "../../harness/case.ts";
import { createCallLog } from "../../harness/call-log.ts";
import { memoryNow } from "../../harness/machine.ts";
import { mix } from "../../harness/urls.ts";
import { loadKernelModule } from "../../../src/engine/kernel-file.ts";
import { createKernel } from "../../../src/kernel/kernel.ts";
import { REGION_PAGE_COUNT_MAX } from "../../../src/layout/memory/region.ts";
import { regionTake } from "../../../src/memory/region.ts";
import {
  createTable,
  tableInsertBatch,
  tableStats,
} from "../../../src/structures/table/fingerprint-table.ts";

const CALL = 256;
const NOTE_EACH = 65_536;

export const growth: BenchCase = {
  name: "growth",
  suite: "kernel",
  about: "bytes per URL averaged while growing, and the longest call, beside a Set of numbers",
  unit: "URL",
  process: "fresh",
  pairs: [
    ["outrider", "set"],
    ["outrider-bare", "set"],
  ],
  target: "≤ 11.5 bytes/URL bare, ≤ 16 with state; longest call ≤ 2 ms at 10⁷",
  sizes: {
    smoke: [{ urls: 262_144 }],
    real: [{ urls: 10_000_000 }, { urls: 100_000_000 }],
    suite: [{ urls: 4_000_000 }],
  },
  rounds: ({ urls }) => (Number(urls) > 1e7 ? 1 : 3),
  setup: (side, params) => growthJob(side, params),
  missing(side, params) {
    if (side !== "set" || numberOf(params, "urls") <= 16_777_216) return undefined;
    return "a Set throws at 16,777,216 entries";
  },
};

interface Growing {
  insert(serial: number, count: number): void;
  bytes(): number;
  count(): number;
}

function growthJob(side: string, params: Params): Job {
  const total = numberOf(params, "urls");
  const growing = side === "set" ? growingSet() : growingTable(side === "outrider");
  return {
    async run() {
      const calls = createCallLog();
      let bytes = 0;
      let counts = 0;
      let spent = 0;
      for (let serial = 0; serial < total; serial += CALL) {
        const at = calls.begin();
        growing.insert(serial, Math.min(CALL, total - serial));
        spent += calls.end(at);
        if (serial % NOTE_EACH !== 0 || side === "set") continue;
        bytes += growing.bytes();
        counts += growing.count();
      }
      const { percentiles, facts: longest } = await calls.stop();
      const facts: Record<string, number> = { ...longest };
      facts["bytes/URL, end"] = growing.bytes() / growing.count();
      if (counts > 0) facts["bytes/URL, average"] = bytes / counts;
      const latencies = { "call of 256": percentiles };
      return { times: { insert: spent / total }, facts, latencies };
    },
    checksum: () => `${growing.count()} held`,
  };
}

function growingTable(valued: boolean): Growing {
  const kernel = createKernel(loadKernelModule(), { initialPages: REGION_PAGE_COUNT_MAX });
  const hashes = regionTake(kernel.region, 1);
  const values = hashes + CALL * 8;
  const table = createTable(kernel, { valued });
  return {
    insert(serial, count) {
      const { u32 } = kernel.region.views;
      for (let i = 0; i < count; i++) {
        u32[(hashes >>> 2) + i * 2] = mix(serial + i);
        u32[(hashes >>> 2) + i * 2 + 1] = mix((serial + i) ^ 0x6a09e667);
      }
      if (tableInsertBatch(table, hashes, count, values, values + CALL * 4) !== count) {
        throw new Error("table: a new hash was not new, or the region is exhausted");
      }
    },
    bytes: () => tableStats(table).bytes,
    count: () => tableStats(table).count,
  };
}

function growingSet(): Growing {
  const before = memoryNow().heapBytes;
  const set = new Set<number>();
  return {
    insert(serial, count) {
      // As near to 64 bits as a number comes.
      for (let i = serial; i < serial + count; i++) set.add(mix(i) * 2 ** 21 + (i & 0xfffff));
    },
    bytes: () => memoryNow().heapBytes - before,
    count: () => set.size,
  };
}
