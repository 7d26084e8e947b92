/**
 * redis: the frontier on a Redis server beside what people put there: the whole loop of a crawl, by one, two and four processes.
 *
 *   n different URLs ─▶ push, calls of 1,000, four under way ─▶ poll, 256 leases a call ─▶ done         10⁴ hosts, 1 ms of rest
 *
 *   outrider             dedup, priorities, hosts, leases with fencing, records: every feature on, 16 partitions
 *   prototype            three short scripts with exact dedup, polite hosts and leases, and nothing else: what scripts can reach at all
 *   webmagic             SADD, RPUSH, LPOP one by one, as its RedisScheduler does; webmagic-pipelined: the same, a thousand at once
 *   bullmq               addBulk with ids, a worker with 200 jobs at a time
 *   crawlee-memory       RequestQueue in memory, without a server
 *
 * The server has one thread: beyond it nothing is faster, however many processes there are. Its processor time for each URL is therefore
 * the number that lasts; round trips and bytes are what the network would add.
 *
 * Estimate before measuring, for each URL, microseconds of the server: prototype push 8 (HSETNX, RPUSH, ZADD: 0.6 each in a script, 5 for
 * arguments of 100 bytes and Lua), poll + done 15 (LPOP and four ZADD or ZREM of a zset of 10⁴); webmagic-pipelined 3 + 1.5 commands of 1.2
 * with their parsing: 4 and 1.5; one by one the same and a round trip of 40 each: 100 and 40; bullmq 80 and 120. Outrider: in a script 0.0013
 * for each byte of a string that is made, 0.1 for a packed value, 0.3 for each field of a hash, 0.7 for one of a sorted set, 50 for each call
 * whatever it does. A push makes 800 bytes, 12 values, 6 fields: 1 + 1.2 + 1.8, as much again for tables and collection: 9. A visit makes
 * 2,000 bytes, 25 values, 14 fields, 5 of sorted sets: 2.6 + 2.5 + 4.2 + 3.5, half as much again: 19. 0.03 script calls a URL.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  type BenchCase,
  type Job,
  type Measured,
  numberOf,
  type Params,
} from "../../harness/case.ts";
import { type BenchServer, openServer, type ServerCounts } from "./server.ts";
import { sideMissing } from "./sides.ts";

const CHILD = fileURLToPath(new URL("./redis-child.js", import.meta.url));
const SUBJECT = "outrider";
const PEERS = ["prototype", "webmagic", "webmagic-pipelined", "bullmq", "crawlee-memory"];

export const redis: BenchCase = {
  name: "redis",
  suite: "redis",
  about: "push, poll + done of a frontier shared by processes on one Redis server",
  question: "What does a frontier cost that many machines share?",
  unit: "URL",
  process: "fresh",
  pairs: PEERS.map((peer) => [SUBJECT, peer] as const),
  isSameWork: false,
  isGuest: (side) => side === "bullmq" || side === "crawlee-memory",
  target:
    "push ≥ 100,000/s, poll + done ≥ 40,000/s, ≥ 0.8 × the prototype, ≥ 20 × WebMagic one by one, ≥ 1 × its pipelined way",
  sizes: {
    smoke: [{ urls: 2_000, hosts: 100, processes: 2, partitions: 4 }],
    real: [
      { urls: 100_000, hosts: 10_000, processes: 1, partitions: 16 },
      { urls: 1_000_000, hosts: 10_000, processes: 1, partitions: 16 },
      { urls: 1_000_000, hosts: 10_000, processes: 2, partitions: 16 },
      { urls: 1_000_000, hosts: 10_000, processes: 4, partitions: 16 },
    ],
    suite: [{ urls: 20_000, hosts: 10_000, processes: 1, partitions: 16 }],
  },
  rounds: 3,
  setup,
  missing: (side, params) =>
    sideMissing(side, numberOf(params, "urls"), numberOf(params, "processes")),
};

function setup(side: string, params: Params): Job {
  let visited = 0;
  return {
    async run() {
      const measured = await measure(side, params);
      visited = measured.visited;
      return measured.measured;
    },
    checksum: () => String(visited),
  };
}

async function measure(
  side: string,
  params: Params,
): Promise<{ measured: Measured; visited: number }> {
  const urls = numberOf(params, "urls");
  const server = await openServer();
  const children = await openChildren(side, params, server.socket);
  try {
    const empty = await server.counts();
    const push = await together(children, "push");
    const full = await server.counts();
    const drain = await together(children, "drain");
    const end = await server.counts();
    const visited = drain.count;
    if (visited !== urls) throw new Error(`${side}: ${visited} of ${urls} URLs came out`);
    const facts = {
      ...costsOf("push", empty, full, urls),
      ...costsOf("poll + done", full, end, urls),
      "server bytes/pending URL": (full.memoryBytes - empty.memoryBytes) / urls,
      "server bytes/seen URL": (end.memoryBytes - empty.memoryBytes) / urls,
      "slow calls p99 ms": await server.slowP99Ms(),
      ...(await keptBytes(side, params, server)),
      ...(await sweepCosts(side, children, server)),
    };
    const times = {
      push: (push.ms * 1e6) / urls,
      "poll + done": (drain.ms * 1e6) / urls,
      loop: ((push.ms + drain.ms) * 1e6) / urls,
    };
    return { measured: { times, facts }, visited };
  } finally {
    for (const { child } of children) child.kill("SIGKILL");
    await server.close();
  }
}

/** What stays of a finished URL for good: its identity, and its share of its host. The rest are answers of the last two minutes. */
async function keptBytes(
  side: string,
  params: Params,
  server: BenchServer,
): Promise<Record<string, number>> {
  if (side !== SUBJECT) return {};
  const bytes = (part: string): Promise<number> => server.bytesOf(`outrider:{bench.*}:${part}`);
  return {
    "server bytes/identity": (await bytes("s")) / numberOf(params, "urls"),
    "server bytes/host": (await bytes("h")) / numberOf(params, "hosts"),
  };
}

/** Calls of the sweeps of one process, while the others rest. */
async function sweepCosts(
  side: string,
  children: readonly Child[],
  server: BenchServer,
): Promise<Record<string, number>> {
  if (side !== SUBJECT) return {};
  const { count } = await together(children.slice(0, 1), "sweep");
  if (count === 0) throw new Error("sweeps: nothing was requeued or removed");
  return { "sweeps: slow calls p99 ms": await server.slowP99Ms() };
}

function costsOf(
  phase: string,
  from: ServerCounts,
  to: ServerCounts,
  urls: number,
): Record<string, number> {
  return {
    [`${phase}: server µs/URL`]: ((to.cpuSeconds - from.cpuSeconds) * 1e6) / urls,
    [`${phase}: script calls/URL`]: (to.scripts - from.scripts) / urls,
    [`${phase}: bytes in/URL`]: (to.bytesIn - from.bytesIn) / urls,
    [`${phase}: bytes out/URL`]: (to.bytesOut - from.bytesOut) / urls,
  };
}

interface Child {
  readonly child: ChildProcess;
  readonly lines: AsyncIterator<string>;
}

/** Starts the processes, and resolves when each has its URLs. */
async function openChildren(side: string, params: Params, socket: string): Promise<Child[]> {
  const urls = numberOf(params, "urls");
  const processes = numberOf(params, "processes");
  const children: Child[] = [];
  for (let at = 0; at < processes; at++) {
    const from = Math.floor((urls * at) / processes);
    const count = Math.floor((urls * (at + 1)) / processes) - from;
    const order = { ...params, side, socket, from, count };
    const child = spawn(process.execPath, [CHILD, JSON.stringify(order)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const input: Interface = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    children.push({ child, lines: input[Symbol.asyncIterator]() });
  }
  for (const child of children) await answerOf(child);
  return children;
}

interface Answer {
  readonly ms: number;
  readonly count: number;
}

/** All processes do it at once; the time until the last is ready, and what they did together. */
async function together(children: readonly Child[], word: string): Promise<Answer> {
  const start = performance.now();
  for (const { child } of children) child.stdin?.write(`${word}\n`);
  const answers = await Promise.all(children.map(answerOf));
  const count = answers.reduce((sum, answer) => sum + answer.count, 0);
  return { ms: performance.now() - start, count };
}

async function answerOf({ child, lines }: Child): Promise<Answer> {
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`a process of the case ended with ${code}`);
  });
  const { value, done } = await Promise.race([lines.next(), ended]);
  if (done === true) throw new Error("a process of the case ended");
  return JSON.parse(value as string) as Answer;
}
