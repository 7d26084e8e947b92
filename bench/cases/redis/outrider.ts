/** The frontier on Redis with every feature on: dedup, priorities, polite hosts, leases with fencing, records. */
import { openRedisFrontier } from "../../../src/redis.ts";
import { inFlight } from "./prototype.ts";
import {
  CALL,
  DELAY_MS,
  IN_FLIGHT,
  LEASES,
  type RedisSide,
  type RedisSideOptions,
} from "./side.ts";

/** Leases of one `take`: about `LEASES` of each partition that has so many. */
const TAKE = 16;
/** URLs that sweeps have to do with. */
const SWEPT = 100_000;

export async function openOutrider({ socket, partitions }: RedisSideOptions): Promise<RedisSide> {
  const frontier = await openRedisFrontier({
    ...{ redis: socket, name: "bench", partitions },
    defaults: { politeness: { delayMs: DELAY_MS } },
  });
  return {
    push: (urls) => inFlight(urls, CALL * partitions, (list) => frontier.pushMany(list)),
    async drain() {
      let count = 0;
      const loop = async (): Promise<void> => {
        for (;;) {
          const leases = await frontier.take({ max: LEASES * TAKE });
          if (leases.length === 0) return;
          const ended = await frontier.done(leases);
          count += ended;
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
      return count;
    },
    async sweep(urls) {
      const again = urls.slice(0, SWEPT).map((url) => `${url}?again`);
      await inFlight(again, CALL * partitions, (list) => frontier.pushMany(list));
      // After so many attempts that have expired each of them fails.
      while ((await frontier.report()).failed < again.length)
        await frontier.pollMany(LEASES * TAKE, { leaseMs: 1 });
      const requeued = await frontier.requeue({ state: "failed" });
      return requeued + (await frontier.remove({ pattern: "[?]again$" }));
    },
    close: () => frontier.close(),
  };
}
