/**
 * In mode `sync` the call whose write or sync fails has changed what it was to change, and threw the same error as calls that change
 * nothing: a caller that repeated it got `duplicate` or `late`, and one that did not could not know.
 */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import type { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import type { Lease } from "../../src/index.ts";
import { killedFiles, openRig } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

const URL = "https://a.test/";
const NEW = "https://a.test/new";

type Call = (frontier: LocalFrontier, lease: Lease) => unknown;

const CALLS: Array<[name: string, call: Call, isMade: (frontier: LocalFrontier) => boolean]> = [
  ["push", (frontier) => frontier.push(NEW), (frontier) => frontier.record(NEW) !== undefined],
  [
    "done with links",
    (_, lease) => lease.done({ found: [NEW] }),
    (frontier) => frontier.report().done === 1 && frontier.record(NEW) !== undefined,
  ],
  ["retry", (_, lease) => lease.retry(), (frontier) => frontier.report().retried === 1],
  ["fail", (_, lease) => lease.fail("x"), (frontier) => frontier.report().failed === 1],
  [
    "remove",
    (frontier) => frontier.remove({ pattern: "waits" }),
    (frontier) => frontier.report().removed === 1,
  ],
];

it.each(CALLS)(
  "%s that meets a failing device reports whether it took effect",
  async (...given) => {
    const [, call, isMade] = given;
    const seen = new Set<string>();
    for (let nth = 1; nth < 9; nth++) {
      const files = createMemoryFiles();
      const rig = await openRig(files, createVirtualClock(0), { durability: "sync" });
      const { frontier } = rig;
      frontier.pushMany([{ url: URL, priority: 1 }, "https://b.test/waits"]);
      const lease = frontier.poll() as Lease;
      files.failAt = files.changes + nth;
      let error: unknown;
      try {
        call(frontier, lease);
      } catch (thrown) {
        error = thrown;
      }
      if (error !== undefined) {
        expect(error).toMatchObject({ code: "DISK_FAILED" });
        const { isApplied = false } = (error as { details: { isApplied?: boolean } }).details;
        expect(isMade(frontier)).toBe(isApplied);
        if (isApplied) expect((error as Error).message).toContain("do not repeat it");
        seen.add(isApplied ? "made" : "refused");
        if (!isApplied) call(frontier, lease);
        // The next call writes what is held.
        frontier.push("https://c.test/");
      }
      files.failAt = 0;
      if (error === undefined && !isMade(frontier)) {
        seen.add("answered"); // `full`, reason `disk`
      } else {
        const again = await openRig(killedFiles(files), createVirtualClock(0));
        expect(isMade(again.frontier)).toBe(true);
        verifyFrontier(again.frontier);
        await again.frontier.close();
      }
      verifyFrontier(frontier);
      await frontier.close();
    }
    expect(seen).toContain("made");
  },
);
