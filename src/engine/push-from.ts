/** pushFrom: a source of any length pushed in slices, waiting where the frontier is full. */
import { misuse } from "../base/errors.ts";
import { VERDICT_CLOSED, VERDICT_FULL, VERDICT_FULL_MEMORY, VERDICTS } from "../frontier/verdict.ts";
import type { Life } from "./life.ts";
import { pushResult } from "./push-result.ts";
import type { Frontier, PushResult, RequestLike } from "./types.ts";

/** Requests of one slice: under a millisecond of work at the speed of a batch. */
const BATCH = 1_000;

/** Verdict codes of all slices so far. */
interface Codes {
  bytes: Uint8Array;
  count: number;
}

export async function pushFrom(
  frontier: Frontier,
  life: Life,
  source: AsyncIterable<RequestLike> | Iterable<RequestLike>,
  options: { batch?: number; signal?: AbortSignal },
): Promise<PushResult> {
  const { batch = BATCH, signal } = options;
  if (!(Number.isSafeInteger(batch) && batch > 0)) {
    throw misuse("ARGUMENT_INVALID", "batch", batch, "a whole number of at least 1");
  }
  if (!isSource(source)) {
    throw misuse("ARGUMENT_INVALID", "source", source, "an iterable or async iterable of requests");
  }
  const codes: Codes = { bytes: new Uint8Array(batch), count: 0 };
  life.sources++;
  try {
    let slice: RequestLike[] = [];
    for await (const request of source) {
      slice.push(request);
      if (slice.length < batch) continue;
      await pushSlice(frontier, life, { slice, codes, signal });
      slice = [];
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await pushSlice(frontier, life, { slice, codes, signal });
  } finally {
    life.sources--;
    life.end(life.clock.now());
  }
  return pushResult(codes.bytes.subarray(0, codes.count));
}

interface Work {
  slice: RequestLike[];
  codes: Codes;
  signal: AbortSignal | undefined;
}

/** Pushes a slice; what did not fit is pushed again when there is room, in its order. */
async function pushSlice(frontier: Frontier, life: Life, work: Work): Promise<void> {
  let { slice } = work;
  const places = keep(work.codes, slice.length);
  let at = slice.map((_, index) => places + index);
  while (slice.length > 0) {
    work.signal?.throwIfAborted();
    const result = frontier.pushMany(slice);
    const left: number[] = [];
    for (let index = 0; index < slice.length; index++) {
      const code = VERDICTS.indexOf(result.verdict(index));
      work.codes.bytes[at[index] as number] = code;
      if (code === VERDICT_FULL || code === VERDICT_FULL_MEMORY) left.push(index);
    }
    if (left.length === 0 || life.isClosed) return;
    slice = left.map((index) => slice[index] as RequestLike);
    at = left.map((index) => at[index] as number);
    await waitForRoom(life, work.signal);
  }
}

async function waitForRoom(life: Life, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const room = life.room();
  if (signal === undefined) return room;
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
  });
  try {
    await Promise.race([room, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  }
}

function keep(codes: Codes, count: number): number {
  const start = codes.count;
  codes.count += count;
  if (codes.count > codes.bytes.length) {
    const bytes = new Uint8Array(Math.max(codes.count, codes.bytes.length * 2));
    bytes.set(codes.bytes);
    codes.bytes = bytes;
  }
  codes.bytes.fill(VERDICT_CLOSED, start, codes.count);
  return start;
}

function isSource(source: unknown): boolean {
  if (typeof source !== "object" || source === null) return false;
  return Symbol.asyncIterator in source || Symbol.iterator in source;
}
