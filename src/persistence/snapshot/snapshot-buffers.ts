/**
 * Buffers of a frontier's snapshots: what one has made, the next one uses again. Only the first makes memory, and none makes garbage
 * that grows with it: the runtime answers some MB of new buffers with collections in the middle of a slice.
 *
 *   free buffers ─ taken ─▶ filled ─▶ written ─▶ free again          columns ─▶ rows added ─▶ section ─▶ empty again
 *
 *   I1  One snapshot at a time uses it.
 */
import type { Core } from "../../frontier/core.ts";
import { createSectionBuffer, type SectionBuffer } from "./section-buffer.ts";
import { type Columns, clearColumns, createColumns } from "./snapshot-columns.ts";

/** Bytes written at once: that many take the system as long as the thread takes to make them. */
export const WRITE_BYTES = 1024 * 1024;
/** A buffer has room for what stands in it when the last section begins, and for most sections. */
const BUFFER_BYTES = WRITE_BYTES + 256 * 1024;
/** Buffers kept: one being filled, one being written, one between them, and what a slice makes beyond. */
const KEPT_MAX = 4;

export interface SnapshotBuffers {
  readonly free: SectionBuffer[];
  /** Of live records; before them of hosts and groups. */
  readonly live: Columns;
  readonly finished: Columns;
}

export function createSnapshotBuffers(core: Core): SnapshotBuffers {
  return { free: [], live: createColumns(core), finished: createColumns(core) };
}

/** Empty again, whatever the snapshot before has left: it may have been broken off. */
export function clearBuffers({ live, finished }: SnapshotBuffers): void {
  clearColumns(live);
  clearColumns(finished);
}

export function takeBuffer(free: SectionBuffer[]): SectionBuffer {
  return free.pop() ?? createSectionBuffer(BUFFER_BYTES);
}

/** One that grew for a great section is not kept. */
export function giveBuffer(free: SectionBuffer[], buffer: SectionBuffer): void {
  buffer.used = 0;
  if (free.length < KEPT_MAX && buffer.bytes.length === BUFFER_BYTES) free.push(buffer);
}
