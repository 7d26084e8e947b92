/** Two hosts with one forged turn stayed so when the recovery had sent records to disk: which of them goes first was decided by chance. */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { damageOf, killedFiles, openRig, journalPath } from "../support/durable-rig.ts";
import { bytesOfSegment, segmentOf } from "../support/journal-entries.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

const OPTIONS = { defaults: { politeness: { delayMs: 10 } } };

/** What an opening reports, and the hosts in the order in which they go, under three forged turns that are one. */
async function openedForged(
  isTight: boolean,
): Promise<{ damage: readonly string[]; hosts: string[] }> {
  const written = createMemoryFiles();
  const first = await openRig(written, createVirtualClock(1_000), OPTIONS, isTight);
  for (let page = 0; page < 6; page++) {
    for (const host of ["a", "b", "c"]) first.frontier.push(`http://${host}.test/${page}`);
    await first.frontier.flush();
  }
  const files = killedFiles(written);
  await first.frontier.close({ discard: true });
  const path = journalPath(1);
  const segment = segmentOf(files.bytesOf(path), 1);
  for (const { words, fields } of segment.frames.flat()) {
    const field = fields.find(({ name }) => name === "turn");
    if (field === undefined) continue;
    new DataView(words.buffer, words.byteOffset).setFloat64(field.at * 4, 7, true);
  }
  files.setBytes(path, bytesOfSegment(segment));
  const clock = createVirtualClock(2_000);
  const { frontier } = await openRig(files, clock, OPTIONS, isTight);
  const damage = await damageOf(frontier);
  verifyFrontier(frontier);
  const hosts: string[] = [];
  for (let round = 0; round < 2; round++) {
    hosts.push(...frontier.pollMany(9).map((lease) => new URL(lease.url).hostname));
    clock.advance(10);
  }
  await frontier.close({ discard: true });
  return { damage, hosts };
}

it("hosts with one turn are separated, in memory and where records went to disk", async () => {
  const inMemory = await openedForged(false);
  expect(inMemory.damage).toEqual([expect.stringContaining("corrected")]);
  expect(new Set(inMemory.hosts.slice(0, 3)).size).toBe(3);
  expect(await openedForged(true)).toEqual(inMemory);
});
