/** Servers that misuse HTTP/2: each ends as a fault of a certain kind, and the next request is answered. */
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { createDownloader } from "../../../../src/crawl/http/downloader.ts";
import {
  type Answer,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  fields,
  frame,
  GOAWAY,
  HEADERS,
  openFrameServer,
  PAGE,
  PING,
  PUSH_PROMISE,
  RST_STREAM,
  SETTINGS,
  whole,
  words,
} from "../../../support/http2-frames.ts";
import { closeAfter, faultOf } from "../../../support/listening.ts";

/** Writes it until the connection is closed. */
function flood(socket: Socket, bytes: Buffer): void {
  const many = Buffer.concat(Array.from({ length: 500 }, () => bytes));
  const more = (): void => {
    if (!socket.destroyed) socket.write(many, () => setImmediate(more));
  };
  more();
}

const head = (stream: number, ...list: ReadonlyArray<readonly [string, string]>): Buffer =>
  frame(HEADERS, END_HEADERS | END_STREAM, stream, fields(...list));
const reset = (stream: number, code: number): Buffer => frame(RST_STREAM, 0, stream, words(code));
const promised = fields(
  [":method", "GET"],
  [":scheme", "https"],
  [":authority", "localhost"],
  [":path", "/x"],
);
const manyFields = fields(
  [":status", "200"],
  ...Array.from({ length: 900 }, (_, at) => [`x${at}`, "v"] as const),
);
const page = (stream: number): Buffer => frame(HEADERS, END_HEADERS, stream, PAGE);

const ANSWERS: ReadonlyArray<readonly [what: string, fault: string, answer: Answer]> = [
  ["says that it leaves", "reset", (socket) => socket.write(frame(GOAWAY, 0, 0, words(0, 0)))],
  [
    "leaves amid a page",
    "reset",
    (socket, id) => {
      socket.write(Buffer.concat([page(id), frame(DATA, 0, id, Buffer.from("half"))]));
      socket.write(frame(GOAWAY, 0, 0, words(id, 0)));
    },
  ],
  ["closes the connection", "reset", (socket) => socket.end()],
  ["wants quiet", "reset", (socket, id) => socket.write(reset(id, 11))],
  ["wants HTTP/1.1", "protocol", (socket, id) => socket.write(reset(id, 13))],
  ["finds TLS too weak", "tls", (socket, id) => socket.write(reset(id, 12))],
  ["resets with a code of its own", "reset", (socket, id) => socket.write(reset(id, 0xfffffff0))],
  [
    "promises a page that was not asked for",
    "protocol",
    (socket, id) => {
      socket.write(frame(PUSH_PROMISE, END_HEADERS, id, Buffer.concat([words(2), promised])));
      socket.write(whole(id));
    },
  ],
  [
    "sends headers without end",
    "protocol",
    (socket, id) => {
      socket.write(frame(HEADERS, 0, id, PAGE));
      flood(socket, frame(CONTINUATION, 0, id, fields(["x", "y"])));
    },
  ],
  [
    "sends too many headers",
    "reset",
    (socket, id) => socket.write(frame(HEADERS, END_HEADERS | END_STREAM, id, manyFields)),
  ],
  ["has no status", "protocol", (socket, id) => socket.write(head(id, ["x", "y"]))],
  ["has a status of zeros", "protocol", (socket, id) => socket.write(head(id, [":status", "000"]))],
  ["answers another request", "protocol", (socket, id) => socket.write(whole(id + 100))],
  [
    "states a wrong length",
    "protocol",
    (socket, id) => socket.write(head(id, [":status", "200"], ["content-length", "3"])),
  ],
];

describe("a server of HTTP/2 that", () => {
  it.each(ANSWERS)("%s: fault %s, and the next page is read", async (_, fault, answer) => {
    const { url, ca } = await openFrameServer((socket, stream, before) =>
      before === 0 ? answer(socket, stream, before) : socket.write(whole(stream)),
    );
    const downloader = createDownloader({ allowPrivate: true, ca });
    closeAfter(() => downloader.close());
    expect(await faultOf(downloader.download({ url }))).toBe(fault);
    // What is asked at once may still meet the connection that ends, and may be asked again.
    const again = await faultOf(downloader.download({ url }));
    expect(["answered", "reset"]).toContain(again);
    expect((await downloader.download({ url })).body.toString()).toBe("whole");
  });

  it.each([
    ["settings", () => frame(SETTINGS, 0, 0)],
    ["pings", () => frame(PING, 0, 0, Buffer.alloc(8))],
    ["empty data", (stream: number) => frame(DATA, 0, stream)],
  ])("sends %s without end ends at a limit", async (_, bytesFor) => {
    const { url, ca } = await openFrameServer((socket, stream, before) => {
      if (before > 0) return socket.write(whole(stream));
      socket.write(page(stream));
      return flood(socket, bytesFor(stream));
    });
    const hasty = createDownloader({ allowPrivate: true, ca, totalMs: 300 });
    closeAfter(() => hasty.close());
    // Some versions of Node end it before that.
    expect(["protocol", "timeout"]).toContain(await faultOf(hasty.download({ url })));
    const downloader = createDownloader({ allowPrivate: true, ca });
    closeAfter(() => downloader.close());
    expect((await downloader.download({ url })).body.toString()).toBe("whole");
  });

  it("finds itself the wrong one (421) is answered by its status, and hints before an answer are none", async () => {
    const hint = frame(HEADERS, END_HEADERS, 1, fields([":status", "103"]));
    const { url, ca } = await openFrameServer((socket, stream) => {
      socket.write(hint);
      socket.write(head(stream, [":status", "421"]));
    });
    const downloader = createDownloader({ allowPrivate: true, ca });
    closeAfter(() => downloader.close());
    expect((await downloader.download({ url })).status).toBe(421);
  });

  it("speaks nothing else is a fault of TLS where HTTP/2 is not wanted", async () => {
    const { url, ca } = await openFrameServer((socket, stream) => socket.write(whole(stream)));
    const downloader = createDownloader({ allowPrivate: true, ca, http2: false });
    closeAfter(() => downloader.close());
    expect(await faultOf(downloader.download({ url }))).toBe("tls");
  });
});
