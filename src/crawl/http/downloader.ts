/**
 * Room `src/crawl/http`: one request to one server: guarded address, connection, headers, bounded body, cookies,
 * validators. Decides what may be dialled and how much is read; redirects are the frontier's.
 */

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
 *   body as sent   maxBytes       cut there and marked (isTruncated); nothing more is read
 *   body inflated  maxBytes       refused as too-large, or cut there if the request allows it
 *
 *   I1  No answer, however long, makes this hold more than 2 × maxBytes of it.
 *   I2  Every call ends, at the latest at totalMs and what the inflating of others takes.
 *   I3  What is inflated at the same time has one bound (inflate-room.ts).
 */
import { isIP } from "node:net";
import { Agent, type buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";
import { type Clock, createSystemClock } from "../../base/clock.ts";
import { isPublicAddress } from "./address-guard.ts";
import { createConnector } from "./guarded-connector.ts";
import { DownloadError } from "./download-error.ts";
import { type DownloaderOptions, readDownloaderOptions } from "./downloader-options.ts";
import { createInflateRoom } from "./decoding/inflate-room.ts";
import { exchangeOf } from "./wire-exchange.ts";
import { fetchRaw, lowerCase } from "./http-exchange.ts";
import { watchHttp2 } from "./http2-session.ts";
import { dropContinue } from "./interim-responses.ts";
import { ACCEPT_ENCODING, decode } from "./decoding/content-decoding.ts";
import type { Identity } from "../identity/identity.ts";
import type { Downloader, DownloadRequest } from "../module-registry.ts";

/** Names no page: an operator names one with `contact`. */
export const USER_AGENT = "Outrider/0.1";
const CONNECT_MS = 10_000;
const KEEP_ALIVE_MS = 5_000;
const MAX_BYTES = 10 * 1024 * 1024;

/**
 * Makes a downloader on undici. Costs no socket until it is asked to download. Throws `OPTION_INVALID` for a wrong option; `download`
 * rejects with a `DownloadError`, at the latest after `totalMs`.
 *
 * @example
 * const downloader = createDownloader({ userAgent: "mine/1.0 (+https://example.org/bot)" });
 * await downloader.close();
 */
export function createDownloader(
  given: DownloaderOptions = {},
): Downloader & { close(): Promise<void> } {
  const options = readDownloaderOptions(given);
  const limits = {
    headersMs: options.headersMs ?? 20_000,
    bodyMs: options.bodyMs ?? 20_000,
    totalMs: options.totalMs ?? 60_000,
    maxBytes: options.maxBytes ?? MAX_BYTES,
  };
  const clock = options.clock ?? createSystemClock();
  const connector = createConnector({
    allowPrivate: options.allowPrivate ?? false,
    connectMs: options.connectMs ?? CONNECT_MS,
    lookup: options.lookup,
    dial: options.dial,
    allowH2: options.http2 ?? true,
    keepAliveMs: options.keepAliveMs ?? KEEP_ALIVE_MS,
    ca: options.ca,
  });
  const agent = agentOf(options, connector.connect);
  const room = options.room ?? createInflateRoom();
  const fixed: Record<string, string> = {
    "user-agent": options.userAgent ?? USER_AGENT,
    accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5",
    "accept-encoding": ACCEPT_ENCODING,
    ...lowerCase(options.headers),
  };
  return {
    async download(given) {
      const request = signed(given, options.identity, clock);
      const url = new URL(request.url);
      if (options.proxy !== undefined && !mayAsk(url, options.allowPrivate)) {
        const expected = "a public address; allowPrivate permits others";
        throw new DownloadError("address", `${url.hostname} (expected: ${expected})`);
      }
      const maxBytes = request.maxBytes ?? limits.maxBytes;
      const atMs = clock.now();
      const bounds = { ...limits, maxBytes };
      const raw = await fetchRaw({ agent, clock, url, request, fixed, limits: bounds });
      const address = connector.addressOf(url.host);
      await request.onExchange?.(exchangeOf(request, raw, { fixed, url, atMs, address }));
      const { mayCut = false, signal } = request;
      const share = request.room ?? room.share();
      const decoding = raw.isSkipped
        ? { body: EMPTY, isCut: false }
        : decode(raw, { maxBytes, mayCut, room: share, signal });
      // The visit releases a share that it handed in.
      const { body, isCut } = await Promise.resolve(decoding).finally(() => {
        if (request.room === undefined) share.end();
      });
      return {
        url: request.url,
        status: raw.status,
        headers: raw.headers,
        body,
        bytes: raw.bytes,
        isTruncated: raw.isTruncated || isCut,
        isSkipped: raw.isSkipped,
        latencyMs: raw.latencyMs,
        ...(address === undefined ? {} : { address }),
      };
    },
    close: () => agent.destroy(),
  };
}

/** Signature headers replace headers of the same names in the request. */
function signed(
  request: DownloadRequest,
  identity: Identity | undefined,
  clock: Clock,
): DownloadRequest {
  if (identity === undefined) return request;
  const proof = identity.sign(request.url, clock.now());
  return { ...request, headers: { ...lowerCase(request.headers), ...proof } };
}

/** Whether a URL may be requested through a proxy: not one with a literal address that the guard refuses. */
function mayAsk({ hostname }: URL, isAllowed = false): boolean {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return isAllowed || isIP(bare) === 0 || isPublicAddress(bare);
}

const EMPTY: Buffer = Buffer.alloc(0);

function agentOf(options: DownloaderOptions, connect: Agent.Options["connect"]): Dispatcher {
  const shared = {
    connections: options.connections ?? 1,
    pipelining: 1,
    keepAliveTimeout: options.keepAliveMs ?? KEEP_ALIVE_MS,
    keepAliveMaxTimeout: 60_000,
    allowH2: options.http2 ?? true,
  };
  if (options.proxy === undefined) return new Agent({ ...shared, connect: connect as never });
  // It makes sockets of its own, by these.
  const { ca, connectMs = CONNECT_MS } = options;
  const tls = { timeout: connectMs, ...(ca === undefined ? {} : { ca }) };
  const how = { ...shared, uri: options.proxy, proxyTls: tls, requestTls: tls };
  return new ProxyAgent({
    ...how,
    factory: poolBehindProxy,
    clientFactory: poolBehindProxy,
  } as never);
}

/** A pool whose sockets, the proxy's own and those that lead through it, are read as those of the connector are. */
function poolBehindProxy(
  origin: string | URL,
  given: Pool.Options & { connect: buildConnector.connector },
): Pool {
  const connect: buildConnector.connector = (target, callback) =>
    given.connect(target, (...answer) => {
      if (answer[0] === null) {
        dropContinue(answer[1]);
        watchHttp2(answer[1], given.keepAliveTimeout ?? KEEP_ALIVE_MS);
      }
      callback(...answer);
    });
  return new Pool(origin, { ...given, connect: connect as never });
}
