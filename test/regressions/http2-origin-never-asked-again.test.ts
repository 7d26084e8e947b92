/**
 * A request that HTTP/2 refuses (a header of the connection, a session that is gone) made undici throw where none expects it: the process
 * ended, or no other request went to the origin.
 */
import { expect, it } from "vitest";
import { createDownloader } from "../../src/crawl/http/downloader.ts";
import { frame, openFrameServer, whole, WINDOW_UPDATE, words } from "../support/http2-frames.ts";
import { closeAfter, faultOf } from "../support/listening.ts";

it("a header that HTTP/2 forbids fails its own request and no other", async () => {
  const { url, ca } = await openFrameServer((socket, stream) => socket.write(whole(stream)));
  const downloader = createDownloader({ allowPrivate: true, ca });
  closeAfter(() => downloader.close());
  const forbidden = { te: "gzip" };
  // On a connection that is being made, and on one that is there.
  for (let round = 0; round < 2; round++) {
    expect(await faultOf(downloader.download({ url, headers: forbidden }))).toBe("protocol");
    expect((await downloader.download({ url })).body.toString()).toBe("whole");
  }
});

it("a connection that breaks fails what it was asked, and nothing that waits for it", async () => {
  const { url, ca, count } = await openFrameServer((socket, stream, before) => {
    socket.write(before === 0 ? frame(WINDOW_UPDATE, 0, 0, words(0)) : whole(stream));
  });
  const downloader = createDownloader({ allowPrivate: true, ca });
  closeAfter(() => downloader.close());
  expect(await faultOf(downloader.download({ url }))).toBe("protocol");
  expect(["answered", "reset"]).toContain(await faultOf(downloader.download({ url })));
  expect((await downloader.download({ url })).body.toString()).toBe("whole");
  expect(count()).toBeGreaterThanOrEqual(2);
});
