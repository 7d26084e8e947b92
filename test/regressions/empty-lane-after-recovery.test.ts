/**
 * Hosts that a recovery sent to disk came back for later entries, and left an empty lane in the ranks of their rule: the first poll took it for the
 * best one. And hosts that were on disk when an opening bounded the clocks of hosts went on waiting for a clock that was set back.
 */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { coreOf, verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import type { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { boundClocks } from "../../src/frontier/politeness/bound-clocks.ts";
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

it("bounds the clocks of hosts on disk where the machine's clock was set back", async () => {
  const clock = createVirtualClock(10 * DAY_MS);
  const politeness = { delayMs: 2 * DAY_MS, perHost: 1 };
  const { frontier } = await openRig(
    createMemoryFiles(),
    clock,
    { defaults: { politeness } },
    true,
  );
  frontier.pushMany(urlsOf("h").flatMap((url) => [url, `${url}more`]));
  for (const lease of frontier.pollMany(HOSTS)) lease.done();
  frontier.push("http://last.test/");
  const core = coreOf(frontier);
  expect(core.hosts.spilled).toBeGreaterThan(HOSTS / 2);
  boundClocks(core, Number.POSITIVE_INFINITY, 9 * DAY_MS);
  clock.advance(DAY_MS + 1);
  expect(visitAll(frontier)).toHaveLength(HOSTS + 1);
  verifyFrontier(frontier);
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
