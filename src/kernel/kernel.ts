/**
 * Room `src/kernel`: the one door to WebAssembly, with a readable twin of its hashes in js/. Decides which memory a
 * kernel runs on. May touch layout, base and memory.
 */

/**
 * The one door to WebAssembly: compile once, instantiate per thread over a region.
 *
 *   bytes ── compileKernel ──▶ module ── createKernel ──▶ { exports, region }
 *
 * Only i32 offsets, lengths and flags cross. 64-bit results are written to memory as two words.
 * Every export is listed in `KernelExports`, in the same order as `assembly/index.ts`.
 */
import { createRegion, type Region, regionGive, regionTake } from "../memory/region.ts";
import { assert } from "../base/assert.ts";
import { InvariantError, misuse } from "../base/errors.ts";
import { KERNEL_VERSION } from "../layout/calls/kernel-version.ts";

interface KernelExports {
  /** Parse, key, hash and insert in one crossing (assembly/batch.ts); 0 as table: no insert. */
  admitBatch(batch: number, table: number): number;
  /** Key, hash and insert of parsed rows in one crossing. */
  settleBatch(batch: number, table: number): number;
  /** Keys of all rows; rows left at BATCH_NEEDS_KEY. */
  keyBatch(batch: number): number;
  /** Key of one row; its status. */
  keyOne(batch: number, index: number): number;
  /** Raw bytes of all rows to hrefs; rows left at BATCH_NEEDS_PARSER. */
  parseBatch(batch: number): number;
  /** Raw bytes of one row to its href; its status. */
  parseOne(batch: number, index: number): number;
  kernelVersion(): number;
  bloomProbeBatch(bloom: number, hashes: number, count: number, results: number): number;
  bloomInsertBatch(bloom: number, hashes: number, count: number, results: number): number;
  bloomProbe(bloom: number, lo: number, hi: number): number;
  bloomInsert(bloom: number, lo: number, hi: number): number;
  bloomCountBits(offset: number, size: number): number;
  fingerprint128(offset: number, length: number, outOffset: number): void;
  hashBatch(batch: number): void;
  hashOne(offset: number, length: number, secretOffset: number, outOffset: number): void;
  tableDemand(table: number, hashes: number, count: number, values: number): number;
  tableFindBatch(table: number, hashes: number, count: number, values: number): number;
  tableFindOne(table: number, lo: number, hi: number): number;
  tableInsertBatch(
    table: number,
    hashes: number,
    count: number,
    values: number,
    slots: number,
  ): number;
  tableInsertOne(table: number, lo: number, hi: number): number;
  tableEach(table: number, from: number, max: number, out: number): number;
  tableGrow(table: number, segment: number, other: number): number;
  tableOpen(table: number, segment: number): void;
  tableRemove(table: number, lo: number, hi: number): number;
  tableUpper(table: number, segment: number): number;
  /** Finds each row its rule in a memo of hosts (assembly/records/match-hosts.ts); how many rows are left to the owner. */
  matchBatch(batch: number, memo: number, rules: number, depth: number): number;
  /** Keeps what the owner found out about a row's host. */
  keepMatch(batch: number, row: number, memo: number, number: number): void;
  /** Sizes of the records that a job will make (assembly/records/make-records.ts). */
  sizeRecords(job: number): void;
  /** Makes them from a row on; the row that is the owner's to make, or the count of rows. */
  makeRecords(job: number, from: number): number;
  /** Touches what it will need; most lanes that it may open. */
  planRecords(job: number): number;
  /** Gives rows that are no more than new or known their verdicts (assembly/records/sight-rows.ts); how many are noted for the owner. */
  sightRows(job: number): number;
  /** Lists the rows whose hosts are met for the first time; how many (assembly/records/make-hosts.ts). */
  listHosts(job: number): number;
  makeHosts(job: number, count: number): void;
  /** Appends sorted records to their lanes (assembly/records/place-records.ts); the index of one that is the owner's to plant, or the count. */
  placeRecords(handles: number, from: number, count: number): number;
  /** Rows of records to be made anew (assembly/records/restore-records.ts): of a snapshot's columns, of a journal's entries. */
  restoreColumns(job: number, hashes: number, doubles: number, words: number, text: number): void;
  restoreEntries(job: number): void;
  /** Their queues and sizes. */
  restoreQueues(job: number): void;
  /** Makes them from a row on; the row that is the owner's to make, or the count. */
  restoreRows(job: number, from: number): number;
  /** Adds entries of a walk to columns (assembly/records/snapshot-columns.ts); the first that was not added, or the end. */
  snapshotRows(job: number, from: number, end: number): number;
  /** Ends plain leases (assembly/records/lease-records.ts). */
  endRecords(job: number, count: number): void;
  /** Hands plain records out; how many. */
  leaseRecords(job: number, max: number): number;
  leaseShared(job: number, max: number): number;
  copyBatch(jobs: number, count: number): void;
  /** Reads what the ends of records will need, all at once; a number of no meaning. */
  touchRecords(table: number, handles: number, count: number): number;
  /** Reads what the next hand-outs of rules will need; a number of no meaning. */
  touchRules(rules: number, count: number): number;
  gatherUrls(handles: number, count: number, text: number, capacity: number, ends: number): number;
}

/**
 * A compiled kernel, a WebAssembly.Module. What the package's types name has names of its own: no library need declare
 * WebAssembly in a user's project.
 */
export type KernelModule = object;

/** A WebAssembly.Memory. */
interface KernelMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

export interface Kernel {
  readonly module: KernelModule;
  readonly memory: KernelMemory;
  readonly exports: KernelExports;
  readonly region: Region;
}

interface KernelOptions {
  /** Most pages of 64 KiB the region may grow to. */
  readonly pageCountMax?: number;
  /** Pages to have from the start; default 1. */
  readonly initialPages?: number;
}

/** Compiles the bytes of a kernel. Synchronous: the file is some tens of kilobytes. */
export function compileKernel(bytes: Uint8Array): KernelModule {
  return new WebAssembly.Module(bytes);
}

/** Makes a new region with its kernel. The calling thread owns it. */
export function createKernel(module: KernelModule, options: KernelOptions = {}): Kernel {
  const memory = reserve(options.initialPages ?? 1);
  return instantiate(module, memory, options.pageCountMax);
}

/**
 * A memory of `pages`, or of as many as the machine lets us reserve. Untouched pages cost address space only, and
 * a memory that need not grow spares the garbage collection that V8 makes of each growth (2–20 ms).
 */
function reserve(pages: number): KernelMemory {
  for (let initial = pages; ; initial >>= 1) {
    try {
      return new WebAssembly.Memory({ initial: Math.max(initial, 1), maximum: 65536 });
    } catch (cause) {
      if (initial <= 1) throw cause;
    }
  }
}

/** Zeroed pages of the kernel's region, for rooms that may not touch the region itself; 0 when it is exhausted. */
export function kernelTryTake(kernel: Kernel, pages: number): number {
  return regionTake(kernel.region, pages);
}

/** The same; throws MEMORY_FULL. */
export function kernelTake(kernel: Kernel, pages: number): number {
  const offset = regionTake(kernel.region, pages);
  if (offset === 0) throw misuse("MEMORY_FULL", "memory", pages, "as many free pages of 64 KiB");
  return offset;
}

export function kernelGive(kernel: Kernel, offset: number, pages: number): void {
  regionGive(kernel.region, offset, pages);
}

function instantiate(
  module: KernelModule,
  memory: KernelMemory,
  pageCountMax: number | undefined,
): Kernel {
  const instance = new WebAssembly.Instance(module as WebAssembly.Module, {
    env: { memory, abort: kernelAbort },
  });
  const exports = instance.exports as unknown as KernelExports;
  assert(exports.kernelVersion() === KERNEL_VERSION, "kernel file and package are of one build");
  return { module, memory, exports, region: createRegion(memory, pageCountMax) };
}

/** Only debug kernels call it: an assert in assembly/ failed at this line. */
function kernelAbort(_message: number, _file: number, line: number, column: number): never {
  throw new InvariantError(`kernel assert at line ${line}, column ${column}`);
}
