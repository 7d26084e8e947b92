/**
 * pushFrom to a frontier of another thread: slices of a source that is read here, each sent when the one before was taken there.
 *
 *   source ─▶ slices ── feed ──▶ a pushFrom at the owner's: waits where the frontier is full
 *                └── over, broke, aborted: end or abort ──▶ it resolves with what became of all
 *
 * A slice that finds the frontier closed is in the result as such: whatever was read from the source is reported.
 */
import { abortOf, type PushFromOptions, readPushFrom, slicesOf } from "../api/push-from.ts";
import type { CallChannel } from "./call-channel.ts";
import { type PlainResult, resultOf, withClosed } from "./thread-messages.ts";
import { listWithoutUrls } from "../intake/request-fields.ts";
import { sendableRequests } from "./sendable-requests.ts";
import type { PushResult, RequestLike } from "../types/frontier-types.ts";

export async function pushFromThread(
  { channel, key }: { channel: CallChannel; key: number },
  source: AsyncIterable<RequestLike> | Iterable<RequestLike>,
  options: PushFromOptions,
): Promise<PushResult> {
  const { batch, signal } = readPushFrom(source, options);
  channel.need();
  const abort = abortOf(signal);
  const call = (method: string, ...args: unknown[]): Promise<unknown> =>
    channel.call({ on: "source", key, method, args }, () =>
      args.map((list) => sendableRequests(list)),
    );
  const result = channel.call({ on: "source", key, method: "open", args: [{ batch }] });
  let isOver = false;
  // Nothing is hung on it for each slice: it outlives them, and would keep what hangs on it.
  result
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  let closedCount = 0;
  try {
    for await (const slice of slicesOf(source, batch, abort)) {
      const isTaken = await abort.race(call("feed", listWithoutUrls(slice)));
      if (isTaken !== true) closedCount = slice.length;
      if (isTaken !== true || isOver) break; // refused, or closed meanwhile
    }
    void call("feed", undefined).catch(() => undefined);
    return resultOf(withClosed((await abort.race(result)) as PlainResult, closedCount));
  } catch (cause) {
    const isAborted = signal?.aborted === true;
    void call(isAborted ? "abort" : "feed", undefined).catch(() => undefined);
    // What the source returned before it failed is pushed first; an error of that push comes first as well.
    if (!isAborted) await abort.race(result);
    throw cause;
  } finally {
    abort.leave();
  }
}
