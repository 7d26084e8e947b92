/** A server of HTTP/2 that answers with frames written by hand, as no library would. */
import type { AddressInfo, Server, Socket } from "node:net";
import { createServer } from "node:tls";
import { certificateOf } from "./certificate.ts";
import { closeAfter } from "./listening.ts";

/** Types of frames (RFC 9113, 6). */
export const DATA = 0;
export const HEADERS = 1;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const PUSH_PROMISE = 5;
export const PING = 6;
export const GOAWAY = 7;
export const WINDOW_UPDATE = 8;
export const CONTINUATION = 9;

/** Flags of frames. */
export const END_STREAM = 1;
export const END_HEADERS = 4;
const ACK = 1;

const HEAD_BYTES = 9;
const PREFACE_BYTES = 24;

export function frame(type: number, flags: number, stream: number, body?: Buffer): Buffer {
  const payload = body ?? Buffer.alloc(0);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, at) => {
    bytes.writeUInt32BE(value, at * 4);
  });
  return bytes;
}

/** Header fields without compression; names and values shorter than 127 bytes (RFC 7541, 6.2.2). */
export function fields(...list: ReadonlyArray<readonly [name: string, value: string]>): Buffer {
  const text = (value: string): Buffer =>
    Buffer.concat([Buffer.from([value.length]), Buffer.from(value, "latin1")]);
  return Buffer.concat(
    list.map(([name, value]) => Buffer.concat([Buffer.from([0]), text(name), text(value)])),
  );
}

export const PAGE: Buffer = fields([":status", "200"], ["content-type", "text/html"]);

/** A whole answer. */
export function whole(stream: number, body = "whole"): Buffer {
  return Buffer.concat([
    frame(HEADERS, END_HEADERS, stream, PAGE),
    frame(DATA, END_STREAM, stream, Buffer.from(body)),
  ]);
}

/** Answers a request; `count` requests came before it, on any connection. */
export type Answer = (socket: Socket, stream: number, count: number) => unknown;

export interface FrameServer {
  readonly url: string;
  readonly ca: string;
  /** Those that are open. */
  readonly sockets: ReadonlySet<Socket>;
  /** Requests that have come. */
  readonly count: () => number;
}

/** Closed after the test. Its name is localhost. */
export async function openFrameServer(answer: Answer): Promise<FrameServer> {
  const made = certificateOf("localhost");
  const sockets = new Set<Socket>();
  let count = 0;
  const server: Server = createServer({ ...made, ALPNProtocols: ["h2"] }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.write(frame(SETTINGS, 0, 0));
    readFrames(socket, (type, flags, stream) => {
      if (type === SETTINGS && flags !== ACK) socket.write(frame(SETTINGS, ACK, 0));
      if (type === HEADERS) answer(socket, stream, count++);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  closeAfter(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `https://localhost:${port}/`, ca: made.cert, sockets, count: () => count };
}

function readFrames(
  socket: Socket,
  onFrame: (type: number, flags: number, stream: number) => void,
): void {
  let bytes = Buffer.alloc(0);
  let skip = PREFACE_BYTES;
  socket.on("data", (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= skip + HEAD_BYTES) {
      const at = skip;
      const end = at + HEAD_BYTES + bytes.readUIntBE(at, 3);
      if (bytes.length < end) return;
      const stream = bytes.readUInt32BE(at + 5);
      const [type = 0, flags = 0] = bytes.subarray(at + 3, at + 5);
      bytes = bytes.subarray(end);
      skip = 0;
      onFrame(type, flags, stream);
    }
  });
}
