/** A URL of a queue as a request of its crawl's frontier, and the name of its hand-out. */
import type { SharedRequest } from "../../engine/api/push-list.ts";
import type { RequestInput } from "../../index.ts";
import { EPOCH_PREFIX } from "./queue-table.ts";
import { leaseName } from "./stored-url.ts";

export type QueueRequest = RequestInput & SharedRequest;

/** The name of a URL's hand-out: the text of the URL itself, which is there, where its queue is its own host's. */
export function nameOf({ url, hostKey }: RequestInput, key: string): string {
  return hostKey === undefined ? url : leaseName(key, url);
}

/** The request of a URL in a queue. Its own host is not named again. */
export function requestOf(
  url: string,
  key: string,
  isPlain: boolean,
  epoch = EPOCH_PREFIX + key,
): QueueRequest {
  const request: QueueRequest = { url, epoch };
  const start = url.indexOf("//") + 2;
  const isOwn =
    isPlain && url.indexOf("/", start) === start + key.length && url.startsWith(key, start);
  if (!isOwn) request.hostKey = key;
  return request;
}
