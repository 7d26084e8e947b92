/** pushFrom: a source of any length pushed in slices; what finds no room is pushed again until there is some. */
import type { PlainRequest } from "../../../base/request-types.ts";
import {
  abortOf,
  type PushFromOptions,
  readPushFrom,
  slicesOf,
} from "../../../engine/api/push-from.ts";
import { pushResult } from "../../../engine/intake/push-result.ts";
import { readRequests } from "../../../engine/intake/request-fields.ts";
import type { PushResult, RequestLike } from "../../../engine/types/frontier-types.ts";
import type { PushQueue } from "./push-queue.ts";
import { isFull } from "./request-reader.ts";
import { pause } from "../server/waiting.ts";

const FIRST_WAIT_MS = 20;
const LONGEST_WAIT_MS = 1_000;

type Source = AsyncIterable<RequestLike> | Iterable<RequestLike>;

export async function pushFromSource(
  source: Source,
  options: PushFromOptions,
  queue: PushQueue,
  isClosed: () => boolean,
): Promise<PushResult> {
  const { batch, signal } = readPushFrom(source, options);
  const abort = abortOf(signal);
  const all: number[] = [];
  try {
    for await (const slice of slicesOf(source, batch, abort)) {
      const list = readRequests(slice, undefined);
      const codes = Array.from(await queue.many(list));
      for (let waitMs = FIRST_WAIT_MS; codes.some(isFull) && !isClosed(); ) {
        await abort.race(pause(waitMs));
        waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
        const left = codes.flatMap((code, at) => (isFull(code) ? [at] : []));
        const again = await queue.many(left.map((at) => list[at] as PlainRequest));
        left.forEach((at, index) => {
          codes[at] = again[index] as number;
        });
      }
      for (const code of codes) all.push(code);
      if (isClosed()) break;
    }
  } finally {
    abort.leave();
  }
  return pushResult(Uint8Array.from(all));
}
