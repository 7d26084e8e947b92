/**
 * server: URLs a second over the wire, and how long a GetURLs takes.
 *
 *   this process ─┬─ stream 1 ─▶ ┐
 *                 ├─ …          ├─▶ child: outrider, or a stub that only answers
 *                 └─ stream n ─▶ ┘
 *
 *   put      PutURLs, one discovered URL a message          batch   PutDiscovered, 100 URLs a message
 *   get      GetURLs of 20 URLs of one queue, closed loop   known   the same URLs by PutURLs, finished
 *
 * Both sides run the same client in this process on the same machine, so that a ratio of 1 means that the frontier costs nothing
 * beside the wire. Checksum: answers by phase.
 *
 * Estimate: a message through grpc-js costs 15 to 25 µs on each side, an admitted URL 3 µs, a known one 12 µs: put 0.85, batch 0.3 (the
 * stub does not read its batches), get 0.7, known 0.65 of the stub.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import * as grpc from "@grpc/grpc-js";
import { type BenchCase, type Job, nowNs, numberOf, type Params } from "../../harness/case.ts";
import { createHistogram, percentilesOf, recordNs } from "../../harness/histogram.ts";

const CHILD = fileURLToPath(new URL("./server-child.js", import.meta.url));
const BATCH = 100;
const GET = 20;
const HOSTS = 2_000;

export const serverCase: BenchCase = {
  name: "server",
  suite: "server",
  about:
    "PutURLs, PutDiscovered, GetURLs and known URLs over n streams, beside a stub that only answers",
  question: "What does the frontier cost beside the wire?",
  unit: "URL",
  process: "fresh",
  pairs: [["outrider", "stub"]],
  isSameWork: false,
  target: "each ≥ 0.8 of the stub; p99 of GetURLs ≤ 5 ms",
  sizes: {
    smoke: [{ streams: 2, urls: 400 }],
    real: [
      { streams: 1, urls: 60_000 },
      { streams: 8, urls: 60_000 },
      { streams: 32, urls: 60_000 },
    ],
    suite: [{ streams: 1, urls: 5_000 }],
  },
  rounds: 3,
  setup,
};

async function setup(side: string, params: Params): Promise<Job> {
  const streams = numberOf(params, "streams");
  const urls = numberOf(params, "urls");
  const { child, port } = await start(side);
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  let [acks, batches, known] = [0, 0, 0];
  return {
    async run() {
      const items = Array.from({ length: urls }, (_, n) => itemBytes(1, urlOf(n)));
      const put = await timed(urls, async () => {
        acks = await onStreams(client, "PutURLs", items, streams);
      });
      const sets = Array.from({ length: Math.ceil(urls / BATCH) }, (_, n) =>
        batchBytes(urls + n * BATCH),
      );
      const batch = await timed(sets.length * BATCH, async () => {
        batches = await onStreams(client, "PutDiscovered", sets, streams);
      });
      const got = await getAll(client, urls, streams);
      const finished = items.map((_, n) => itemBytes(2, urlOf(n)));
      const ends = await timed(urls, async () => {
        known = await onStreams(client, "PutURLs", finished, streams);
      });
      const latency = percentilesOf(got.histogram);
      return {
        times: { put, batch, get: got.ns, known: ends },
        facts: { "URLs got": got.count },
        latencies: { GetURLs: latency },
      };
    },
    checksum: () => `${acks} acks, ${batches} batches, ${known} known`,
    close() {
      client.close();
      child.stdin?.end();
    },
  };
}

async function start(side: string): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [CHILD, side], { stdio: ["pipe", "pipe", "inherit"] });
  const port = await new Promise<number>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${side}: ended with ${code}`)));
    child.stdout?.once("data", (text) => resolve(Number(text)));
  });
  return { child, port };
}

async function timed(count: number, work: () => Promise<void>): Promise<number> {
  const startNs = nowNs();
  await work();
  return (nowNs() - startNs) / count;
}

const asItIs = (bytes: Buffer): Buffer => bytes;
const pathOf = (method: string): string => `/urlfrontier.URLFrontier/${method}`;

/** Sends messages over so many streams and counts the answers. */
async function onStreams(
  client: grpc.Client,
  method: string,
  messages: readonly Buffer[],
  streams: number,
): Promise<number> {
  const counts = Array.from({ length: streams }, async (_, at) => {
    const call = client.makeBidiStreamRequest(
      pathOf(method),
      asItIs,
      asItIs,
      new grpc.Metadata(),
      {},
    );
    let count = 0;
    const end = new Promise<void>((resolve, reject) => {
      call.on("data", () => count++);
      call.on("end", resolve);
      call.on("error", reject);
    });
    for (let index = at; index < messages.length; index += streams) {
      if (!call.write(messages[index] as Buffer))
        await new Promise((resolve) => call.once("drain", resolve));
    }
    call.end();
    await end;
    return count;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/** Closed loops of GetURLs, until so many calls were made. */
async function getAll(
  client: grpc.Client,
  urls: number,
  streams: number,
): Promise<{ ns: number; count: number; histogram: ReturnType<typeof createHistogram> }> {
  const histogram = createHistogram();
  // max_urls_per_queue, max_queues 1, delay_requestable 600
  const request = Buffer.from([0x08, GET, 0x10, 1, 0x20, 0xd8, 0x04]);
  const calls = Math.ceil(Math.min(urls / GET, HOSTS) / streams);
  let count = 0;
  const startNs = nowNs();
  const loops = Array.from({ length: streams }, async () => {
    for (let made = 0; made < calls; made++) {
      const sentNs = nowNs();
      const got = await getOnce(client, request);
      count += got;
      recordNs(histogram, nowNs() - sentNs);
    }
  });
  await Promise.all(loops);
  return { ns: (nowNs() - startNs) / Math.max(count, 1), count, histogram };
}

function getOnce(client: grpc.Client, request: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = client.makeServerStreamRequest(pathOf("GetURLs"), asItIs, asItIs, request);
    let count = 0;
    call.on("data", () => count++);
    call.on("end", () => resolve(count));
    call.on("error", reject);
  });
}

function urlOf(n: number): string {
  return `http://host${n % HOSTS}.example.com/page/${n}.html`;
}

/** A field of bytes; all of ours are shorter than 16 KiB. */
function fieldBytes(field: number, bytes: Buffer): Buffer {
  const { length } = bytes;
  const size = length < 128 ? [length] : [(length & 127) | 128, length >> 7];
  return Buffer.concat([Buffer.from([(field << 3) | 2, ...size]), bytes]);
}

/** `field` 1: discovered; 2: known. */
function itemBytes(field: number, url: string): Buffer {
  return fieldBytes(field, fieldBytes(1, fieldBytes(1, Buffer.from(url))));
}

function batchBytes(start: number): Buffer {
  const infos = Array.from({ length: BATCH }, (_, n) =>
    fieldBytes(2, fieldBytes(1, Buffer.from(urlOf(start + n)))),
  );
  return Buffer.concat([fieldBytes(1, Buffer.from("b")), ...infos]);
}
