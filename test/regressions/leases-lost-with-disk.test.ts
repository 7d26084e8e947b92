/**
 * Leases that were handed out before the disk failed, in the same poll, were lost to their caller until they ran out: where a full disk
 * refused what had expired before them, and where a lane went on in a block that could not be read.
 */
import { mkdtempSync, readdirSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { type Frontier, openFrontier } from "../../src/index.ts";
import { openRig } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

it("a poll after a lease has expired gives its leases though the disk is full", async () => {
  const files = createMemoryFiles();
  const clock = createVirtualClock(0);
  const rig = await openRig(files, clock, { durability: "sync", leaseMs: 10 });
  const { frontier } = rig;
  frontier.pushMany(Array.from({ length: 400 }, (_, at) => `http://a.org/${at}`));
  for (const poll of [
    () => frontier.pollMany(50),
    () => frontier.pollMany(50, { leaseMs: 10 }),
    () => [frontier.poll()],
  ]) {
    frontier.pollMany(100);
    clock.advance(20);
    files.capacity = 0;
    const leases = poll();
    expect(leases.length).toBeGreaterThan(0);
    files.capacity = Number.POSITIVE_INFINITY;
    clock.advance(20);
  }
});

/** A frontier whose blocks on disk cannot be read. */
async function openBroken(): Promise<Frontier> {
  const directory = mkdtempSync(join(tmpdir(), "broken-"));
  const frontier = await openFrontier({ directory, memoryBytes: 2 ** 20, durability: "none" });
  onTestFinished(async () => {
    await frontier.close().catch(() => undefined);
    rmSync(directory, { recursive: true, force: true });
  });
  for (let at = 0; at < 40; at++)
    frontier.pushMany(Array.from({ length: 500 }, (_, n) => `http://a.org/${at}/${n}`));
  const spill = join(directory, "default", "spill");
  for (const name of readdirSync(spill)) truncateSync(join(spill, name), 10);
  return frontier;
}

it("leases before a block that cannot be read reach their caller, however many they are", async () => {
  const most = (await openBroken()).pollMany(1e9).length;
  expect(most).toBeGreaterThan(1_100);
  for (const left of [64, 128, 1_024]) {
    const frontier = await openBroken();
    frontier.pollMany(most - left);
    expect(frontier.pollMany(5_000)).toHaveLength(left);
    expect(() => frontier.pollMany(5_000)).toThrow(/spill/);
  }
});
