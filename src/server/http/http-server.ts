/**
 * Room `src/server/http`: the HTTP port: metrics, health, the live page and what it asks for. Decides which requests are allowed; what is
 * shown and done comes from the watched frontiers.
 */

/**
 * The HTTP server.
 *
 *   GET  /  /page.css  /page.js      the page
 *   GET  /metrics                    Prometheus' text format
 *   GET  /healthz  /readyz           alive; takes calls
 *   GET  /api/events                 server-sent events: one snapshot a second
 *   GET  /api/explain                why a URL is or is not handed out
 *   POST /api/<action>               pause, resume, block, delay, requeue: with the token
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { after } from "../../base/clock.ts";
import { FrontierError } from "../../base/errors.ts";
import type { Soon } from "../crawls/crawl.ts";
import { type Listening, listenOn } from "../listen-on.ts";
import type { ServeTls } from "../options.ts";
import { type Guard, hasToken, refusalOf } from "./guard.ts";
import { type LiveFeed, MEDIA_EVENTS } from "./live-feed.ts";
import { PAGE_CSS } from "./page-style.ts";
import { PAGE_HTML, PAGE_JS } from "./page.ts";
import { act, ActionError, explainUrl, type Watched } from "./watched.ts";

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: ServeTls | undefined;
  readonly hasPage: boolean;
  readonly guard: Guard;
  readonly feed: LiveFeed;
  readonly watched: () => Soon<Iterable<readonly [string, Watched]>>;
  readonly metrics: () => Promise<string>;
  readonly isReady: () => boolean;
  readonly onFault: (cause: unknown) => void;
}

export interface HttpServer {
  readonly port: number;
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 16_384;
const CONNECTIONS_MAX = 256;
const REQUEST_MS_MAX = 10_000;
const CLOSE_MS = 1_000;

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

const PAGES: Readonly<Record<string, readonly [media: string, text: string]>> = {
  "/": ["text/html; charset=utf-8", PAGE_HTML],
  "/page.css": ["text/css; charset=utf-8", PAGE_CSS],
  "/page.js": ["text/javascript; charset=utf-8", PAGE_JS],
};

/** Resolves when it listens; rejects with PORT_IN_USE. */
export async function listenHttp(options: HttpOptions): Promise<HttpServer> {
  const { host, port, tls, onFault } = options;
  const handler = (request: IncomingMessage, response: ServerResponse): void => {
    answer(options, request, response).catch((cause) => fail(response, cause));
  };
  const limits = { requestTimeout: REQUEST_MS_MAX, headersTimeout: REQUEST_MS_MAX };
  const server: Server =
    tls === undefined
      ? createServer(limits, handler)
      : createTlsServer(
          {
            ...limits,
            ...{ cert: tls.cert, key: tls.key },
            ...(tls.ca === undefined ? {} : { ca: tls.ca, requestCert: true }),
          },
          handler,
        );
  server.maxConnections = CONNECTIONS_MAX;
  const listening = await listenOn(server, { option: "httpPort", host, port, onFault });
  return {
    port: listening.port,
    close: () => closeHttp(server, listening, options.feed),
  };
}

async function closeHttp(server: Server, listening: Listening, feed: LiveFeed): Promise<void> {
  feed.close();
  const stop = after(CLOSE_MS, () => server.closeAllConnections());
  const over = listening.close();
  server.closeIdleConnections();
  await over;
  stop();
}

/** What paths are read against. */
const SERVER = "http://server";

async function answer(
  options: HttpOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { guard, hasPage, feed } = options;
  const refusal = refusalOf(guard, request);
  if (refusal !== undefined) return send(response, refusal, "refused: host or origin\n");
  const { url = "/" } = request;
  if (!URL.canParse(url, SERVER)) return send(response, 400, "no path\n");
  const { pathname: path, searchParams } = new URL(url, SERVER);
  if (request.method === "POST") return await change(options, path, request, response);
  if (request.method !== "GET" && request.method !== "HEAD") return send(response, 405, "");
  if (path === "/healthz") return send(response, 200, "ok\n");
  if (path === "/readyz") {
    return options.isReady() ? send(response, 200, "ready\n") : send(response, 503, "closing\n");
  }
  const page = hasPage ? PAGES[path] : undefined;
  if (page !== undefined) return send(response, 200, page[1], page[0]);
  if (guard.isStrict && !hasToken(guard, request))
    return send(response, 401, "a token is needed\n");
  if (path === "/metrics") {
    return send(response, 200, await options.metrics(), "text/plain; version=0.0.4; charset=utf-8");
  }
  if (path === "/api/events" && hasPage) {
    response.writeHead(200, { ...HEADERS, "content-type": MEDIA_EVENTS });
    return feed.join(response);
  }
  if (path === "/api/explain" && hasPage) {
    return sendJson(response, await explainUrl(await options.watched(), searchParams));
  }
  send(response, 404, "not found\n");
}

async function change(
  options: HttpOptions,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!hasToken(options.guard, request)) return send(response, 401, "a token is needed\n");
  if (!path.startsWith("/api/") || !options.hasPage) return send(response, 404, "not found\n");
  const body = await bodyOf(request);
  if (body === undefined) return send(response, 413, "too large\n");
  sendJson(response, await act(await options.watched(), path.slice("/api/".length), body));
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk as Buffer);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
  } catch {
    return {};
  }
}

function sendJson(response: ServerResponse, value: unknown): void {
  send(response, 200, JSON.stringify(value), "application/json; charset=utf-8");
}

function send(
  response: ServerResponse,
  status: number,
  text: string,
  media = "text/plain; charset=utf-8",
): void {
  response.writeHead(status, { ...HEADERS, "content-type": media });
  response.end(text);
}

/** What a request threw: its own fault, or a frontier's. */
function fail(response: ServerResponse, cause: unknown): void {
  const status = cause instanceof ActionError ? 400 : cause instanceof FrontierError ? 409 : 500;
  const text = cause instanceof Error ? cause.message : "fault";
  if (!response.headersSent) send(response, status, `${text}\n`);
  else response.destroy();
}
