/** Options of `serve`: every field checked by name before anything is opened, defaults filled in. */
import { argument } from "../base/argument-checks.ts";
import { misuse } from "../base/errors.ts";
import { ANYTHING, callable, kind, shape, TEXT, TRUTH, whole } from "../base/fields.ts";
import type { AsyncFrontier, Clock, Frontier, FrontierOptions } from "../index.ts";

/**
 * Keys and certificates, as PEM.
 *
 * @example
 * await serve({ host: "0.0.0.0", tls: { cert, key, ca } }); // mutual TLS
 */
export interface ServeTls {
  /** The server's certificate and those above it. */
  cert: string | Buffer;
  /** Its private key. */
  key: string | Buffer;
  /**
   * Certificates of those who sign clients: every client has to show one then.
   * @defaultValue none: clients need no certificate
   */
  ca?: string | Buffer | undefined;
}

/**
 * What `serve` serves, and where.
 *
 * @example
 * await using server = await serve({ directory: "frontier", port: 7071 });
 */
export interface ServeOptions {
  /**
   * A frontier of your own: the server serves the crawl of its name alone, and does not close it. Its rules and politeness
   * hold, and your program may use it meanwhile.
   * @defaultValue frontiers of the server's own, one for each crawl
   */
  frontier?: Frontier | AsyncFrontier | undefined;
  /**
   * Where crawls are kept.
   * @defaultValue memory: they end with the server
   */
  directory?: string | undefined;
  /**
   * Where crawls are kept instead, as `openRedisFrontier` takes it: a URL, the path of a socket, options of ioredis, or a client. Servers
   * on one Redis, with the same `name`, are one service.
   * @defaultValue none
   */
  redis?: string | object | undefined;
  /**
   * Name of the service on Redis: its crawls are the frontiers `<name>:<crawl>`.
   * @defaultValue "server"
   */
  name?: string | undefined;
  /**
   * Partitions of crawls that are made on Redis, as of `openRedisFrontier`.
   * @defaultValue 16
   */
  partitions?: number | undefined;
  /**
   * When a change of a directory is durable, as `FrontierOptions.durability`: an OK guarantees no more than that.
   * @defaultValue `{ everyMs: 100 }`
   */
  durability?: FrontierOptions["durability"] | undefined;
  /**
   * Address to listen on; `localhost` is both loopback addresses. Any other than loopback needs `token`, or `tls` with `ca`.
   * @defaultValue "127.0.0.1"
   */
  host?: string | undefined;
  /**
   * Port of the protocol; 0: any free one; false: the protocol is not served.
   * @defaultValue 7071
   */
  port?: number | false | undefined;
  /**
   * Port of metrics, health and page; 0: any free one; false: none.
   * @defaultValue 7070
   */
  httpPort?: number | false | undefined;
  /**
   * Encrypts both ports.
   * @defaultValue none
   */
  tls?: ServeTls | undefined;
  /**
   * What clients have to send: `authorization: Bearer <token>`.
   * @defaultValue none on loopback; changes by HTTP need a random one, which `token` of the result returns
   */
  token?: string | undefined;
  /**
   * Whether the HTTP port serves the live page.
   * @defaultValue true
   */
  ui?: boolean | undefined;
  /**
   * How well a host answers, from 0 to 100: the page shows it. A crawl has it as `run.host(key)?.score`.
   * @defaultValue not shown
   */
  score?: ((host: string) => number | undefined) | undefined;
  /**
   * Most crawls at the same time.
   * @defaultValue 100
   */
  crawlsMax?: number | undefined;
  /**
   * Most bytes of one message.
   * @defaultValue 4 MiB
   */
  messageBytesMax?: number | undefined;
  /**
   * Most calls of one connection at the same time.
   * @defaultValue 256
   */
  streamsMax?: number | undefined;
  /**
   * How long `close` waits for calls that are under way, in milliseconds.
   * @defaultValue 5,000
   */
  drainMs?: number | undefined;
  /**
   * Source of time.
   * @defaultValue the machine's clock
   */
  clock?: Clock | undefined;
  /**
   * Called for faults: a crawl's disk, a call that threw.
   * @defaultValue ignored
   */
  onFault?: ((fault: ServeFault) => void) | undefined;
}

/** A fault in the server, which continues. */
export interface ServeFault {
  /** The crawl, or the call. */
  readonly place: string;
  /** What was thrown, or the frontier's fault. */
  readonly cause: unknown;
}

const PEM = kind<string | Buffer>(
  "PEM as a string or bytes",
  (value) => typeof value === "string" || Buffer.isBuffer(value),
);
const PORT = whole(0, 65_535);

function isFrontier(value: unknown): boolean {
  const { name, pushMany, put } = Object(value) as Record<string, unknown>;
  return typeof name === "string" && typeof pushMany === "function" && typeof put === "function";
}

const readFields = argument<
  Omit<ServeOptions, "httpPort" | "port"> & { httpPort?: unknown; port?: unknown }
>("options", {
  frontier: kind<Frontier>("a frontier", isFrontier) as never,
  directory: TEXT,
  redis: kind(
    "a URL, the path of a socket, options of ioredis, or a client",
    (value) =>
      (typeof value === "string" && value !== "") || (typeof value === "object" && value !== null),
  ),
  name: TEXT,
  partitions: whole(1, 4_096),
  durability: ANYTHING as never,
  host: TEXT,
  port: ANYTHING,
  httpPort: ANYTHING,
  tls: shape<ServeTls>({ cert: PEM, key: PEM, ca: PEM }) as never,
  token: kind("at least 8 characters", (value) => typeof value === "string" && value.length >= 8),
  ui: TRUTH,
  score: callable(),
  crawlsMax: whole(1, 10_000),
  messageBytesMax: whole(1_024, 1 << 30),
  streamsMax: whole(1, 2 ** 31 - 1),
  drainMs: whole(0),
  clock: ANYTHING as never,
  onFault: callable(),
});

/** Options with their defaults. */
export interface ServeSettings {
  readonly host: string;
  /** undefined: the protocol is not served. */
  readonly port: number | undefined;
  /** undefined: none. */
  readonly httpPort: number | undefined;
  readonly ui: boolean;
  readonly crawlsMax: number;
  readonly messageBytesMax: number;
  readonly streamsMax: number;
  readonly drainMs: number;
  readonly given: ServeOptions;
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/;

export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

export function readServeOptions(options: ServeOptions): ServeSettings {
  const given = readFields(options) as ServeOptions;
  const { host = "127.0.0.1", tls, token } = given;
  const port = readPort(given.port, "options.port", 7071);
  const httpPort = readPort(given.httpPort, "options.httpPort", 7070);
  refuseOtherPlaces(given);
  if (tls !== undefined && (tls.cert === undefined || tls.key === undefined)) {
    throw misuse("ARGUMENT_INVALID", "options.tls", Object.keys(tls), "cert and key");
  }
  if (!isLoopback(host) && token === undefined && tls?.ca === undefined) {
    const expected = "a loopback address, or a token, or the CA of clients";
    throw misuse("ARGUMENT_INVALID", "options.host", host, expected);
  }
  return {
    host,
    port,
    httpPort,
    ui: given.ui ?? true,
    crawlsMax: given.crawlsMax ?? 100,
    messageBytesMax: given.messageBytesMax ?? 4 << 20,
    streamsMax: given.streamsMax ?? 256,
    drainMs: given.drainMs ?? 5_000,
    given,
  };
}

/** Crawls are in one place: a frontier, a directory, or Redis. Refuses options that belong to another place. */
function refuseOtherPlaces(given: ServeOptions): void {
  const { frontier, directory, redis, durability, name, partitions } = given;
  const refuse = (option: string, value: unknown, expected: string): void => {
    if (value === undefined) return;
    throw misuse("ARGUMENT_INVALID", `options.${option}`, value, expected);
  };
  if (frontier !== undefined) {
    refuse("directory", directory, "none beside options.frontier");
    refuse("redis", redis, "none beside options.frontier");
  }
  if (redis === undefined) {
    refuse("name", name, "none without options.redis");
    refuse("partitions", partitions, "none without options.redis");
    return;
  }
  refuse("directory", directory, "none beside options.redis");
  refuse("durability", durability, "none beside options.redis: the server's appendfsync");
}

/** A port, or its default; undefined where none is wanted. */
function readPort(given: unknown, path: string, byDefault: number): number | undefined {
  if (given === false) return undefined;
  PORT(given ?? byDefault, path, "ARGUMENT_INVALID");
  return (given as number | undefined) ?? byDefault;
}
