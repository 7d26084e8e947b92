/**
 * `data` by every way that it goes: kept in memory, read back from disk, laid out to a worker, found by a worker. Each value comes
 * back equal from all of them, or all of them refuse it by the same name when it is pushed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import type { Frontier, RequestInput } from "../../src/engine/types/frontier-types.ts";
import { attach } from "../../src/workers/remote/worker-port.ts";
import type { WorkerLease } from "../../src/workers/remote/worker-lease.ts";
import { until } from "../support/pool.ts";
import { stressRounds, testSeed } from "../support/seed.ts";

class Own {
  field = 1;
}

const REFUSED = "unserializable";

/** What comes back equal. */
const scalars = fc.oneof(
  fc.constantFrom<unknown>(-0, 0, null, true, undefined, Number.NaN, Infinity, -Infinity),
  fc.double(),
  fc.integer({ min: -(2 ** 33), max: 2 ** 33 }),
  fc.maxSafeInteger(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.date({ noInvalidDate: false }),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => new Uint8Array(bytes)),
  fc.float32Array({ maxLength: 5 }),
  fc.float64Array({ maxLength: 5 }),
  fc.bigInt64Array({ maxLength: 5 }),
  fc.int16Array({ maxLength: 5 }),
  fc.uint8Array({ maxLength: 9 }).map((bytes) => new Uint8Array(bytes).buffer),
);
/** What does not. */
const strangers = fc.constantFrom<() => unknown>(
  () => () => 1,
  () => Symbol("x"),
  () => new Map([[1, 2]]),
  () => new Own(),
  () => new Error("x"),
  () => /x/,
  () => Promise.resolve(1),
  () => new WeakMap(),
  () => new Array(3),
  () => Object.assign([1], { x: 1 }),
  () => ({ [Symbol("x")]: 1 }),
  () => JSON.parse('{"__proto__":1}'),
  () => "\ud800",
  () => 2n ** 63n,
  () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    return cyclic;
  },
);

/** A tree of them; field names that other tools trip over among its own. */
function treeOf(leaf: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const name = fc.oneof(
    fc.constantFrom("constructor", "toJSON", "toString", "$", "length", "0", ""),
    fc.string({ unit: "grapheme", maxLength: 8 }).filter((text) => text !== "__proto__"),
  );
  return fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      leaf,
      fc.array(tie("tree"), { maxLength: 6 }),
      fc.dictionary(name, tie("tree"), { maxKeys: 6, noNullPrototype: true }),
      fc.array(tie("tree"), { maxLength: 4 }).map((list) => new Set(list)),
    ),
  })).tree;
}

/** Bytes are bytes: what is read back as a Buffer, or as a part of one, is equal to the array that went in. */
function plain(value: unknown): unknown {
  if (value instanceof ArrayBuffer) return ["bytes", ...new Uint8Array(value)];
  if (value instanceof Uint8Array) return ["u8", ...value];
  if (ArrayBuffer.isView(value)) return [value.constructor.name, ...(value as unknown as number[])];
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Set) return new Set([...value].map(plain));
  if (value instanceof Date) return ["date", value.getTime()];
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}

const urlOf = (at: number): string => `http://data.test/${at}`;

function requestsOf(values: readonly unknown[]): RequestInput[] {
  return values.map((data, at) => ({ url: urlOf(at), data, priority: values.length - at }));
}

/** What a frontier says of each request: the reason why it refuses it, or the data that its lease carries. */
function readBack(frontier: Frontier, verdicts: readonly string[]): unknown[] {
  const data = new Map(frontier.pollMany(verdicts.length).map((lease) => [lease.url, lease.data]));
  return verdicts.map((said, at) => (said === "" ? { data: data.get(urlOf(at)) } : said));
}

function pushed(frontier: Frontier, values: readonly unknown[]): string[] {
  return requestsOf(values).map((request) => frontier.push(request).reason ?? "");
}

async function throughMemory(values: readonly unknown[]): Promise<unknown[]> {
  const frontier = await openFrontier();
  const back = readBack(frontier, pushed(frontier, values));
  await frontier.close();
  return back;
}

async function throughDisk(values: readonly unknown[]): Promise<unknown[]> {
  const directory = mkdtempSync(join(tmpdir(), "outrider-data-"));
  try {
    const first = await openFrontier({ directory });
    const verdicts = pushed(first, values);
    await first.flush();
    await first.close();
    const second = await openFrontier({ directory });
    await second.snapshot();
    await second.close();
    const third = await openFrontier({ directory });
    const back = readBack(third, verdicts);
    await third.close();
    return back;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Out to a worker with its lease. */
async function throughLane(values: readonly unknown[]): Promise<unknown[]> {
  const frontier = await openFrontier();
  const verdicts = pushed(frontier, values);
  const port = attach(frontier.share());
  const data = new Map<string, unknown>();
  const count = verdicts.filter((said) => said === "").length;
  while (data.size < count) {
    const leases: WorkerLease[] = await port.take({ max: 1_000 });
    if (leases.length === 0) break;
    for (const lease of leases) {
      data.set(lease.url, lease.data);
      lease.done();
    }
  }
  await port.close();
  await frontier.close();
  return verdicts.map((said, at) => (said === "" ? { data: data.get(urlOf(at)) } : said));
}

/** In from a worker that pushes it. */
async function throughRing(values: readonly unknown[]): Promise<unknown[]> {
  const frontier = await openFrontier({ keepOpen: true });
  const reasons = new Map<string, string>();
  frontier.on("rejected", (list) => {
    for (const { url, reason } of list) reasons.set(url, reason);
  });
  const port = attach(frontier.share());
  port.push(requestsOf(values));
  await port.close();
  await until(() => frontier.report().pushed === values.length, "all of them are there");
  await new Promise(setImmediate); // the last events
  const verdicts = values.map((_, at) => reasons.get(urlOf(at)) ?? "");
  const back = readBack(frontier, verdicts);
  await frontier.close();
  return back;
}

const WAYS = { throughMemory, throughDisk, throughLane, throughRing };

async function check(values: readonly unknown[], isRefused: boolean): Promise<void> {
  for (const [way, carry] of Object.entries(WAYS)) {
    const back = await carry(values);
    for (const [at, value] of values.entries()) {
      const expected = isRefused ? REFUSED : plain({ data: value });
      const got = typeof back[at] === "string" ? back[at] : plain(back[at]);
      const isSame = isDeepStrictEqual(got, expected);
      expect(isSame, `${way}: ${fc.stringify(value)} came back as ${fc.stringify(back[at])}`).toBe(
        true,
      );
    }
  }
}

describe("data by every way", () => {
  const numRuns = stressRounds(4, 0.2);

  it("comes back equal", async () => {
    const values = fc.array(treeOf(scalars), { minLength: 40, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(values, (list) => check(list, false)),
      { seed: testSeed("data equal"), numRuns, endOnFailure: true },
    );
  });

  it("or is refused by the same name, wherever in it the part lies that can not be carried", async () => {
    const bad = strangers.map((make) => make());
    const within = fc.tuple(fc.array(treeOf(scalars), { maxLength: 3 }), bad, fc.nat(2));
    const value = within.map(([others, one, how]) => {
      if (how === 0) return one;
      return how === 1 ? [...others, one] : { others, deep: { one: [one] } };
    });
    const values = fc.array(value, { minLength: 40, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(values, (list) => check(list, true)),
      { seed: testSeed("data refused"), numRuns, endOnFailure: true },
    );
  });
});
