/**
 * pushFrom to a frontier of another thread: slices of a source that is read here, each sent when the one before was taken there.
 *
 *   source ─▶ slices ── feed ──▶ a pushFrom at the owner's: waits where the frontier is full
 *                └── over, broke, aborted: end or abort ──▶ it resolves with what became of all
 */
import { abortOf, type PushFromOptions, readPushFrom, slicesOf } from "./push-from.ts";
import type { Line } from "./thread-line.ts";
import { type PlainResult, resultOf } from "./thread-protocol.ts";
import { sendableRequests } from "./thread-send.ts";
import type { PushResult, RequestLike } from "./types.ts";

export async function pushFromHere(
  { line, key }: { line: Line; key: number },
  source: AsyncIterable<RequestLike> | Iterable<RequestLike>,
  options: PushFromOptions,
): Promise<PushResult> {
  const { batch, signal } = readPushFrom(source, options);
  const abort = abortOf(signal);
  const tell = (method: string, ...args: unknown[]): Promise<unknown> =>
    line.call({ on: "source", key, method, args }, () =>
      args.map((list) => sendableRequests(list)),
    );
  const result = line.call({ on: "source", key, method: "open", args: [{ batch }] });
  let isOver = false;
  let over: () => void = () => undefined;
  const ended = result
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
      over();
    });
  // Nothing is hung on `ended` for each slice: it outlives them, and would keep what hangs on it.
  const taken = (slice: readonly RequestLike[]): Promise<void> =>
    new Promise((resolve, reject) => {
      over = resolve;
      tell("feed", slice).then(() => resolve(), reject);
      if (isOver) resolve();
    });
  try {
    for await (const slice of slicesOf(source, batch, abort)) {
      await abort.race(taken(slice));
      if (isOver) break; // refused, or closed meanwhile
    }
    void tell("feed", undefined).catch(() => undefined);
    return resultOf((await abort.race(result)) as PlainResult);
  } catch (cause) {
    const isAborted = signal?.aborted === true;
    void tell(isAborted ? "abort" : "feed", undefined).catch(() => undefined);
    // What the source gave before it broke is pushed first.
    if (!isAborted) await abort.race(ended);
    throw cause;
  } finally {
    abort.leave();
  }
}
