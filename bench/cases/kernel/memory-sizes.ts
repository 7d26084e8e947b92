/**
 * memory-sizes: table and bloom at 1 MB, 128 MB and 1 GB beside native C and the latency of memory of that size.
 *
 *   65,536 hashes, half of them members, drawn at random ─▶ batches of 256 ─▶ table: find · bloom: probe
 *   then as many new ones                                                    ─▶ table: insert · bloom: insert
 *   (of each at most a sixteenth of what is held; at a quarter more than at first it is filled anew, so that it stays as large)
 *   native-…: the same in C with prefetch (bench/native/control.c), in a child process; its table does not grow
 *   latency: dependent loads, one a cache line, in one cycle over as many bytes
 *
 * The ratio to latency is latency / operation: over 1 means that misses overlap, which is what batches are for. The sides do different
 * work on purpose; each checks its own answers.
 *
 * Estimate at 1 GB: a dependent load misses cache and TLB: 120 ns. A batch of 256 keeps some eight misses in flight: find
 * and insert 45 to 60 ns, probe of one 32-byte block 40 to 60 ns.
 */
import type { BenchCase, Job, Params } from "../../harness/case.ts";
import { nowNs, numberOf } from "../../harness/case.ts";
import { createLatencyProbe } from "../../harness/latency-probe.ts";
import { mix } from "../../harness/urls.ts";
import { nativeMissing, openNative } from "../../peers/native.ts";
import { loadKernelModule } from "../../../src/engine/kernel-file.ts";
import { createKernel, type Kernel } from "../../../src/kernel/kernel.ts";
import { REGION_PAGE_COUNT_MAX } from "../../../src/layout/memory/region.ts";
import { regionTake } from "../../../src/memory/region.ts";
import {
  bloomInsertBatch,
  bloomProbeBatch,
  createBloom,
} from "../../../src/structures/bloom/bloom.ts";
import {
  createTable,
  tableFindBatch,
  tableInsertBatch,
  tableStats,
} from "../../../src/structures/table/fingerprint-table.ts";

const ASKED_MAX = 65_536;
const CALL = 256;
const FILL = 4_096;
/** Bloom at 1 %: what a member takes. */
const BLOOM_BITS = 12;
const LOADS = 500_000;

export const memorySizes: BenchCase = {
  name: "memory-sizes",
  suite: "kernel",
  about:
    "table and bloom per operation in batches, beside native C and the latency of memory as large",
  unit: "operation",
  process: "shared",
  pairs: [
    ["table", "native-table"],
    ["bloom", "native-bloom"],
    ["table", "latency"],
    ["bloom", "latency"],
  ],
  isSameWork: false,
  target: "bloom lookup and table insert ≤ 1.5 × native C with prefetch: its row ≥ 0.67",
  sizes: {
    smoke: [{ megabytes: 1 }],
    real: [{ megabytes: 1 }, { megabytes: 128 }, { megabytes: 1024 }],
    suite: [{ megabytes: 128 }],
  },
  missing: (side) => (side.startsWith("native") ? nativeMissing() : undefined),
  setup(side, params) {
    if (side === "latency") return latencyJob(params);
    if (side.startsWith("native")) return nativeJob(side, params);
    return hashJob(() => (side === "table" ? openTable(params) : openBloom(params)));
  },
};

function latencyJob(params: Params): Job {
  const probe = createLatencyProbe(numberOf(params, "megabytes") * 2 ** 20);
  return {
    run() {
      const start = nowNs();
      const end = probe.walk(LOADS);
      const spent = nowNs() - start;
      if (end % 16 !== 0) throw new Error("latency: the walk left its cycle");
      return { times: { lookup: spent / LOADS } };
    },
    checksum: () => "in its cycle",
  };
}

async function nativeJob(side: string, params: Params): Promise<Job> {
  const bytes = numberOf(params, "megabytes") * 2 ** 20;
  const control = await openNative(side === "native-bloom" ? "bloom" : "table", bytes);
  return {
    async run() {
      const { lookup, insert, asked, found } = await control.round();
      if (found < asked / 2 || found > asked * 0.52) throw new Error(`native found: ${found}`);
      return { times: { lookup, insert } };
    },
    checksum: () => "all members found",
    close: () => control.close(),
  };
}

interface Holder {
  readonly kernel: Kernel;
  /** Offset of ASKED_MAX hashes, and of a call's answers behind them. */
  readonly room: number;
  members(): number;
  bytes(): number;
  /** Both take rows from an offset and return how many are members, or are new. */
  lookup(hashes: number): number;
  insert(hashes: number): number;
}

/** Room for the hashes asked for and for one call's answers. */
function openRoom(): { kernel: Kernel; room: number } {
  const kernel = createKernel(loadKernelModule(), { initialPages: REGION_PAGE_COUNT_MAX });
  return { kernel, room: regionTake(kernel.region, Math.ceil(((ASKED_MAX + CALL) * 8) / 65_536)) };
}

function openTable(params: Params): Holder {
  const { kernel, room } = openRoom();
  const table = createTable(kernel, { valued: false });
  const values = room + ASKED_MAX * 8;
  const holder: Holder = {
    kernel,
    room,
    members: () => tableStats(table).count,
    bytes: () => tableStats(table).bytes,
    lookup: (hashes) => tableFindBatch(table, hashes, CALL, values),
    insert: (hashes) => tableInsertBatch(table, hashes, CALL, values, values + CALL * 4),
  };
  return filled(holder, numberOf(params, "megabytes") * 2 ** 20);
}

function openBloom(params: Params): Holder {
  const { kernel, room } = openRoom();
  const bytes = numberOf(params, "megabytes") * 2 ** 20;
  const capacity = Math.floor((bytes * 8) / BLOOM_BITS);
  // Room for what the rounds insert on top: the filter is full, not overfull.
  const bloom = createBloom(kernel, { capacity, falsePositiveRate: 0.01, isFixed: true });
  let members = 0;
  const holder: Holder = {
    kernel,
    room,
    members: () => members,
    bytes: () => (members * BLOOM_BITS) / 8,
    lookup: (hashes) => bloomProbeBatch(bloom, hashes, CALL, room + ASKED_MAX * 8),
    insert(hashes) {
      members += CALL;
      return bloomInsertBatch(bloom, hashes, CALL, room + ASKED_MAX * 8);
    },
  };
  return filled(holder, bytes);
}

/** Fills until it takes `bytes`. */
function filled(holder: Holder, bytes: number): Holder {
  for (let serial = 0; holder.bytes() < bytes; serial += FILL) {
    write(holder, FILL, (row) => serial + row);
    each(holder, FILL, holder.insert);
  }
  return holder;
}

function hashJob(open: () => Holder): Job {
  let holder = open();
  const first = holder.members();
  const asked = Math.min(ASKED_MAX, Math.floor(first / 16 / CALL) * CALL);
  let next = first;
  let round = 0;
  return {
    run() {
      if (next + asked > first * 1.25) {
        holder = open();
        next = holder.members();
      }
      round++;
      // Rows alternate: a random member, then one that was never inserted.
      write(holder, asked, (row) => {
        const drawn = mix(row ^ mix(round));
        return row % 2 === 0 ? drawn % next : 0x8000_0000 + (drawn >>> 1);
      });
      const lookupStart = nowNs();
      const found = each(holder, asked, holder.lookup);
      const lookup = nowNs() - lookupStart;
      if (found < asked / 2 || found > asked * 0.52) throw new Error(`found: ${found}`);
      write(holder, asked, (row) => next + row);
      const insertStart = nowNs();
      each(holder, asked, holder.insert);
      const insert = nowNs() - insertStart;
      next += asked;
      return {
        times: { lookup: lookup / asked, insert: insert / asked },
        facts: { members: next, "bytes/member": holder.bytes() / holder.members() },
      };
    },
    checksum: () => "all members found",
  };
}

function write({ kernel, room }: Holder, count: number, serialOf: (row: number) => number): void {
  const { u32 } = kernel.region.views;
  for (let row = 0; row < count; row++) {
    const serial = serialOf(row);
    u32[(room >>> 2) + row * 2] = mix(serial);
    u32[(room >>> 2) + row * 2 + 1] = mix(serial ^ 0x6a09e667);
  }
}

function each({ room }: Holder, count: number, call: (hashes: number) => number): number {
  let sum = 0;
  for (let row = 0; row < count; row += CALL) sum += call(room + row * 8);
  return sum;
}
