/** Bodies of zstd that are not one whole frame. The bytes were written by another program: a Node without zstd has them too. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { createDownloader } from "../../../../../src/crawl/http/downloader.ts";
import { zstdFrames } from "../../../../../src/crawl/http/decoding/zstd-frames.ts";
import { closeAfter, faultOf, listen } from "../../../../support/listening.ts";

const TEXT = "packed ".repeat(20);
const PLAIN = Buffer.from("28b52ffd208c750000387061636b65642001000251c508", "hex");
/** With a checksum. */
const CHECKED = Buffer.from("28b52ffd248c750000387061636b65642001000251c508b66b9806", "hex");
const SKIPPABLE = Buffer.from("502a4d1803000000616263", "hex");
/** 100,000 letters in a block of a few bytes. */
const LONG = Buffer.from("28b52ffd0058430d0341", "hex");
const HAS_ZSTD = "zstdDecompress" in zlib;

async function read(body: Buffer, maxBytes = 1_000_000): Promise<{ fault: string; text: string }> {
  const server = await listen(
    createServer((_, response) => {
      response.writeHead(200, { "content-encoding": "zstd" }).end(body);
    }),
  );
  const downloader = createDownloader({ allowPrivate: true, maxBytes });
  closeAfter(() => downloader.close());
  const { port } = server.address() as AddressInfo;
  const answer = downloader.download({ url: `http://127.0.0.1:${port}/` });
  const fault = await faultOf(answer);
  return { fault, text: fault === "answered" ? (await answer).body.toString() : "" };
}

/** As this Node ends it: where there is no zstd, every body is a fault of its encoding. */
const expected = (fault: string, text = ""): { fault: string; text: string } =>
  HAS_ZSTD ? { fault, text } : { fault: "encoding", text: "" };

describe("a body of zstd", () => {
  it.each([
    ["two frames", Buffer.concat([PLAIN, CHECKED]), TEXT + TEXT],
    ["a frame to pass over first", Buffer.concat([SKIPPABLE, PLAIN]), TEXT],
    ["nothing but a frame to pass over", SKIPPABLE, ""],
    ["more behind it that is no frame", Buffer.concat([CHECKED, Buffer.from("more")]), TEXT],
  ])("of %s is read whole", async (_, body, text) => {
    expect(await read(body)).toEqual(expected("answered", text));
  });

  it("that breaks off anywhere is no page", async () => {
    for (const whole of [PLAIN, CHECKED, SKIPPABLE, Buffer.concat([PLAIN, CHECKED])]) {
      for (let length = 1; length < whole.length; length++) {
        const body = whole.subarray(0, length);
        // Behind a whole frame, less than a magic number may be anything.
        const isBehind = whole.length > PLAIN.length + 4 && length >= PLAIN.length;
        if (isBehind && length < PLAIN.length + 4) continue;
        expect(() => zstdFrames(body, false), `${length} bytes`).toThrow(/^zstd: /);
      }
    }
    for (const cut of [PLAIN.subarray(0, -1), CHECKED.subarray(0, -1), PLAIN.subarray(0, 4)]) {
      expect(await read(cut)).toEqual(expected("encoding"));
    }
    expect(zstdFrames(PLAIN.subarray(0, -1), true)).toHaveLength(1);
  });

  it.each([
    ["no frame", Buffer.from("none at all")],
    ["a window of gigabytes", Buffer.from("28b52ffd00a8030000", "hex")],
    ["a dictionary that is not there", Buffer.from("28b52ffd03580100010000", "hex")],
    ["a reserved block", Buffer.from("28b52ffd0058070000", "hex")],
    ["a thousand frames and one", Buffer.concat(Array.from({ length: 1_001 }, () => PLAIN))],
  ])("of %s is a fault of its encoding", async (_, body) => {
    expect((await read(body)).fault).toBe("encoding");
  });

  it("is too large by the sum of its frames", async () => {
    expect((await read(LONG)).fault).toBe(expected("answered").fault);
    const two = Buffer.concat([PLAIN, PLAIN]);
    expect(await read(two, 2 * TEXT.length)).toEqual(expected("answered", TEXT + TEXT));
    for (const maxBytes of [2 * TEXT.length - 1, TEXT.length, TEXT.length - 1]) {
      expect(await read(two, maxBytes)).toEqual(expected("too-large"));
    }
  });
});
