/**
 * Buffers of a frontier's snapshots: each snapshot reuses those of the one before. Only the first allocates memory, and none makes
 * garbage that grows with it: the runtime answers some MB of new buffers with collections in the middle of a slice.
 *
 *   free buffers ─ taken ─▶ filled ─▶ written ─▶ free again          columns ─▶ rows added ─▶ section ─▶ empty again
 *
 *   I1  One snapshot at a time uses the buffers.
 */
import type { Core } from "../../frontier/core.ts";
import { createSectionBuffer, type SectionBuffer } from "./section-buffer.ts";
import { type Columns, clearColumns, createColumns } from "./snapshot-columns.ts";

/** Bytes written at once: the system writes them about as fast as the thread produces them. */
export const WRITE_BYTES = 1024 * 1024;
/** Room for the content when the last section begins, and for most sections. */
const BUFFER_BYTES = WRITE_BYTES + 256 * 1024;
/** Buffers kept: one being filled, one being written, one between them, and one more for the rest of a slice. */
const KEPT_MAX = 4;

export interface SnapshotBuffers {
  readonly free: SectionBuffer[];
  /** Columns of live records; before them of hosts and groups. */
  readonly live: Columns;
  readonly finished: Columns;
  /** Columns of hosts that come back from disk, or are copied there, meanwhile. */
  readonly returned: Columns;
}

export function createSnapshotBuffers(core: Core): SnapshotBuffers {
  const [live, finished, returned] = [
    createColumns(core),
    createColumns(core),
    createColumns(core),
  ];
  return { free: [], live, finished, returned };
}

/** Empties the columns: an interrupted snapshot may have left rows in them. */
export function clearBuffers({ live, finished, returned }: SnapshotBuffers): void {
  clearColumns(returned);
  clearColumns(live);
  clearColumns(finished);
}

export function takeBuffer(free: SectionBuffer[]): SectionBuffer {
  return free.pop() ?? createSectionBuffer(BUFFER_BYTES);
}

/** Returns a buffer for reuse. One that grew for a large section is not kept. */
export function giveBuffer(free: SectionBuffer[], buffer: SectionBuffer): void {
  buffer.used = 0;
  if (free.length < KEPT_MAX && buffer.bytes.length === BUFFER_BYTES) free.push(buffer);
}
