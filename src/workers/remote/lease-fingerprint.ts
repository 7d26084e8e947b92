/** Fingerprinter: computes the 128-bit fingerprint of a lease in the worker's own kernel, on first access. */
import {
  createKernel,
  type KernelModule,
  type Kernel,
  kernelGive,
  kernelTake,
} from "../../kernel/kernel.ts";
import { REGION_PAGE_BYTES } from "../../layout/memory/region.ts";
import { batchOne, createUrlBatch } from "../../url/batch/url-batch.ts";
import type { UrlBatch } from "../../url/batch/batch-memory.ts";
import { batchString } from "../../url/batch/batch-strings.ts";
import { identityBytes } from "../../url/keys/identity-bytes.ts";
import { BATCH_OK } from "../../url/batch/row-fields.ts";
import type { CrewHandle } from "../protocol/shared-memory.ts";
import type { WorkerLease } from "./worker-lease.ts";

export type Fingerprinter = (lease: WorkerLease) => string;

const PRINT_BYTES = 16;

export function createFingerprinter(handle: CrewHandle): Fingerprinter {
  let kernel: Kernel | undefined;
  let batch: UrlBatch | undefined;
  return (lease) => {
    const { policy } = handle;
    if (policy === undefined) return "";
    kernel ??= createKernel(handle.kernel as KernelModule);
    batch ??= createUrlBatch(kernel, { maxUrlBytes: handle.maxUrlBytes });
    const isKeyed = batchOne(batch, [lease.url], policy) === BATCH_OK;
    const key = isKeyed ? batchString(batch, 0, "key") : lease.url;
    const { method, body, headers } = lease;
    const request = {
      method,
      ...(body === undefined ? {} : { body }),
      ...(headers === undefined ? {} : { headers }),
    };
    return print(kernel, identityBytes(key, request, policy));
  };
}

function print(kernel: Kernel, bytes: Uint8Array): string {
  const pages = Math.ceil((bytes.length + PRINT_BYTES) / REGION_PAGE_BYTES);
  const place = kernelTake(kernel, pages);
  kernel.region.views.u8.set(bytes, place + PRINT_BYTES);
  kernel.exports.fingerprint128(place + PRINT_BYTES, bytes.length, place);
  const text = kernel.region.views.buffer.toString("hex", place, place + PRINT_BYTES);
  kernelGive(kernel, place, pages);
  return text;
}
