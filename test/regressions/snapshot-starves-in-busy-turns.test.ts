/**
 * A slice of a snapshot ran in each turn of the event loop and nowhere else. A program that made 32 calls in a turn let a snapshot of 5·10⁶
 * URLs never end: everything had to be read from journals at the next opening.
 */
import { expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { createMemoryFiles } from "../support/memory-files.ts";
import { killedFiles, rigSettings } from "../support/durable-rig.ts";

const CALLS = 64;
const URLS = 500;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a snapshot ends though its program makes many calls in each turn", async () => {
  const clock = createVirtualClock(1);
  const files = createMemoryFiles();
  const options = { snapshots: { everyBytes: 2 ** 21 } };
  const settings = { ...rigSettings(files, clock, options, false), snapshotRows: 500 };
  const frontier = await LocalFrontier.open(settings);
  let snapshots = 0;
  frontier.on("snapshot", () => void snapshots++);
  let pushed = 0;
  for (let turns = 0; turns < 8; turns++) {
    for (let call = 0; call < CALLS; call++) {
      const page = (_: unknown, at: number): string => `http://h${at % 97}.test/${pushed + at}`;
      frontier.pushMany(Array.from({ length: URLS }, page));
      pushed += URLS;
    }
    await turn();
  }
  for (let turns = 0; turns < 8; turns++) await turn();
  expect(snapshots).toBeGreaterThan(0);

  await frontier.flush();
  const again = { ...settings, files: killedFiles(files) };
  const opened = await LocalFrontier.open(again);
  expect(opened.report()).toMatchObject({ pending: pushed });
  await opened.close();
  await frontier.close();
});
