/**
 * server: URLs a second over the wire, and how long a GetURLs takes.
 *
 *   this process ─┬─ stream 1 ─▶ ┐
 *                 ├─ …          ├─▶ child: outrider, a stub that only answers, or URLFrontier's memory service (URLFRONTIER_CLASSPATH)
 *                 └─ stream n ─▶ ┘
 *
 *   put      PutURLs, one discovered URL a message          batch   PutDiscovered, 100 URLs a message
 *   get      GetURLs of 20 URLs of one queue, closed loop   known   the same URLs by PutURLs, finished
 *   GetURLs at half rate: open loop, at half of the rate that the closed loop had, over queues that were put for it; each call is timed from
 *   when it was due, but for the first tenth
 *
 * Each phase runs once before the clock starts, over crawls that are deleted when the one that is measured has begun: a server in use is warm.
 * All sides are measured by one client (wire-client.ts), whose frames are made before the clock runs and which reads no more of an answer than
 * its heads. A ratio of 1 to the stub means that the frontier costs nothing beside the wire. Checksum: answers by phase.
 *
 * Estimate of the client, microseconds: a message out 0.05, a copy of some 60 bytes and its share of a write; an answer in 0.2, a head of
 * a frame, a head of a message; a call of 20 URLs 5. So a server of 2 µs a URL and more is what is measured, where the client through grpc-js
 * took 15 to 20 itself. At half rate a stall of 10 ms delays what comes in it: 6,000 calls, so that the p99 is the 60th, more than three
 * stalls make at a call each 0.5 ms.
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
 * The figures above were measured through grpc-js. By this client at 8 streams, one round on a busy machine, wall time of ours, the stub and
 * theirs: put 13, 11 and 68, batch 5.1, 0.5 and 9.5, get 30, 21 and 180, known 16, 17 and 36.
 * At half rate the stalls were the server's collections of young objects, which moved the texts of all URLs that were out: in one process, without
 * the wire, on a busy machine, 9 of 8 to 20 ms in 8 s; 8 of 0.7 to 7 ms (and one of 23) since no text of them is kept.
 */
import { setTimeout as wait } from "node:timers/promises";
import {
  type BenchCase,
  type Job,
  nowNs,
  numberOf,
  type Params,
  warmSize,
} from "../../harness/case.ts";
import { createHistogram, percentilesOf } from "../../harness/histogram.ts";
import { missing, PEER, type ServerProcess, startServer } from "./server-process.ts";
import { type Prepared, WireClient } from "./wire-client.ts";

const BATCH = 100;
const GET = 20;
const HOSTS = 2_000;
/** max_urls_per_queue, max_queues 1, delay_requestable 600. */
const GET_ANY = Buffer.from([0x08, GET, 0x10, 1, 0x20, 0xd8, 0x04]);
/** Fields of a message of PutURLs. */
const FOUND = 1;
const KNOWN = 2;
const WARM_CRAWLS = ["warm", "warm too"];
const NO_FIELD: Buffer = Buffer.alloc(0);
/** After that a queue that gave URLs may give the next ones: its delay is one second, in whole seconds. */
const QUEUE_DELAY_MS = 2_100;
/** At half rate there is one timed call for so many URLs, and no more than last that long on a server that is slow. */
const HALF_RATE_URLS = 10;
const HALF_RATE_NS = 15e9;

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
  const client = await WireClient.open(server.port);
  let [acks, batches, known] = [0, 0, 0];
  await warmUp(client, warmSize(urls), streams);
  return {
    async run() {
      const cpu: Record<string, number> = {};
      const timed = async (phase: string, calls: Prepared, count: number) => {
        const [startNs, startUs] = [nowNs(), server.cpuUs()];
        const answers = await client.together(calls);
        const ns = nowNs() - startNs;
        cpu[`server's processor µs a URL, ${phase}`] = (server.cpuUs() - startUs) / count;
        return { answers, ns: ns / count };
      };
      const items = (field: number) => listOf(urls, (n) => itemBytes(field, urlOf(n)));
      const sets = listOf(Math.ceil(urls / BATCH), (n) => batchBytes(urls + n * BATCH));
      const put = await timed("put", spread(client, "PutURLs", items(FOUND), streams), urls);
      const setCalls = spread(client, "PutDiscovered", sets, streams);
      const batch = await timed("batch", setCalls, sets.length * BATCH);
      const got = await getAll(client, server, { urls, streams });
      const ends = await timed("known", spread(client, "PutURLs", items(KNOWN), streams), urls);
      [acks, batches, known] = [put.answers, batch.answers, ends.answers];
      const half = await getOnTime(client, { urls, everyNs: 2 * got.callNs, streams });
      cpu["server's processor µs a URL, get"] = got.cpuUs;
      return {
        times: { put: put.ns, batch: batch.ns, get: got.ns, known: ends.ns },
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
      server.child.stdin?.end();
    },
  };
}

/**
 * Drives every phase over a few crawls. They stay until the measured one is open (../../harness/open-warm.ts). The stub has no crawls.
 */
async function warmUp(client: WireClient, count: number, streams: number): Promise<void> {
  if (count === 0) return;
  const call = (method: string, message: Buffer): Promise<number> =>
    client.together(client.prepare(method, [[message]]));
  for (const name of WARM_CRAWLS) await driveCrawl(client, name, { count, streams });
  await call("PutURLs", itemBytes(KNOWN, "http://first.example.com/"));
  for (const name of WARM_CRAWLS) await call("DeleteCrawl", fieldBytes(1, Buffer.from(name)));
}

/** Every phase over one crawl. */
async function driveCrawl(
  client: WireClient,
  name: string,
  { count, streams }: { count: number; streams: number },
): Promise<void> {
  const crawl = fieldBytes(4, Buffer.from(name));
  const items = (field: number) => listOf(count, (n) => itemBytes(field, urlOf(n), crawl));
  const sets = listOf(count / BATCH, (n) => batchBytes(count + n * BATCH, { crawl }));
  await client.together(spread(client, "PutURLs", items(FOUND), streams));
  await client.together(spread(client, "PutDiscovered", sets, streams));
  const request = Buffer.concat([GET_ANY, fieldBytes(6, Buffer.from(name))]);
  const gets = client.prepare(
    "GetURLs",
    listOf(Math.ceil(count / GET), () => [request]),
  );
  await client.inTurn(gets, streams, createHistogram());
  await client.together(spread(client, "PutURLs", items(KNOWN), streams));
}

function listOf<T>(length: number, make: (n: number) => T): T[] {
  return Array.from({ length }, (_, n) => make(n));
}

/** Messages dealt out to so many streams. */
function spread(
  client: WireClient,
  method: string,
  messages: readonly Buffer[],
  streams: number,
): Prepared {
  const parts = listOf(streams, (at) => messages.filter((_, index) => index % streams === at));
  return client.prepare(method, parts);
}

interface Got {
  readonly count: number;
  readonly histogram: ReturnType<typeof createHistogram>;
}

/** Closed loops of GetURLs. */
async function getAll(
  client: WireClient,
  server: ServerProcess,
  { urls, streams }: { urls: number; streams: number },
): Promise<Got & { ns: number; callNs: number; cpuUs: number }> {
  const histogram = createHistogram();
  const count = Math.ceil(Math.min(urls / GET, HOSTS) / streams) * streams;
  const calls = client.prepare(
    "GetURLs",
    listOf(count, () => [GET_ANY]),
  );
  const [startNs, startUs] = [nowNs(), server.cpuUs()];
  const got = await client.inTurn(calls, streams, histogram);
  const ns = nowNs() - startNs;
  const cpuUs = (server.cpuUs() - startUs) / got;
  return { count: got, histogram, cpuUs, callNs: ns / count, ns: ns / Math.max(got, 1) };
}

/** GetURLs at a rate, after queues were put that have enough for it; the first ones are not timed. */
async function getOnTime(
  client: WireClient,
  { urls, streams, everyNs }: { urls: number; streams: number; everyNs: number },
): Promise<Got> {
  const most = Math.ceil(HALF_RATE_NS / everyNs);
  const timed = Math.min(Math.ceil(urls / HALF_RATE_URLS), most);
  const untimed = Math.ceil(timed / 10);
  const hosts = timed + untimed;
  const start = 2 * urls + BATCH;
  const sets = listOf(Math.ceil((hosts * GET) / BATCH), (n) =>
    batchBytes(start + n * BATCH, { hosts }),
  );
  await client.together(spread(client, "PutDiscovered", sets, streams));
  // Those that gave URLs may give again.
  if (warmSize(urls) > 0) await wait(QUEUE_DELAY_MS);
  const histogram = createHistogram();
  const calls = client.prepare(
    "GetURLs",
    listOf(hosts, () => [GET_ANY]),
  );
  (globalThis as { gc?: () => void }).gc?.(); // not under the clock
  const count = await client.onTime(calls, { everyNs, untimed }, histogram);
  return { count, histogram };
}

function urlOf(n: number, hosts = HOSTS): string {
  const name = hosts === HOSTS ? "host" : "late";
  return `http://${name}${n % hosts}.example.com/page/${n}.html`;
}

/** A field of bytes; all of ours are shorter than 16 KiB. */
function fieldBytes(field: number, bytes: Buffer): Buffer {
  const { length } = bytes;
  const size = length < 128 ? [length] : [(length & 127) | 128, length >> 7];
  return Buffer.concat([Buffer.from([(field << 3) | 2, ...size]), bytes]);
}

/** `field`: FOUND or KNOWN. */
function itemBytes(field: number, url: string, crawl: Buffer = NO_FIELD): Buffer {
  return fieldBytes(field, fieldBytes(1, infoBytes(url, crawl)));
}

function infoBytes(url: string, crawl: Buffer): Buffer {
  return Buffer.concat([fieldBytes(1, Buffer.from(url)), crawl]);
}

function batchBytes(
  start: number,
  { crawl = NO_FIELD, hosts }: { crawl?: Buffer; hosts?: number } = {},
): Buffer {
  const infos = listOf(BATCH, (n) => fieldBytes(2, infoBytes(urlOf(start + n, hosts), crawl)));
  return Buffer.concat([fieldBytes(1, Buffer.from("b")), ...infos]);
}
