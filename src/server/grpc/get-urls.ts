/**
 * Streams that send URLs: GetURLs and ListURLs. What is sent waits for the client: no more is leased or read than one
 * chunk ahead of what the client takes.
 */
import type { Crawl, StoredUrl, UrlsAsked } from "../crawls/crawl.ts";
import { crawlIdOf } from "../crawls/missing-key.ts";
import { CallError, callErrorOf, INVALID_ARGUMENT, UNIMPLEMENTED } from "./call-errors.ts";
import type { Calls } from "./calls.ts";
import {
  framed,
  type GetParams,
  readGetParams,
  readListUrls,
  urlInfoFrames,
  urlItemBytes,
} from "./messages.ts";
import type { RpcStream } from "./rpc-stream.ts";

const DELAY_DEFAULT = 30;
const LIST_SIZE_DEFAULT = 100;

export function getUrls(calls: Calls, stream: RpcStream): void {
  answered(calls, "GetURLs", stream, async (request) => {
    if (calls.isClosing() || !(await calls.registry.isActive())) return;
    const startedAt = calls.clock.monotonic();
    calls.metrics.getCalls++;
    await serve(calls, stream, readGetParams(request));
    calls.metrics.countGet(calls.clock.monotonic() - startedAt);
  });
}

/**
 * Runs the work of one request and ends the stream; what it throws becomes the stream's status, and is a fault of the call `name` unless the
 * request was wrong.
 */
export function answered(
  calls: Calls,
  name: string,
  stream: RpcStream,
  work: (request: Buffer) => Promise<void>,
): void {
  let request: Buffer | undefined;
  const refuse = (): void => stream.fail(new CallError(UNIMPLEMENTED, "one request is needed"));
  stream.start({
    onMessages() {
      for (let reader = stream.take(); reader !== undefined; reader = stream.take()) {
        if (request !== undefined) return refuse();
        request = reader.bytes.subarray(reader.at, reader.end);
      }
      stream.allTaken();
    },
    onEnd() {
      if (request === undefined) return refuse();
      work(request).then(
        () => stream.end(),
        (cause) => {
          const error = callErrorOf(cause);
          if (error !== cause && error.code !== INVALID_ARGUMENT) calls.fault(name, cause);
          stream.fail(error);
        },
      );
    },
  });
}

async function serve(calls: Calls, stream: RpcStream, params: GetParams): Promise<void> {
  const { key, queuesMax, crawlID } = params;
  const isGone = (): boolean => !stream.isOpen;
  const asked: UrlsAsked = {
    urlsMax: params.urlsMax === 0 ? Number.MAX_SAFE_INTEGER : params.urlsMax,
    delay: params.delay === 0 ? DELAY_DEFAULT : params.delay,
    isGone,
  };
  const sendOf = (crawl: Crawl) => (urls: readonly StoredUrl[]) =>
    send(calls, stream, crawl.id, urls);
  if (key !== "") {
    // A queue is one only within a crawl.
    const crawl = crawlID === undefined ? undefined : await calls.registry.find(crawlIdOf(crawlID));
    if (crawl !== undefined) await crawl.serveQueue(key, asked, sendOf(crawl));
    return;
  }
  const crawls =
    crawlID === undefined ? await calls.rotated() : [await calls.registry.find(crawlIdOf(crawlID))];
  let left = queuesMax === 0 ? Number.MAX_SAFE_INTEGER : queuesMax;
  for (const crawl of crawls) {
    if (left === 0 || isGone()) return;
    if (crawl !== undefined) left -= await crawl.serveQueues(left, asked, sendOf(crawl));
  }
}

/** Writes URLs; a promise where the client has to read first. */
function send(
  calls: Calls,
  stream: RpcStream,
  crawlID: string,
  urls: readonly StoredUrl[],
): Promise<void> | undefined {
  calls.metrics.urlsSent += urls.length;
  return stream.send(urlInfoFrames(urls, crawlID)) ? undefined : stream.drained();
}

export function listUrls(calls: Calls, stream: RpcStream): void {
  answered(calls, "ListURLs", stream, async (request) => {
    const { start, size, key, crawlID, filter, ignoreCase } = readListUrls(request);
    const crawl = await calls.registry.find(crawlIdOf(crawlID));
    if (crawl === undefined) return;
    const end = start + (size === 0 ? LIST_SIZE_DEFAULT : size);
    let place = 0;
    for await (const url of crawl.urls({ key, text: filter, ignoreCase })) {
      if (!stream.isOpen || place >= end) return;
      if (place++ < start) continue;
      if (!stream.send(framed(urlItemBytes({ ...url, crawlID: crawl.id })))) await stream.drained();
    }
  });
}
