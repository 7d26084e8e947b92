/**
 * One request on the wire: headers and a bounded body as they come, ended by whichever is first of the answer's end, enough
 * bytes, an unwanted type, the time limit, the caller's signal and a fault.
 *
 *   I1  Settled once: what the connection reports after that changes nothing.
 *   I2  Whatever ends it early also ends the connection, so that nothing more is read.
 *   I3  204 and 304 are complete with their headers: bytes after them belong to no answer. A 204 that announces a body ends its
 *       connection, where that body could arrive later as the beginning of the next answer.
 */
import type { Dispatcher } from "undici";
import type { Clock } from "../../base/clock.ts";
import { DownloadError, downloadError } from "./download-error.ts";
import type { Download, DownloadRequest } from "../module-registry.ts";

export interface RawDownload {
  readonly status: number;
  /** The text after the status in the status line. */
  readonly statusText: string;
  readonly headers: Download["headers"];
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly Buffer[];
  readonly body: Buffer;
  readonly bytes: number;
  readonly isTruncated: boolean;
  readonly isSkipped: boolean;
  readonly latencyMs: number;
}

interface Fetching {
  readonly agent: Dispatcher;
  readonly clock: Clock;
  readonly url: URL;
  readonly request: DownloadRequest;
  /** Headers of every request. */
  readonly fixed: Record<string, string>;
  readonly limits: { headersMs: number; bodyMs: number; totalMs: number; maxBytes: number };
}

export function fetchRaw(fetching: Fetching): Promise<RawDownload> {
  return new Promise((resolve, reject) => {
    const exchange = new Exchange(fetching, { resolve, reject });
    exchange.start();
  });
}

export function lowerCase(headers: Record<string, string> | undefined): Record<string, string> {
  const lower: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {})) lower[name.toLowerCase()] = value;
  return lower;
}

/** Answers that end with their headers (RFC 9110, 6.4.1), whatever length these state: in a 304 it is the page's. */
const BODILESS: readonly number[] = [204, 304];

/** Whether the headers announce a body. In a 304 the length is the page's, and in a 204 there may be none (RFC 9110, 8.6). */
function hasBody(status: number, headers: Download["headers"]): boolean {
  const length = headers["content-length"];
  const isLong = length !== undefined && Number(length) !== 0;
  return status === 204 && (isLong || headers["transfer-encoding"] !== undefined);
}

/** The error that ends a connection whose answer is not read to its end. */
const CUT: DownloadError = new DownloadError("aborted", "the rest of the body is not read");

/** Codes of Node for sessions and streams of HTTP/2. */
const HTTP2_FAULT = /^ERR_HTTP2_/;

function codeOf(cause: unknown): string {
  return String((cause as { code?: unknown } | undefined)?.code);
}

/**
 * Calls to make when a signal fires. All requests of a crawl share one signal, and adding a listener to it takes time in proportion to
 * the others.
 */
const listening = new WeakMap<AbortSignal, Set<() => void>>();

function listen(signal: AbortSignal, onAbort: () => void): void {
  let all = listening.get(signal);
  if (all === undefined) {
    const callbacks = new Set<() => void>();
    all = callbacks;
    listening.set(signal, callbacks);
    signal.addEventListener("abort", () => callAll(callbacks), { once: true });
  }
  all.add(onAbort);
}

function callAll(callbacks: Set<() => void>): void {
  for (const onAbort of callbacks) onAbort(); // which removes itself
}

interface Caller {
  readonly resolve: (raw: RawDownload) => void;
  readonly reject: (cause: DownloadError) => void;
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #fetching: Fetching;
  readonly #caller: Caller;
  readonly #startMs: number;
  readonly #chunks: Buffer[] = [];
  readonly #onAbort: () => void;
  #cancelTimer: (() => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #headers: Download["headers"] = {};
  #rawHeaders: readonly Buffer[] = [];
  #statusText = "";
  #status = 0;
  #bytes = 0;
  #latencyMs = 0;
  #isSettled = false;

  constructor(fetching: Fetching, caller: Caller) {
    this.#fetching = fetching;
    this.#caller = caller;
    this.#startMs = fetching.clock.monotonic();
    const { url } = fetching.request;
    this.#onAbort = () => this.#abort(new DownloadError("aborted", `${url}: aborted`));
  }

  start(): void {
    const { agent, clock, url, request, fixed, limits } = this.#fetching;
    if (request.signal?.aborted) {
      this.#onAbort();
      return;
    }
    if (request.signal !== undefined) listen(request.signal, this.#onAbort);
    const { totalMs } = limits;
    this.#cancelTimer = clock.schedule(clock.now() + totalMs, () =>
      this.#abort(new DownloadError("timeout", `${request.url}: not complete after ${totalMs} ms`)),
    );
    const asked = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: request.method ?? "GET",
      headers: { ...fixed, ...lowerCase(request.headers) },
      body: request.body ?? null,
      headersTimeout: limits.headersMs,
      bodyTimeout: limits.bodyMs,
    };
    try {
      agent.dispatch(asked as Dispatcher.DispatchOptions, this);
    } catch (cause) {
      this.#reject(downloadError(cause));
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    const { url, mayBegin } = this.#fetching.request;
    if (this.#isSettled) controller.abort(CUT);
    else if (mayBegin?.() === false) {
      this.#abort(new DownloadError("aborted", `${url}: not asked any more`));
    }
  }

  onResponseStart(
    { rawHeaders }: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    statusText = "",
  ): void {
    if (status < 200 || this.#isSettled) return; // an early hint is not the answer
    const { clock, request } = this.#fetching;
    this.#status = status;
    this.#headers = headers;
    this.#rawHeaders = Array.isArray(rawHeaders) ? (rawHeaders as Buffer[]) : [];
    this.#statusText = statusText;
    this.#latencyMs = clock.monotonic() - this.#startMs;
    if (BODILESS.includes(status)) this.#finish({ isLast: hasBody(status, headers) });
    else if (request.accepts?.(status, headers) === false) this.#finish({ isSkipped: true });
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return;
    const room = this.#fetching.limits.maxBytes - this.#bytes;
    this.#bytes += Math.min(chunk.length, room);
    this.#chunks.push(chunk.length <= room ? chunk : chunk.subarray(0, room));
    if (chunk.length > room) this.#finish({ isTruncated: true });
  }

  onResponseEnd(): void {
    const what = this.#missing();
    if (what === undefined) this.#finish({});
    else this.#reject(what);
  }

  onResponseError(_: Dispatcher.DispatchController, cause: Error): void {
    const fault = downloadError(cause);
    // The fault of a connection that ended before a request was sent is not the page's.
    const isOfOthers = this.#controller === undefined && HTTP2_FAULT.test(codeOf(cause));
    this.#reject(isOfOthers ? new DownloadError("reset", fault.message, cause) : fault);
  }

  /** The error of an answer that has ended, as HTTP/2 permits, without a final status or with fewer bytes than its server stated. */
  #missing(): DownloadError | undefined {
    const { url, method } = this.#fetching.request;
    if (this.#status === 0) return new DownloadError("protocol", `${url}: no final status`);
    const length = Number(this.#headers["content-length"] ?? 0);
    if (method === "HEAD" || this.#headers["transfer-encoding"] !== undefined) return undefined;
    if (!(length > this.#bytes)) return undefined;
    return new DownloadError("reset", `${url}: ${this.#bytes} bytes (expected: ${length})`);
  }

  /** Whether this call is the one that settles. */
  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#cancelTimer?.();
    const { signal } = this.#fetching.request;
    if (signal !== undefined) listening.get(signal)?.delete(this.#onAbort);
    return true;
  }

  #finish({ isTruncated = false, isSkipped = false, isLast = false }): void {
    if (!this.#settle()) return;
    this.#caller.resolve({
      status: this.#status,
      statusText: this.#statusText,
      headers: this.#headers,
      rawHeaders: this.#rawHeaders,
      body: this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks),
      bytes: this.#bytes,
      isTruncated,
      isSkipped,
      latencyMs: this.#latencyMs,
    });
    if (isTruncated || isSkipped || isLast) this.#controller?.abort(CUT);
  }

  #abort(cause: DownloadError): void {
    this.#reject(cause);
    this.#controller?.abort(cause);
  }

  #reject(cause: DownloadError): void {
    if (this.#settle()) this.#caller.reject(cause);
  }
}
