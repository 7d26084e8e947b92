/**
 * server: URLs a second over the wire, and how long a GetURLs takes.
 *
 *   this process ─┬─ stream 1 ─▶ ┐
 *                 ├─ …          ├─▶ child: outrider, a stub that only answers, or URLFrontier's memory service (URLFRONTIER_CLASSPATH)
 *                 └─ stream n ─▶ ┘
 *
 *   put      PutURLs, one discovered URL a message          batch   PutDiscovered, 100 URLs a message
 *   get      GetURLs of 20 URLs of one queue, closed loop   known   the same URLs by PutURLs, finished
 *   GetURLs at half rate: half as many calls, open loop, at half of the rate that the closed loop had; each is timed from when it was due
 *
 * Each phase runs once before the clock starts, over a crawl that is then deleted: a server in use is warm.
 * Both sides run the same client in this process on the same machine, so that a ratio of 1 means that the frontier costs nothing
 * beside the wire. Checksum: answers by phase.
 *
 * Estimate, microseconds of the server a URL: a message that the stub reads and answers through grpc-js costs 5. Ours reads frames where they
 * stand and writes the answers of a turn at once: 2 a message, almost all of it Node's HTTP/2, as each message is a frame of its own. Beside
 * it an admitted URL costs 3 to 5, one that was handed out and is finished 5, one that was not 5: put and known 7 to 8, near the 6 to 7 that
 * the client takes itself. A batch costs the stub 0.3 a URL on both sides together, since it decodes nothing: no server that decides about
 * each URL comes near 0.8 of that.
 * Measured at 8 streams on a busy machine, medians of 3 rounds, server's processor time of ours and of the stub: put 8.4 and 4.8 (11.3 through
 * grpc-js), batch 2.9 and 0.13, known 7.8 and 4.9 (14.7 before finished URLs kept their records).
 * Estimate of a batch, microseconds a URL: reading 0.2, its queue and whether it is plain 0.4, the frontier's push of a URL with an epoch and data
 * 1, HTTP/2 and the answer 0.2: 2 in all. Measured at 8 streams: 1.75, and 3.1 while rows with epochs were decided one by one (medians of 5
 * pairs on a busy machine, ratio 0.61). One process that reads and pushes 400,000 URLs takes 1.3 for each (2.7 before); 200,000 with metadata 2.9 (5.7).
 * Beside URLFrontier's memory service, whose PutDiscovered was a stand-in: estimate, a JVM of two threads at half of our processor time.
 * Measured at 8 streams, one round on a machine at half of its speed, microseconds a URL of ours and of theirs: put 28.5 and 69, get 67 and
 * 388, known 34 and 48, batch 12.7 and 11.7, where theirs takes 22 of its processors and ours 12.5.
 */
import { setTimeout as wait } from "node:timers/promises";
import * as grpc from "@grpc/grpc-js";
import {
  type BenchCase,
  type Job,
  nowNs,
  numberOf,
  type Params,
  warmSize,
} from "../../harness/case.ts";
import { createHistogram, percentilesOf, recordNs } from "../../harness/histogram.ts";
import { missing, PEER, startServer } from "./server-process.ts";

const BATCH = 100;
const GET = 20;
const HOSTS = 2_000;
/** max_urls_per_queue, max_queues 1, delay_requestable 600. */
const GET_ANY = Buffer.from([0x08, GET, 0x10, 1, 0x20, 0xd8, 0x04]);
const NO_FIELD: Buffer = Buffer.alloc(0);
/** After that a queue that gave URLs may give the next ones: its delay is one second, in whole seconds. */
const QUEUE_DELAY_MS = 2_100;

export const serverCase: BenchCase = {
  name: "server",
  suite: "server",
  about:
    "PutURLs, PutDiscovered, GetURLs and known URLs over n streams, beside a stub that only answers",
  question: "What does the frontier cost beside the wire?",
  unit: "URL",
  process: "fresh",
  pairs: [
    ["outrider", "stub"],
    ["outrider", PEER],
  ],
  isSameWork: false,
  target:
    "each ≥ 0.8 of the stub; p99 of GetURLs at half rate ≤ 5 ms; of URLFrontier batch ≥ 3 ×, put ≥ 1.2 ×, get ≥ 1 ×",
  sizes: {
    smoke: [{ streams: 2, urls: 400 }],
    real: [
      { streams: 1, urls: 60_000 },
      { streams: 8, urls: 60_000 },
      { streams: 32, urls: 60_000 },
    ],
    suite: [{ streams: 1, urls: 1_000 }],
  },
  rounds: 3,
  isGuest: (side) => side === PEER,
  missing,
  setup,
};

async function setup(side: string, params: Params): Promise<Job> {
  const streams = numberOf(params, "streams");
  const urls = numberOf(params, "urls");
  const server = await startServer(side);
  const { child, port } = server;
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  let [acks, batches, known] = [0, 0, 0];
  await warmUp(client, warmSize(urls), streams);
  return {
    async run() {
      const cpu: Record<string, number> = {};
      const timed = async (phase: string, count: number, work: () => Promise<void>) => {
        const [startNs, startUs] = [nowNs(), server.cpuUs()];
        await work();
        const ns = nowNs() - startNs;
        cpu[`server's processor µs a URL, ${phase}`] = (server.cpuUs() - startUs) / count;
        return ns / count;
      };
      const items = Array.from({ length: urls }, (_, n) => itemBytes(1, urlOf(n)));
      const put = await timed("put", urls, async () => {
        acks = await onStreams(client, "PutURLs", items, streams);
      });
      const sets = Array.from({ length: Math.ceil(urls / BATCH) }, (_, n) =>
        batchBytes(urls + n * BATCH),
      );
      const batch = await timed("batch", sets.length * BATCH, async () => {
        batches = await onStreams(client, "PutDiscovered", sets, streams);
      });
      const calls = Math.ceil(Math.min(urls / GET, HOSTS) / streams) * streams;
      const startUs = server.cpuUs();
      const got = await getAll(client, GET_ANY, { calls, streams });
      cpu["server's processor µs a URL, get"] = (server.cpuUs() - startUs) / got.count;
      const finished = items.map((_, n) => itemBytes(2, urlOf(n)));
      const ends = await timed("known", urls, async () => {
        known = await onStreams(client, "PutURLs", finished, streams);
      });
      // What was handed out is finished: its queues may give again.
      if (warmSize(urls) > 0) await wait(QUEUE_DELAY_MS);
      const half = await getOnTime(client, calls / 2, (2 * got.ns * got.count) / calls);
      return {
        times: { put, batch, get: got.ns, known: ends },
        facts: {
          "URLs got": got.count,
          "URLs got at half rate": half.count,
          ...(Number.isNaN(server.cpuUs()) ? {} : cpu),
        },
        latencies: {
          GetURLs: percentilesOf(got.histogram),
          "GetURLs at half rate": percentilesOf(half.histogram),
        },
      };
    },
    checksum: () => `${acks} acks, ${batches} batches, ${known} known`,
    close() {
      client.close();
      child.stdin?.end();
    },
  };
}

/** Every phase once, over a crawl that is then deleted. The stub has no crawls. */
async function warmUp(client: grpc.Client, count: number, streams: number): Promise<void> {
  if (count === 0) return;
  const crawl = fieldBytes(4, Buffer.from("warm"));
  const items = (field: number): Buffer[] =>
    Array.from({ length: count }, (_, n) => itemBytes(field, urlOf(n), crawl));
  await onStreams(client, "PutURLs", items(1), streams);
  const sets = Array.from({ length: count / BATCH }, (_, n) =>
    batchBytes(count + n * BATCH, crawl),
  );
  await onStreams(client, "PutDiscovered", sets, streams);
  const request = Buffer.concat([GET_ANY, fieldBytes(6, Buffer.from("warm"))]);
  await getAll(client, request, { calls: Math.ceil(count / GET), streams });
  await onStreams(client, "PutURLs", items(2), streams);
  await new Promise((resolve) => {
    const request = fieldBytes(1, Buffer.from("warm"));
    client.makeUnaryRequest(pathOf("DeleteCrawl"), asItIs, asItIs, request, resolve);
  });
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

interface Got {
  /** Nanoseconds a URL. */
  readonly ns: number;
  readonly count: number;
  readonly histogram: ReturnType<typeof createHistogram>;
}

/** Closed loops of GetURLs, until so many calls were made. */
async function getAll(
  client: grpc.Client,
  request: Buffer,
  { calls, streams }: { calls: number; streams: number },
): Promise<Got> {
  const histogram = createHistogram();
  let count = 0;
  const startNs = nowNs();
  const loops = Array.from({ length: streams }, async (_, at) => {
    for (let made = at; made < calls; made += streams) {
      const sentNs = nowNs();
      const got = await getOnce(client, request);
      count += got;
      recordNs(histogram, nowNs() - sentNs);
    }
  });
  await Promise.all(loops);
  return { ns: (nowNs() - startNs) / Math.max(count, 1), count, histogram };
}

/** So many calls, one every `everyNs`, whether the last one is answered or not; each is timed from when it was due. */
async function getOnTime(client: grpc.Client, calls: number, everyNs: number): Promise<Got> {
  const histogram = createHistogram();
  const startNs = nowNs();
  let count = 0;
  const made: Array<Promise<void>> = [];
  for (let call = 0; call < calls; call++) {
    const dueNs = startNs + call * everyNs;
    while (nowNs() < dueNs) await new Promise(setImmediate);
    const timed = getOnce(client, GET_ANY).then((got) => {
      count += got;
      recordNs(histogram, nowNs() - dueNs);
    });
    made.push(timed);
  }
  await Promise.all(made);
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
function itemBytes(field: number, url: string, crawl: Buffer = NO_FIELD): Buffer {
  return fieldBytes(field, fieldBytes(1, infoBytes(url, crawl)));
}

function infoBytes(url: string, crawl: Buffer): Buffer {
  return Buffer.concat([fieldBytes(1, Buffer.from(url)), crawl]);
}

function batchBytes(start: number, crawl: Buffer = NO_FIELD): Buffer {
  const infos = Array.from({ length: BATCH }, (_, n) =>
    fieldBytes(2, infoBytes(urlOf(start + n), crawl)),
  );
  return Buffer.concat([fieldBytes(1, Buffer.from("b")), ...infos]);
}
