/** Streams under load, hostile clients, secrets, and the end of a server. */
import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect as connectSocket } from "node:net";
import type { Duplex } from "node:stream";
import { deflateSync, gzipSync } from "node:zlib";
import * as grpc from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { serve } from "../../src/server.ts";
import { certificateOf } from "../support/certificate.ts";
import { sized } from "../support/size.ts";
import { type Ack, connect, found, known, serving } from "./client.ts";
import { storeOptions } from "./stores.ts";

const { createInsecure } = grpc.credentials;
const asItIs = (bytes: Buffer): Buffer => bytes;

/** A stream of raw bytes to a method. */
function rawStream(port: number, method: string): grpc.ClientDuplexStream<Buffer, Buffer> {
  const client = new grpc.Client(`127.0.0.1:${port}`, createInsecure());
  const path = `/urlfrontier.URLFrontier/${method}`;
  return client.makeBidiStreamRequest(path, asItIs, asItIs, new grpc.Metadata(), {});
}

/** A call by HTTP/2 alone: it reads nothing before it is asked to. */
function rawCall(
  port: number,
  method: string,
  headers: Record<string, string> = {},
): { session: ClientHttp2Session; call: Duplex } {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const call = session.request({
    ":method": "POST",
    ":path": `/urlfrontier.URLFrontier/${method}`,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  return { session, call };
}

/** What a call answers to these bytes: the status of HTTP, that of gRPC, and the answer's bytes. */
async function answerTo(
  port: number,
  method: string,
  { headers, pieces }: { headers?: Record<string, string>; pieces: Buffer[] },
): Promise<{ http: unknown; grpc: number; bytes: string }> {
  const { session, call } = rawCall(port, method, headers);
  const found = { http: undefined as unknown, grpc: Number.NaN, bytes: "" };
  call.on("response", (heads: Record<string, unknown>) => {
    found.http = heads[":status"];
    found.grpc = Number(heads["grpc-status"]);
  });
  call.on("trailers", (heads: Record<string, unknown>) => {
    found.grpc = Number(heads["grpc-status"]);
  });
  call.on("data", (bytes: Buffer) => {
    found.bytes += bytes.toString("latin1");
  });
  for (const piece of pieces) call.write(piece);
  if (headers?.["grpc-timeout"] === undefined) call.end();
  await new Promise((resolve) => call.on("end", resolve));
  session.destroy();
  return found;
}

/** A discovered URL as PutURLs takes it, behind the five bytes that gRPC puts before each message. */
function urlItem(url: string, id: string): Buffer {
  const field = (number: number, bytes: Buffer): Buffer =>
    Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes]);
  const discovered = field(1, field(1, field(1, Buffer.from(url))));
  const message = Buffer.concat([discovered, field(3, Buffer.from(id))]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

function ended(stream: grpc.ClientDuplexStream<Buffer, Buffer>): Promise<grpc.StatusObject> {
  stream.on("data", () => undefined);
  stream.on("error", () => undefined);
  return new Promise((resolve) => stream.on("status", resolve));
}

/** Waits until `is` holds. */
async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(is, { interval: 10 }).toBe(true);
}

describe("streams", () => {
  it("keep the order of their messages, discovered and known ones of several crawls mixed", async () => {
    const client = connect((await serving()).port);
    const messages = Array.from({ length: sized(3_000, 600) }, (_, n) => {
      const rest = { ID: String(n), crawlID: `c${n % 3}` };
      const url = `http://h${n % 7}.com/${n >> 1}`;
      return n % 2 === 0 ? found(url, rest) : known(url, 0, rest);
    });
    const acks = await client.stream<Ack>("PutURLs", messages);
    expect(acks.map(({ ID }) => ID)).toEqual(messages.map((_, n) => String(n)));
    expect(acks.every(({ status }) => status === "OK")).toBe(true);
  });

  it("get their own answers, in their own order, when many of them send at the same time", async () => {
    const client = connect((await serving()).port);
    const isKnown = (n: number): boolean => n % 7 === 6;
    // Each third URL, others on each stream, is the one before it once more.
    const isAgain = (at: number, n: number): boolean =>
      n > 0 && (n + at) % 3 === 2 && !isKnown(n) && !isKnown(n - 1);
    const streams = Array.from({ length: 12 }, (_, at) =>
      Array.from({ length: sized(600, 120) }, (_, n) => {
        const url = `http://h${at}.com/${isAgain(at, n) ? n - 1 : n}`;
        const rest = { ID: `${at}-${n}`, crawlID: `c${at % 2}` };
        return isKnown(n) ? known(url, 0, rest) : found(url, rest);
      }),
    );
    const acks = await Promise.all(streams.map((all) => client.stream<Ack>("PutURLs", all)));
    for (const [at, all] of streams.entries()) {
      const status = (n: number): string => (isAgain(at, n) ? "SKIPPED" : "OK");
      expect(acks[at]).toEqual(all.map((_, n) => ({ ID: `${at}-${n}`, status: status(n) })));
    }
  });

  it("end after their last answer, whenever the client ends them", async (context) => {
    const client = connect((await serving(await storeOptions("directory", context))).port);
    for (let turns = 0; turns < 40; turns++) {
      const stream = client.open("PutURLs");
      const acks: string[] = [];
      stream.on("data", ({ ID }: Ack) => acks.push(ID));
      // A crawl is made meanwhile: the answer takes more than a turn.
      stream.write(found("http://a.com/", { ID: "one", crawlID: `crawl ${turns}` }));
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      stream.end();
      await new Promise((resolve, reject) => stream.on("end", resolve).on("error", reject));
      expect(acks).toEqual(["one"]);
    }
  });

  it("answer each batch with the statuses of its own URLs, however many go in together", async () => {
    const client = connect((await serving()).port);
    const sizes = [0, 1, 300, 2, 1_500, 0, 999, 25, 1, 700];
    const seen = new Set<string>();
    const expected: object[] = [];
    const batches = sizes.map((size, at) => {
      const items = Array.from({ length: size }, (_, n) => ({
        url: n % 50 === 7 ? "" : `http://h${n % 9}.com/${(n * (at + 1)) % 2_000}`,
        crawlID: `c${n % 3}`,
      }));
      const statuses = items.map(({ url, crawlID }) => {
        const name = `${crawlID} ${url}`;
        const isNew = url.startsWith("http") && !seen.has(name);
        seen.add(name);
        return isNew ? "OK" : "SKIPPED";
      });
      expected.push({ ID: `b${at}`, statuses });
      return { ID: `b${at}`, items };
    });
    expect(await client.stream("PutDiscovered", batches)).toEqual(expected);
  });

  it("apply no more than the bound of a client that reads no answers, and all once it reads", async () => {
    const { port } = await serving();
    const { session, call } = rawCall(port, "PutURLs");
    const count = 8_000;
    // Long IDs come back with the answers and fill the client's window.
    const idOf = (n: number): string => `${n}-${"x".repeat(1_024)}`;
    for (let n = 0; n < count; n++) call.write(urlItem(`http://a.com/${n}`, idOf(n)));
    call.end();
    const client = connect(port);
    const applied = async (): Promise<number> => (await client.stats()).size;
    let before = 0;
    let same = 0;
    await until(async () => {
      const size = await applied();
      same = size === before && size > 0 ? same + 1 : 0;
      before = size;
      return same === 100;
    });
    // What waits, the run before it, and what the windows take.
    expect(before).toBeLessThanOrEqual(1_024 + 1_024 + 512);
    let bytes = 0;
    call.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await new Promise((resolve) => call.on("end", resolve));
    expect(await applied()).toBe(count);
    expect(bytes).toBeGreaterThan(count * 1_024);
    session.destroy();
  });

  it("give back what a client that left did not take", async () => {
    const client = connect((await serving()).port);
    const items = Array.from({ length: 5_000 }, (_, n) => ({ url: `http://a.com/${n}` }));
    await client.stream("PutDiscovered", [{ ID: "", items }]);
    const call = client.open("GetURLs", { delay_requestable: 600 });
    call.on("error", () => undefined);
    await new Promise((resolve) => call.once("data", resolve));
    call.cancel();
    await until(async () => (await client.stats()).inProcess < 5_000);
    const { inProcess, size } = await client.stats();
    expect(size).toBe(5_000);
    expect(inProcess).toBeGreaterThan(0);
  });
});

describe("a call", () => {
  const item = urlItem("http://a.com/1", "id");
  const ack = "\0\0\0\0\u0004\n\u0002id";

  it("takes a message in any pieces, and one that is compressed", async () => {
    const { port } = await serving();
    const bytes = Array.from(item, (byte) => Buffer.from([byte]));
    const expected = { http: 200, grpc: 0, bytes: ack };
    expect(await answerTo(port, "PutURLs", { pieces: bytes })).toEqual(expected);
    for (const [encoding, pack] of [
      ["gzip", gzipSync],
      ["deflate", deflateSync],
    ] as const) {
      const body = pack(urlItem(`http://a.com/${encoding}`, "id").subarray(5));
      const head = Buffer.from([1, 0, 0, 0, body.length]);
      const headers = { "grpc-encoding": encoding };
      const answer = await answerTo(port, "PutURLs", { headers, pieces: [head, body] });
      expect(answer).toEqual(expected);
    }
  });

  it.each([
    ["of no such method", "Nothing", {}, [200, grpc.status.UNIMPLEMENTED]],
    ["in another format", "PutURLs", { "content-type": "text/plain" }, [415, Number.NaN]],
    [
      "in its browsers' form",
      "PutURLs",
      { "content-type": "application/grpc-web" },
      [415, Number.NaN],
    ],
    ["by another method", "ListNodes", { ":method": "GET" }, [405, Number.NaN]],
    ["by another method", "ListNodes", { ":method": "PUT" }, [405, Number.NaN]],
    [
      "packed in another way",
      "PutURLs",
      { "grpc-encoding": "br" },
      [200, grpc.status.UNIMPLEMENTED],
    ],
    ["that waits for no time", "PutURLs", { "grpc-timeout": "1h" }, [200, grpc.status.INTERNAL]],
    ["that has no time", "PutURLs", { "grpc-timeout": "1m" }, [200, grpc.status.DEADLINE_EXCEEDED]],
    [
      "that has no time",
      "GetStats",
      { "grpc-timeout": "1n" },
      [200, grpc.status.DEADLINE_EXCEEDED],
    ],
  ])("is refused %s: %s %j", async (_, method, headers, expected) => {
    const { port } = await serving();
    const answer = await answerTo(port, method, { headers, pieces: [] });
    expect([answer.http, answer.grpc]).toEqual(expected);
  });

  it("takes its media type in any letters, and with parameters", async () => {
    const { port } = await serving();
    for (const type of ["Application/GRPC", "application/grpc+proto", "application/grpc;a=b"]) {
      const headers = { "content-type": type };
      const answer = await answerTo(port, "ListNodes", { headers, pieces: [Buffer.alloc(5)] });
      expect([answer.http, answer.grpc]).toEqual([200, 0]);
    }
  });

  it("is told how it may be packed where it is packed in another way", async () => {
    const { port } = await serving();
    const { session, call } = rawCall(port, "PutURLs", { "grpc-encoding": "br" });
    const [heads] = (await once(call, "response")) as [Record<string, unknown>];
    expect(heads["grpc-accept-encoding"]).toBe("identity,deflate,gzip");
    session.destroy();
  });

  it("whose message has unknown flags fails", async () => {
    const { port } = await serving();
    for (const flags of [2, 3, 255]) {
      const pieces = [Buffer.concat([Buffer.from([flags]), item.subarray(1)])];
      const { grpc: status, bytes } = await answerTo(port, "PutURLs", { pieces });
      expect([status, bytes]).toEqual([grpc.status.INTERNAL, ""]);
    }
  });

  it("whose last message is cut off fails after the answers of those before it", async () => {
    const { port } = await serving();
    for (const cut of [1, 4, 5, item.length - 1]) {
      const pieces = [item, item.subarray(0, cut)];
      const { grpc: status, bytes } = await answerTo(port, "PutURLs", { pieces });
      expect([status, bytes.slice(5, 9)]).toEqual([grpc.status.INTERNAL, ack.slice(5)]);
    }
  });
});

describe("a hostile client", () => {
  it.each([
    ["PutURLs", [0x0a, 0x05, 0x01]],
    ["PutURLs", [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
    ["PutURLs", [0x0b]],
    ["PutURLs", [0x0a, 0x06, 0x0a, 0x04, 0x0a, 0x02, 0xc3, 0x28]],
    ["PutURLs", [0x0a, 0x06, 0x0a, 0x04, 0x1a, 0x02, 0x0a, 0x09]],
    ["PutDiscovered", [0x12, 0x7f]],
  ])("ends its stream alone with a message that is none: %s %j", async (method, bytes) => {
    const { port } = await serving();
    const stream = rawStream(port, method);
    const status = ended(stream);
    stream.write(Buffer.from(bytes));
    expect((await status).code).toBe(grpc.status.INVALID_ARGUMENT);
    expect(await connect(port).put(found("http://a.com/1"))).toEqual(["OK"]);
  });

  it("gets the answers of what it sent before such a message", async () => {
    const { port } = await serving();
    const stream = rawStream(port, "PutDiscovered");
    const answers: Buffer[] = [];
    stream.on("data", (bytes: Buffer) => answers.push(bytes));
    stream.on("error", () => undefined);
    const status = new Promise<grpc.StatusObject>((resolve) => stream.on("status", resolve));
    stream.write(Buffer.from([0x0a, 0x01, 0x61]));
    stream.write(Buffer.from([0x12, 0x7f]));
    expect((await status).code).toBe(grpc.status.INVALID_ARGUMENT);
    expect(answers).toEqual([Buffer.from([0x0a, 0x01, 0x61])]);
  });

  it.each(["GetURLs", "ListURLs"])("cannot send a second request, or none: %s", async (method) => {
    const { port } = await serving();
    const two = rawStream(port, method);
    const status = ended(two);
    two.write(Buffer.alloc(0));
    two.end(Buffer.alloc(0));
    expect((await status).code).toBe(grpc.status.UNIMPLEMENTED);
    const none = rawStream(port, method);
    const other = ended(none);
    none.end();
    expect((await other).code).toBe(grpc.status.UNIMPLEMENTED);
  });

  it("cannot send more than the bound in one message", async () => {
    const { port } = await serving({ messageBytesMax: 10_000 });
    const stream = rawStream(port, "PutURLs");
    const status = ended(stream);
    stream.write(Buffer.alloc(10_001));
    expect((await status).code).toBe(grpc.status.RESOURCE_EXHAUSTED);
  });

  it("cannot fill the memory with beginnings of messages", async () => {
    const messageBytesMax = 65_536;
    const { port } = await serving({ messageBytesMax });
    const { session, call } = rawCall(port, "PutURLs");
    const head = Buffer.alloc(5);
    head.writeUInt32BE(messageBytesMax, 1);
    const statusOf = (stream: Duplex): Promise<number> =>
      new Promise((resolve) => {
        stream.on("error", () => undefined);
        stream.on("response", (heads: Record<string, unknown>) =>
          resolve(Number(heads["grpc-status"])),
        );
        stream.write(Buffer.concat([head, Buffer.alloc(messageBytesMax - 1)]));
      });
    const begin = (): Promise<number> =>
      statusOf(
        session.request({
          ":method": "POST",
          ":path": "/urlfrontier.URLFrontier/PutURLs",
          "content-type": "application/grpc",
        }),
      );
    // More than the room of 64 messages, which take twice their bytes.
    const refused = Promise.race([statusOf(call), ...Array.from({ length: 99 }, begin)]);
    expect(await refused).toBe(grpc.status.RESOURCE_EXHAUSTED);
    const client = connect(port);
    expect(await client.put(found("http://a.com/1"))).toEqual(["OK"]);
    session.destroy();
    // What the client held is free again.
    const long = found("http://a.com/2", { metadata: { a: { values: ["x".repeat(60_000)] } } });
    await until(async () => {
      const [status] = await client.put(long).catch(() => ["refused"]);
      return status !== "refused";
    });
  });

  it("cannot make more crawls than the bound", async () => {
    const client = connect((await serving({ crawlsMax: 2 })).port);
    const put = (crawlID: string): Promise<string[]> =>
      client.put(found("http://a.com/", { crawlID }));
    expect(await put("a")).toEqual(["OK"]);
    expect(await put("b")).toEqual(["OK"]);
    expect(await put("c")).toEqual(["FAIL"]);
    await client.call("DeleteCrawl", { value: "a" });
    expect(await put("c")).toEqual(["OK"]);
    expect((await client.call("GetStats", { crawlID: "never made" })).numberOfQueues).toBe(0);
  });

  it("that sends no HTTP/2 at all disturbs no other", async () => {
    const { port } = await serving();
    const socket = connectSocket(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(100));
    expect(await connect(port).put(found("http://a.com/1"))).toEqual(["OK"]);
    socket.destroy();
  });
});

describe("a token", () => {
  it("is needed for every call where it was given", async () => {
    const { port } = await serving({ token: "correct horse" });
    const code = (token?: string): Promise<number> =>
      connect(port, token === undefined ? {} : { token })
        .call("ListCrawls")
        .then(
          () => grpc.status.OK,
          (cause) => (cause as grpc.ServiceError).code,
        );
    expect(await code()).toBe(grpc.status.UNAUTHENTICATED);
    expect(await code("correct horsf")).toBe(grpc.status.UNAUTHENTICATED);
    expect(await code("correct horse")).toBe(grpc.status.OK);
    const streamed = connect(port).put(found("http://a.com/1"));
    await expect(streamed).rejects.toMatchObject({ code: grpc.status.UNAUTHENTICATED });
    expect(await connect(port, { token: "correct horse" }).put(found("http://a.com/1"))).toEqual([
      "OK",
    ]);
  });

  it("or a client's certificate is demanded on any address but loopback", async () => {
    for (const host of ["0.0.0.0", "::", "192.0.2.1", "example.org"]) {
      await expect(serve({ host, port: 0, httpPort: 0 })).rejects.toMatchObject({
        code: "ARGUMENT_INVALID",
      });
    }
  });
});

describe("the end of a server", () => {
  it("answers what is under way, refuses what comes, and frees its port", async () => {
    const server = await serving();
    const client = connect(server.port);
    const stream = client.open("PutURLs");
    const statuses: string[] = [];
    stream.on("data", ({ status }: Ack) => statuses.push(status));
    const end = new Promise((resolve) => stream.on("end", resolve));
    stream.write(found("http://a.com/1"));
    await until(() => statuses.length === 1);
    const closed = server.close();
    stream.write(found("http://a.com/2"));
    await until(() => statuses.length === 2);
    stream.end();
    await Promise.all([end, closed]);
    expect(statuses).toEqual(["OK", "FAIL"]);
    const again = await serving({ port: server.port });
    expect(again.port).toBe(server.port);
    await expect(serve({ port: again.port, httpPort: 0 })).rejects.toMatchObject({
      code: "PORT_IN_USE",
    });
  });

  it("does not wait longer than drainMs for a client that holds a stream open", async () => {
    const server = await serving({ drainMs: 50 });
    const stream = rawStream(server.port, "PutURLs");
    const status = ended(stream);
    stream.write(Buffer.alloc(0));
    await new Promise((resolve) => stream.once("data", resolve));
    await server.close();
    const details = "the server is closing"; // a status, and no stream that breaks off
    expect(await status).toMatchObject({ code: grpc.status.UNAVAILABLE, details });
  });

  it("does not wait for connections on which nothing was ever called", async () => {
    for (const tls of [undefined, certificateOf("localhost")]) {
      const server = await serving({ drainMs: 50, tls });
      const socket = connectSocket(server.port, "127.0.0.1");
      socket.on("error", () => undefined).resume();
      await new Promise((resolve) => socket.on("connect", resolve));
      const closed = new Promise((resolve) => socket.on("close", resolve));
      await Promise.all([server.close(), closed]);
      expect(socket.destroyed).toBe(true);
    }
  });

  it("is the same end for every caller", async () => {
    const server = await serving();
    expect(server.close()).toBe(server.close());
    await server.close();
  });
});
