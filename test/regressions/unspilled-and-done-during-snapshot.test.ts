/**
 * A record came back from disk while a snapshot was written, and was done before the snapshot's walk met its identity: the file
 * held it twice, as pending and as finished. Read back into little memory the pending one stood in its lane already: it was
 * counted, and would have been handed out again.
 */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { type DurableRig, killedFiles, openRig, turn } from "../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles } from "../support/memory-files.ts";

const URLS = Array.from({ length: 60 }, (_, at) => `http://h${at % 4}.test/${at + 100}`);
/** Finished before: the walk takes a turn for every few of them. */
const BEFORE = URLS.map((url) => `${url}/before`);
const OPTIONS = {
  seen: { mode: "exact" },
  durability: "sync",
  snapshots: { everyBytes: 2 ** 30, keep: 1 },
} as const;

it.each(["done", "removed"] as const)(
  "what was %s while a snapshot was under way does not come back from it",
  async (end) => {
    for (let seed = 1; seed <= 4; seed++) {
      const rig = await openRig(createMemoryFiles(), clockAt(), { ...OPTIONS, seed }, true);
      for (const url of BEFORE) rig.frontier.push(url);
      for (const lease of rig.frontier.pollMany(BEFORE.length)) lease.done();
      for (const url of URLS) rig.frontier.push(url);
      const snapshot = rig.frontier.snapshot();
      const ended = await endMeanwhile(rig, end, snapshot);
      const killed = killedFiles(rig.files as MemoryFiles);
      const next = await openRig(killed, clockAt(), { ...OPTIONS, seed }, true);
      verifyFrontier(next.frontier);
      const left = next.frontier.pollMany(URLS.length).map(({ url }) => url);
      expect(left, `seed ${seed}`).toEqual(URLS.filter((url) => !ended.has(url)));
    }
  },
);

function clockAt(): ReturnType<typeof createVirtualClock> {
  return createVirtualClock(1_000);
}

/** Ends the next record at every turn of the snapshot; which ones. */
async function endMeanwhile(
  { frontier }: DurableRig,
  end: "done" | "removed",
  snapshot: Promise<unknown>,
): Promise<Set<string>> {
  const ended = new Set<string>();
  let isOver = false;
  void snapshot.then(() => {
    isOver = true;
  });
  while (!isOver && ended.size < URLS.length) {
    await turn();
    const url = URLS[ended.size] as string;
    if (end === "done") frontier.poll()?.done();
    else expect(frontier.remove({ pattern: url })).toBe(1);
    ended.add(url);
  }
  await snapshot;
  return ended;
}
