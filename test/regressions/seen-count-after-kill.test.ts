/**
 * After a kill a frontier whose seen-set goes on on disk reported the number of identities that its last note had, some thousands too few. It counts the
 * admissions since its snapshot, as it counts records.
 */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { killedFiles, openRig } from "../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles } from "../support/memory-files.ts";

/** Each call writes its entries, and no note. */
const OPTIONS = { durability: "sync" as const };
const URLS = Array.from({ length: 900 }, (_, at) => `http://h${at % 90}.test/${at}`);

it.each([false, true])(
  "counts what was admitted and forgotten since (snapshot: %s)",
  async (hasSnapshot) => {
    const clock = createVirtualClock(1_000);
    const rig = await openRig(createMemoryFiles(), clock, OPTIONS, true);
    const { frontier } = rig;
    for (let from = 0; from < 600; from += 20) frontier.pushMany(URLS.slice(from, from + 20));
    if (hasSnapshot) await frontier.snapshot();
    else await frontier.flush();
    for (let from = 600; from < 900; from += 20) frontier.pushMany(URLS.slice(from, from + 20));
    for (const lease of frontier.pollMany(300)) lease.done();
    for (const url of URLS.slice(0, 10)) frontier.put({ url }, { dueAt: 5_000 });
    const { seen } = frontier.report();
    const again = await openRig(killedFiles(rig.files as MemoryFiles), clock, OPTIONS, true);
    expect(again.frontier.report().seen).toBe(seen);
    await again.frontier.close();
    await frontier.close();
  },
);
