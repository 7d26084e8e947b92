/**
 * A new generation throws files away, so its word has to be durable first. Where the disk refuses that word the caller hears of it,
 * and nothing has changed: not in memory, not after a crash, whichever sync of the call it was.
 */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { normalizeOptions } from "../../src/engine/options/normalize-options.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import type { Files } from "../../src/persistence/files.ts";
import { killedFiles } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

function url(at: number): string {
  return `http://h${at % 7}.test/${at}`;
}

const ASKED = ["forget", "clear"] as const;
/** The second sync of a clear in mode sync is of what its hosts are owed: the word itself is durable by then. */
const CASES = ASKED.flatMap((asked) =>
  (["sync", "everyMs"] as const).flatMap((mode) =>
    [0, 1]
      .filter((nth) => !(asked === "clear" && mode === "sync" && nth === 1))
      .map((nth) => [asked, mode, nth] as const),
  ),
);

it.each(CASES)(
  "%s in mode %s changes nothing where sync %i of its journal is refused",
  async (...given) => {
    const [asked, mode, nth] = given;
    const base = createMemoryFiles();
    const journals = new Set<number>();
    let left = Number.POSITIVE_INFINITY;
    const files: Files = {
      ...base,
      open(path, flags) {
        const file = base.open(path, flags);
        if (path.includes("/journal")) journals.add(file);
        else journals.delete(file);
        return file;
      },
      sync(file) {
        if (journals.has(file) && left-- <= 0) {
          throw Object.assign(new Error("EIO"), { code: "EIO", syscall: "fdatasync" });
        }
        base.sync(file);
      },
    };
    const open = async (on: Files) =>
      LocalFrontier.open({
        ...normalizeOptions({
          ...{ directory: "/dir", clock: createVirtualClock(0), keepOpen: true, seed: 1 },
          ...{ durability: mode === "sync" ? mode : { everyMs: 100 }, memoryBytes: 60_000 },
          seen: { memoryBytes: 60_000 },
        }),
        ...{ pageCountMax: 1024, files: on },
      });
    const frontier = await open(files);
    frontier.pushMany(Array.from({ length: 3000 }, (_, at) => url(at)));
    frontier.done(frontier.pollMany(1000));
    await frontier.flush();
    frontier.done(frontier.pollMany(10)); // said since, and in mode everyMs not durable yet

    const before = frontier.report();
    left = nth;
    let refused: unknown;
    try {
      frontier[asked]();
    } catch (error) {
      refused = error;
    }
    left = Number.POSITIVE_INFINITY;
    if (refused === undefined)
      expect(frontier.report().done).toBe(0); // it needed no such sync
    else {
      expect(refused).toMatchObject({ code: "DISK_FAILED" });
      const { pending, done, seen, forgotten } = frontier.report();
      expect({ pending, done, seen, forgotten }).toEqual({
        ...{ pending: before.pending, done: before.done },
        ...{ seen: before.seen, forgotten: before.forgotten },
      });
      expect(frontier.record(url(0))).toMatchObject({ state: "done" });
      verifyFrontier(frontier);
      await frontier.flush();
      const again = await open(killedFiles(base));
      expect(again.report()).toMatchObject({ pending: before.pending, done: before.done });
      expect(again.push(url(0)).status).toBe("duplicate");
      await again.close();
    }
    await frontier.close();
  },
);
