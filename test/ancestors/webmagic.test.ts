/** W: what WebMagic's schedulers do, row by row, and the faults they have. */
import { describe, expect, it } from "vitest";
import { openBench, settled } from "../support/bench-frontier.ts";

const A = "http://a.com/1";
const B = "http://a.com/2";

describe("WebMagic", () => {
  it("W1: a poll of an empty frontier answers at once, and a take is served by the next push", async () => {
    const { frontier, check } = openBench();
    expect([frontier.poll(), frontier.pollMany(5)]).toEqual([undefined, []]);
    const taken = frontier.take();
    await settled();
    frontier.push(A);
    expect((await taken).map(({ url }) => url)).toEqual([A]);
    check();
  });

  it("W2: retries and exempt POSTs are handed out without touching the seen-set", () => {
    const { frontier, check } = openBench({
      defaults: { key: { profile: "url", exemptMethods: ["POST"] } },
    });
    frontier.push(A);
    expect(frontier.poll()?.retry()).toBe("requeued");
    frontier.push({ url: B, method: "POST" });
    expect(frontier.report().seen).toBe(1);
    expect(frontier.pollMany(2).map(({ url }) => url)).toEqual([B, A]); // the retry has priority −1
    expect(frontier.report().seen).toBe(1);
    check();
  });

  it("W4: equal POSTs are all taken when exempt, and the GET behind them is still new", () => {
    const { frontier } = openBench({
      defaults: { key: { profile: "url", exemptMethods: ["post"] } },
    });
    const verdicts = ["POST", "POST", "GET", "GET"].map(
      (method) => frontier.push({ url: A, method }).status,
    );
    expect(verdicts).toEqual(["accepted", "accepted", "accepted", "duplicate"]);
    expect(frontier.pollMany(9).map(({ method }) => method)).toEqual(["POST", "POST", "GET"]);
  });
});
