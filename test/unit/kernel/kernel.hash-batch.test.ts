import { expect, test } from "vitest";
import { createRandom, type Random } from "../../../src/base/random.ts";
import { sipHash } from "../../support/hash-twins/sip-hash.ts";
import type { Kernel } from "../../../src/kernel/kernel.ts";
import {
  BATCH_COUNT_WORD,
  BATCH_HASHES_OFFSET_WORD,
  BATCH_HOST_HASHES_OFFSET_WORD,
  BATCH_INVALID,
  BATCH_ROW_BYTES,
  BATCH_ROWS_OFFSET_WORD,
  BATCH_SECRET_OFFSET_WORD,
  ROW_HOST_LENGTH_WORD,
  ROW_HOST_START_WORD,
  ROW_HREF_LENGTH_WORD,
  ROW_HREF_OFFSET_WORD,
  ROW_KEY_LENGTH_WORD,
  ROW_KEY_OFFSET_WORD,
  ROW_STATUS_WORD,
} from "../../../src/layout/calls/url-batch.ts";
import { regionTake } from "../../../src/memory/region.ts";
import { openTestKernel } from "../../support/kernels.ts";
import { testSeed } from "../../support/seed.ts";

const UNTOUCHED = 0xeeeeeeeeeeeeeeeen;

interface Row {
  readonly href: string;
  readonly host: string;
  readonly status: number;
}

/** URLs whose hosts repeat, differ in one byte, share a prefix or are as long as each other. */
function randomRows(random: Random, count: number): Row[] {
  const hosts = [
    "a",
    "b",
    "example.com",
    "examplf.com",
    "example.com:8080",
    "www.example.com",
    "x".repeat(63),
    `${"x".repeat(62)}y`,
  ];
  return Array.from({ length: count }, () => {
    const host = hosts[random.below(hosts.length)] as string;
    const href = `https://${host}/${"p".repeat(random.below(90))}${random.word()}`;
    return { href, host, status: random.below(6) === 0 ? BATCH_INVALID : 0 };
  });
}

function writeBatch(kernel: Kernel, rows: readonly Row[], secret: Uint8Array): number {
  const batch = regionTake(kernel.region, 4);
  const { u8, u32, buffer } = kernel.region.views;
  const rowsOffset = batch + 4096;
  const hashes = rowsOffset + rows.length * BATCH_ROW_BYTES;
  const header = batch / 4;
  u8.set(secret, batch + 1024);
  u32[header + BATCH_COUNT_WORD] = rows.length;
  u32[header + BATCH_ROWS_OFFSET_WORD] = rowsOffset;
  u32[header + BATCH_HASHES_OFFSET_WORD] = hashes;
  u32[header + BATCH_HOST_HASHES_OFFSET_WORD] = hashes + 8 * rows.length;
  u32[header + BATCH_SECRET_OFFSET_WORD] = batch + 1024;
  u8.fill(0xee, hashes, hashes + 16 * rows.length);
  let text = hashes + 16 * rows.length + 3;
  for (const [i, row] of rows.entries()) {
    const word = (rowsOffset + i * BATCH_ROW_BYTES) / 4;
    buffer.write(row.href, text, "latin1");
    u32[word + ROW_STATUS_WORD] = row.status;
    u32[word + ROW_HREF_OFFSET_WORD] = text;
    u32[word + ROW_HREF_LENGTH_WORD] = row.href.length;
    u32[word + ROW_HOST_START_WORD] = 8;
    u32[word + ROW_HOST_LENGTH_WORD] = row.host.length;
    u32[word + ROW_KEY_OFFSET_WORD] = text;
    u32[word + ROW_KEY_LENGTH_WORD] = row.href.length;
    text += row.href.length;
  }
  return batch;
}

test("hashBatch hashes key and host of each row that is fine, and leaves the others alone", () => {
  const random = createRandom(testSeed("kernel.hash-batch"));
  const secret = Uint8Array.from({ length: 16 }, () => random.word() & 255);
  const rows = randomRows(random, 400);
  for (const flavour of ["debug", "release"] as const) {
    const kernel = openTestKernel(flavour);
    const batch = writeBatch(kernel, rows, secret);
    kernel.exports.hashBatch(batch);
    const { u32, buffer } = kernel.region.views;
    const hashes = u32[batch / 4 + BATCH_HASHES_OFFSET_WORD] as number;
    for (const [i, row] of rows.entries()) {
      const isFine = row.status === 0;
      const key = isFine ? sipHash(Buffer.from(row.href), secret) : UNTOUCHED;
      const host = isFine ? sipHash(Buffer.from(row.host), secret) : UNTOUCHED;
      expect(buffer.readBigUInt64LE(hashes + 8 * i)).toBe(key);
      expect(buffer.readBigUInt64LE(hashes + 8 * (rows.length + i))).toBe(host);
    }
  }
});
