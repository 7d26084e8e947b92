/**
 * The one door to WebAssembly: compile once, instantiate per thread over a region.
 *
 *   bytes ── compileKernel ──▶ module ── createKernel ──▶ { exports, region }
 *                                └─ structured clone to workers ── attachKernel(module, memory)
 *
 * Only i32 offsets, lengths and flags cross. 64-bit results are written to memory as two words.
 * Every export is listed in `KernelExports`, in the same order as `assembly/index.ts`.
 */
import { createRegion, type Region } from "../memory/region.ts";
import { assert } from "../base/assert.ts";
import { InvariantError } from "../base/errors.ts";
import { KERNEL_VERSION } from "../layout/kernel.ts";

export interface KernelExports {
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
  tableGrow(table: number, segment: number, units: number, other: number): void;
  tableOpen(table: number, segment: number, units: number): void;
  tableRemove(table: number, lo: number, hi: number): number;
  tableFindShared(table: number, hashes: number, count: number, values: number): number;
}

export interface Kernel {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly exports: KernelExports;
  readonly region: Region;
}

export interface KernelOptions {
  /** Most pages of 64 KiB the region may grow to. */
  readonly pageCountMax?: number;
  /** True for `kernel.shared.wasm`: its memory is a SharedArrayBuffer. */
  readonly shared?: boolean;
}

/** Compiles the bytes of a kernel. Synchronous: the file is some tens of kilobytes. */
export function compileKernel(bytes: Uint8Array): WebAssembly.Module {
  return new WebAssembly.Module(bytes);
}

/** Makes a new region with its kernel. The calling thread owns it. */
export function createKernel(module: WebAssembly.Module, options: KernelOptions = {}): Kernel {
  const shared = options.shared ?? false;
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536, shared });
  return instantiate(module, memory, options.pageCountMax);
}

/** A second kernel over the shared memory of another thread; it must not take or give pages. */
export function attachKernel(module: WebAssembly.Module, memory: WebAssembly.Memory): Kernel {
  return instantiate(module, memory, undefined);
}

function instantiate(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  pageCountMax: number | undefined,
): Kernel {
  const instance = new WebAssembly.Instance(module, { env: { memory, abort: kernelAbort } });
  const exports = instance.exports as unknown as KernelExports;
  assert(exports.kernelVersion() === KERNEL_VERSION, "kernel file and package are of one build");
  return { module, memory, exports, region: createRegion(memory, pageCountMax) };
}

/** Only debug kernels call it: an assert in assembly/ failed at this line. */
function kernelAbort(_message: number, _file: number, line: number, column: number): never {
  throw new InvariantError(`kernel assert at line ${line}, column ${column}`);
}
