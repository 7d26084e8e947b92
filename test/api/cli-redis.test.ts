/** The command line over a frontier on Redis: stats, peek and requeue with --redis. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "../../src/cli/run-command.ts";
import { openRedisFrontier } from "../../src/integrations/redis/open-redis-frontier.ts";
import { createFakeIo } from "../support/fake-io.ts";
import { type RedisServer, startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

let server: RedisServer | undefined;
let socket = "";
beforeAll(async () => {
  if (WITHOUT_REDIS !== undefined) return;
  server = await startRedis();
  ({ socket } = server);
});
afterAll(() => server?.close());
beforeEach((context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
});

async function outrider(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = createFakeIo(undefined);
  const code = await runCommand(argv, io);
  return { code, out: io.text.out, err: io.text.err };
}

describe("outrider --redis", () => {
  it("reports, shows what is next, and requeues what failed, beside other processes", async () => {
    const frontier = await openRedisFrontier({ redis: socket, name: "shared", partitions: 1 });
    await frontier.pushMany(["http://a.org/1", "http://b.org/2"]);
    await (await frontier.poll())?.fail("broken");
    const flags = ["--redis", socket, "--name", "shared", "--json"];
    const stats = await outrider("stats", ...flags);
    expect(JSON.parse(stats.out)).toMatchObject({ pushed: 2, pending: 1, failed: 1 });
    const peek = await outrider("peek", ...flags, "--max", "1");
    expect(JSON.parse(peek.out)).toMatchObject({ pending: 1, next: [{ url: "http://b.org/2" }] });
    const requeued = await outrider("requeue", ...flags, "--reason", "broken");
    expect(JSON.parse(requeued.out)).toEqual({ requeued: 1 });
    expect((await frontier.report()).pending).toBe(2);
    await frontier.close();
  });

  it("makes no frontier where there is none of that name, and takes no directory beside it", async () => {
    const none = await outrider("stats", "--redis", socket, "--name", "none");
    expect(none.code).not.toBe(0);
    expect(none.err).toContain("none: no frontier on that server");
    const again = await outrider("peek", "--redis", socket, "--name", "none");
    expect(again.err).toContain("none: no frontier on that server");
    const both = await outrider("stats", "somewhere", "--redis", socket);
    expect(both.err).toContain("somewhere: a directory beside --redis");
  });
});
