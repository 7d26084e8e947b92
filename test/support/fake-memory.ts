/**
 * A GrowableMemory without WebAssembly: growing detaches the old buffer, as the real one does, so
 * that a view kept across growth reads as empty and a test sees it.
 */
import type { GrowableMemory } from "../../src/memory/region.ts";

const PAGE_BYTES = 65536;

export interface FakeMemory extends GrowableMemory {
  /** Most pages it grows to; beyond them `grow` throws as WebAssembly does. */
  pageCountMax: number;
  growths: number;
}

export function createFakeMemory(pageCountMax = 1024): FakeMemory {
  let buffer = new ArrayBuffer(PAGE_BYTES);
  const memory = {
    pageCountMax,
    growths: 0,
    get buffer() {
      return buffer;
    },
    grow(pages: number) {
      const before = buffer.byteLength / PAGE_BYTES;
      if (!(before + pages <= memory.pageCountMax)) throw new RangeError("failed to grow memory");
      const larger = new ArrayBuffer((before + pages) * PAGE_BYTES);
      new Uint8Array(larger).set(new Uint8Array(buffer));
      structuredClone(buffer, { transfer: [buffer] });
      buffer = larger;
      memory.growths++;
      return before;
    },
  };
  return memory;
}
