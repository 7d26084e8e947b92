/**
 * Six processes crawl one web over Redis while processes die and stop, servers restart and fail over, slots move, links break, rules change and memory
 * ends. The web's own log is the witness. `SEED=` repeats a run.
 */
import { Cluster } from "ioredis";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createRandom, type Random } from "../../src/base/random.ts";
import type { RedisFrontier } from "../../src/integrations/redis/frontier/redis-types.ts";
import { openRedisFrontier } from "../../src/integrations/redis/open-redis-frontier.ts";
import { type ChaosCrawl, DELAY_MS, reachableFrom, startCrawl } from "../support/chaos-crawl.ts";
import {
  type Fault,
  linkFaults,
  memoryFault,
  processFaults,
  slotFault,
  until,
} from "../support/chaos-faults.ts";
import { type Evidence, judge, type Verdict, visitsOf } from "../support/chaos-judge.ts";
import { openLinkProxies, openLinkProxy } from "../support/link-proxy.ts";
import { type ClusterNode, startCluster } from "../support/redis-cluster.ts";
import { type RedisServer, startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { stressRounds, testSeed } from "../support/seed.ts";
import { skipUnless } from "../support/skip.ts";

beforeEach((context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
});

/** After a replica has taken over, leases of its dead master may still be out that it has never seen. */
const WINDOW_MS = 1_000;
/** The clock of the web's log beside that of the machine. */
const CLOCKS_MS = 50;
const RULES = [
  { politeness: { delayMs: DELAY_MS } },
  { politeness: { delayMs: DELAY_MS + 10 } },
] as const;
const DEFAULTS = { ...RULES[0], maxAttempts: 1_000 };

/** Every fault once, in an order by the seed, at points of the crawl's own progress. */
async function play(crawl: ChaosCrawl, faults: readonly Fault[], random: Random): Promise<void> {
  const left = [...faults];
  while (left.length > 0) {
    const [fault] = left.splice(random.below(left.length), 1) as [Fault];
    const { entries } = crawl.web.log;
    const enough = entries.length + 15;
    await until("progress", async () => entries.length >= enough || entries.length > 500);
    await fault(random);
  }
}

/** Resolves when nothing is pending, waiting or leased any more. */
async function finished(
  frontier: RedisFrontier,
): Promise<Awaited<ReturnType<typeof frontier.report>>> {
  for (;;) {
    await until("end of the crawl", async () => {
      const { pending, waiting, leased, done } = await frontier.report();
      return pending + waiting + leased === 0 && done > 0;
    });
    // Links on their way between partitions may bring more: an end is seen twice.
    if ((await frontier.take({ max: 1, timeoutMs: 500 })).length > 0)
      throw new Error("a lease after the end");
    const report = await frontier.report();
    if (report.pending + report.waiting + report.leased === 0) return report;
  }
}

function balanceOf(report: Awaited<ReturnType<RedisFrontier["report"]>>): number {
  const { accepted, deferred, pending, waiting, leased, done, failed, ...rest } = report;
  const held = pending + waiting + leased + done + failed + rest.forgotten + rest.removed;
  return accepted + deferred - held;
}

describe("six processes crawl over Redis", () => {
  it("on one server: nothing is lost, repeated, shared or hasty", async () => {
    for (let round = 0; round < stressRounds(1, 0.05, 1); round++)
      await oneServer(testSeed("redis chaos") + round);
  });

  it("on a cluster: nothing is, but for what a dead master took along", async () => {
    for (let round = 0; round < stressRounds(1, 0.05, 1); round++)
      await oneCluster(testSeed("redis chaos in a cluster") + round);
  });
});

async function oneServer(seed: number): Promise<void> {
  const settings = { appendonly: "yes", appendfsync: "always" };
  const server = await startRedis({ settings });
  onTestFinished(() => server.close());
  const proxy = await openLinkProxy({ path: server.socket });
  onTestFinished(() => proxy.close());
  const given = { redis: server.socket, name: "chaos", partitions: 4, keepOpen: true };
  const frontier = await openRedisFrontier({ ...given, defaults: DEFAULTS });
  onTestFinished(() => frontier.close({ discard: true }));
  const address = `redis://127.0.0.1:${proxy.port}`;
  const crawl = await startCrawl(seed, "chaos", (at) => ({
    redis: at % 2 === 0 ? server.socket : address,
  }));
  onTestFinished(() => crawl.close());
  await frontier.push(crawl.web.seed);
  const faults = [
    ...processFaults(crawl),
    ...serverFaults(server, crawl),
    ...linkFaults([proxy]),
    ...[ruleFault(frontier), ruleFault(frontier), memoryFault(frontier, async () => [server])],
  ];
  await play(crawl, faults, createRandom(seed));
  const report = await finished(frontier);
  const { verdict, reachable } = await verdictOn(crawl, seed, () => false);
  const { lost, repeated, shared, hasty, unfenced } = verdict;
  expect(crawl.complaints).toEqual([]);
  expect({ lost, repeated, shared, hasty, unfenced }, `SEED=${seed}`).toEqual(NOTHING);
  const { done, failed } = report;
  expect({ done, failed, balance: balanceOf(report) }).toEqual({
    ...{ done: reachable.size, failed: 0, balance: 0 },
  });
}

const NOTHING = { lost: [], repeated: [], shared: [], hasty: [], unfenced: [] };

function serverFaults(server: RedisServer, crawl: ChaosCrawl): Fault[] {
  const restart = async (): Promise<void> => {
    await server.kill("SIGKILL");
    await server.start();
  };
  return [
    async () => await server.call("SCRIPT", "FLUSH"),
    restart,
    async () => {
      await crawl.nextDone();
      await restart();
    },
  ];
}

/** Other delays, and one rule in place of two or two in place of one. */
function ruleFault(frontier: RedisFrontier): Fault {
  return async (draw) => {
    const all = { id: `r${draw.below(100)}`, maxAttempts: 1_000, ...RULES[draw.below(2)] };
    const own = { ...all, id: "own", match: { hosts: ["h1.outrider.test"] } };
    await frontier.setRules(draw.below(2) === 0 ? [all] : [own, all]);
  };
}

async function verdictOn(
  crawl: ChaosCrawl,
  seed: number,
  isInWindow: Evidence["isInWindow"],
): Promise<{ verdict: Verdict; reachable: ReadonlyMap<string, unknown> }> {
  await crawl.close();
  const reachable = await reachableFrom(seed);
  const visits = visitsOf(crawl.web.log.entries, crawl.epochMs);
  const { notes } = crawl;
  const verdict = judge({ visits, notes, reachable, delayMs: DELAY_MS, isInWindow });
  const { late, lost, excused } = verdict;
  console.log(
    `redis chaos: ${visits.length} visits of ${reachable.size} pages, ${late} began after their leases,` +
      ` ${excused} while writes were lost; ${lost.length} pages never`,
  );
  return { verdict, reachable };
}

async function oneCluster(seed: number): Promise<void> {
  const cluster = await startCluster();
  onTestFinished(() => cluster.close());
  const client = new Cluster([...cluster.addresses]);
  client.on("error", () => undefined);
  onTestFinished(() => client.disconnect());
  const given = { redis: client, name: "chaos", partitions: 6, keepOpen: true };
  const frontier = await openRedisFrontier({ ...given, defaults: DEFAULTS });
  onTestFinished(() => frontier.close({ discard: true }));
  const { proxies, natMap } = await openLinkProxies(cluster.nodes);
  onTestFinished(async () => {
    for (const proxy of proxies) await proxy.close();
  });
  // Half of the clients follow no redirection by themselves; the others have links that fail.
  const crawl = await startCrawl(seed, "chaos", (at) =>
    at % 2 === 0
      ? { cluster: cluster.addresses, client: { maxRedirections: 0, slotsRefreshInterval: 2_000 } }
      : { cluster: Object.values(natMap), client: { natMap } },
  );
  onTestFinished(() => crawl.close());
  await frontier.push(crawl.web.seed);
  const windows: Array<{ from: number; to: number }> = [];
  const loseMaster = async (draw: Random): Promise<void> => {
    const masters = await cluster.masters();
    const master = masters[draw.below(masters.length)] as ClusterNode;
    await crawl.nextDone();
    const from = (await cluster.replicated(master)) - CLOCKS_MS;
    const window = { from, to: Number.POSITIVE_INFINITY };
    windows.push(window);
    await cluster.lose(master);
    window.to = Date.now() + WINDOW_MS;
    await master.start();
    await cluster.ready();
  };
  const keys = Array.from({ length: given.partitions }, (_, at) => `outrider:{chaos.${at}}:m`);
  const faults: Fault[] = [
    ...processFaults(crawl).slice(1, 3),
    async () => {
      for (const master of await cluster.masters()) await master.call("SCRIPT", "FLUSH");
    },
    ...linkFaults(proxies),
    ...[slotFault(cluster, keys), slotFault(cluster, keys), loseMaster],
    ...[ruleFault(frontier), memoryFault(frontier, cluster.masters)],
  ];
  await play(crawl, faults, createRandom(seed));
  const report = await finished(frontier);
  const isInWindow = (fromMs: number, toMs: number): boolean =>
    windows.some(({ from, to }) => toMs >= from && fromMs <= to);
  const { verdict } = await verdictOn(crawl, seed, isInWindow);
  const { repeated, shared, hasty, unfenced, lostBefore: lost } = verdict;
  expect(crawl.complaints).toEqual([]);
  expect({ lost, repeated, shared, hasty, unfenced }, `SEED=${seed}`).toEqual(NOTHING);
  expect({ failed: report.failed, balance: balanceOf(report) }).toEqual({ failed: 0, balance: 0 });
}
