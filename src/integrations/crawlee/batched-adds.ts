/**
 * Batched adds: requests from an iterable, batch by batch. The first batch is added when the call resolves; the others follow in the
 * background.
 *
 *   I1  With `maxNewRequests` no batch is larger than what is left of it, and all are waited for: what exceeds it is returned.
 *   I2  The source is read no further than is added, so that a source of any length costs one batch of memory.
 */
import { after } from "../../base/clock.ts";
import { count, type Fields, kind, MILLISECONDS } from "../../base/fields.ts";
import type {
  BatchedOptions,
  BatchedResult,
  ProcessedRequest,
  RequestSource,
} from "./crawlee-types.ts";

export type AddBatch = (batch: RequestSource[]) => Promise<ProcessedRequest[]>;

const BATCH = 1_000;

type Sizes = Pick<BatchedOptions, "batchSize" | "waitBetweenBatchesMillis" | "maxNewRequests">;
const SIZES: Fields<Sizes> = {
  batchSize: count(1),
  waitBetweenBatchesMillis: MILLISECONDS,
  maxNewRequests: kind(
    "a number of at least 0",
    (value) => typeof value === "number" && value >= 0,
  ),
};

/** Throws ARGUMENT_INVALID. With a size that is no number, a batch would be empty without an error. */
function checkSizes(options: BatchedOptions): void {
  for (const [name, read] of Object.entries(SIZES)) {
    const value: unknown = options[name as keyof Sizes];
    if (value !== undefined) read(value, `options.${name}`, "ARGUMENT_INVALID");
  }
}

export async function addInBatches(
  sources: Iterable<RequestSource> | AsyncIterable<RequestSource>,
  options: BatchedOptions,
  addBatch: AddBatch,
): Promise<BatchedResult> {
  checkSizes(options);
  const reader = readerOf(sources);
  const { batchSize = BATCH, waitBetweenBatchesMillis = 0, maxNewRequests } = options;
  let left = maxNewRequests ?? Number.POSITIVE_INFINITY;
  const next = async (): Promise<ProcessedRequest[] | undefined> => {
    const batch = await readBatch(reader, Math.min(batchSize, left));
    if (batch.length === 0) return undefined;
    const added = await addBatch(batch);
    left -= added.reduce((sum, { wasAlreadyPresent }) => sum + (wasAlreadyPresent ? 0 : 1), 0);
    return added;
  };
  const addedRequests = (await next()) ?? [];
  const rest = addRest(next, waitBetweenBatchesMillis);
  // A caller that does not wait for the rest finds its error in isFinished().
  rest.catch(() => undefined);
  const result = { addedRequests, waitForAllRequestsToBeAdded: rest };
  if (maxNewRequests === undefined && !options.waitForAllRequestsToBeAdded) return result;
  for (const each of await rest) addedRequests.push(each);
  const over = maxNewRequests === undefined ? [] : await readBatch(reader, Infinity);
  const requestsOverLimit = over.map((each) => (typeof each === "string" ? { url: each } : each));
  return { ...result, requestsOverLimit };
}

async function addRest(
  next: () => Promise<ProcessedRequest[] | undefined>,
  pauseMs: number,
): Promise<ProcessedRequest[]> {
  const all: ProcessedRequest[] = [];
  for (let added = await next(); added !== undefined; added = await next()) {
    for (const each of added) all.push(each);
    await new Promise<void>((resolve) => {
      after(pauseMs, resolve);
    });
  }
  return all;
}

type Reader = {
  next(): PromiseLike<IteratorResult<RequestSource>> | IteratorResult<RequestSource>;
};

function readerOf(sources: Iterable<RequestSource> | AsyncIterable<RequestSource>): Reader {
  if (Symbol.asyncIterator in sources) return sources[Symbol.asyncIterator]();
  return sources[Symbol.iterator]();
}

async function readBatch(reader: Reader, most: number): Promise<RequestSource[]> {
  const batch: RequestSource[] = [];
  while (batch.length < most) {
    const step = reader.next();
    const { done, value } =
      step instanceof Promise ? await step : (step as IteratorResult<RequestSource>);
    if (done) break;
    batch.push(value);
  }
  return batch;
}
