/**
 * What may be added to a queue, read into requests: URLs, options, Crawlee's `Request`, lists behind `requestsFromUrl`.
 *
 *   I1  Of requests with one unique key the first of a batch counts; the others are left out, as in Crawlee.
 *   I2  A source that is no request throws REQUEST_INVALID before anything of its batch is added.
 */
import { misuse } from "../../base/errors.ts";
import { isObject } from "../../base/type-guards.ts";
import { loadPackage, type RequestClass } from "./crawlee-packages.ts";
import type { CrawleeRequest, RequestSource } from "./crawlee-types.ts";

interface SourceList {
  requestsFromUrl: string;
  regex?: RegExp;
}

/** Reads a batch; requests that carry no more than a URL are not made into instances. */
export async function readSources(
  sources: Iterable<RequestSource>,
  Request: () => RequestClass,
): Promise<CrawleeRequest[]> {
  const requests = new Map<string, CrawleeRequest>();
  for (const source of sources) {
    if (isSourceList(source)) {
      for (const each of await readList(source)) addTo(requests, readSource(each, Request()));
    } else addTo(requests, readSource(source, Request()));
  }
  return [...requests.values()];
}

function addTo(requests: Map<string, CrawleeRequest>, request: CrawleeRequest): void {
  if (!requests.has(request.uniqueKey)) requests.set(request.uniqueKey, request);
}

function readSource(source: RequestSource, Request: RequestClass): CrawleeRequest {
  if (typeof source === "string") return bareRequest(source, Request);
  if (!isObject(source)) throw misuse("REQUEST_INVALID", "request", source, "a URL or an object");
  const { url, id, uniqueKey } = source as { url?: unknown; id?: unknown; uniqueKey?: unknown };
  if (typeof url !== "string") throw misuse("REQUEST_INVALID", "request.url", url, "a string");
  if (source instanceof Request || isRequest(source)) return source;
  if (id !== undefined)
    throw misuse("REQUEST_INVALID", "request.id", id, "none: the queue sets it");
  if (uniqueKey === undefined && Object.keys(source).length === 1) return bareRequest(url, Request);
  return new Request(source as never);
}

function bareRequest(url: string, Request: RequestClass): CrawleeRequest {
  return { url, uniqueKey: Request.computeUniqueKey({ url, method: "GET" }) };
}

/** An instance of another copy of the class. */
function isRequest(source: object): source is CrawleeRequest {
  return "pushErrorMessage" in source && "uniqueKey" in source;
}

function isSourceList(source: RequestSource): source is SourceList {
  return typeof source === "object" && "requestsFromUrl" in source;
}

async function readList({ requestsFromUrl, regex, ...shared }: SourceList): Promise<object[]> {
  if (typeof requestsFromUrl !== "string") {
    throw misuse("REQUEST_INVALID", "request.requestsFromUrl", requestsFromUrl, "a URL");
  }
  const { downloadListOfUrls } = loadPackage("@crawlee/utils") as {
    downloadListOfUrls(options: { url: string; urlRegExp?: RegExp | undefined }): Promise<string[]>;
  };
  const urls = await downloadListOfUrls({ url: requestsFromUrl, urlRegExp: regex });
  return urls.map((url) => ({ url, ...shared }));
}
