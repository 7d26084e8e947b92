/** Fingerprint printer: fingerprints as 32 hex digits, made by a kernel. It keeps one page for requests of usual size. */
import { FINGERPRINT_BYTES } from "../../layout/seen/fingerprint.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { type Kernel, kernelGive, kernelTake } from "../../kernel/kernel.ts";
import { type Rows, rowKeyLength, rowKeyOffset } from "../batch/row-fields.ts";

/** Writes the fingerprint of a row's key, 16 bytes, to `out`. */
export function printRowKey(rows: Rows, row: number, out: number): void {
  rows.kernel.exports.fingerprint128(rowKeyOffset(rows, row), rowKeyLength(rows, row), out);
}

/** BLAKE2b-128 of identity bytes. */
export type Printer = (bytes: Uint8Array) => string;

export function createPrinter(kernel: Kernel): Printer {
  let page = 0;
  return (bytes) => {
    const pages = Math.ceil((bytes.length + FINGERPRINT_BYTES) / REGION_PAGE_BYTES);
    if (pages === 1 && page === 0) page = kernelTake(kernel, 1);
    const place = pages === 1 ? page : kernelTake(kernel, pages); // a large body: freed below
    kernel.region.views.u8.set(bytes, place + FINGERPRINT_BYTES);
    kernel.exports.fingerprint128(place + FINGERPRINT_BYTES, bytes.length, place);
    const text = kernel.region.views.buffer.toString("hex", place, place + FINGERPRINT_BYTES);
    if (place !== page) kernelGive(kernel, place, pages);
    return text;
  };
}
