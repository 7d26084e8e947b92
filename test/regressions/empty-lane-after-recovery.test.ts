/**
 * Hosts that a recovery sent to disk came back for later entries, and left an empty lane in the ranks of their rule: the first poll took it for the
 * best one. The same for hosts that wait: after the machine's clock was set back, those on disk waited for the clock that it had before.
 */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { coreOf, verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import type { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { killedFiles, openRig } from "../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles } from "../support/memory-files.ts";

const HOSTS = 60;
const DAY_MS = 86_400_000;
const OPTIONS = {
  durability: "sync" as const,
  defaults: { politeness: { delayMs: 1_000, perHost: 1 } },
};

const urlsOf = (name: string): string[] =>
  Array.from({ length: HOSTS }, (_, at) => `http://${name}${at}.test/`);

it("hands out what is left when all hosts of the best priority are done", async () => {
  const clock = createVirtualClock(1_000);
  const { files, frontier } = await openRig(createMemoryFiles(), clock, OPTIONS, true);
  frontier.pushMany(urlsOf("best"), { priority: 5 });
  frontier.pushMany(urlsOf("other"));
  const best = frontier.pollMany(HOSTS);
  expect(best.every(({ priority }) => priority === 5)).toBe(true);
  for (const lease of best) lease.done();
  const again = await openRig(killedFiles(files as MemoryFiles), clock, OPTIONS, true);
  expect(coreOf(again.frontier).hosts.spilled).toBeGreaterThan(0);
  verifyFrontier(again.frontier);
  expect(visitAll(again.frontier).sort()).toEqual(urlsOf("other").sort());
  await again.frontier.close();
  await frontier.close();
});

it("does not let hosts on disk wait for a clock that was set back", async () => {
  const clock = createVirtualClock(10 * DAY_MS);
  const { files, frontier } = await openRig(createMemoryFiles(), clock, OPTIONS, true);
  frontier.pushMany(urlsOf("h").flatMap((url) => [url, `${url}more`]));
  for (const lease of frontier.pollMany(HOSTS)) lease.done();
  const earlier = createVirtualClock(9 * DAY_MS);
  const again = await openRig(killedFiles(files as MemoryFiles), earlier, OPTIONS, true);
  earlier.advance(2_000);
  expect(visitAll(again.frontier)).toHaveLength(HOSTS);
  verifyFrontier(again.frontier);
  await again.frontier.close();
  await frontier.close();
});

function visitAll(frontier: LocalFrontier): string[] {
  const visited: string[] = [];
  for (let leases = frontier.pollMany(20); leases.length > 0; leases = frontier.pollMany(20)) {
    for (const lease of leases) {
      visited.push(lease.url);
      lease.done();
    }
  }
  return visited;
}
