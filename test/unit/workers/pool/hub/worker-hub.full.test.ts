/** A ring that stays full for minutes because the owner has no disk: its thread waits, nothing spins, nothing is lost. */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../../src/base/clock.ts";
import { verifyFrontier } from "../../../../../src/engine/api/verify-frontier.ts";
import { attach } from "../../../../../src/workers/remote/worker-port.ts";
import { openRig } from "../../../../support/durable-rig.ts";
import { createMemoryFiles } from "../../../../support/memory-files.ts";
import { until, untilIdle } from "../../../../support/pool.ts";

const BATCH = 500;
const LEASE_SECONDS = 300;
/** As long as the longest that the ring was filled with. */
const LATER = "http://c.test/1234567";

describe("a ring that is full for minutes", () => {
  it("makes its thread wait, lets leases expire by the clock, costs no time, and loses nothing", async () => {
    const files = createMemoryFiles();
    const clock = createVirtualClock(1_000_000);
    const options = { durability: "sync", keepOpen: true, leaseMs: LEASE_SECONDS * 1_000 } as const;
    const { frontier } = await openRig(files, clock, options);
    const port = attach(frontier.share());
    frontier.pushMany(Array.from({ length: 4 }, (_, at) => `http://a.test/${at}`));
    const leases = await port.take({ max: 4 });
    while (leases.length < 4) leases.push(...(await port.take({ max: 4 })));
    const before = frontier.report();
    files.capacity = 0;
    await until(() => frontier.push("http://probe.test/").reason === "disk", "a full disk");
    const probes = frontier.report().accepted - before.accepted;

    leases[0]?.done({ found: ["http://found.test/"] });
    leases[1]?.retry({ delayMs: 0 });
    let queued = 0;
    const push = (count: number): boolean => {
      const urls = Array.from({ length: count }, (_, at) => `http://b.test/${queued + at}`);
      const answers = new Set(port.push(urls));
      expect(answers.size).toBe(1);
      if (answers.has("queued")) queued += count;
      return answers.has("full");
    };
    // One may have room where many have not.
    const pushSome = (): boolean => push(BATCH) && push(1);
    await until(pushSome, "a full ring");

    for (let second = 1; second < LEASE_SECONDS; second++) {
      clock.advance(1_000);
      await new Promise(setImmediate);
      if (second % 60 === 0) expect(port.push(LATER)).toBe("full");
    }
    expect(await untilIdle(300)).toBeLessThan(0.1);
    clock.advance(1_000);
    // Results of expired leases need no disk: the messages after them move up, and no others.
    const room = queued;
    await until(() => !push(1), "room behind expired leases");
    await until(pushSome, "a full ring again");
    expect(queued - room).toBeLessThanOrEqual(4 * BATCH);
    expect(await untilIdle(300)).toBeLessThan(0.1);
    expect(frontier.report()).toMatchObject({ accepted: 4 + probes, done: 0, failed: 0 });

    files.capacity = Number.POSITIVE_INFINITY;
    await until(() => frontier.report().accepted === 4 + probes + queued, "all of it");
    // Their time was over before they could be written: a late result changes nothing and is reported as late.
    const after = frontier.report();
    expect(after).toMatchObject({ done: 0, failed: 0, duplicate: 0 });
    expect(after.pending + after.waiting + after.leased).toBe(4 + probes + queued);
    expect(frontier.record("http://found.test/")).toBeUndefined();
    await until(() => port.push("http://c.test/") === "queued", "room again");
    await until(() => frontier.record("http://c.test/") !== undefined, "what was said then");
    verifyFrontier(frontier);
    await port.close();
    await frontier.close();
  });
});
