/** The channels of node:diagnostics_channel: their messages add up to the report, and without a subscriber nothing is built. */
import { channel, subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { type DiagnosticsMessages, openFrontier, type Report } from "../../../../src/index.ts";
import { seeded, testSeed } from "../../../support/seed.ts";

type Counts = Record<string, number>;

/** Adds up the messages of a channel for one frontier. */
function sums(
  name: keyof DiagnosticsMessages,
  frontier: string,
): { counts: Counts; messages: number } {
  const total = { counts: {} as Counts, messages: 0 };
  const add = (message: unknown): void => {
    const { frontier: from, ...counts } = message as Counts & { frontier: string };
    if (from !== frontier) return;
    total.messages++;
    for (const [key, count] of Object.entries(counts)) {
      total.counts[key] = (total.counts[key] ?? 0) + count;
    }
  };
  subscribe(name, add);
  onTestFinished(() => void unsubscribe(name, add));
  return total;
}

function pushesOf({ pushed, accepted, deferred, duplicate, full, rejected }: Report): Counts {
  const refused = Object.values(rejected).reduce((sum, count) => sum + count, 0);
  return { pushed, accepted, deferred, duplicate, rejected: refused, full };
}

it("tell what a crawl did, and add up to its report", async () => {
  await using frontier = await openFrontier({ name: "added-up", capacity: 300, leaseMs: 60_000 });
  await using other = await openFrontier({ name: "another" });
  frontier.push("http://before.test/"); // before anybody listens
  const push = sums("outrider:push", "added-up");
  const lease = sums("outrider:lease", "added-up");
  const end = sums("outrider:end", "added-up");
  seeded(testSeed("call channels"), (random) => {
    for (let step = 0; step < 400; step++) {
      const urls = Array.from(
        { length: random.below(5) },
        () => `http://h${random.below(9)}.test/${random.below(500)}`,
      );
      if (random.below(20) === 0) frontier.push("mailto:nobody");
      frontier.pushMany(urls);
      other.pushMany(urls);
      for (const one of frontier.pollMany(random.below(4))) {
        const kind = random.below(5);
        if (kind === 0) one.retry();
        else if (kind === 1) one.fail("no");
        else if (kind === 2) one.release();
        else one.done({ found: urls });
      }
    }
  });
  const report = frontier.report();
  expect(push.counts).toEqual(pushesOf(report));
  const { done, failed, retried, expired } = report;
  expect(end.counts).toMatchObject({ done, failed, retried, expired });
  expect(lease.counts.leased).toBe(
    done + failed + retried + (end.counts.released ?? 0) + report.leased,
  );
  frontier.push(`http://before.test/`);
  const before = push.messages;
  frontier.report(); // changes nothing, so it tells nothing
  expect(push.messages).toBe(before);
});

it("count anew where a frontier is cleared", async () => {
  await using frontier = await openFrontier({ name: "cleared" });
  const push = sums("outrider:push", "cleared");
  frontier.pushMany(["http://a.test/1", "http://a.test/2"]);
  await frontier.clear();
  frontier.push("http://a.test/1");
  expect(push.counts).toMatchObject({ pushed: 3, accepted: 3, duplicate: 0 });
});

it("tell of snapshots and faults, also where nobody listens to events", async () => {
  const directory = mkdtempSync(join(tmpdir(), "outrider-channels-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const told: unknown[] = [];
  const hear = (message: unknown): void => void told.push(message);
  subscribe("outrider:snapshot", hear);
  subscribe("outrider:fault", hear);
  onTestFinished(() => {
    unsubscribe("outrider:snapshot", hear);
    unsubscribe("outrider:fault", hear);
  });
  const accept = (): boolean => {
    throw new Error("not now");
  };
  await using frontier = await openFrontier({ name: "snapped", directory, accept });
  frontier.push("http://a.test/");
  await frontier.snapshot();
  expect(told).toMatchObject([
    { frontier: "snapped", kind: "hook", cause: new Error("not now") },
    { frontier: "snapped", records: 0 },
  ]);
});

it("build nothing without a subscriber", async () => {
  const publish = vi.spyOn(channel("outrider:push"), "publish");
  onTestFinished(() => publish.mockRestore());
  await using frontier = await openFrontier({ name: "unheard" });
  frontier.push("http://a.test/");
  frontier.poll()?.done();
  expect(publish).not.toHaveBeenCalled();
});
