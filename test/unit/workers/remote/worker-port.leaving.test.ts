/** A port that was closed: calls on its leases have no effect, least of all on a seat that belongs to another thread by then. */
import { describe, expect, it } from "vitest";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import { SEAT_FREE, SEAT_STATE_WORD } from "../../../../src/layout/threads/worker-seats.ts";
import { seatWords } from "../../../../src/workers/protocol/shared-memory.ts";
import { attach } from "../../../../src/workers/remote/worker-port.ts";
import { until } from "../../../support/pool.ts";

describe("a lease of a port that was closed", () => {
  it("writes nothing into the ring of the seat's next thread, whatever is called on it", async () => {
    const frontier = await openFrontier({ keepOpen: true });
    const faults: unknown[] = [];
    frontier.on("error", (fault) => faults.push(fault));
    frontier.push("http://a.test/");
    const handle = frontier.share();
    const first = attach(handle);
    const [lease] = await first.take();
    await first.close();
    const words = seatWords(handle.memory, 0);
    await until(() => words[SEAT_STATE_WORD] === SEAT_FREE, "the seat free");
    const second = attach(handle);
    const before = words.slice();
    // Some slots further than where the next thread writes first.
    for (let time = 0; time < 50; time++) {
      lease?.extend(1_000);
      lease?.redirect(`http://elsewhere.test/${time}`);
    }
    lease?.retry();
    lease?.done({ found: ["http://found.test/"] });
    expect(first.push("http://late.test/")).toBe("rejected");
    expect(first.pollMany(1)).toEqual([]);
    expect(second.push(["http://b.test/", "http://c.test/"])).toEqual(["queued", "queued"]);
    await until(() => frontier.report().accepted === 3, "what the second says");
    for (let page = 0; page < 20; page++) {
      expect(second.push(`http://d.test/${page}`)).toBe("queued");
      await until(() => frontier.report().accepted === 4 + page, "what it says then");
    }
    await second.close();
    expect(before[SEAT_STATE_WORD]).not.toBe(SEAT_FREE);
    expect(faults).toEqual([]);
    expect(frontier.report()).toMatchObject({ accepted: 23, rejected: {}, retried: 0, done: 0 });
    await frontier.close();
  });
});
