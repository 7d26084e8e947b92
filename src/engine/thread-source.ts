/**
 * pushFrom to a frontier of another thread: slices of a source that is read here, each sent when the one before was taken there.
 *
 *   source ─▶ slices ── feed ──▶ a pushFrom at the owner's: waits where the frontier is full
 *                └── over, broke, aborted: end or abort ──▶ it resolves with what became of all
 */
import { abortOf, type PushFromOptions, race, readPushFrom, slicesOf } from "./push-from.ts";
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
  const ended = result
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  try {
    for await (const slice of slicesOf(source, batch, abort.promise)) {
      await race(Promise.race([tell("feed", slice), ended]), abort.promise);
      if (isOver) break; // refused, or closed meanwhile
    }
    void tell("feed", undefined).catch(() => undefined);
    return resultOf((await race(result, abort.promise)) as PlainResult);
  } catch (cause) {
    const isAborted = signal?.aborted === true;
    void tell(isAborted ? "abort" : "feed", undefined).catch(() => undefined);
    // What the source gave before it broke is pushed first.
    if (!isAborted) await race(ended, abort.promise);
    throw cause;
  } finally {
    abort.leave();
  }
}
