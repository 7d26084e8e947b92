/**
 * Over HTTP/2 an answer that its server broke off (RST_STREAM with CANCEL or NO_ERROR) was taken for a whole page, and one that was refused
 * before it had begun failed for good.
 */
import { expect, it } from "vitest";
import { createDownloader } from "../../src/crawl/http/downloader.ts";
import { closeAfter, faultOf } from "../support/listening.ts";
import {
  DATA,
  END_HEADERS,
  fields,
  frame,
  HEADERS,
  openFrameServer,
  PAGE,
  RST_STREAM,
  words,
} from "../support/http2-frames.ts";

const NO_ERROR = 0;
const INTERNAL_ERROR = 2;
const REFUSED_STREAM = 7;
const CANCEL = 8;

it.each([NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM, CANCEL])(
  "an answer that is broken off with code %i may work later",
  async (code) => {
    for (const head of [[], [frame(HEADERS, END_HEADERS, 1, PAGE)]]) {
      const half = head.map((each) =>
        Buffer.concat([each, frame(DATA, 0, 1, Buffer.from("half"))]),
      );
      const end = frame(RST_STREAM, 0, 1, words(code));
      const { url, ca } = await openFrameServer((socket) =>
        socket.write(Buffer.concat([...half, end])),
      );
      const downloader = createDownloader({ allowPrivate: true, ca });
      closeAfter(() => downloader.close());
      expect(await faultOf(downloader.download({ url }))).toBe("reset");
    }
  },
);

it("a page of less than its stated length is none", async () => {
  const head = fields([":status", "200"], ["content-length", "9"]);
  const { url, ca } = await openFrameServer((socket) => {
    socket.write(frame(HEADERS, END_HEADERS, 1, head));
    socket.write(frame(DATA, 0, 1, Buffer.from("half")));
    socket.write(frame(RST_STREAM, 0, 1, words(NO_ERROR)));
  });
  const downloader = createDownloader({ allowPrivate: true, ca });
  closeAfter(() => downloader.close());
  expect(await faultOf(downloader.download({ url }))).toBe("reset");
});
