/** Invalid arguments at a port, at its leases and at a pool: refused as the frontier itself refuses them, without any change. */
import { describe, expect, it } from "vitest";
import type { FrontierError } from "../../../../src/base/errors.ts";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import { openFrontierThread } from "../../../../src/engine/owner-thread/open-frontier-thread.ts";
import type { Lease } from "../../../../src/engine/types/frontier-types.ts";
import type { CrewHandle } from "../../../../src/workers/protocol/shared-memory.ts";
import { WorkerPool } from "../../../../src/workers/pool/worker-pool.ts";
import { attach } from "../../../../src/workers/remote/worker-port.ts";
import type { WorkerLease } from "../../../../src/workers/remote/worker-lease.ts";
import { HANDLERS, until } from "../../../support/pool.ts";

const A = "http://a.test/";

/** The error of a call, by code, name and expectation; undefined: none. */
async function refusalOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (cause) {
    const { code, message, details } = cause as FrontierError;
    return { code, message, details };
  }
}

const COUNTS = [-1, 1.5, "2", undefined, null, Number.NaN, -Infinity] as never[];
const TAKES = [
  ...[{ foo: 1 }, { max: 0 }, { max: "5" }, { timeoutMs: -1 }, { timeoutMs: "1" }, { signal: 5 }],
  ...[null, 5, [], "max"],
] as never[];
type Said = readonly [keyof Lease & keyof WorkerLease & string, ...unknown[]];
const SAYINGS: readonly Said[] = [
  ...[null, 5, [], { foo: 1 }, { found: 5 }, { found: A }, { errors: 5 }].map(
    (result): Said => ["done", result],
  ),
  ["done", { outcome: { status: 0.5 } }],
  ...[null, 5, { delayMs: -1 }, { priority: 0.5 }, { reason: 5 }, { foo: 1 }].map(
    (options): Said => ["retry", options],
  ),
  ["fail", 5],
  ["fail", "gone", { latencyMs: -1 }],
  ["fail", "gone", { foo: 1 }],
  ["redirect", 5],
  ...[-1, 0, Number.NaN, "5", Number.POSITIVE_INFINITY].map((ms): Said => ["extend", ms]),
];

function say(lease: object, method: string, args: readonly unknown[]): unknown {
  return (lease as Record<string, (...given: readonly unknown[]) => unknown>)[method]?.(...args);
}

describe("arguments from another thread", () => {
  it("are refused as the frontier refuses them, before and after the end of the lease", async () => {
    const frontier = await openFrontier({ keepOpen: true, defaults: { maxAttempts: 9 } });
    const port = attach(frontier.share());
    await frontier.push(`${A}own`);
    const own = frontier.poll() as Lease;
    frontier.push(A);
    const [lease] = (await port.take()) as [WorkerLease];
    for (const max of COUNTS) {
      const expected = await refusalOf(() => frontier.pollMany(max));
      expect(expected).toMatchObject({ code: "ARGUMENT_INVALID" });
      expect(await refusalOf(() => port.pollMany(max))).toEqual(expected);
    }
    for (const options of TAKES) {
      const expected = await refusalOf(() => frontier.take(options));
      expect(expected).toMatchObject({ code: "ARGUMENT_INVALID" });
      expect(await refusalOf(() => port.take(options))).toEqual(expected);
    }
    for (let round = 0; round < 2; round++) {
      for (const [method, ...args] of SAYINGS) {
        const expected = await refusalOf(() => say(own, method, args));
        expect([method, args, expected]).toMatchObject([
          method,
          args,
          { code: "ARGUMENT_INVALID" },
        ]);
        const told = await refusalOf(() => say(lease, method, args));
        expect([method, args, told]).toEqual([method, args, expected]);
      }
      expect(frontier.report()).toMatchObject({ done: round === 0 ? 0 : 2 });
      own.done();
      lease.done({ found: new Set([`${A}found`]), outcome: { status: 200 } });
      await until(() => frontier.report().done === 2, "both done");
    }
    expect(frontier.report()).toMatchObject({ accepted: 3, done: 2, retried: 0, failed: 0 });
    expect(port.pollMany(Number.POSITIVE_INFINITY).length).toBeLessThanOrEqual(1);
    await port.close();
    await frontier.close();
  });

  it("of a pool and of attach are named", async () => {
    const frontier = await openFrontier();
    const pool = new WorkerPool({ frontier, handler: HANDLERS, threads: 1 });
    for (const options of [5, null, [], { foo: 1 }, { signal: 5 }] as never[]) {
      await expect(pool.run(options)).rejects.toMatchObject({
        code: "ARGUMENT_INVALID",
        details: { expected: expect.any(String) },
      });
    }
    expect(pool.report().isRunning).toBe(false);
    await pool.close();
    const { kernel, name } = frontier.share() as unknown as CrewHandle;
    const strange = [8, 1 << 26].map((bytes) => {
      return { kernel, name, memory: new SharedArrayBuffer(bytes) };
    });
    const bare = { memory: (frontier.share() as unknown as CrewHandle).memory };
    for (const handle of [5, null, {}, { memory: 5 }, bare, ...strange, frontier] as never[]) {
      expect(() => attach(handle)).toThrow(/^handle: .*expected: what frontier.share/);
    }
    const limits = [5, null, { odd: 1 }, { stackSizeMb: 0 }, { codeRangeSizeMb: "5" }] as never[];
    for (const resourceLimits of limits) {
      const make = () => new WorkerPool({ frontier, handler: HANDLERS, resourceLimits });
      expect(make).toThrow(/^resourceLimits.*expected/);
    }
    for (const workerData of [() => 1, Symbol("s"), { port: new MessageChannel().port1 }]) {
      const make = () => new WorkerPool({ frontier, handler: HANDLERS, workerData });
      expect(make).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    }
    await frontier.close();
  });

  it("spoil no other request that a port pushes with them", async () => {
    const frontier = await openFrontier({ keepOpen: true });
    const faults: unknown[] = [];
    frontier.on("error", ({ stage, cause }) => faults.push([stage, (cause as Error).message]));
    const port = attach(frontier.share());
    const wrong = [5, null, undefined, {}, { url: 5 }] as never[];
    expect(port.push([`${A}1`, ...wrong, `${A}2`])).toEqual([
      ...["queued", "rejected", "rejected", "rejected", "rejected", "rejected", "queued"],
    ]);
    port.push([`${A}3`, { url: `${A}4`, priority: 0.5 }, `${A}5`]);
    await until(() => frontier.report().accepted === 4, "pushed");
    expect([...frontier.records()].map(({ url }) => url).sort()).toEqual(
      [1, 2, 3, 5].map((n) => A + n),
    );
    expect(faults).toHaveLength(wrong.length + 1);
    expect(faults.at(-1)).toEqual(["push", expect.stringMatching(/^requests\[1\]\.priority: 0.5/)]);
    await port.close();
    await frontier.close();
  });

  it("of a pool must not be a frontier of another thread", async () => {
    const frontier = await openFrontierThread();
    expect(() => new WorkerPool({ frontier, handler: HANDLERS })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID" }),
    );
    await frontier.close();
  });
});
