/**
 * Room `src/server`: the frontier over the wire: URLFrontier's protocol on one port, metrics, health and the live page on
 * another. May touch public entries, base and its own packages, nothing of the engine.
 *
 *   clients ─ gRPC ─▶ grpc ─▶ crawls ─▶ frontiers          (`Frontier` in this process, `AsyncFrontier` elsewhere)
 *   people  ─ HTTP ─▶ http ─▶ metrics, page ─┘
 */

/** serve: opens the crawls and both ports, and closes them in the reverse order. */
import { hostname } from "node:os";
import { randomToken } from "../base/random.ts";
import { type Clock, createSystemClock } from "../index.ts";
import { type CrawlRegistry, openRegistry } from "./crawls/crawl-registry.ts";
import { openGivenRegistry } from "./crawls/given-registry.ts";
import { openRedisRegistry } from "./crawls/redis-registry.ts";
import type { Calls } from "./grpc/calls.ts";
import { listen, type RpcServer } from "./grpc/listen.ts";
import { type HttpServer, listenHttp } from "./http/http-server.ts";
import { createLiveFeed } from "./http/live-feed.ts";
import { readLiveView } from "./http/watched.ts";
import { familiesOf, textOf } from "./metrics/metrics-text.ts";
import { serverFamilies } from "./metrics/server-families.ts";
import { createServerMetrics } from "./metrics/server-metrics.ts";
import { isLoopback, readServeOptions, type ServeOptions, type ServeSettings } from "./options.ts";

/** A server that runs. */
export interface Server extends AsyncDisposable {
  /** Port of the protocol; 0: it is not served. */
  readonly port: number;
  /** Port of metrics, health and page; undefined: there is none. */
  readonly httpPort: number | undefined;
  /** What changes by HTTP need, and calls too where it was given. */
  readonly token: string;
  /**
   * Takes no new calls, waits for those under way at most `drainMs`, then closes the frontiers of its own. Rejects with what
   * a frontier's `close` rejects with.
   */
  close(): Promise<void>;
}

/**
 * Serves URLFrontier's protocol. Resolves when both ports listen. Rejects with `ARGUMENT_INVALID` for a wrong option, with
 * `PORT_IN_USE` where another program listens, with `UNSUPPORTED` for a `frontier` in mode `bloom`, and with what `openFrontier` rejects
 * with. Costs a frontier for each crawl.
 *
 * @example
 * const server = await serve({ directory: "frontier" });
 * console.log(server.port);
 * await server.close();
 */
export async function serve(options: ServeOptions = {}): Promise<Server> {
  const settings = readServeOptions(options);
  const { given } = settings;
  const clock = given.clock ?? createSystemClock();
  const registry = await openCrawls(settings, clock);
  const node = createNode(settings, registry, clock);
  const token = given.token ?? randomToken();
  try {
    const rpc =
      settings.port === undefined ? NO_RPC : await listen(settings, settings.port, node.calls);
    await registry.join(`${nodeHost(settings.host)}:${rpc.port}`);
    return await withHttp(settings, { registry, node, rpc, token, clock });
  } catch (cause) {
    await registry.close();
    throw cause;
  }
}

/** The name by which other machines reach this one, if it listens on all of its addresses. */
function nodeHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return hostname();
  return host.includes(":") ? `[${host}]` : host;
}

/** Replaces the protocol's server if the protocol is not served. */
const NO_RPC: RpcServer = { port: 0, close: () => Promise.resolve() };

/** The crawls that are served: the one of a frontier that is given, or the server's own. */
function openCrawls(settings: ServeSettings, clock: Clock): Promise<CrawlRegistry> {
  const { given, crawlsMax } = settings;
  const now = (): number => clock.now();
  const onFault = (crawl: string, cause: unknown): void => given.onFault?.({ place: crawl, cause });
  const { frontier, redis, name = "server", partitions, directory, durability } = given;
  const own = { crawlsMax, clock: given.clock, onFault };
  if (frontier !== undefined) {
    const needsIdentities = settings.port !== undefined;
    return openGivenRegistry({ frontier, now, onFault, needsIdentities });
  }
  if (redis !== undefined) {
    return openRedisRegistry({ ...own, redis, name, partitions });
  }
  return openRegistry({ ...own, directory, durability, now });
}

interface Node {
  readonly calls: Calls;
  isClosing: boolean;
}

interface Parts {
  readonly registry: CrawlRegistry;
  readonly node: Node;
  readonly rpc: RpcServer;
  readonly token: string;
  readonly clock: Clock;
}

/** Opens the second port. If that fails, closes the first one again. */
async function withHttp(settings: ServeSettings, parts: Parts): Promise<Server> {
  const { registry, node, rpc, token } = parts;
  let http: HttpServer | undefined;
  try {
    if (settings.httpPort !== undefined) http = await openHttp(settings, parts, settings.httpPort);
  } catch (cause) {
    await rpc.close(0);
    throw cause;
  }
  let closing: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    node.isClosing = true;
    await rpc.close(settings.drainMs);
    await http?.close();
    await registry.close();
  };
  const close = (): Promise<void> => {
    closing ??= closeAll();
    return closing;
  };
  return { port: rpc.port, httpPort: http?.port, token, close, [Symbol.asyncDispose]: close };
}

function openHttp(settings: ServeSettings, parts: Parts, port: number): Promise<HttpServer> {
  const { registry, node, token, clock } = parts;
  const { given, host, ui } = settings;
  const scheme = given.tls === undefined ? "http" : "https";
  return listenHttp({
    ...{ host, port, tls: given.tls, hasPage: ui },
    guard: { host, scheme, token, isStrict: !isLoopback(host) },
    feed: createLiveFeed(async () => ({
      nowMs: clock.now(),
      frontiers: await Promise.all(
        (await registry.frontiers()).map(([id, frontier]) =>
          readLiveView(id, frontier, clock.now(), given.score),
        ),
      ),
    })),
    watched: () => registry.frontiers(),
    metrics: async () => {
      const frontiers = await registry.frontiers();
      const reports = await Promise.all(
        frontiers.map(async ([crawl, one]) => [{ crawl }, await one.report()] as const),
      );
      return textOf([...serverFamilies(node.calls.metrics), ...familiesOf(reports)]);
    },
    isReady: () => !node.isClosing,
    onFault: (cause) => node.calls.fault("http", cause),
  });
}

/** The state of this node, and the calls on it. */
function createNode(settings: ServeSettings, registry: CrawlRegistry, clock: Clock): Node {
  let turn = 0;
  const { onFault } = settings.given;
  const node: Node = {
    isClosing: false,
    calls: {
      metrics: createServerMetrics(),
      registry,
      clock,
      async rotated() {
        const all = await registry.all();
        if (all.length > 0) turn = (turn + 1) % all.length;
        return [...all.slice(turn), ...all.slice(0, turn)];
      },
      isClosing: () => node.isClosing,
      fault: (place, cause) => onFault?.({ place, cause }),
    },
  };
  return node;
}
