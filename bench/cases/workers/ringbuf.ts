/**
 * The sides `ringbuf` of `lane`: blocks through padenot's ringbuf.js, a ring of bytes. It has no records: a block goes as its
 * size and its bytes, and each side copies between the ring and memory of its own.
 *
 *   scratch: block ─▶ push 4 bytes of size, push the block ─▶ ring ─▶ pop 4 bytes, pop the block ─▶ scratch
 */
import { RingBuffer } from "ringbuf.js";
import { blockBytes, readBlock, type Sum, writeBlock } from "./blocks.ts";

/** Longer than any block. */
const SCRATCH_BYTES = 1 << 18;
/** What its constructor says it wants; the class of an array is what it takes. */
type Kind = ConstructorParameters<typeof RingBuffer>[1];
const nap = new Int32Array(new SharedArrayBuffer(4));

export interface Ring {
  readonly ring: RingBuffer;
  readonly bytes: Buffer;
  readonly words: Int32Array;
  readonly size: Int32Array;
  readonly sizeBytes: Uint8Array;
}

export function ringMemory(bytes: number): SharedArrayBuffer {
  return RingBuffer.getStorageForCapacity(bytes, Uint8Array);
}

/** One side of a ring; either. */
export function createRing(memory: SharedArrayBuffer): Ring {
  const bytes = Buffer.alloc(SCRATCH_BYTES);
  const size = new Int32Array(1);
  return {
    ring: new RingBuffer(memory, Uint8Array as unknown as Kind),
    bytes,
    words: new Int32Array(bytes.buffer, bytes.byteOffset, SCRATCH_BYTES / 4),
    size,
    sizeBytes: new Uint8Array(size.buffer),
  };
}

/** Sends a block; waits while there is no room for all of it. */
export function ringSend({ ring, bytes, words, size, sizeBytes }: Ring, urls: string[]): void {
  const length = (blockBytes(urls) + 3) & ~3;
  writeBlock(bytes, words, 0, urls);
  size[0] = length;
  for (let idle = 0; ring.available_write() < length + 4; ) {
    if (++idle > 1_000) Atomics.wait(nap, 0, 0, 0.05);
  }
  ring.push(sizeBytes, 4);
  ring.push(bytes, length);
}

/** Adds up what comes until `total` URLs are there. */
export function ringReadAll({ ring, bytes, size, sizeBytes }: Ring, total: number, sum: Sum): void {
  for (let idle = 0; sum.count < total; ) {
    if (ring.available_read() < 4) {
      if (++idle > 1_000) Atomics.wait(nap, 0, 0, 0.05);
      continue;
    }
    idle = 0;
    ring.pop(sizeBytes, 4);
    const length = size[0] as number;
    while (ring.available_read() < length); // it is being pushed at this moment
    ring.pop(bytes, length);
    readBlock(bytes, 0, length, sum);
  }
}
