/** V6: each way in counts alike, batches of URLs, requests that say more, and seeds of a later day. */
import { describe, expect, it } from "vitest";
import { presets } from "../../src/engine/options/presets.ts";
import { openBench } from "../support/bench-frontier.ts";

const DAY = 86_400_000;

describe("VSCrawler, what it counts", () => {
  it("V6: accepted is the number of records made, whichever way they came in", () => {
    const { frontier, clock, check } = openBench(presets.vscrawler());
    const A = "http://a.com/1";
    frontier.pushMany([A, A, "http://a.com/2", "not a url", "ftp://a.com/"]);
    const dated = { url: "http://a.com/dated", notBefore: clock.now() + DAY };
    const more = frontier.pushMany([
      { url: A, data: 1 },
      { url: "http://a.com/3", data: 1 },
      dated,
    ]);
    expect(more).toMatchObject({ accepted: 1, deferred: 1, duplicate: 1 });
    expect([...frontier.records({})].length).toBe(4);
    expect(frontier.report()).toMatchObject({ pushed: 8, accepted: 3, deferred: 1, duplicate: 2 });
    check();
  });
});
