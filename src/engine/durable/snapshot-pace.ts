/**
 * SnapshotPace: whether a call runs slices of the snapshot under way.
 *
 * A slice runs in each turn of the event loop. A program that makes many calls in a turn would let the journal grow by more than what the
 * snapshot is to save, so its calls run slices too.
 *
 *   I1  The snapshot has BYTES_FOR_BYTE bytes for each byte that the journal has grown by since it began, less a lead of the journal.
 *   I2  A call runs at most one slice, and one more for each SLICE_JOURNAL_BYTES that were logged since the last check.
 */
import type { Slices } from "../../persistence/snapshot/write-snapshot.ts";

const BYTES_FOR_BYTE = 2;
export const PACE_LEAD_BYTES: number = 2 * 1024 * 1024;
const SLICE_JOURNAL_BYTES = 64 * 1024;

export class SnapshotPace {
  readonly #leadBytes: number;
  #slices: Slices | undefined;
  #from = 0;
  #lookedAt = 0;

  constructor(leadBytes: number) {
    this.#leadBytes = leadBytes;
  }

  /** `total`: bytes of the journal so far, as in the other calls. */
  begin(slices: Slices, total: number): void {
    this.#slices = slices;
    this.#from = this.#lookedAt = total;
  }

  end(): void {
    this.#slices = undefined;
  }

  /** At the end of a call, when everything is at its place. */
  keep(total: number): void {
    const slices = this.#slices;
    if (slices === undefined) return;
    let left = 1 + (total - this.#lookedAt) / SLICE_JOURNAL_BYTES;
    this.#lookedAt = total;
    const due = BYTES_FOR_BYTE * (total - this.#from - this.#leadBytes);
    while (left-- >= 1 && slices.bytes < due && slices.run());
  }
}
