/**
 * A process was killed with frames that the system had and the medium had not. The next one read them and began a new segment;
 * when the power went, they went, and all that it had made durable since stood behind a hole.
 */
import { expect, it } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import { createVirtualClock } from "../../src/base/clock.ts";
import { damageOf, openRig, type VirtualClock, withoutLock } from "../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles } from "../support/memory-files.ts";

const clockAt = (): VirtualClock => createVirtualClock(1_000);
/** More than a frame takes: it goes to the file, and no sync comes before the end. */
const MANY = Array.from({ length: 4_000 }, (_, at) => `http://many.test/${"x".repeat(80)}/${at}`);

it.each([1, 2, 3, 4, 5, 6])(
  "what was flushed after a kill survives a power cut (%i)",
  async (seed) => {
    const first = await openRig(createMemoryFiles(), clockAt(), {
      durability: { everyMs: 50 },
    });
    first.frontier.pushMany(MANY);
    const killed = withoutLock((first.files as MemoryFiles).afterKill());
    const second = await openRig(killed, clockAt(), { durability: "sync" });
    const { pending } = second.frontier.report();
    expect(pending).toBeGreaterThan(0); // some of it was handed to the system
    second.frontier.push("http://late.test/");
    const cut = withoutLock((second.files as MemoryFiles).afterCut(createRandom(seed)));
    const third = await openRig(cut, clockAt(), { durability: "sync" });
    expect(await damageOf(third.frontier)).toEqual([]);
    expect(third.frontier.record("http://late.test/")?.state).toBe("pending");
    expect(third.frontier.report().pending).toBe(pending + 1);
  },
);
