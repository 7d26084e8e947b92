/**
 * Faults of a crawl over Redis. Those of servers end when the crawl has met them, by what the servers have refused:
 *
 *   memory     pushes are refused, all of them and nothing of them, until there is room again
 *   slot       half of its keys elsewhere: TRYAGAIN ─▶ all of them: ASK ─▶ its new master named: MOVED
 *   link       cut, slow, silent: every way to the servers, or one of them
 *   process    killed; stopped beyond its leases
 */
import { expect } from "vitest";
import type { Random } from "../../src/base/random.ts";
import type { RedisFrontier } from "../../src/integrations/redis/frontier/redis-types.ts";
import { after, type ChaosCrawl } from "./chaos-crawl.ts";
import type { LinkProxy } from "./link-proxy.ts";
import type { ClusterNode, RedisCluster } from "./redis-cluster.ts";
import type { RedisServer } from "./redis-server.ts";

export type Fault = (random: Random) => Promise<unknown>;

const DEADLINE_MS = 240_000;
/** Pages of hosts that no link leads to. */
const STRANGERS = Array.from({ length: 12 }, (_, at) => `http://s${at}.outrider.test/`);

/** So many that clients of several processes have met them: those that follow MOVED meet it once. */
const REFUSALS = { TRYAGAIN: 10, ASK: 10, MOVED: 2 };

export async function until(what: string, isMet: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!(await isMet())) {
    if (Date.now() > deadline) throw new Error(`no ${what} within ${DEADLINE_MS} ms`);
    await after(20);
  }
}

export function processFaults(crawl: ChaosCrawl): Fault[] {
  return [
    async (draw) => crawl.kill(draw.below(6)),
    async (draw) => crawl.kill(draw.below(6)),
    async (draw) => await crawl.stop(draw.below(6)),
    async (draw) => await crawl.stop(draw.below(6)),
    async (draw) => await Promise.all([crawl.stop(draw.below(3)), crawl.stop(3 + draw.below(3))]),
  ];
}

export function linkFaults(proxies: readonly LinkProxy[]): Fault[] {
  const during =
    (ms: number, fault: (proxy: LinkProxy) => void): Fault =>
    async (draw) => {
      const one = proxies[draw.below(proxies.length)] as LinkProxy;
      const some = draw.below(2) === 0 ? [one] : proxies;
      for (const proxy of some) fault(proxy);
      await after(ms);
      for (const proxy of some) proxy.mend();
    };
  return [
    during(300, (proxy) => proxy.cut()),
    during(600, (proxy) => proxy.slow(60)),
    during(400, (proxy) => proxy.stall()),
  ];
}

/** Servers without room for a while. */
export function memoryFault(
  frontier: RedisFrontier,
  servers: () => Promise<readonly RedisServer[]>,
): Fault {
  return async () => {
    const all = await servers();
    const limit = async (bytes: number): Promise<void> => {
      for (const server of all) await server.call("CONFIG", "SET", "maxmemory", String(bytes));
    };
    await limit(1);
    const pushed = await frontier.pushMany(STRANGERS);
    const reasons = new Set(STRANGERS.map((_, at) => pushed.verdict(at).reason));
    await after(300);
    const records = await Promise.all(STRANGERS.map((url) => frontier.record(url)));
    await limit(0);
    expect([pushed.full, ...reasons]).toEqual([STRANGERS.length, "memory"]);
    expect(records.filter((record) => record !== undefined)).toEqual([]);
  };
}

/** The slot of a partition goes to another master while calls for it come. */
export function slotFault(cluster: RedisCluster, keys: readonly string[]): Fault {
  return async (draw) => {
    const key = keys[draw.below(keys.length)] as string;
    const masters = await cluster.masters();
    const slot = String(await (masters[0] as ClusterNode).call("CLUSTER", "KEYSLOT", key));
    const counts = await Promise.all(
      masters.map((one) => one.call("CLUSTER", "COUNTKEYSINSLOT", slot)),
    );
    const [from] = masters.filter((_, at) => Number(counts[at]) > 0) as [ClusterNode];
    const others = masters.filter((one) => one !== from);
    const to = others[draw.below(others.length)] as ClusterNode;
    await cluster.moveSlots(from, to, [Number(slot)], async (refusal) => {
      const enough = (await refusedBy(from, refusal)) + REFUSALS[refusal];
      await until(refusal, async () => (await refusedBy(from, refusal)) >= enough);
    });
  };
}

/** How often a server has given an error that begins so. */
async function refusedBy(server: RedisServer, word: string): Promise<number> {
  const info = String(await server.call("INFO", "errorstats"));
  return Number(new RegExp(`^errorstat_${word}:count=(\\d+)`, "m").exec(info)?.[1] ?? 0);
}
