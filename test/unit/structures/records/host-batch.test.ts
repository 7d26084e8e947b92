/** Hosts that the kernel makes for a batch are those made one by one, and where memory is short none is made. */
import { describe, expect, it } from "vitest";
import { loadKernelModule } from "../../../../src/engine/kernel-file.ts";
import { createKernel } from "../../../../src/kernel/kernel.ts";
import { MAKE_FRESH_WORD } from "../../../../src/layout/calls/make-records.ts";
import { BATCH_VALUES_OFFSET_WORD } from "../../../../src/layout/calls/url-batch.ts";
import { HOST_SIZE_BYTES, QUEUE_SIZE_BYTES } from "../../../../src/layout/records/host.ts";
import { REGION_PAGE_BYTES } from "../../../../src/layout/memory/region.ts";
import { arenaTake } from "../../../../src/memory/arena.ts";
import { regionTake } from "../../../../src/memory/region.ts";
import { TABLE_NEW } from "../../../../src/structures/table/fingerprint-table.ts";
import {
  hostsLend,
  hostsReturn,
  takeHosts,
} from "../../../../src/structures/records/host-batch.ts";
import { queueOf } from "../../../../src/structures/hosts/host-queue.ts";
import {
  createHostTable,
  hostCreate,
  hostFind,
  hostName,
  hostNextIdle,
  type HostTable,
  ruleQueueCreate,
  verifyHosts,
} from "../../../../src/structures/hosts/host-table.ts";
import {
  notedCount,
  openJob,
  surveyJob,
  takeSurveyed,
} from "../../../../src/structures/records/record-batch.ts";
import { createScratch, type Scratch } from "../../../../src/structures/records/kernel-scratch.ts";
import { createStore, verifyStore, word } from "../../../../src/structures/store.ts";
import {
  batchAdmit,
  batchLoad,
  createUrlBatch,
  NO_TARGET,
} from "../../../../src/url/batch/url-batch.ts";
import { normalizePolicy } from "../../../../src/url/keys/key-policy.ts";
import { hostHashesOffset, type Rows, rowHost } from "../../../../src/url/batch/row-fields.ts";

const NAMES = [
  "a.example",
  "b.example",
  "a.example",
  "long-name-of-a-host.example",
  "c",
  "b.example",
];

interface World {
  readonly table: HostTable;
  readonly scratch: Scratch;
  readonly rows: Rows;
  readonly rule: number;
}

/** A batch whose rows are all new, and whose hosts the index is about to be asked for. */
function world(pages: number): World {
  const kernel = createKernel(loadKernelModule(), { initialPages: pages, pageCountMax: pages });
  const store = createStore(kernel, Uint32Array.of(1, 2, 3, 4));
  const batch = createUrlBatch(kernel);
  kernel.region.views.u32.set([1, 2, 3, 4], batch.area.secret >>> 2);
  const table = createHostTable(store);
  const rule = ruleQueueCreate(store, 0);
  const urls = NAMES.map((name, index) => `https://${name}/${index}`);
  expect(batchLoad(batch, urls, 0)).toBe(NAMES.length);
  batchAdmit(batch, normalizePolicy(), NO_TARGET);
  return {
    table,
    scratch: createScratch(store),
    rows: { kernel, offset: batch.area.header },
    rule,
  };
}

/** Surveys all rows, as an admission does before it takes memory: their hosts are claimed in the index, and listed. */
function survey({ table, scratch, rows, rule }: World): void {
  const { u32 } = table.store.region.views;
  const values = u32[(rows.offset >> 2) + BATCH_VALUES_OFFSET_WORD] as number;
  u32.fill(TABLE_NEW, values >> 2, (values >> 2) + NAMES.length);
  const common = { depth: 0, parent: 0, hasParents: false, duplicate: 2 };
  const opened = openJob(scratch, table, { batch: rows.offset, rule, rules: 0, ...common });
  const marked = surveyJob(scratch, opened);
  const codes = new Uint8Array(NAMES.length);
  const surveyed = { rows, count: NAMES.length, codes, codesStart: 0 };
  const decided = takeSurveyed(scratch, table, marked, surveyed);
  expect(notedCount(scratch, decided)).toBe(0);
  expect(u32[(scratch.make >> 2) + MAKE_FRESH_WORD]).toBe(4);
}

/** Makes them, and no record: none has memory. */
function make({ table, scratch }: World): void {
  takeHosts(table, scratch);
  hostsLend(table, scratch);
  expect(table.store.kernel.exports.makeBatch(scratch.make)).toBe(0);
  hostsReturn(table, scratch);
}

/** What is known of every host, in the order in which they joined the idle list; handles are told by their names. */
function hostsOf({ store, ...table }: HostTable, rule: number): unknown[] {
  const all: unknown[] = [];
  for (let host = hostNextIdle({ store, ...table }, 0); host !== 0; ) {
    const queue = queueOf({ store, queuesMade: 0 }, host, rule);
    const words = (handle: number, bytes: number, handles: readonly number[]): number[] =>
      Array.from({ length: bytes / 4 }, (_, at) =>
        handles.includes(at) ? Math.sign(word(store, handle, at)) : word(store, handle, at),
      );
    all.push([
      hostName(store, host),
      words(host, HOST_SIZE_BYTES, [0, 1, 9, 10]),
      words(queue, QUEUE_SIZE_BYTES, [6, 8, 13, 14]),
    ]);
    host = hostNextIdle({ store, ...table }, host);
  }
  return all;
}

describe("hosts made for a batch", () => {
  it("are those made one by one, idle, with a queue each", () => {
    const one = world(256);
    for (let row = 0; row < NAMES.length; row++) {
      const at = hostHashesOffset(one.rows) / 4 + row * 2;
      const [lo, hi] = one.table.store.region.views.u32.subarray(at, at + 2) as unknown as number[];
      if (hostFind(one.table, lo as number, hi as number) !== 0) continue;
      const host = hostCreate(one.table, rowHost(one.rows, row), lo as number, hi as number);
      queueOf(one.table, host, one.rule);
    }
    const many = world(256);
    survey(many);
    make(many);
    expect(many.table).toMatchObject({ count: 4, idleCount: 4, joined: 4, busyFirst: 0 });
    expect(hostsOf(many.table, many.rule)).toEqual(hostsOf(one.table, one.rule));
    verifyHosts(many.table);
    verifyStore(many.table.store);
  });

  it("are not made, and nothing is taken, where memory is short", () => {
    for (const kept of [[], [9], [9, 27, 1], [9, HOST_SIZE_BYTES]]) {
      const full = world(40);
      const { store } = full.table;
      survey(full);
      for (const bytes of kept) expect(arenaTake(store.arena, bytes)).toBeGreaterThan(0);
      while (regionTake(store.region, 1) !== 0);
      const before = store.arena.counts.slice();
      make(full);
      expect(full.table).toMatchObject({ count: 0, idleCount: 0, joined: 0, idleFirst: 0 });
      expect(store.arena.counts).toEqual(before);
      verifyStore(store);
    }
    expect(REGION_PAGE_BYTES % HOST_SIZE_BYTES).toBe(0); // their first lines are whole lines
  });
});
