/**
 * What undici 7 leaves out of HTTP/2, added to the session that it makes of a socket.
 *
 *   socket ─▶ undici adds its first listener ─▶ the session is there ─▶ its streams are watched
 *
 *   a stream            answer                connection
 *   ends                whole                 kept; closed after keepAliveMs without a byte
 *   is reset            error, never whole    closed
 *   is ended by us      of no interest        closed: a server may send on, or may have gone
 *   cannot be opened    error                 closed
 *
 *   I1  `session.request` never throws. If it did, undici would send no other request to this origin, or the process would end with an
 *       uncaught exception.
 *   I2  One request at a time is on a connection, so closing it ends no other.
 *
 * A reset without a code (NO_ERROR) is sometimes reported as an end; http-exchange.ts compares the length that the server has stated.
 */
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { errors } from "undici";

/** Watches the session of a socket; leaves a socket of HTTP/1 unchanged. */
export function watchHttp2(socket: Socket, keepAliveMs: number): void {
  if ((socket as { alpnProtocol?: unknown }).alpnProtocol !== "h2") return;
  const look = (): void => {
    const session = sessionOf(socket);
    if (session === undefined) return;
    socket.off("newListener", look);
    watchSession(session, socket, keepAliveMs);
  };
  socket.on("newListener", look);
}

/** undici keeps it at the socket, under a symbol of its own. */
function sessionOf(socket: Socket): ClientHttp2Session | undefined {
  for (const symbol of Object.getOwnPropertySymbols(socket)) {
    const value = (socket as unknown as Record<symbol, unknown>)[symbol];
    const { request, goaway } = (value ?? {}) as Partial<ClientHttp2Session>;
    if (typeof request === "function" && typeof goaway === "function") {
      return value as ClientHttp2Session;
    }
  }
  return undefined;
}

function watchSession(session: ClientHttp2Session, socket: Socket, keepAliveMs: number): void {
  const request = session.request.bind(session);
  // undici reads the error of a socket that is closed, and fails where there is none.
  const end = (): void => void socket.destroy(new errors.SocketError("HTTP/2: closed"));
  let openCount = 0;
  session.request = (...args) => {
    let stream: ClientHttp2Stream;
    try {
      stream = request(...args);
    } catch (cause) {
      end();
      return failedStream(cause);
    }
    openCount++;
    stream.once("close", () => {
      // An answer may take longer than keepAliveMs. The time begins anew when the last stream closes.
      if (--openCount === 0) session.setTimeout(keepAliveMs);
    });
    // It comes before undici's own listener, which takes the end for a whole answer.
    stream.once("end", () => {
      if (isReset(stream)) stream.emit("error", new errors.SocketError("HTTP/2: reset"));
    });
    // undici calls it for what has failed or is aborted, and for nothing else.
    stream.close = end;
    return stream;
  };
  // A listener given to setTimeout() would be called once.
  session.on("timeout", () => {
    if (openCount === 0) end();
  });
  session.setTimeout(keepAliveMs);
}

/** As nghttp2 has it of a stream that was reset before its end, while Node still holds it. */
const HALF_CLOSED_REMOTE = 6;

function isReset({ rstCode, closed, state }: ClientHttp2Stream): boolean {
  return rstCode !== 0 || (closed && state.state === HALF_CLOSED_REMOTE);
}

/** Stands for a stream that could not be opened: fails when undici listens to it. */
function failedStream(cause: unknown): ClientHttp2Stream {
  const stream = new Duplex({ read() {}, write: (_, __, done) => done() });
  const missing = { setTimeout: () => stream, close: () => void stream.destroy() };
  stream.destroy(cause as Error);
  return Object.assign(stream, missing) as unknown as ClientHttp2Stream;
}
