/** URLs of queues as requests of their crawl's frontier. */
import type { NamedUrls } from "../../engine/api/push-list.ts";
import type { RequestInput } from "../../index.ts";
import type { FoundUrl } from "./crawl.ts";
import { EPOCH_PREFIX, type Queue, queueOfHost, type QueueTable } from "./queue-table.ts";
import { reservedOf } from "./reserved-metadata.ts";
import { keyOf } from "./stored-url.ts";
import { carriedUrl, hostEndOf, hostStartOf, packData } from "./url-data.ts";

/** The request of a URL in a queue. Its own host is not named again. */
export function requestOf(
  url: string,
  key: string,
  isPlain: boolean,
  epoch = EPOCH_PREFIX + key,
): RequestInput {
  const request: RequestInput = { url: carriedUrl(url, isPlain), epoch };
  if (!isPlain || !isOwnHost(url, key)) request.hostKey = key;
  return request;
}

/** Whether a queue is that of a plain URL's own host. */
function isOwnHost(url: string, key: string): boolean {
  const start = url.indexOf("//") + 2;
  return url.indexOf("/", start) === start + key.length && url.startsWith(key, start);
}

/** Found URLs as a frontier takes them, without those that no queue can hold. */
export interface FoundRequests extends NamedUrls {
  readonly urls: string[];
  readonly epochs: string[];
  readonly data: unknown[];
  /** Where each of them stood. */
  readonly places: number[];
  /** The queue of each, or its key where there is none yet. */
  readonly queues: Array<Queue | string>;
  /** Those that have more than an epoch and data, by index. */
  readonly others: Map<number, RequestInput>;
}

export function foundRequests(
  found: readonly FoundUrl[],
  table: QueueTable,
  createdAt: number,
): FoundRequests {
  const { queues: known } = table;
  const urls: string[] = [];
  const epochs: string[] = [];
  const data: unknown[] = [];
  const places: number[] = [];
  const queues: Array<Queue | string> = [];
  const others = new Map<number, RequestInput>();
  for (let place = 0; place < found.length; place++) {
    const one = found[place] as FoundUrl;
    const { url } = one;
    const hostEnd = hostEndOf(one);
    const isPlain = hostEnd > 0;
    let queue =
      isPlain && one.key === "" ? queueOfHost(table, url, hostStartOf(url), hostEnd) : undefined;
    const key = queue?.key ?? keyOf(one);
    if (key === undefined) continue;
    const { isWrong, notBefore, priority } = reservedOf(one.metadata);
    if (isWrong) continue;
    queue ??= known.get(key);
    const epoch = queue?.epoch ?? EPOCH_PREFIX + key;
    const packed = packData(one, isPlain, createdAt, 0);
    const isOwn = isPlain && (one.key === "" || isOwnHost(url, key));
    if (!isOwn || priority !== undefined || notBefore !== undefined) {
      const request = requestOf(url, key, isPlain, epoch);
      others.set(urls.length, { ...request, data: packed, priority, notBefore });
    }
    urls.push(url);
    epochs.push(epoch);
    data.push(packed);
    places.push(place);
    queues.push(queue ?? key);
  }
  return { urls, epochs, data, places, queues, others };
}

/** The same as whole requests. */
export function requestsOf({ urls, epochs, data, others }: FoundRequests): RequestInput[] {
  return urls.map(
    (url, at) => others.get(at) ?? { url, epoch: epochs[at] as string, data: data[at] },
  );
}
