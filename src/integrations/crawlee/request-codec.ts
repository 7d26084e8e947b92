/**
 * RequestCodec: a request of Crawlee's as a request of ours, and back.
 *
 *   field of ours   what it carries
 *   url             its URL
 *   key             its id, so that the unique key alone decides what is a duplicate, as in Crawlee
 *   depth           its crawl depth, for `depthPriority` and `maxDepth` of the rules
 *   data            ""                       the unique key is the URL, everything else is as in a new request
 *                   "<unique key>"           the same, with that key
 *                   [key, url, rest, bytes]  null where it is as above; rest: JSON of the fields that differ; bytes: a binary payload
 *
 *   I1  What is decoded equals what Crawlee's own storage returns: JSON semantics, fields that are null left out.
 *   I2  Data of another shape came from elsewhere (`frontier.push`); it is shown as the request's userData and never written over.
 */
import type { RequestInput } from "../../index.ts";
import type { CrawleeRequest, StoredRequest } from "./crawlee-types.ts";
import { requestId } from "./request-id.ts";

type Packed = string | PackedFields;
type PackedFields = readonly [
  key: string | null,
  url?: string | null,
  rest?: string | null,
  bytes?: Uint8Array,
];

/** Fields that a new request has, or that stand elsewhere in a record. */
const PLAIN: Record<string, (value: unknown) => boolean> = {
  id: () => true,
  url: () => true,
  uniqueKey: () => true,
  method: (value) => value === "GET",
  noRetry: (value) => value === false,
  retryCount: (value) => value === 0,
  errorMessages: isEmptyList,
  headers: isEmptyObject,
  userData: (value) => isEmptyObject(value) && isEmptyObject(internalsOf(value)),
};

/** The request of ours. Throws what `JSON.stringify` throws for data that is no JSON. */
export function encodeRequest(request: CrawleeRequest, id: string): RequestInput {
  const { url } = request;
  const depth = internalsOf(request.userData).crawlDepth;
  const input: RequestInput = { url, key: id, data: packRequest(request) };
  if (typeof depth === "number" && depth > 0) input.depth = Math.floor(depth);
  return input;
}

function packRequest(request: CrawleeRequest): Packed {
  const { url, uniqueKey, payload } = request;
  const visited = visitedUrl(url);
  const key = uniqueKey === visited ? null : uniqueKey;
  const own = url === visited ? null : url;
  const bytes = payload instanceof Uint8Array ? payload : undefined;
  const rest = restOf(request);
  if (own === null && rest === null && bytes === undefined) return key ?? "";
  return bytes === undefined ? [key, own, rest] : [key, own, rest, Uint8Array.from(bytes)];
}

/** The URL that the lease will carry: as the parser writes it, without fragment. */
function visitedUrl(url: string): string {
  if (!URL.canParse(url)) return url;
  const { href } = new URL(url);
  const at = href.indexOf("#");
  return at < 0 ? href : href.slice(0, at);
}

function restOf(request: CrawleeRequest): string | null {
  let rest: Record<string, unknown> | undefined;
  for (const [field, value] of Object.entries(request)) {
    if (value === undefined || value === null || PLAIN[field]?.(value) === true) continue;
    if (field === "payload" && value instanceof Uint8Array) continue;
    rest ??= {};
    rest[field] = value;
  }
  return rest === undefined ? null : JSON.stringify(rest);
}

/** Whether the data of a record were written by `encodeRequest` (I2). */
export function isOwnData(data: unknown): data is Packed {
  return typeof data === "string" || Array.isArray(data);
}

/** The request of Crawlee's that a record stands for. Fields that are as in a new request are left out. */
export function decodeRequest(visited: string, data: unknown, id?: string): StoredRequest {
  if (!isOwnData(data)) return foreignRequest(visited, data);
  if (typeof data === "string") {
    const uniqueKey = data || visited;
    return { id: id ?? requestId(uniqueKey), url: visited, uniqueKey };
  }
  const [key, own, rest, bytes] = data;
  const uniqueKey = key ?? visited;
  const url = own ?? visited;
  const request: StoredRequest = { id: id ?? requestId(uniqueKey), url, uniqueKey };
  if (bytes instanceof Uint8Array) request.payload = Buffer.from(bytes);
  return typeof rest === "string" ? { ...request, ...JSON.parse(rest) } : request;
}

function foreignRequest(url: string, data: unknown): StoredRequest {
  const request: StoredRequest = { id: requestId(url), url, uniqueKey: url };
  if (typeof data === "object" && data !== null) request.userData = { ...data };
  else if (data !== undefined) request.userData = { data };
  return request;
}

/** The same with every field of a new request, as Crawlee's storages return it. */
export function wholeRequest(stored: StoredRequest): StoredRequest {
  const lists = { errorMessages: [], headers: {}, userData: {} };
  return { method: "GET", noRetry: false, retryCount: 0, ...lists, ...stored };
}

/** What Crawlee keeps for itself in a request's userData. */
export function internalsOf(userData: unknown): Record<string, unknown> {
  const internals = (userData as { __crawlee?: unknown } | undefined)?.__crawlee;
  return typeof internals === "object" && internals !== null ? { ...internals } : {};
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isEmptyObject(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  for (const _ in value) return false;
  return true;
}
