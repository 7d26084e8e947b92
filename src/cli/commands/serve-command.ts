/** `outrider serve`: a frontier for crawlers in other languages and on other machines, until Ctrl-C. */
import { readFileSync } from "node:fs";
import { type Server, type ServeTls, serve } from "../../server.ts";
import { type Flag, type Parsed, UsageError } from "../flags.ts";
import { EXIT_INTERRUPTED, type Io } from "../io.ts";

export const SERVE_FLAGS: readonly Flag[] = [
  {
    name: "dir",
    value: "<dir>",
    text: "keep crawls here; none: memory, which ends with the server",
  },
  {
    name: "redis",
    value: "<url>",
    text: "keep crawls on this Redis server; those of one --name are one service",
  },
  { name: "name", value: "<text>", text: "with --redis: name of the service (server)" },
  { name: "partitions", value: "<n>", text: "with --redis: partitions of a new crawl (16)" },
  {
    name: "host",
    value: "<address>",
    text: "listen here (127.0.0.1); others need a token or --tls-ca",
  },
  { name: "port", value: "<n>", text: "port of the protocol; 0: any (7071)" },
  { name: "http", value: "<n>", text: "port of metrics and page; 0: any (7070)" },
  { name: "no-http", text: "no metrics, health and page" },
  { name: "token", value: "<text>", text: "what clients have to send; also OUTRIDER_TOKEN" },
  { name: "tls-cert", value: "<file>", text: "certificate as PEM: encrypts both ports" },
  { name: "tls-key", value: "<file>", text: "its private key as PEM" },
  {
    name: "tls-ca",
    value: "<file>",
    text: "the CA of clients, as PEM: each then needs a certificate",
  },
  { name: "max-crawls", value: "<n>", text: "most crawls at the same time (100)" },
  { name: "json", text: "print ports and token as one JSON object" },
];

export async function serveCommand(args: Parsed, io: Io): Promise<number> {
  checkPlace(args);
  const token = args.text("token") ?? process.env.OUTRIDER_TOKEN;
  const tls = tlsOf(args);
  const stopped = new Promise<void>((resolve) => {
    const ignore = io.onInterrupt(() => {
      // A second request to stop ends it at once.
      ignore();
      io.onInterrupt(() => io.exit(EXIT_INTERRUPTED));
      resolve();
    });
  });
  const server = await serve({
    directory: args.text("dir"),
    redis: args.text("redis"),
    name: args.text("name"),
    partitions: args.whole("partitions"),
    host: args.text("host"),
    port: args.whole("port"),
    httpPort: args.has("no-http") ? false : args.whole("http"),
    token,
    tls,
    crawlsMax: args.whole("max-crawls"),
    onFault: ({ place, cause }) => io.err(`${place}: ${messageOf(cause)}\n`),
  });
  printPlaces(args, io, server);
  await stopped;
  if (!args.has("json")) io.err("stopping: calls under way end, everything is saved\n");
  await server.close();
  return EXIT_INTERRUPTED;
}

/** Refuses, by name, flags that belong to another place. */
function checkPlace(args: Parsed): void {
  if (args.has("redis")) {
    if (args.has("dir")) throw new UsageError("--dir: not with --redis");
    return;
  }
  for (const name of ["name", "partitions"]) {
    if (args.has(name)) throw new UsageError(`--${name}: only with --redis`);
  }
}

function printPlaces(args: Parsed, io: Io, { port, httpPort, token }: Server): void {
  const host = args.text("host") ?? "127.0.0.1";
  if (args.has("json")) {
    io.out(`${JSON.stringify({ host, port, httpPort, token })}\n`);
    return;
  }
  const scheme = args.has("tls-cert") ? "https" : "http";
  io.out(`protocol  ${host}:${port}\n`);
  if (httpPort !== undefined) io.out(`page      ${scheme}://${host}:${httpPort}/#token=${token}\n`);
  const directory = args.text("dir");
  if (args.has("redis")) io.out(`redis     service ${args.text("name") ?? "server"}\n`);
  else if (directory !== undefined) io.out(`directory ${directory}\n`);
  else io.out("memory: crawls end with the server\n");
}

function tlsOf(args: Parsed): ServeTls | undefined {
  const [cert, key, ca] = ["tls-cert", "tls-key", "tls-ca"].map((name) => {
    const path = args.text(name);
    return path === undefined ? undefined : readPem(name, path);
  });
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    throw new UsageError("--tls-cert and --tls-key: both are needed");
  }
  return { cert, key, ca };
}

function readPem(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new UsageError(`--${name}: ${path}: ${messageOf(cause)}`);
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : JSON.stringify(cause);
}
