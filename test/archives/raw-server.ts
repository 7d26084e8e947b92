/** A server whose answers are given byte for byte, and what it was asked. */
import { createServer } from "node:net";

export interface RawServer {
  readonly origin: string;
  /** Whole requests, in the order in which they came. */
  readonly requests: string[];
  close(): void;
}

/** Answers a path with these bytes; a path without any is not found. */
export async function serveRaw(answers: ReadonlyMap<string, Buffer>): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    let read = "";
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk) => {
      read += chunk.toString("latin1");
      for (let end = read.indexOf("\r\n\r\n"); end >= 0; end = read.indexOf("\r\n\r\n")) {
        const request = read.slice(0, end + 4);
        read = read.slice(end + 4);
        requests.push(request);
        const path = request.split(" ", 2)[1] ?? "";
        socket.write(answers.get(path) ?? answer(404, [], Buffer.from("none")));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** An answer on the wire, its length told. */
export function answer(status: number, headers: readonly string[], body: Buffer): Buffer {
  const head = [`HTTP/1.1 ${status} Said So`, ...headers, `Content-Length: ${body.length}`];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"), body]);
}
