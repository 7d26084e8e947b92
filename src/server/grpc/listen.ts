/**
 * Room `src/server/grpc`: the protocol on the wire: bytes to calls, calls to answers, streams with back-pressure. Decides
 * nothing about URLs: crawls does.
 */

/** Listens for the protocol, gRPC on Node's HTTP/2: TLS, the token, bounds of connections and streams, and the end of all of it. */
import {
  constants,
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { after } from "../../base/clock.ts";
import { type Listening, listenOn } from "../listen-on.ts";
import { isSameSecret } from "../secret.ts";
import type { ServeSettings } from "../options.ts";
import { CallError, UNAUTHENTICATED, UNAVAILABLE, UNIMPLEMENTED } from "./call-errors.ts";
import { type Calls, UNARY_CALLS, type Unary } from "./calls.ts";
import { answered, getUrls, listUrls } from "./get-urls.ts";
import { framed } from "./messages.ts";
import { createPutRuns } from "./put-runs.ts";
import { BATCHES, ONE_BY_ONE, openPut } from "./put-streams.ts";
import { RpcStream } from "./rpc-stream.ts";

const SERVICE = "/urlfrontier.URLFrontier/";
const MEDIA_TYPE = /^application\/grpc(?:[+;]|$)/i;
/** Messages of full length that may be under way at the same time, on all connections together, and that may wait to be read. */
const UNFINISHED_MAX = 64;
/** An idle connection is pinged, so that a dead one does not hold resources. */
export interface Keepalive {
  /** Time without any byte after which it is pinged, and the interval of further pings. */
  readonly idleMs: number;
  /** Time that it has for its answer. */
  readonly answerMs: number;
}

const KEEPALIVE: Keepalive = { idleMs: 60_000, answerMs: 20_000 };
/** Headers of one call. */
const HEADER_BYTES_MAX = 16_384;
/** Time in which clients read that the server has ended their calls. */
const STATUS_MS = 100;
/** Megabytes that Node may hold for one connection: more than its windows let in. */
const SESSION_MEGABYTES_MAX = 128;

export interface RpcServer {
  readonly port: number;
  /** Refuses new calls; those under way have this many milliseconds. */
  close(drainMs: number): Promise<void>;
}

export async function listen(
  settings: ServeSettings,
  port: number,
  calls: Calls,
  keepalive = KEEPALIVE,
): Promise<RpcServer> {
  const { given, host, messageBytesMax, streamsMax } = settings;
  const options = {
    maxSessionMemory: SESSION_MEGABYTES_MAX,
    settings: { maxConcurrentStreams: streamsMax, maxHeaderListSize: HEADER_BYTES_MAX },
  };
  const server = given.tls === undefined ? createServer(options) : secure(given.tls, options);
  const methods = methodsOf(calls);
  const room = { bytes: 0, bytesMax: UNFINISHED_MAX * messageBytesMax };
  const rooms = {
    unfinished: room,
    unread: { ...room, held: new Map<ServerHttp2Session, number>() },
  };
  const expected = given.token === undefined ? undefined : `Bearer ${given.token}`;
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    const isPost = headers[":method"] === "POST";
    if (!isPost || !MEDIA_TYPE.test(String(headers["content-type"]))) {
      stream.on("error", () => undefined);
      stream.respond({ ":status": isPost ? 415 : 405 }, { endStream: true });
      stream.resume();
      return;
    }
    const rpc = new RpcStream(stream, headers, messageBytesMax, rooms);
    connections.streams.add(rpc);
    stream.on("close", () => connections.streams.delete(rpc));
    if (expected !== undefined && !isSameSecret(String(headers.authorization), expected)) {
      rpc.fail(new CallError(UNAUTHENTICATED, "authorization: a token is needed"));
    }
    const path = String(headers[":path"]);
    const open = path.startsWith(SERVICE) ? methods.get(path.slice(SERVICE.length)) : undefined;
    if (open === undefined)
      rpc.fail(new CallError(UNIMPLEMENTED, `${path}: there is no such call`));
    else if (rpc.isOpen) open(rpc);
  });
  const connections = follow(server, keepalive);
  const onFault = (cause: unknown): void => calls.fault("listen", cause);
  const listening = await listenOn(server, { option: "port", host, port, onFault });
  return { port: listening.port, close: (drainMs) => close(listening, connections, drainMs) };
}

function secure(tls: NonNullable<ServeSettings["given"]["tls"]>, options: object): Http2Server {
  const { ca, cert, key } = tls;
  const clients = ca === undefined ? {} : { ca, requestCert: true };
  return createSecureServer({ ...options, ...clients, cert, key }) as unknown as Http2Server;
}

/** What each call does with its stream. */
function methodsOf(calls: Calls): Map<string, (stream: RpcStream) => void> {
  const runs = createPutRuns(calls);
  const methods = new Map<string, (stream: RpcStream) => void>([
    ["GetURLs", (stream) => getUrls(calls, stream)],
    ["ListURLs", (stream) => listUrls(calls, stream)],
    ["PutURLs", (stream) => openPut(calls, runs, stream, ONE_BY_ONE)],
    ["PutDiscovered", (stream) => openPut(calls, runs, stream, BATCHES)],
  ]);
  for (const [name, act] of Object.entries<Unary>(UNARY_CALLS)) {
    methods.set(name, (stream) =>
      answered(calls, name, stream, async (request) => {
        stream.send(framed(await act(calls, request)));
      }),
    );
  }
  return methods;
}

/** What is connected to a server. */
interface Connections {
  readonly sockets: Set<Socket>;
  readonly sessions: Set<ServerHttp2Session>;
  readonly streams: Set<RpcStream>;
}

function follow(server: Http2Server, keepalive: Keepalive): Connections {
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("session", (session: ServerHttp2Session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    keepAlive(session, keepalive);
  });
  return { sockets, sessions, streams: new Set() };
}

async function close(
  listening: Listening,
  { sockets, sessions, streams }: Connections,
  drainMs: number,
): Promise<void> {
  let stop = after(drainMs, () => {
    for (const stream of streams) stream.fail(new CallError(UNAVAILABLE, "the server is closing"));
    // Those that do not read how their calls ended.
    stop = after(STATUS_MS, () => {
      for (const session of sessions) session.destroy(undefined, constants.NGHTTP2_CANCEL);
      // Those that were never a connection of HTTP/2, or still send.
      setImmediate(() => {
        for (const socket of sockets) socket.destroy();
      });
    });
  });
  const over = listening.close();
  for (const session of sessions) session.close();
  await over;
  stop();
}

/** Ends a connection that does not answer when nothing has happened on it for a while. */
function keepAlive(session: ServerHttp2Session, keepalive: Keepalive): void {
  // Node forgets the listener, and its clock stands still, once the time has passed.
  session.setTimeout(keepalive.idleMs, () => {
    if (session.destroyed || session.closed) return;
    let isAnswered = false;
    // Timers run before sockets are read: after a stall of this process the answer may be there, unread.
    const giveUp = (): unknown => setImmediate(() => isAnswered || session.destroy());
    const stop = after(keepalive.answerMs, giveUp, false);
    session.once("close", stop);
    session.ping((cause) => {
      isAnswered = true;
      stop();
      session.off("close", stop);
      if (cause === null) keepAlive(session, keepalive);
      else session.destroy();
    });
  });
}
