/** On Redis `pollMany` rounded up for each partition: of four partitions, 50 leases asked were 52. */
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { openRedisFrontier } from "../../src/integrations/redis/open-redis-frontier.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

beforeEach((context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
});

it("pollMany on Redis returns no more than were asked for", async () => {
  const server = await startRedis();
  onTestFinished(() => server.close());
  const frontier = await openRedisFrontier({ redis: server.socket, partitions: 4 });
  onTestFinished(() => frontier.close());
  await frontier.pushMany(Array.from({ length: 400 }, (_, at) => `http://h${at}.org/`));
  for (const max of [1, 2, 3, 5, 50, 7]) {
    expect(await frontier.pollMany(max)).toHaveLength(max);
  }
});
