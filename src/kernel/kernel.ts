/**
 * Room `src/kernel`: the only access to WebAssembly. Decides which memory a kernel runs on. May touch layout, base and memory. The
 * readable twin of its hashes is in test/support/hash-twins.
 */

/**
 * Kernel: compile the module once, instantiate it per thread over a region.
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
  /** Parses, keys, hashes, inserts and surveys a batch in one call (assembly/batch.ts). Table 0: no insert. Job 0: no survey. */
  admitBatch(batch: number, table: number, job: number): number;
  /** Keys, hashes, inserts and surveys rows that are already parsed, in one call. */
  settleBatch(batch: number, table: number, job: number): number;
  /** Writes journal entries of records (assembly/journal/admitted-entries.ts). Returns the index of the first that the owner has to write, or the count. */
  writeAdmitted(job: number, from: number, count: number): number;
  /** Makes the keys of all rows; returns how many are left at BATCH_NEEDS_KEY. */
  keyBatch(batch: number): number;
  /** Makes the key of one row; returns its status. */
  keyOne(batch: number, index: number): number;
  /** Parses the raw bytes of all rows to hrefs; returns how many are left at BATCH_NEEDS_PARSER. */
  parseBatch(batch: number): number;
  /** Parses the raw bytes of one row to its href; returns its status. */
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
  /** Finds the rule of each row in a memo of hosts (assembly/records/match-hosts.ts). Returns how many rows are left to the owner. */
  matchBatch(batch: number, memo: number, rules: number, depth: number): number;
  /** Stores in the memo what the owner found for a row's host. */
  keepMatch(batch: number, row: number, memo: number, number: number): void;
  /** Makes records from row `from` on. Returns the first row that the owner has to make, or the count of rows. */
  makeRecords(job: number, from: number): number;
  /** Makes the new hosts of a job, then its records from the first row on (assembly/records/make-records.ts); returns what makeRecords does. */
  makeBatch(job: number): number;
  /** Writes verdicts of known rows, sizes of records and new hosts of a marked batch to its job (assembly/records/survey-rows.ts). */
  surveyRows(job: number): void;
  /** Lists the rows whose hosts are new, and makes listed ones (assembly/records/make-hosts.ts). */
  listHosts(job: number): void;
  makeHosts(job: number, count: number): void;
  /** Lists the lone records among the next items of a rule for makeHosts (assembly/records/lone-records.ts); returns how many. */
  listNextLones(job: number, rule: number, most: number): number;
  /**
   * Lists pending records that stand nowhere (assembly/records/place-records.ts). Returns how many, and in the upper half how many others
   * now stand first among the values.
   */
  listUnplaced(values: number, count: number, handles: number, keys: number, parts: number): number;
  /**
   * Appends sorted records to their lanes (assembly/records/place-records.ts). Returns the index of the first that the owner has to place,
   * or the count.
   */
  placeRecords(job: number, handles: number, from: number, count: number): number;
  /** Prepares rows of records to be restored (assembly/records/restore-records.ts), from columns of a snapshot or entries of a journal. */
  restoreColumns(job: number, hashes: number, doubles: number, words: number, text: number): void;
  restoreEntries(job: number): void;
  /** Finds the queues and sizes of the restored rows. */
  restoreQueues(job: number): void;
  /** Restores records from row `from` on. Returns the first row that the owner has to make, or the count. */
  restoreRows(job: number, from: number): number;
  /** Adds entries of a walk to columns (assembly/records/snapshot-columns.ts). Returns the first entry that was not added, or `end`. */
  snapshotRows(job: number, from: number, end: number): number;
  /** Ends plain leases (assembly/records/lease-records.ts). */
  endRecords(job: number, count: number): void;
  /** Hands out plain records; returns how many. */
  leaseRecords(job: number, max: number): number;
  leaseShared(job: number, max: number): number;
  /** Lists lone records that go next (assembly/records/lease-lones.ts); returns how many. `leaseLones` hands the first of them out. */
  listLones(job: number, max: number): number;
  leaseLones(job: number, count: number): void;
  copyBatch(jobs: number, count: number): void;
  /** Reads the memory that the ends of records will need, all at once. The result has no meaning. */
  touchRecords(table: number, handles: number, count: number): number;
  /** Reads the memory that the next dispatches of rules will need. The result has no meaning. */
  touchRules(rules: number, count: number): number;
  gatherUrls(handles: number, count: number, text: number, capacity: number, ends: number): number;
}

/**
 * A compiled kernel, a WebAssembly.Module. The package's types do not name WebAssembly, so that a user's project need not
 * declare it.
 */
export type KernelModule = object;

/** The part of WebAssembly.Memory that is used. */
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
  /** Most pages of 64 KiB to which the region may grow. */
  readonly pageCountMax?: number;
  /** Pages at the start; default 1. */
  readonly initialPages?: number;
}

/** Compiles a kernel. Synchronous, since the file has only some tens of kilobytes. */
export function compileKernel(bytes: Uint8Array): KernelModule {
  return new WebAssembly.Module(bytes);
}

/** Creates a region and a kernel over it. The calling thread owns both. */
export function createKernel(module: KernelModule, options: KernelOptions = {}): Kernel {
  const memory = reserve(options.initialPages ?? 1);
  return instantiate(module, memory, options.pageCountMax);
}

/**
 * Creates a memory of `pages`, or of as many as the machine can reserve. Untouched pages cost only address space, and a memory that need
 * not grow avoids the garbage collection that V8 runs at each growth (2 to 20 ms).
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

/** Takes zeroed pages of the kernel's region, for rooms that may not touch the region; returns 0 if it is exhausted. */
export function kernelTryTake(kernel: Kernel, pages: number): number {
  return regionTake(kernel.region, pages);
}

/** The same, but throws MEMORY_FULL if the region is exhausted. */
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

/** Called by debug kernels only, when an assert in assembly/ fails. */
function kernelAbort(_message: number, _file: number, line: number, column: number): never {
  throw new InvariantError(`kernel assert at line ${line}, column ${column}`);
}
