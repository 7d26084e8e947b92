/**
 * The data of a URL in its frontier: all that the protocol keeps and a record does not.
 *
 *   data = createdAt                                       a plain URL without metadata
 *        | [createdAt, metadata | null, url | null, due]   the URL where its parsed form differs; due in seconds, 0: none
 */
import type { FoundUrl } from "./crawl.ts";

export interface UrlData {
  readonly createdAt: number;
  readonly metadata: Uint8Array | undefined;
  /** The URL as it was sent, where a parser would change it. */
  readonly url: string | undefined;
  /** When a client wants it again, in seconds since 1970; 0: at once. */
  readonly due: number;
}

const NOTHING: UrlData = { createdAt: 0, metadata: undefined, url: undefined, due: 0 };

/** Scheme, host, and a path and a query of characters that every parser leaves alone; from ( to ; are digits and ()*+,-./: too. */
const PLAIN =
  /^https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]+\/[!$&(-;=@-Z_a-z~]*(?:\?[!$%&(-;=?-Z_a-z~]*)?$/;

/** Whether a URL parser returns this text unchanged. May be false where it would. */
export function isPlainUrl(url: string): boolean {
  return PLAIN.test(url) && !url.includes("/.");
}

export function packData(url: FoundUrl, isPlain: boolean, createdAt: number, due: number): unknown {
  if (url.metadata === undefined && isPlain && due === 0) return createdAt;
  return packWhole(url, isPlain, createdAt, due);
}

/** The long form, whose shape differs from what other programs keep. */
export function packWhole(
  { metadata, url }: FoundUrl,
  isPlain: boolean,
  createdAt: number,
  due: number,
): unknown {
  return [createdAt, metadata ?? null, isPlain ? null : url, due];
}

/** Whether data are ours, in the long form. */
export function isWhole(data: unknown): boolean {
  if (!Array.isArray(data) || data.length !== 4) return false;
  const [createdAt, metadata, url, due] = data as unknown[];
  return (
    typeof createdAt === "number" &&
    (metadata === null || metadata instanceof Uint8Array) &&
    (url === null || typeof url === "string") &&
    typeof due === "number"
  );
}

/** Whether data are the same in every byte. */
export function isSameData(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  if (one.length !== other.length) return false;
  return one.every((field: unknown, at) => {
    const beside: unknown = other[at];
    if (!(field instanceof Uint8Array) || !(beside instanceof Uint8Array)) return field === beside;
    return Buffer.compare(field, beside) === 0;
  });
}

/** Whether data are those of this URL as it is, finished or not due. */
export function isSameUrl(data: unknown, url: FoundUrl, isPlain: boolean): boolean {
  return isSameData(data, packData(url, isPlain, unpackData(data).createdAt, 0));
}

/** What another program pushed has no data of ours. */
export function unpackData(data: unknown): UrlData {
  if (typeof data === "number") return { ...NOTHING, createdAt: data };
  if (!Array.isArray(data) || data.length !== 4) return NOTHING;
  const [createdAt, metadata, url, due] = data as unknown[];
  return {
    createdAt: typeof createdAt === "number" ? createdAt : 0,
    metadata: metadata instanceof Uint8Array ? metadata : undefined,
    url: typeof url === "string" ? url : undefined,
    due: typeof due === "number" ? due : 0,
  };
}
