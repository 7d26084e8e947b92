/** `using lease = …`: a lease goes back at the end of its block unless it has ended, wherever it is held. */
import { describe, expect, it } from "vitest";
import { type Lease, openFrontier, openFrontierThread } from "../../src/index.ts";
import { attach } from "../../src/worker.ts";
import { A, B, open } from "../support/meanings.ts";
import { until } from "../support/pool.ts";

describe("a lease that is disposed of", () => {
  it("is released: back at its place, no attempt counted", async () => {
    const { frontier } = await open();
    frontier.pushMany([A, B]);
    {
      using lease = frontier.poll() as Lease;
      expect(lease.url).toBe(A);
      expect(frontier.report()).toMatchObject({ pending: 1, leased: 1 });
    }
    expect(frontier.report()).toMatchObject({ pending: 2, leased: 0, lateResults: 0 });
    expect(frontier.poll()).toMatchObject({ url: A, attempt: 1, deliveries: 2 });
  });

  it("is released when its block throws", async () => {
    const { frontier } = await open();
    frontier.push(A);
    const work = (): void => {
      using lease = frontier.poll() as Lease;
      throw new Error(lease.url);
    };
    expect(work).toThrow(A);
    expect(frontier.report()).toMatchObject({ pending: 1, leased: 0 });
  });

  it.each<[string, (lease: Lease) => unknown, object]>([
    ["done", (lease) => lease.done(), { done: 1 }],
    ["retry", (lease) => lease.retry({ delayMs: 0 }), { pending: 1, retried: 1 }],
    ["fail", (lease) => lease.fail(), { failed: 1 }],
    ["release", (lease) => lease.release(), { pending: 1 }],
  ])("is left alone after %s, and not counted as late", async (_, end, counts) => {
    const { frontier } = await open();
    frontier.push(A);
    {
      using lease = frontier.poll() as Lease;
      end(lease);
    }
    expect(frontier.report()).toMatchObject({ leased: 0, lateResults: 0, ...counts });
  });

  it("is left alone after its deadline, in another's hands and after close", async () => {
    const { frontier, clock } = await open({ leaseMs: 100, defaults: { maxAttempts: 9 } });
    frontier.push(A);
    const first = frontier.poll() as Lease;
    clock.advance(100);
    first[Symbol.dispose]();
    expect(frontier.report()).toMatchObject({ expired: 1, lateResults: 0 });
    const second = frontier.poll() as Lease;
    first[Symbol.dispose]();
    expect(frontier.report()).toMatchObject({ leased: 1, lateResults: 0 });
    await frontier.close();
    expect(() => second[Symbol.dispose]()).not.toThrow();
  });
});

describe("a lease of another thread's frontier that is disposed of", () => {
  it("is released when the promise resolves, and left alone where it has ended", async () => {
    await using frontier = await openFrontierThread();
    await frontier.pushMany([A, B]);
    {
      await using lease = await frontier.poll();
      expect(lease?.url).toBe(A);
    }
    expect(await frontier.report()).toMatchObject({ pending: 2, leased: 0 });
    {
      await using lease = await frontier.poll();
      await lease?.done();
      expect(lease?.url).toBe(A);
    }
    expect(await frontier.report()).toMatchObject({ pending: 1, done: 1, lateResults: 0 });
    const last = await frontier.poll();
    await frontier.close();
    await last?.[Symbol.asyncDispose]();
  });
});

describe("a worker's lease that is disposed of", () => {
  it("is released, and left alone where something else was said of it", async () => {
    await using frontier = await openFrontier({ keepOpen: true });
    const port = attach(frontier.share());
    frontier.push(A);
    {
      using lease = (await port.take())[0];
      expect(lease?.url).toBe(A);
    }
    await until(() => frontier.record(A)?.deliveries === 2, "the next hand-out");
    {
      using lease = (await port.take())[0];
      lease?.done();
      expect([lease?.url, lease?.attempt]).toEqual([A, 1]);
    }
    await until(() => frontier.report().done === 1, "it done");
    expect(frontier.report()).toMatchObject({ pending: 0, leased: 0, lateResults: 0 });
    await port.close();
  });
});
