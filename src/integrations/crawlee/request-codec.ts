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
 *                   […, true]                the request lacked fields of a new one; rest: JSON of all that it had
 *
 *   I1  What is decoded equals what Crawlee's own storage returns: JSON semantics, fields that are null left out.
 *       Storages return a request that lacked fields without them: a client adds what its caller passes, not a `Request`.
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
  bytes?: Uint8Array | null,
  isSparse?: true,
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

/** What a new request has beside its URL and its key. */
const newFields = (): Partial<CrawleeRequest> => ({
  method: "GET",
  noRetry: false,
  retryCount: 0,
  errorMessages: [],
  headers: {},
  userData: {},
});
const NEW_FIELDS = Object.keys(newFields());

/** The request of ours, with `keepsShape` also which fields it lacked (I1). Throws what `JSON.stringify` throws for data that is no JSON. */
export function encodeRequest(
  request: CrawleeRequest,
  id: string,
  keepsShape = false,
): RequestInput {
  const { url } = request;
  const depth = internalsOf(request.userData).crawlDepth;
  const input: RequestInput = { url, key: id, data: packRequest(request, keepsShape) };
  if (typeof depth === "number" && depth > 0) input.depth = Math.floor(depth);
  return input;
}

function packRequest(request: CrawleeRequest, keepsShape: boolean): Packed {
  const { url, uniqueKey, payload } = request;
  const visited = visitedUrl(url);
  const key = uniqueKey === visited ? null : uniqueKey;
  const own = url === visited ? null : url;
  const bytes = payload instanceof Uint8Array ? payload : undefined;
  const isSparse =
    keepsShape && NEW_FIELDS.some((field) => request[field as "method"] === undefined);
  const rest = restOf(request, isSparse);
  const copy = bytes && Uint8Array.from(bytes);
  if (isSparse) return [key, own, rest, copy ?? null, isSparse];
  if (own === null && rest === null && bytes === undefined) return key ?? "";
  return copy === undefined ? [key, own, rest] : [key, own, rest, copy];
}

/** The URL that the lease will carry: as the parser writes it, without fragment. */
function visitedUrl(url: string): string {
  if (!URL.canParse(url)) return url;
  const { href } = new URL(url);
  const at = href.indexOf("#");
  return at < 0 ? href : href.slice(0, at);
}

function restOf(request: CrawleeRequest, isSparse: boolean): string | null {
  let rest: Record<string, unknown> | undefined;
  for (const [field, value] of Object.entries(request)) {
    if (value === undefined || value === null) continue;
    if (PLAIN[field]?.(value) === true && !(isSparse && NEW_FIELDS.includes(field))) continue;
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

/** The same with the fields that it had when it was encoded with `keepsShape`. */
export function decodeShaped(visited: string, data: unknown, id?: string): StoredRequest {
  const stored = decodeRequest(visited, data, id);
  return Array.isArray(data) && data[4] === true ? stored : wholeRequest(stored);
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
  return { ...newFields(), ...stored };
}

/** What Crawlee keeps for itself in a request's userData. */
function internalsOf(userData: unknown): Record<string, unknown> {
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
