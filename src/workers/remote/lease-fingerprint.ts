/** Fingerprinter: computes the 128-bit fingerprint of a lease in the worker's own kernel, on first access. */
import { createKernel, type KernelModule } from "../../kernel/kernel.ts";
import { batchOne, createUrlBatch } from "../../url/batch/url-batch.ts";
import type { UrlBatch } from "../../url/batch/batch-memory.ts";
import { batchString } from "../../url/batch/batch-strings.ts";
import { createPrinter, type Printer } from "../../url/keys/fingerprint-printer.ts";
import { identityBytes } from "../../url/keys/identity-bytes.ts";
import { BATCH_OK } from "../../url/batch/row-fields.ts";
import type { CrewHandle } from "../protocol/shared-memory.ts";
import type { WorkerLease } from "./worker-lease.ts";

export type Fingerprinter = (lease: WorkerLease) => string;

export function createFingerprinter(handle: CrewHandle): Fingerprinter {
  let print: Printer | undefined;
  let batch: UrlBatch | undefined;
  return (lease) => {
    const { policy } = handle;
    if (policy === undefined) return "";
    batch ??= createUrlBatch(createKernel(handle.kernel as KernelModule), {
      maxUrlBytes: handle.maxUrlBytes,
    });
    print ??= createPrinter(batch.area.kernel);
    const isKeyed = batchOne(batch, [lease.url], policy) === BATCH_OK;
    const key = isKeyed ? batchString(batch, 0, "key") : lease.url;
    const { method, body, headers } = lease;
    const request = {
      method,
      ...(body === undefined ? {} : { body }),
      ...(headers === undefined ? {} : { headers }),
    };
    return print(identityBytes(key, request, policy));
  };
}
