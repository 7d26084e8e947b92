import { createServer, type RequestListener } from "node:http";
import { createSecureServer } from "node:http2";
import { type AddressInfo, createServer as createRawServer, type Socket } from "node:net";
import * as zlib from "node:zlib";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Lookup } from "../../../../src/crawl/http/guarded-connector.ts";
import { createDownloader } from "../../../../src/crawl/http/downloader.ts";
import type { DownloaderOptions } from "../../../../src/crawl/http/downloader-options.ts";
import { downloadError } from "../../../../src/crawl/http/download-error.ts";
import type { Download } from "../../../../src/crawl/module-registry.ts";
import { openSyntheticWeb } from "../../../../src/testing.ts";
import { certificateOf } from "../../../support/certificate.ts";
import { closeAfter, faultOf, listen } from "../../../support/listening.ts";

/** Downloads one path of a server that answers as told. */
async function ask(
  answer: RequestListener,
  options: DownloaderOptions = {},
  path = "/",
): Promise<Download> {
  const server = await listen(createServer(answer));
  const downloader = createDownloader({ allowPrivate: true, ...options });
  closeAfter(() => downloader.close());
  const { port } = server.address() as AddressInfo;
  return downloader.download({ url: `http://127.0.0.1:${port}${path}` });
}

describe("the downloader", () => {
  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
  ] as const)("undoes the content coding %s", async (coding, pack) => {
    const text = "café ".repeat(1_000);
    const answer = await ask((_, response) => {
      response.writeHead(200, { "content-encoding": coding }).end(pack(Buffer.from(text)));
    });
    expect(answer.body.toString()).toBe(text);
    expect(answer.bytes).toBeLessThan(text.length);
    // So long that it is inflated on another thread, and too long by a byte.
    const long = Buffer.alloc(1024 * 1024, "café ");
    for (const maxBytes of [long.length, long.length - 1]) {
      const packed = ask(
        (_, response) => {
          response.writeHead(200, { "content-encoding": coding }).end(pack(long));
        },
        { maxBytes },
      );
      if (maxBytes < long.length) expect(await faultOf(packed)).toBe("too-large");
      else expect((await packed).body.equals(long)).toBe(true);
    }
  });

  it.each(["gzip", "br"])("refuses a bomb of %s before it is inflated", async (coding) => {
    await using web = await openSyntheticWeb({ hosts: 1, pages: 1 });
    const downloader = createDownloader({
      allowPrivate: true,
      dial: web.dial,
      maxBytes: 1024 * 1024,
    });
    closeAfter(() => downloader.close());
    const url = `http://traps.outrider.test/bomb/${coding}`;
    expect(await faultOf(downloader.download({ url }))).toBe("too-large");
  });

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
  ] as const)(
    "cuts a body of %s when inflated where its beginning is enough",
    async (coding, pack) => {
      const long = Buffer.alloc(3_000_000, "café ");
      const server = await listen(
        createServer((_, response) => {
          response.writeHead(200, { "content-encoding": coding }).end(pack(long));
        }),
      );
      const downloader = createDownloader({ allowPrivate: true });
      closeAfter(() => downloader.close());
      const { port } = server.address() as AddressInfo;
      const request = { url: `http://127.0.0.1:${port}/`, maxBytes: 300_000, mayCut: true };
      const answer = await downloader.download(request);
      expect([answer.isTruncated, answer.body.length]).toEqual([true, 300_000]);
      expect(answer.body.equals(long.subarray(0, 300_000))).toBe(true);
    },
  );

  it("reads what stands before the garbage behind a gzip member, and no member that is not whole", async () => {
    const text = "<title>café</title>".repeat(3_000);
    const named = Buffer.from(gzipSync(text));
    named[3] = 8; // with a name
    const pack = (...parts: Buffer[]) => Buffer.concat(parts);
    const withName = pack(named.subarray(0, 10), Buffer.from("page.html\0"), named.subarray(10));
    const answered = (body: Buffer, coding = "gzip") =>
      ask((_, response) => {
        response.writeHead(200, { "content-encoding": coding }).end(body);
      });
    for (const behind of ["\n", "\r\n", "<!-- cached -->"]) {
      for (const member of [gzipSync(text), withName]) {
        const answer = await answered(pack(member, Buffer.from(behind)));
        expect(answer.body.toString()).toBe(text);
      }
    }
    const cut = gzipSync(text).subarray(0, 100);
    for (const body of [cut, pack(cut, Buffer.from("x")), Buffer.from("<p>no gzip at all</p>")])
      expect(await faultOf(answered(body))).toBe("encoding");
    // A name that is none of a coding hides nothing; one that is may.
    expect((await answered(Buffer.from("plain"), "utf-8")).body.toString()).toBe("plain");
    expect((await answered(gzipSync("packed"), "none, gzip")).body.toString()).toBe("packed");
    expect(await faultOf(answered(Buffer.from("x"), "compress"))).toBe("encoding");
  });

  it.each([
    ["EMFILE", "connect", true],
    ["EADDRNOTAVAIL", "connect", true],
    ["EAI_FAIL", "dns", true],
    ["EPROTO", "tls", false],
    ["CERT_HAS_EXPIRED", "tls", false],
    ["HPE_INVALID_CONSTANT", "protocol", false],
    ["ANYTHING", "protocol", false],
  ])("takes %s for %s, worth another try: %s", (code, fault, isTransient) => {
    const cause = Object.assign(new Error("why"), { code });
    expect(downloadError(cause)).toMatchObject({ fault, isTransient, message: "why" });
  });

  it("cuts a body at maxBytes and says so", async () => {
    const answer = await ask((_, response) => void response.end("x".repeat(5_000)), {
      maxBytes: 1_000,
    });
    expect(answer).toMatchObject({ isTruncated: true, bytes: 1_000 });
    expect(answer.body).toHaveLength(1_000);
    const exact = await ask((_, response) => void response.end("x".repeat(1_000)), {
      maxBytes: 1_000,
    });
    expect(exact.isTruncated).toBe(false);
  });

  it("ends at the limit of each phase", async () => {
    const hangs: RequestListener = () => {};
    expect(await faultOf(ask(hangs, { headersMs: 50 }))).toBe("timeout");
    const stalls: RequestListener = (_, response) => void response.write("begin");
    expect(await faultOf(ask(stalls, { bodyMs: 50 }))).toBe("timeout");
    expect(await faultOf(ask(stalls, { totalMs: 50 }))).toBe("timeout");
  });

  it("tells a connection that breaks off, a header that is too long and a port where nobody is", async () => {
    const cut: RequestListener = (request, response) => {
      response.writeHead(200, { "content-length": 100 });
      response.write("half", () => request.socket.destroy());
    };
    expect(await faultOf(ask(cut))).toBe("reset");
    const wide: RequestListener = (_, response) => void response.end("x");
    const long: RequestListener = (_, response) => {
      response.setHeader("x-wide", "w".repeat(100_000));
      response.end();
    };
    expect(await faultOf(ask(long))).toBe("protocol");
    const server = await listen(createServer(wide));
    const { port } = server.address() as AddressInfo;
    server.close();
    server.closeAllConnections();
    const downloader = createDownloader({ allowPrivate: true });
    closeAfter(() => downloader.close());
    expect(await faultOf(downloader.download({ url: `http://127.0.0.1:${port}/` }))).toBe(
      "connect",
    );
  });

  it("of many requests of one signal gives up those that are under way, and no other", async () => {
    const server = await listen(
      createServer((request, response) => {
        if (request.url === "/quick") response.end("x");
      }),
    );
    const downloader = createDownloader({ allowPrivate: true, connections: 9 });
    closeAfter(() => downloader.close());
    const { port } = server.address() as AddressInfo;
    const controller = new AbortController();
    const get = (path: string, given: AbortSignal = controller.signal) =>
      downloader.download({ url: `http://127.0.0.1:${port}${path}`, signal: given });
    await get("/quick");
    const hanging = [get("/a"), get("/b"), get("/c")].map(faultOf);
    const other = get("/quick", new AbortController().signal);
    controller.abort();
    expect(await Promise.all(hanging)).toEqual(["aborted", "aborted", "aborted"]);
    expect((await other).status).toBe(200);
    expect(await faultOf(get("/quick"))).toBe("aborted");
  });

  /** Downloads from a server that says these pieces, one by one, to each request of a connection. */
  async function told(pieces: readonly string[], times = 1): Promise<Download[]> {
    const server = createRawServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (data) => {
        // The rest of a request may be on its way.
        if (!data.toString("latin1").endsWith("\r\n\r\n")) return;
        const left = [...pieces];
        const say = (): void => {
          const piece = left.shift();
          if (piece === undefined) return;
          socket.write(piece, "latin1", () => setImmediate(say));
        };
        say();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closeAfter(() => new Promise((resolve) => server.close(resolve)));
    const downloader = createDownloader({ allowPrivate: true, totalMs: 5_000 });
    closeAfter(() => downloader.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const answers: Download[] = [];
    for (let at = 0; at < times; at++) answers.push(await downloader.download({ url }));
    return answers;
  }

  it.each(["100 Continue", "103 Early Hints", "102 Processing"])(
    "passes over %s that nobody asked for, in one piece or letter by letter, again and again",
    async (status) => {
      const body = "HTTP/1.1 100 is no answer here\r\n\r\n";
      const interim = `HTTP/1.1 ${status}\r\nx-why: because\r\n\r\n`;
      const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
      const whole = interim + interim + answer;
      for (const pieces of [[whole], [interim, interim, answer], [...whole]]) {
        const answers = await told(pieces, 3);
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
        expect(answers.map((each) => each.body.toString())).toEqual([body, body, body]);
      }
    },
  );

  it("ends with a connection that says no more than 100 Continue, or never ends to say it", async () => {
    const closing = createRawServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", () => socket.end("HTTP/1.1 100 Cont"));
    });
    const endless = createRawServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => {
        socket.write("HTTP/1.1 100 Continue\r\n");
        const say = (): void => void socket.write(`x: ${"y".repeat(1_000)}\r\n`, (e) => e || say());
        say();
      });
    });
    for (const server of [closing, endless]) {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      closeAfter(() => new Promise((resolve) => server.close(resolve)));
      const downloader = createDownloader({ allowPrivate: true });
      closeAfter(() => downloader.close());
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const fault = await faultOf(downloader.download({ url }));
      expect(["reset", "protocol"]).toContain(fault);
    }
  });

  it.each([
    ["204 with a body", "HTTP/1.1 204 No Content\r\ncontent-length: 4\r\n\r\nbody", 204],
    ["204 with a body of no length", "HTTP/1.1 204 No Content\r\n\r\nbody", 204],
    [
      "304 with the length of its page",
      "HTTP/1.1 304 Not Modified\r\ncontent-length: 4\r\n\r\n",
      304,
    ],
    ["304 with a body", "HTTP/1.1 304 Not Modified\r\ncontent-length: 4\r\n\r\nbody", 304],
  ])("takes %s for whole", async (_, answer, status) => {
    const answers = await told([answer], 3);
    expect(answers.map((each) => [each.status, each.body.length])).toEqual([
      [status, 0],
      [status, 0],
      [status, 0],
    ]);
  });

  it.each([
    ["a length", "content-length: 4", "body"],
    ["chunks", "transfer-encoding: chunked", "4\r\nbody\r\n0\r\n\r\n"],
  ])(
    "takes no body that comes late, behind a 204 with %s, for the next answer",
    async (_, header, late) => {
      const server = createRawServer((socket) => {
        socket.on("error", () => {});
        let asked = 0;
        socket.on("data", () => {
          const isFirst = asked++ === 0;
          const first = `HTTP/1.1 204 No Content\r\n${header}\r\n\r\n`;
          socket.write(isFirst ? first : `${late}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`);
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      closeAfter(() => new Promise((resolve) => server.close(resolve)));
      const downloader = createDownloader({ allowPrivate: true });
      closeAfter(() => downloader.close());
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const answers = [];
      for (let at = 0; at < 3; at++) answers.push(await downloader.download({ url }));
      expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
    },
  );

  it("does not read the body of an answer that is not wanted", async () => {
    const server = await listen(
      createServer((_, response) => {
        response.writeHead(200, { "content-type": "image/png" });
        response.write("p".repeat(100_000)); // and never ends
      }),
    );
    const downloader = createDownloader({ allowPrivate: true });
    closeAfter(() => downloader.close());
    const { port } = server.address() as AddressInfo;
    const answer = await downloader.download({
      url: `http://127.0.0.1:${port}/`,
      accepts: (_, headers) => headers["content-type"] === "text/html",
    });
    expect(answer).toMatchObject({ status: 200, isSkipped: true });
    expect(answer.body).toHaveLength(0);
  });
});

describe("the downloader's ways", () => {
  it("speaks HTTP/2 where TLS offers it, and HTTP/1.1 where that is not wanted", async () => {
    const made = certificateOf("site.example");
    const server = createSecureServer({ ...made, allowHTTP1: true }, (request, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      response.end(`HTTP/${request.httpVersion}`);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const sockets = new Set<Socket>();
    server.on("connection", (socket: Socket) => void sockets.add(socket));
    closeAfter(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const dial = { address: "127.0.0.1", port: (server.address() as AddressInfo).port };
    const said = async (http2: boolean): Promise<string> => {
      const downloader = createDownloader({ allowPrivate: true, dial, ca: made.cert, http2 });
      const { body } = await downloader.download({ url: "https://site.example/" });
      await downloader.close();
      return body.toString();
    };
    expect(await said(true)).toBe("HTTP/2.0");
    expect(await said(false)).toBe("HTTP/1.1");
    const strict = createDownloader({ allowPrivate: true, dial });
    closeAfter(() => strict.close());
    expect(await faultOf(strict.download({ url: "https://site.example/" }))).toBe("tls");
  });

  it("undoes zstd where this Node can, and elsewhere neither asks for it nor takes it for a page", async () => {
    const { zstdCompressSync } = zlib as unknown as {
      zstdCompressSync?: (body: Buffer) => Buffer;
    };
    let accepted = "";
    const answer = ask((request, response) => {
      accepted = String(request.headers["accept-encoding"]);
      const body = Buffer.from("packed ".repeat(100));
      response.writeHead(200, { "content-encoding": "zstd" });
      response.end(zstdCompressSync?.(body) ?? body);
    });
    if (zstdCompressSync === undefined) expect(await faultOf(answer)).toBe("encoding");
    else expect((await answer).body.toString()).toBe("packed ".repeat(100));
    expect(accepted.includes("zstd")).toBe(zstdCompressSync !== undefined);
  });
});

describe("the address guard of the downloader", () => {
  /** A name server that lies: public to whoever asks first, private to whoever asks again. */
  const lying = (addresses: string[]): { lookup: Lookup; asked: () => number } => {
    let asked = 0;
    const lookup: Lookup = (_, __, callback) => {
      const address = addresses[Math.min(asked++, addresses.length - 1)] as string;
      const family = address.includes(":") ? 6 : 4;
      queueMicrotask(() => callback(null, [{ address, family }]));
    };
    return { lookup, asked: () => asked };
  };

  it.each([
    "127.0.0.1",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "169.254.169.254",
    "10.0.0.1",
    "fd00:ec2::254",
    "64:ff9b::7f00:1",
  ])("a name that leads to %s is not dialled", async (address) => {
    const server = await listen(createServer((_, response) => void response.end("secret")));
    const { port } = server.address() as AddressInfo;
    const downloader = createDownloader({ lookup: lying([address]).lookup });
    closeAfter(() => downloader.close());
    const url = `http://innocent.example:${port}/`;
    expect(await faultOf(downloader.download({ url }))).toBe("address");
  });

  it("checks the same answer that is dialled: one look-up, so nothing can be rebound", async () => {
    const seen: string[] = [];
    const server = await listen(
      createServer((request, response) => {
        seen.push(request.url ?? "");
        response.end("secret");
      }),
    );
    const { port } = server.address() as AddressInfo;
    // What a second question would be answered is in guarded-connector.test.ts, where nothing is dialled.
    const { lookup, asked } = lying(["127.0.0.1"]);
    const downloader = createDownloader({ lookup });
    closeAfter(() => downloader.close());
    const url = `http://rebinding.example:${port}/`;
    expect(await faultOf(downloader.download({ url }))).toBe("address");
    expect(asked()).toBe(1);
    expect(seen).toEqual([]);
  });

  it("checks the socket's own address too, whatever led to it", async () => {
    const server = await listen(createServer((_, response) => void response.end("secret")));
    const { port } = server.address() as AddressInfo;
    const downloader = createDownloader({ dial: { address: "127.0.0.1", port } });
    closeAfter(() => downloader.close());
    expect(await faultOf(downloader.download({ url: "http://innocent.example/" }))).toBe("address");
  });

  it("among several answers dials the public ones alone", async () => {
    const server = await listen(createServer((_, response) => void response.end("secret")));
    const { port } = server.address() as AddressInfo;
    const lookup: Lookup = (_, __, callback) =>
      callback(null, [
        { address: "127.0.0.1", family: 4 },
        { address: "10.1.1.1", family: 4 },
      ]);
    const downloader = createDownloader({ lookup });
    closeAfter(() => downloader.close());
    expect(await faultOf(downloader.download({ url: `http://two.example:${port}/` }))).toBe(
      "address",
    );
  });

  it("checks literal addresses, in brackets too", async () => {
    const downloader = createDownloader();
    closeAfter(() => downloader.close());
    for (const url of ["http://127.0.0.1:9/", "http://[::1]:9/", "http://[::ffff:127.0.0.1]:9/"])
      expect(await faultOf(downloader.download({ url }))).toBe("address");
  });
});
