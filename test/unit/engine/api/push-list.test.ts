/** URLs that are pushed with names and data stand as `pushMany` puts them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { type NamedUrls, pushNamed } from "../../../../src/engine/api/push-list.ts";
import { verifyFrontier } from "../../../../src/engine/api/verify-frontier.ts";
import {
  createVirtualClock,
  type Frontier,
  type FrontierOptions,
  openFrontier,
  type PushResult,
} from "../../../../src/index.ts";

const NOW = 1e12;
const PLAIN = "http://h1.test/plain";
/** Rows that the kernel leaves to the parser, that it rewrites, and that it refuses, among plain ones. */
const TEXTS = ["http://H1.test/a b", "http://bücher.test/", "http://u@h1.test/x", "no url", PLAIN];

const anyUrl = fc.oneof(
  { weight: 8, arbitrary: fc.nat(60).map((n) => `https://h${n % 7}.test/${n}`) },
  { weight: 1, arbitrary: fc.constantFrom(...TEXTS) },
);
const anyRow = fc.record({
  url: anyUrl,
  epoch: fc.constantFrom("q:one", "q:two", "three"),
  data: fc.constantFrom(7, 7, 7, "text", [1, new Uint8Array([1, 2]), null, 0]),
});
type Row = { url: string; epoch: string; data: unknown };

const OPTIONS: Readonly<Record<string, FrontierOptions>> = {
  "keys that are the URLs": { defaults: { key: { profile: "url" } } },
  "canonical keys": {},
  "keys of a function": { defaults: { key: { keyOf: ({ url }) => url.slice(0, 20) } } },
  "units that are no hosts": {
    defaults: { key: { profile: "url" }, politeness: { by: "domain" } },
  },
  "room for few": { capacity: 5, defaults: { key: { profile: "url" } } },
  "a hook": { accept: ({ url }) => !url.endsWith("3") },
  "rules of several keys": {
    rules: [{ id: "own", match: { domains: ["h1.test"] }, key: { profile: "url" } }],
  },
};

function columns(rows: readonly Row[]): NamedUrls {
  const data = rows.map((row) => row.data);
  return { urls: rows.map(({ url }) => url), epochs: rows.map(({ epoch }) => epoch), data };
}

function codes(result: PushResult, count: number): unknown[] {
  return Array.from({ length: count }, (_, at) => result.verdict(at));
}

function seenOf(frontier: Frontier): unknown {
  verifyFrontier(frontier);
  const records = [...frontier.records({})].map(({ url, data, host, depth, priority, state }) => ({
    ...{ url, data, host, depth, priority, state },
  }));
  const epochs = [...frontier.epochs()];
  return { report: { ...frontier.report(), memory: 0 }, records, epochs, next: frontier.peek(99) };
}

describe("pushNamed", () => {
  it.each(Object.entries(OPTIONS))("does what pushMany does: %s", async (_, options) => {
    const clock = createVirtualClock(NOW);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(anyRow, { maxLength: 40 })), async (pushes) => {
        const frontier = await openFrontier({ ...options, clock });
        const twin = await openFrontier({ ...options, clock });
        for (const rows of pushes) {
          const result = pushNamed(frontier, columns(rows));
          expect(codes(result, rows.length)).toEqual(codes(twin.pushMany(rows), rows.length));
        }
        const shown = (one: Frontier): string =>
          JSON.stringify(seenOf(one), (name, value) => (/bytes/i.test(name) ? 0 : value));
        expect(shown(frontier)).toBe(shown(twin));
        const gone = frontier.forget({ epoch: "q:one" }) + frontier.forget({ epoch: "three" });
        expect(gone).toBe(twin.forget({ epoch: "q:one" }) + twin.forget({ epoch: "three" }));
        const again: Row[] = [{ url: PLAIN, epoch: "three", data: 7 }];
        expect(codes(pushNamed(frontier, columns(again)), 1)).toEqual(
          codes(twin.pushMany(again), 1),
        );
        await Promise.all([frontier.close(), twin.close()]);
      }),
      { numRuns: 25 },
    );
  });

  it("survives a restart, names, data and all", async () => {
    const directory = mkdtempSync(join(tmpdir(), "outrider-named-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const options: FrontierOptions = {
      ...{ directory, durability: "sync", clock: createVirtualClock(NOW) },
      defaults: { key: { profile: "url" } },
    };
    const rows = Array.from({ length: 50 }, (_, n) => ({
      ...{ url: `http://h${n % 5}.test/${n}`, epoch: `q:${n % 5}` },
      data: n % 3 === 0 ? [n, new Uint8Array([n]), null, 0] : 7,
    }));
    const before = await openFrontier(options);
    expect(pushNamed(before, columns(rows)).accepted).toBe(50);
    const seen = seenOf(before) as { records: unknown; epochs: unknown; next: unknown };
    await before.close();
    const after = await openFrontier(options);
    onTestFinished(() => after.close());
    const { records, epochs, next } = seenOf(after) as typeof seen;
    expect({ records, next }).toEqual({ records: seen.records, next: seen.next });
    expect(epochs).toEqual(expect.arrayContaining(seen.epochs as unknown[]));
    expect(pushNamed(after, columns(rows)).duplicate).toBe(50);
    expect(after.forget({ epoch: "q:1" })).toBe(0);
    expect(pushNamed(after, columns(rows)).accepted).toBe(10);
  });

  it("returns closed for all after the end", async () => {
    const frontier = await openFrontier({});
    await frontier.close();
    const result = pushNamed(frontier, columns([{ url: PLAIN, epoch: "q:one", data: 7 }]));
    expect(result.verdict(0).status).toBe("closed");
  });
});
