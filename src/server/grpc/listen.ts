/** Listens for the protocol: TLS, the token, bounds of messages and streams, and the end of all of it. */
import type * as Grpc from "@grpc/grpc-js";
import { after } from "../../base/clock.ts";
import { FrontierError } from "../../base/errors.ts";
import { isSameSecret } from "../secret.ts";
import type { ServeSettings } from "../options.ts";
import { callErrorOf } from "./call-errors.ts";
import { type Calls, UNARY_CALLS } from "./calls.ts";
import { getUrls, listUrls } from "./get-urls.ts";
import { createPutRuns } from "./put-runs.ts";
import { putDiscovered, putUrls } from "./put-streams.ts";
import { RpcStream } from "./rpc-stream.ts";
import { type Handlers, SERVICE_DEFINITION } from "./service.ts";

const UNAUTHENTICATED = 16;
/** A connection on which nothing happens is asked whether it is alive, so that one that is gone holds nothing. */
const KEEPALIVE_MS = 60_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;
/** Headers of one call. */
const HEADER_BYTES_MAX = 16_384;

export interface RpcServer {
  readonly port: number;
  /** No new calls; those under way have so many milliseconds. */
  close(drainMs: number): Promise<void>;
}

export async function listen(
  settings: ServeSettings,
  port: number,
  calls: Calls,
): Promise<RpcServer> {
  const grpc = await loadGrpc();
  const { given, host, messageBytesMax, streamsMax } = settings;
  const server = new grpc.Server({
    "grpc.max_receive_message_length": messageBytesMax,
    "grpc.max_send_message_length": -1,
    "grpc.max_concurrent_streams": streamsMax,
    "grpc.keepalive_time_ms": KEEPALIVE_MS,
    "grpc.keepalive_timeout_ms": KEEPALIVE_TIMEOUT_MS,
    "grpc.max_metadata_size": HEADER_BYTES_MAX,
    interceptors: [
      ...(given.token === undefined ? [] : [tokenGuard(grpc, given.token)]),
      streamsOf(grpc, calls),
    ],
  });
  server.addService(SERVICE_DEFINITION, handlersOf(calls) as never);
  const bound = await new Promise<number>((resolve, reject) => {
    const credentials = credentialsOf(grpc, given.tls);
    const address = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
    server.bindAsync(address, credentials, (cause, actual) => {
      if (cause === null) resolve(actual);
      else reject(portFault(cause, host, port));
    });
  });
  return { port: bound, close: (drainMs) => closeServer(server, drainMs) };
}

async function loadGrpc(): Promise<typeof Grpc> {
  try {
    return await import("@grpc/grpc-js");
  } catch (cause) {
    const message = "@grpc/grpc-js: not installed (expected: npm install @grpc/grpc-js)";
    throw new FrontierError("PACKAGE_MISSING", message, cause);
  }
}

function portFault(cause: Error, host: string, port: number): FrontierError {
  const message = `port: ${host}:${port} (expected: a free port): ${cause.message}`;
  return new FrontierError("PORT_IN_USE", message, cause);
}

function credentialsOf(
  grpc: typeof Grpc,
  tls: ServeSettings["given"]["tls"],
): Grpc.ServerCredentials {
  if (tls === undefined) return grpc.ServerCredentials.createInsecure();
  const { ca, cert, key } = tls;
  const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) };
  const roots = ca === undefined ? null : Buffer.from(ca);
  return grpc.ServerCredentials.createSsl(roots, [pair], ca !== undefined);
}

/** Refuses a call without the token before anything of it is read. */
function tokenGuard(grpc: typeof Grpc, token: string): Grpc.ServerInterceptor {
  const expected = `Bearer ${token}`;
  return (_method, call) =>
    new grpc.ServerInterceptingCall(call, {
      start(next) {
        const listener = new grpc.ServerListenerBuilder().withOnReceiveMetadata((metadata, go) => {
          const [given] = metadata.get("authorization");
          if (isSameSecret(String(given ?? ""), expected)) go(metadata);
          else
            call.sendStatus({ code: UNAUTHENTICATED, details: "authorization: a token is needed" });
        });
        next(listener.build());
      },
    });
}

/** Takes the calls that stream before grpc-js makes streams of objects for them. */
function streamsOf(grpc: typeof Grpc, calls: Calls): Grpc.ServerInterceptor {
  const runs = createPutRuns(calls);
  const streams: Readonly<Record<string, (stream: RpcStream) => void>> = {
    GetURLs: (stream) => getUrls(calls, stream),
    ListURLs: (stream) => listUrls(calls, stream),
    PutURLs: (stream) => putUrls(calls, runs, stream),
    PutDiscovered: (stream) => putDiscovered(calls, runs, stream),
  };
  return ({ path }, call) => {
    const open = streams[path.slice(path.lastIndexOf("/") + 1)];
    const start = open === undefined ? undefined : () => open(new RpcStream(call));
    return new grpc.ServerInterceptingCall(call, start === undefined ? {} : { start });
  };
}

/** Those of calls that stream are never called. */
function handlersOf(calls: Calls): Handlers {
  const unary = Object.entries(UNARY_CALLS).map(([name, act]) => {
    const handler: Grpc.handleUnaryCall<Buffer, Buffer> = (call, answer) => {
      answerOf(calls, name, act, call.request).then(
        (bytes) => answer(null, bytes),
        (cause) => answer(cause, null),
      );
    };
    return [name, handler];
  });
  const never = (): void => undefined;
  return {
    ...(Object.fromEntries(unary) as Omit<
      Handlers,
      "GetURLs" | "ListURLs" | "PutURLs" | "PutDiscovered"
    >),
    GetURLs: never,
    ListURLs: never,
    PutURLs: never,
    PutDiscovered: never,
  };
}

async function answerOf(
  calls: Calls,
  name: string,
  act: (calls: Calls, request: Buffer) => Buffer | Promise<Buffer>,
  request: Buffer,
): Promise<Buffer> {
  try {
    return await act(calls, request);
  } catch (cause) {
    const error = callErrorOf(cause);
    if (error !== cause) calls.fault(name, cause);
    throw error;
  }
}

function closeServer(server: Grpc.Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const stop = after(drainMs, () => server.forceShutdown());
    server.tryShutdown(() => {
      stop();
      resolve();
    });
  });
}
