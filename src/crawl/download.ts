/**
 * The downloader: one request in, status, headers and a bounded body out. Redirects are not followed here: they are
 * requests of their own, for the frontier to see.
 *
 *   request ─▶ keep-alive pool of its origin ─▶ guarded socket ─▶ headers ─▶ body ≤ maxBytes ─▶ inflate ≤ maxBytes
 *
 *   phase          limit          what happens at it
 *   connect, TLS   connectMs      timeout
 *   first byte     headersMs      timeout
 *   between bytes  bodyMs         timeout
 *   all of it      totalMs        timeout
 *   body as sent   maxBytes       cut there and told (isTruncated), nothing more is read
 *   body inflated  maxBytes       too-large: a bomb is not a page
 *
 *   I1  No answer, however long, makes this hold more than 2 × maxBytes of it.
 *   I2  Every call ends, at the latest at totalMs.
 */
import { isIP } from "node:net";
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { Agent, type Dispatcher, ProxyAgent } from "undici";
import { type Clock, createSystemClock } from "../base/clock.ts";
import { isPublicAddress } from "./address.ts";
import { createConnector, type Lookup } from "./connect.ts";
import { DownloadError, downloadError } from "./download-error.ts";
import { fetchRaw, lowerCase, type RawDownload } from "./fetch.ts";
import type { Downloader } from "./modules.ts";

export interface DownloaderOptions {
  /** Sent as User-Agent; say who you are and where to reach you. */
  userAgent?: string;
  /** Permit loopback, private and link-local addresses. */
  allowPrivate?: boolean;
  lookup?: Lookup;
  dial?: { address: string; port: number };
  /**
   * An HTTP proxy, dialled as it is. It looks names up, so the guard judges the literal addresses of URLs alone: what names lead
   * to is the proxy's to refuse.
   */
  proxy?: string;
  /** Sockets of one origin; default 1. */
  connections?: number;
  /** An idle socket is closed after this. */
  keepAliveMs?: number;
  connectMs?: number;
  headersMs?: number;
  bodyMs?: number;
  totalMs?: number;
  maxBytes?: number;
  /** Headers sent with every request. */
  headers?: Record<string, string>;
  /** Offer HTTP/2 where TLS is; default true. */
  http2?: boolean;
  /** Certificates to trust, as PEM, in place of the system's. */
  ca?: string;
  clock?: Clock;
}

export const USER_AGENT = "Outrider/0.1 (+https://www.npmjs.com/package/outrider)";
export const MAX_BYTES = 10 * 1024 * 1024;

interface InflateOptions {
  readonly maxOutputLength: number;
  readonly finishFlush?: number;
}
type InflateLater = (body: Buffer, options: InflateOptions) => Promise<Buffer>;
type InflateNow = (body: Buffer, options: InflateOptions) => Buffer;
/** Both throw what is over `maxOutputLength`. */
interface Inflate {
  readonly now: InflateNow;
  /** On another thread. */
  readonly later: InflateLater;
}
const GZIP: Inflate = { now: zlib.gunzipSync, later: promisify(zlib.gunzip) as InflateLater };
/** Content codings, and what undoes them; zstd where this Node has it. */
const INFLATE: Readonly<Record<string, Inflate | undefined>> = Object.freeze({
  gzip: GZIP,
  "x-gzip": GZIP,
  deflate: {
    now: (body, options) => (isZlib(body) ? zlib.inflateSync : zlib.inflateRawSync)(body, options),
    later: (body, options) => (isZlib(body) ? inflateLater : inflateRawLater)(body, options),
  },
  br: {
    now: zlib.brotliDecompressSync,
    later: promisify(zlib.brotliDecompress) as InflateLater,
  },
  zstd: zstdOf(zlib as unknown as Record<string, unknown>),
} satisfies Record<string, Inflate | undefined>);
export const ACCEPT_ENCODING: string = Object.entries(INFLATE)
  .filter(([name, inflate]) => inflate !== undefined && name !== "x-gzip")
  .map(([name]) => name)
  .join(", ");
/** What is sent in no more than this and is no longer than that inflates faster here than on another thread. */
const QUICK_BYTES = 16 * 1024;
const QUICK_PLAIN_BYTES = 256 * 1024;
const CODINGS_MAX = 3;

/**
 * Makes a downloader on undici. Costs nothing until it is asked; a socket per origin after that.
 *
 * @example
 * const downloader = createDownloader({ userAgent: "mine/1.0 (+https://example.org/bot)" });
 * await downloader.close();
 */
export function createDownloader(
  options: DownloaderOptions = {},
): Downloader & { close(): Promise<void> } {
  const limits = {
    headersMs: options.headersMs ?? 20_000,
    bodyMs: options.bodyMs ?? 20_000,
    totalMs: options.totalMs ?? 60_000,
    maxBytes: options.maxBytes ?? MAX_BYTES,
  };
  const clock = options.clock ?? createSystemClock();
  const connector = createConnector({
    allowPrivate: options.allowPrivate ?? false,
    connectMs: options.connectMs ?? 10_000,
    lookup: options.lookup,
    dial: options.dial,
    allowH2: options.http2 ?? true,
    ca: options.ca,
  });
  const agent = agentOf(options, connector.connect);
  const fixed: Record<string, string> = {
    "user-agent": options.userAgent ?? USER_AGENT,
    accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5",
    "accept-encoding": ACCEPT_ENCODING,
    ...lowerCase(options.headers),
  };
  return {
    async download(request) {
      const url = new URL(request.url);
      if (options.proxy !== undefined && !mayAsk(url, options.allowPrivate)) {
        throw new DownloadError("address", `${url.hostname} (expected: a public address)`);
      }
      const maxBytes = request.maxBytes ?? limits.maxBytes;
      const raw = await fetchRaw({
        agent,
        clock,
        url,
        request,
        fixed,
        limits: { ...limits, maxBytes },
      });
      const body = raw.isSkipped ? EMPTY : await decode(raw, maxBytes);
      const address = connector.addressOf(url.host);
      return {
        url: request.url,
        status: raw.status,
        headers: raw.headers,
        body,
        bytes: raw.bytes,
        isTruncated: raw.isTruncated,
        isSkipped: raw.isSkipped,
        latencyMs: raw.latencyMs,
        ...(address === undefined ? {} : { address }),
      };
    },
    close: () => agent.destroy(),
  };
}

/** Whether a proxy may be asked for a URL: no literal address that the guard would refuse. */
function mayAsk({ hostname }: URL, isAllowed = false): boolean {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return isAllowed || isIP(bare) === 0 || isPublicAddress(bare);
}

const EMPTY: Buffer = Buffer.alloc(0);

/** Undoes the content codings, last one first; a bound on each. */
async function decode(raw: RawDownload, maxBytes: number): Promise<Buffer> {
  const given = raw.headers["content-encoding"];
  const codings = String(given ?? "")
    .toLowerCase()
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "" && each !== "identity");
  if (codings.length === 0 || raw.body.length === 0) return raw.body;
  if (codings.length > CODINGS_MAX)
    throw new DownloadError("encoding", `content-encoding: ${given}`);
  let { body } = raw;
  for (const coding of codings.reverse()) {
    const inflate = INFLATE[coding];
    if (inflate === undefined) throw new DownloadError("encoding", `content-encoding: ${coding}`);
    try {
      const options = { maxOutputLength: maxBytes, ...(raw.isTruncated ? cutShort(coding) : {}) };
      body = inflateQuickly(inflate, body, options) ?? (await inflate.later(body, options));
    } catch (cause) {
      throw downloadError(cause);
    }
  }
  return body;
}

/** Undefined where it would hold this thread for long: 30 bytes may stand for megabytes. */
function inflateQuickly(
  inflate: Inflate,
  body: Buffer,
  options: InflateOptions,
): Buffer | undefined {
  if (body.length > QUICK_BYTES) return undefined;
  const maxOutputLength = Math.min(QUICK_PLAIN_BYTES, options.maxOutputLength);
  try {
    return inflate.now(body, { ...options, maxOutputLength });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return undefined;
    throw cause;
  }
}

/** What was cut is inflated as far as it goes. */
function cutShort(coding: string): { finishFlush: number } {
  const { BROTLI_OPERATION_FLUSH, Z_SYNC_FLUSH } = zlib.constants;
  return { finishFlush: coding === "br" ? BROTLI_OPERATION_FLUSH : Z_SYNC_FLUSH };
}

const inflateLater = promisify(zlib.inflate) as InflateLater;
const inflateRawLater = promisify(zlib.inflateRaw) as InflateLater;

/** "deflate" is zlib's format by the standard and raw in practice: told apart by the first byte. */
function isZlib(body: Buffer): boolean {
  return ((body[0] ?? 0) & 15) === 8;
}

function zstdOf(module: Record<string, unknown>): Inflate | undefined {
  const { zstdDecompress, zstdDecompressSync } = module;
  if (typeof zstdDecompress !== "function") return undefined;
  return { now: zstdDecompressSync as InflateNow, later: promisify(zstdDecompress as never) };
}

function agentOf(options: DownloaderOptions, connect: Agent.Options["connect"]): Dispatcher {
  const shared = {
    connections: options.connections ?? 1,
    pipelining: 1,
    keepAliveTimeout: options.keepAliveMs ?? 5_000,
    keepAliveMaxTimeout: 60_000,
    allowH2: options.http2 ?? true,
  };
  if (options.proxy === undefined) return new Agent({ ...shared, connect: connect as never });
  return new ProxyAgent({ ...shared, uri: options.proxy, connect: connect as never } as never);
}
