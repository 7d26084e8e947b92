import { describe, expect, it, vi } from "vitest";
import type {
  FrontierEvents,
  FrontierFault,
  Lease,
} from "../../../src/engine/types/frontier-types.ts";
import { openBench, settled } from "../../support/bench-frontier.ts";

const A = "http://a.com/1";
const B = "http://a.com/2";
const BATCHED = [
  "accepted",
  "duplicate",
  "rejected",
  "leased",
  "done",
  "retried",
  "failed",
  "expired",
  "released",
] as const;

describe("events", () => {
  it("tell every transition once, in batches, with what happened", () => {
    const { frontier, clock, check } = openBench({ leaseMs: 100 });
    const told: Array<[string, unknown[]]> = [];
    for (const name of BATCHED) {
      frontier.on(name, (list: FrontierEvents[typeof name]) => {
        told.push([name, list.map((one) => ("reason" in one ? [one.url, one.reason] : one.url))]);
      });
    }
    const next = (): unknown => told.splice(0);
    frontier.pushMany([A, B, A, "x:y"]);
    expect(next()).toEqual([
      ["accepted", [A, B]],
      ["duplicate", [A]],
      ["rejected", [["x:y", "scheme"]]],
    ]);
    const [first, second] = frontier.pollMany(2) as [Lease, Lease];
    expect(next()).toEqual([["leased", [A, B]]]);
    first.done({ found: [B] });
    expect(next()).toEqual([
      ["done", [A]],
      ["duplicate", [B]],
    ]);
    second.retry({ reason: "slow" });
    expect(next()).toEqual([["retried", [[B, "slow"]]]]);
    frontier.poll()?.release();
    expect(next()).toEqual([
      ["leased", [B]],
      ["released", [B]],
    ]);
    frontier.poll();
    told.length = 0;
    clock.advance(100);
    expect(next()).toEqual([["expired", [B]]]);
    frontier.poll()?.fail("gone");
    expect(next()).toEqual([
      ["leased", [B]],
      ["failed", [[B, "gone"]]],
    ]);
    check();
  });

  it("of edges come once per edge", () => {
    const { frontier, clock } = openBench();
    const told: string[] = [];
    for (const name of ["empty", "ready", "idle", "finished"] as const) {
      frontier.on(name, () => told.push(name));
    }
    frontier.on("status", ({ from, to }) => told.push(`${from}-${to}`));
    const next = (): string[] => told.splice(0);
    frontier.poll();
    frontier.poll();
    expect(next()).toEqual(["empty"]);
    frontier.push({ url: A, notBefore: clock.now() + 10 });
    expect(next()).toEqual(["idle"]);
    clock.advance(10);
    expect(next()).toEqual(["ready"]);
    frontier.poll()?.done();
    expect(next()).toEqual(["idle", "finished"]);
    frontier.pause();
    frontier.pause();
    frontier.resume();
    frontier.resume();
    expect(next()).toEqual(["running-paused", "paused-running"]);
    void frontier.close();
    expect(next()).toEqual(["running-stopping", "stopping-stopped"]);
  });

  it("build nothing without a listener", () => {
    const { frontier } = openBench();
    const slices = vi.spyOn(
      Buffer.prototype as unknown as { latin1Slice(): string },
      "latin1Slice",
    );
    frontier.pushMany([A, B, A, "x:y"]);
    const leases = frontier.pollMany(2);
    const gathered = slices.mock.calls.length;
    leases[0]?.done();
    leases[1]?.fail();
    expect(gathered).toBe(1);
    expect(slices.mock.calls.length).toBe(gathered);
    slices.mockRestore();
  });

  it("a listener that throws is reported as an error, and the others are still called", async () => {
    const { frontier, check } = openBench();
    const faults: FrontierFault[] = [];
    let heard = 0;
    frontier.on("accepted", () => {
      throw new Error("broken listener");
    });
    frontier.on("accepted", async () => {
      await Promise.resolve();
      throw new Error("broken later");
    });
    frontier.on("accepted", () => heard++);
    frontier.on("error", (fault) => faults.push(fault));
    frontier.push(A);
    await settled();
    expect(heard).toBe(1);
    expect(faults.map(({ kind, stage, cause }) => [kind, stage, String(cause)])).toEqual([
      ["listener", "accepted", "Error: broken listener"],
      ["listener", "accepted", "Error: broken later"],
    ]);
    check();
  });

  it("an error listener that throws is only counted", () => {
    const { frontier } = openBench({
      accept: () => {
        throw new Error("broken hook");
      },
    });
    frontier.on("error", () => {
      throw new Error("broken listener");
    });
    frontier.push(A);
    expect(frontier.report().droppedEvents).toBe(1);
  });

  it("a listener may call the frontier, and leave while it is called", () => {
    const { frontier, check } = openBench();
    const order: string[] = [];
    const off = frontier.on("accepted", ([one]) => {
      order.push(one?.url ?? "");
      off();
      frontier.push(B);
      frontier.poll()?.done({ found: ["http://a.com/3"] });
      check();
    });
    frontier.on("done", () => order.push("done"));
    frontier.push(A);
    expect(order).toEqual([A, "done"]);
    expect(frontier.report().pending).toBe(2);
  });

  it("the same function twice listens twice and leaves one by one", () => {
    const { frontier } = openBench();
    let heard = 0;
    const listener = (): void => {
      heard++;
    };
    const off = frontier.on("accepted", listener);
    frontier.on("accepted", listener);
    frontier.push(A);
    off();
    off();
    frontier.push(B);
    expect(heard).toBe(3);
  });

  it("faults without a listener are kept up to a bound, the oldest dropped and counted", () => {
    const { frontier } = openBench();
    frontier.push(A);
    const errors = Array.from({ length: 1_500 }, (_, index) => index);
    frontier.poll()?.done({ errors });
    expect(frontier.report().droppedEvents).toBe(500);
    const heard: unknown[] = [];
    frontier.on("error", ({ cause }) => heard.push(cause));
    expect(heard).toEqual(errors.slice(500));
  });

  it("a hundred thousand faults of one call are delivered in their order", () => {
    const { frontier } = openBench();
    let next = 0;
    frontier.on("error", ({ cause }) => expect(cause).toBe(next++));
    frontier.push(A);
    frontier.poll()?.done({ errors: Array.from({ length: 100_000 }, (_, index) => index) });
    expect(next).toBe(100_000);
  });

  it("an unknown name and a listener that is none are misuse", () => {
    const { frontier } = openBench();
    expect(() => frontier.on("acepted" as "done", () => undefined)).toThrow(/^event: "acepted"/);
    expect(() => frontier.on("done", 5 as never)).toThrow(/^listener: 5/);
  });
});
