/**
 * The synthetic web on one loopback listener: the Host header selects the virtual host. Requests are logged here, so that a crawler's
 * politeness is measured by the other side.
 *
 *   any origin ──dial──▶ 127.0.0.1:port ──Host──▶ plan ▶ pages | traps | robots.txt | sitemaps
 *
 *   I1  Only 127.0.0.1 is listened on.
 *   I2  close() ends every connection, also those that hang by design.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { createSystemClock } from "../../base/clock.ts";
import { misuse } from "../../base/errors.ts";
import { createWebLog, type WebLog, type WebLogEntry } from "./web-log.ts";
import { createWebPages, type WebPages } from "./web-pages.ts";
import { createWebPlan, HIDDEN_PAGES, TRAP_HOST, type WebPlan, type WebShape } from "./web-plan.ts";
import { endlessAnswer, trapAnswer, type TrapAnswer } from "./web-traps.ts";

/** Shape of a synthetic web. */
export interface SyntheticWebOptions {
  /**
   * Same seed, same web.
   * @defaultValue 1
   */
  seed?: number | undefined;
  /**
   * Virtual hosts.
   * @defaultValue 1,000
   */
  hosts?: number | undefined;
  /**
   * Pages of all hosts together.
   * @defaultValue 10,000
   */
  pages?: number | undefined;
  /**
   * How many times more often than usual something goes wrong; 0: never.
   * @defaultValue 1
   */
  mishaps?: number | undefined;
  /**
   * Whether there is a host of traps, and the domain `endless.test`, whose pages lead to ever new subdomains.
   * @defaultValue true
   */
  traps?: boolean | undefined;
  /**
   * Whether the log keeps each request. False, for webs of millions of pages: it stays empty.
   * @defaultValue true
   */
  keepLog?: boolean | undefined;
}

/** A web of virtual hosts on one loopback listener. */
export interface SyntheticWeb extends AsyncDisposable {
  /** Every host, page and link of it. */
  readonly plan: WebPlan;
  /** Its port. */
  readonly port: number;
  /** The first page of h0, which leads to every other. */
  readonly seed: string;
  /** The same with the port in it, for crawlers that cannot be given an address to dial. */
  readonly seedWithPort: string;
  /** Where every host of this web is dialled. */
  readonly dial: {
    /** IP address. */
    readonly address: string;
    /** Port. */
    readonly port: number;
  };
  /** The requests that it answered. */
  readonly log: WebLog;
  /** Stops listening. */
  close(): Promise<void>;
}

const LOOPBACK = "127.0.0.1";

/**
 * Starts a synthetic web on loopback. Costs one listener; pages are computed when they are asked for.
 * Rejects where it cannot be opened.
 *
 * @example
 * const web = await openSyntheticWeb({ seed: 7, hosts: 20, pages: 200 });
 * await crawl({ seeds: web.seed, dial: web.dial, allowPrivate: true }).finished;
 * await web.close();
 */
export async function openSyntheticWeb(options: SyntheticWebOptions = {}): Promise<SyntheticWeb> {
  const plan = createWebPlan(shapeOf(options));
  const clock = createSystemClock();
  const log = createWebLog(() => clock.monotonic(), options.keepLog ?? true);
  const site: Site = {
    plan,
    pages: createWebPages(plan),
    log,
    clock,
    flaky: new Set(),
    under: new WeakMap(),
  };
  const server = createServer({ keepAliveTimeout: 30_000 }, (request, response) =>
    serve(site, request, response),
  );
  server.on("connection", (socket) => logLeaving(site, socket));
  await listening(server);
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    plan,
    port,
    seed: `http://${plan.hostName(0)}/`,
    seedWithPort: `http://${plan.hostName(0)}:${port}/`,
    dial: { address: LOOPBACK, port },
    log,
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Site {
  readonly plan: WebPlan;
  readonly pages: WebPages;
  readonly log: WebLog;
  readonly clock: ReturnType<typeof createSystemClock>;
  /** Flaky pages that have failed once. */
  readonly flaky: Set<string>;
  /** The request that a connection brought last. */
  readonly under: WeakMap<Socket, WebLogEntry>;
}

/**
 * A client that has left asks for nothing any more, though its response may be closed only a turn of the event loop later: what it
 * asks next on another connection is already there then, and would count as a second request beside the first.
 */
function logLeaving({ log, under }: Site, socket: Socket): void {
  const left = (): void => {
    const entry = under.get(socket);
    if (entry !== undefined) log.end(entry);
  };
  socket.on("end", left);
  socket.on("error", left);
}

interface Answer extends TrapAnswer {
  readonly isReset?: boolean;
  readonly isCompressed?: boolean;
}

function serve(site: Site, request: IncomingMessage, response: ServerResponse): void {
  const authority = request.headers.host ?? "";
  const colon = authority.lastIndexOf(":");
  const name = (colon < 0 ? authority : authority.slice(0, colon)).toLowerCase();
  const suffix = colon < 0 ? "" : authority.slice(colon);
  const path = request.url ?? "/";
  const entry = site.log.begin({ host: name, path, agent: request.headers["user-agent"] ?? "" });
  site.under.set(request.socket, entry);
  response.on("close", () => site.log.end(entry));
  // Asked by its address it is h0, whose own links then name the address: for crawlers that must look names up.
  const isAddress = name === LOOPBACK || name === "localhost";
  const host = isAddress ? 0 : site.plan.hostOf(name);
  const answer: Answer =
    name === TRAP_HOST
      ? (trapAnswer(path) ?? NOT_FOUND)
      : host < 0
        ? ((site.plan.shape.traps ? endlessAnswer(name, path, (to) => to + suffix) : undefined) ??
          NOT_FOUND)
        : answerOf(site, { host, name, path, suffix });
  entry.status = answer.isReset ? 0 : answer.status;
  const latencyMs = host < 0 ? 0 : site.plan.latencyMsOf(host);
  if (latencyMs === 0) send(answer, request, response);
  else site.clock.schedule(site.clock.now() + latencyMs, () => send(answer, request, response));
}

const NOT_FOUND: Answer = Object.freeze({
  status: 404,
  headers: { "content-type": "text/plain" },
  body: "not here\n",
});

interface Asked {
  readonly host: number;
  readonly name: string;
  readonly path: string;
  /** The port as the Host header has it, with its colon. */
  readonly suffix: string;
}

function answerOf(site: Site, asked: Asked): Answer {
  const { plan, pages } = site;
  const { host, path } = asked;
  const own = plan.hostName(host);
  const authority = (name: string): string => (name === own ? asked.name : name) + asked.suffix;
  if (path === "/robots.txt") return robotsAnswer(site, host, authority);
  if (path.startsWith("/sitemap")) {
    const sitemap = pages.sitemap(host, path, `http://${authority(asked.name)}`);
    if (sitemap === undefined) return NOT_FOUND;
    return { status: 200, headers: { "content-type": sitemap.type }, body: sitemap.body };
  }
  const match = /^\/(p|go|private|hidden)\/(0|[1-9][0-9]*)$/.exec(path);
  if (path !== "/" && match === null) return NOT_FOUND;
  const page = match === null ? 0 : Number(match[2]);
  const kind = match?.[1] ?? "p";
  if (kind === "private") return htmlAnswer(pages, host, "secret");
  if (kind === "hidden") return page < HIDDEN_PAGES ? htmlAnswer(pages, host, "hidden") : NOT_FOUND;
  if (page >= plan.sizeOf(host)) return NOT_FOUND;
  if (kind === "go") {
    const status = [301, 302, 307, 308][plan.draw(22, host, page) % 4] as number;
    return { status, headers: { location: page % 2 === 0 ? `/p/${page}` : `../p/${page}` } };
  }
  const misfortune = misfortuneOf(site, asked, page);
  if (misfortune !== undefined) return misfortune;
  return {
    status: 200,
    headers: { "content-type": pages.contentType(host), etag: `"${host}-${page}"` },
    body: pages.html(host, page, authority),
    isCompressed: plan.isCompressed(host),
  };
}

function robotsAnswer(site: Site, host: number, authority: (name: string) => string): Answer {
  const kind = site.plan.robotsOf(host);
  if (kind === "none") return NOT_FOUND;
  if (kind === "forbidden") return { status: 403, body: "" };
  if (kind === "broken") return { status: 500, body: "" };
  const body = site.pages.robots(host, authority);
  return { status: 200, headers: { "content-type": "text/plain" }, body };
}

function misfortuneOf(site: Site, asked: Asked, page: number): Answer | undefined {
  const fate = site.plan.fateOf(asked.host, page);
  if (fate === "well") return undefined;
  if (fate === "gone") return NOT_FOUND;
  if (fate === "broken") return { status: 500, body: "broken\n" };
  if (fate === "reset") return { status: 0, isReset: true };
  const key = `${asked.host} ${page}`;
  if (site.flaky.has(key)) return undefined;
  site.flaky.add(key);
  return { status: 503, headers: { "retry-after": "0" }, body: "try again\n" };
}

function htmlAnswer(pages: WebPages, host: number, text: string): Answer {
  const body = `<!doctype html><title>${text}</title>`;
  const isWide = pages.contentType(host) === "text/html";
  return {
    status: 200,
    headers: { "content-type": isWide ? "text/html" : pages.contentType(host) },
    body,
  };
}

function send(answer: Answer, request: IncomingMessage, response: ServerResponse): void {
  if (answer.isReset) {
    request.socket.destroy();
    return;
  }
  const etag = answer.headers?.etag;
  if (etag !== undefined && request.headers["if-none-match"] === etag) {
    response.writeHead(304, { etag }).end();
    return;
  }
  const coding = answer.isCompressed ? codingOf(request.headers["accept-encoding"]) : undefined;
  const plain = Buffer.from(answer.body ?? "");
  const body =
    coding === "br"
      ? brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
      : coding === "gzip"
        ? gzipSync(plain, { level: 1 })
        : plain;
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(coding === undefined ? {} : { "content-encoding": coding }),
    "content-length": answer.hangs || answer.isCut ? body.length + 100 : body.length,
  });
  if (request.method === "HEAD") response.end();
  else if (answer.hangs) response.write(body);
  else if (answer.isCut) response.write(body, () => request.socket.destroy());
  else response.end(body);
}

function codingOf(accepted: string | string[] | undefined): "br" | "gzip" | undefined {
  const text = String(accepted ?? "");
  if (/\bbr\b/.test(text)) return "br";
  return /\bgzip\b/.test(text) ? "gzip" : undefined;
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, LOOPBACK, () => resolve());
  });
}

/** Options, checked by name and with their defaults. */
export function shapeOf(options: SyntheticWebOptions): WebShape {
  const whole = (name: string, value: unknown, least: number, most: number): number => {
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) {
      return value as number;
    }
    throw misuse(
      "OPTION_INVALID",
      `options.${name}`,
      value,
      `a whole number from ${least} to ${most}`,
    );
  };
  const hosts = whole("hosts", options.hosts ?? 1_000, 1, 1_000_000);
  return {
    seed: whole("seed", options.seed ?? 1, 0, 2 ** 32 - 1),
    hosts,
    pages: whole("pages", options.pages ?? Math.max(10_000, hosts), hosts, 100_000_000),
    mishaps: options.mishaps ?? 1,
    traps: options.traps ?? true,
  };
}
