/** `giveUpAfter` was taken on Redis and ignored: a host that had failed for good went on. */
import { afterAll, expect, it } from "vitest";
import { createRedis } from "../support/conformance/redis.ts";

const { implementation, close } = createRedis();
afterAll(close);

it("a host on Redis that has given up fails all that it has pending and waiting", async (context) => {
  const { frontier, now } = await implementation.open(context, {
    defaults: {
      politeness: { hostBackoff: { after: 1, baseMs: 1, maxMs: 1, giveUpAfter: 1 } },
    },
  });
  const urls = Array.from({ length: 1_200 }, (_, at) => `http://a.org/${at}`);
  await frontier.pushMany([...urls, "http://b.org/"]);
  await frontier.push({ url: "http://a.org/later", notBefore: now() + 1_000 });
  const lease = await frontier.poll();
  expect(await lease?.retry({ outcome: { status: 503 } })).toBe("failed");
  const { pending, waiting, failed } = await frontier.report();
  expect({ pending, waiting, failed }).toEqual({ pending: 1, waiting: 0, failed: 1_201 });
  expect((await frontier.record("http://a.org/later"))?.failure?.reason).toBe("host-gave-up");
});
