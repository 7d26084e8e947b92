/** URLs of the protocol as records of a frontier, and back: what every crawl needs, whichever frontier holds it. */
import type { RecordView } from "../../index.ts";
import type { FoundUrl, StoredUrl } from "./crawl.ts";
import { KEY_LENGTH_MAX, missingKey } from "./missing-key.ts";
import { hostStartOf, unpackData } from "./url-data.ts";

/** Latest second that a frontier takes as a time. */
export const SECONDS_MAX = 8_000_000_000_000;
/** Records read before other calls have their turn. */
export const SCAN_RECORDS = 500;
export function isPut(status: string): boolean {
  return status === "done" || status === "pending" || status === "waiting";
}

/** The key of a URL's queue; undefined: no queue can hold it. */
export function keyOf({ hostEnd = 0, key, url }: FoundUrl): string | undefined {
  if (url === "") return undefined;
  const named =
    key !== "" ? key : hostEnd === 0 ? missingKey(url) : url.slice(hostStartOf(url), hostEnd);
  return named === undefined || named.length > KEY_LENGTH_MAX ? undefined : named;
}

/** Above the priority of every URL without one, for any second from 1970 to the year 2242. */
const PAST_PRIORITY = 2 ** 33;

/**
 * A URL whose date lies before the crawl goes before all others of its queue, the oldest date first, as if it had come then. A later
 * date that has passed is now.
 */
export function pastPriority(due: number, crawlBegan: number): { priority?: number } {
  return due > 0 && due < crawlBegan ? { priority: PAST_PRIORITY - due } : {};
}

/** Its first line is the key's length: keys and URLs may have line breaks too. */
export function leaseName(key: string, url: string): string {
  return `${key.length}\n${key}${url}`;
}

export function storedOf(key: string, url: string, data: unknown): StoredUrl {
  if (typeof data === "number") {
    return { url, key, metadata: undefined, createdAt: data, refetchAt: data };
  }
  const { createdAt, due, metadata, url: sent } = unpackData(data);
  return { url: sent ?? url, key, metadata, createdAt, refetchAt: due === 0 ? createdAt : due };
}

export function viewOf(view: RecordView, key: string, url: string): StoredUrl {
  const stored = storedOf(key, url, view.data);
  return view.state === "done" ? { ...stored, refetchAt: 0 } : stored;
}
