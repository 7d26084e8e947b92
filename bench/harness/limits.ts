/**
 * The machine's own limits, measured in the same run as everything else: the reference lines of a chart.
 *
 *   latency     dependent loads in 1 MB … 1 GB of memory: no lookup that must wait for another can be faster
 *   bandwidth   one array of 256 MB copied to another: no work that reads and writes so many bytes can be faster
 *
 * Medians of ROUNDS, in this process; 3 s in all.
 */
import { nowNs } from "./case.ts";
import { createLatencyProbe } from "./latency-probe.ts";
import { medianOf } from "./statistics.ts";

export interface Limits {
  readonly latency: readonly { readonly bytes: number; readonly ns: number }[];
  /** Of a copy: bytes that were read, and as many were written. */
  readonly copyBytesPerNs: number;
}

const ROUNDS = 5;
const LOADS = 400_000;
const MEGABYTES = [1, 8, 64, 256, 1024];
const COPIED_BYTES = 256 * 2 ** 20;

/** `share` of the usual sizes, for a run that only shows that it runs. */
export function measureLimits(share = 1): Limits {
  const latency = MEGABYTES.map((megabytes) => {
    const bytes = Math.max(4096, megabytes * 2 ** 20 * share);
    const { walk } = createLatencyProbe(bytes);
    const loads = Math.ceil(LOADS * share);
    walk(loads);
    return { bytes, ns: median(() => walk(loads)) / loads };
  });
  const size = Math.ceil(COPIED_BYTES * share);
  const source = new Uint8Array(size).fill(1);
  const target = new Uint8Array(size);
  target.set(source);
  const spent = median(() => target.set(source));
  return { latency, copyBytesPerNs: size / spent };
}

function median(work: () => void): number {
  const spent = Array.from({ length: ROUNDS }, () => {
    const start = nowNs();
    work();
    return nowNs() - start;
  });
  return medianOf(spent);
}
