/** The frontier on a Redis Cluster of three masters with a replica each: slots that move, and a master that dies. */
import { Cluster } from "ioredis";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openRedisFrontier } from "../../src/integrations/redis/open-redis-frontier.ts";
import { startCluster } from "../support/redis-cluster.ts";
import { WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

beforeEach((context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
});

const urlsFrom = (first: number): string[] =>
  Array.from({ length: 200 }, (_, at) => `http://h${at % 40}.org/${first + at}`);

describe("a frontier on a cluster", () => {
  it("follows slots that move and a replica that takes over, and loses nothing that was replicated", async () => {
    const cluster = await startCluster();
    onTestFinished(() => cluster.close());
    const client = new Cluster([...cluster.addresses]);
    client.on("error", () => undefined);
    onTestFinished(() => client.disconnect());
    const frontier = await openRedisFrontier({ redis: client, name: "c", partitions: 6 });
    onTestFinished(() => frontier.close({ discard: true }));
    expect((await frontier.pushMany(urlsFrom(0))).accepted).toBe(200);
    const leases = await frontier.pollMany(50);

    const [from, to] = await cluster.masters();
    if (from === undefined || to === undefined) throw new Error("no masters");
    const names = Array.from({ length: 6 }, (_, at) => `outrider:{c.${at}}:m`);
    const slots = await Promise.all(
      names.map(async (name) => Number(await client.cluster("KEYSLOT", name))),
    );
    const counts = await Promise.all(
      slots.map(async (slot) => Number(await from.call("CLUSTER", "COUNTKEYSINSLOT", `${slot}`))),
    );
    const own = slots.filter((_, at) => (counts[at] as number) > 0);
    const moving = cluster.moveSlots(from, to, own);
    expect((await frontier.pushMany(urlsFrom(200))).accepted).toBe(200);
    await moving;
    expect(await frontier.done(leases)).toBe(50);

    await cluster.replicated(to);
    const lost = cluster.lose(to);
    expect((await frontier.pushMany(urlsFrom(0))).duplicate).toBe(200);
    await lost;
    expect((await frontier.pushMany(urlsFrom(400))).accepted).toBe(200);
    let done = 0;
    for await (const lease of frontier) if (!(await lease.done()).late) done++;
    expect(done).toBe(550);
  });
});
