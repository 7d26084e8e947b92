/**
 * How often a batch crosses into the kernel. ARCHITECTURE.md allows a plain one under one rule three crossings, and one more for the
 * match of several rules; it takes two, or four.
 */
import { describe, expect, it } from "vitest";
import { coreOf, verifyFrontier } from "../../../../src/engine/api/verify-frontier.ts";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import type { Frontier, FrontierOptions } from "../../../../src/engine/types/frontier-types.ts";

const ROWS = 500;
const BATCHES = 2;
const KEPT = { keepOpen: true };

/** Names of the exports that a push calls, in their order. */
function crossings(frontier: Frontier, urls: readonly string[]): string[] {
  const { kernel } = coreOf(frontier).store;
  const { exports } = kernel;
  const called: string[] = [];
  const counted = Object.fromEntries(
    Object.entries(exports).map(([name, call]) => {
      const wrapped = (...values: number[]): unknown => {
        called.push(name);
        return (call as (...values: number[]) => unknown)(...values);
      };
      return [name, typeof call === "function" ? wrapped : call];
    }),
  );
  Object.assign(kernel, { exports: counted });
  try {
    expect(frontier.pushMany(urls).size).toBe(urls.length);
  } finally {
    Object.assign(kernel, { exports });
  }
  verifyFrontier(frontier);
  return called;
}

/** New URLs of 40 hosts; every third one is known before, or twice in its batch. */
function urlsOf(round: number): string[] {
  return Array.from({ length: ROWS }, (_, n) => {
    const isKnown = n % 3 === 0;
    return `https://h${isKnown ? 0 : n % 40}.example/${isKnown ? n % 9 : `${round}/${n}`}`;
  });
}

/** What three pushes call, the first of which meets all hosts for the first time. */
async function callsOf(options: FrontierOptions): Promise<string[][]> {
  const frontier = await openFrontier({ ...options, ...KEPT });
  const rounds = [1, 2, 3].map((round) => crossings(frontier, urlsOf(round)));
  expect(frontier.report()).toMatchObject({ pushed: 1_500, rejected: {}, full: 0 });
  await frontier.close();
  return rounds;
}

function twice(...names: string[]): string[] {
  return Array.from({ length: BATCHES }, () => names).flat();
}

const PLAIN = twice("admitBatch", "makeBatch");

describe("a plain batch", () => {
  it.each([
    ["first in, first out", {}],
    ["last in, first out", { defaults: { order: "lifo" } }],
    ["with priorities that hang on depth", { defaults: { priority: 3, depthPriority: 1 } }],
  ] satisfies [string, FrontierOptions][])("crosses twice: %s", async (_, options) => {
    expect(await callsOf(options)).toEqual([PLAIN, PLAIN, PLAIN]);
  });

  it("crosses twice under politeness, and once more for each host that had no record", async () => {
    const [first = [], ...rest] = await callsOf({ defaults: { politeness: { delayMs: 100 } } });
    expect(rest).toEqual([PLAIN, PLAIN]);
    expect(first.filter((name) => name === "makeRecords").length).toBeLessThanOrEqual(40);
  });

  it("crosses four times where several rules are matched by hosts that are known", async () => {
    const rules = [{ id: "a", match: { hosts: ["h1.example"] } }, { id: "all" }];
    const [, ...rest] = await callsOf({ rules });
    const calls = twice("parseBatch", "matchBatch", "settleBatch", "makeBatch");
    expect(rest).toEqual([calls, calls]);
  });

  it("crosses twice where somebody listens to what is refused", async () => {
    const frontier = await openFrontier(KEPT);
    const urls: string[] = [];
    frontier.on("rejected", (refused) => urls.push(...refused.map(({ url }) => url)));
    expect(crossings(frontier, ["http://a.example/", "ftp://b.example/"])).toEqual([
      ...["admitBatch", "makeBatch"],
    ]);
    expect(urls).toEqual(["ftp://b.example/"]);
    await frontier.close();
  });

  it("is decided row by row from the moment on at which a hook, a rule or a listener asks for it", async () => {
    const frontier = await openFrontier(KEPT);
    expect(crossings(frontier, urlsOf(1))).toEqual(PLAIN);
    const off = frontier.on("accepted", () => {});
    expect(crossings(frontier, urlsOf(2))).not.toContain("makeBatch");
    off();
    expect(crossings(frontier, urlsOf(3))).toEqual(PLAIN);
    frontier.setRules([{ id: "all", politeness: { budget: { urls: 1_000 } } }]);
    expect(crossings(frontier, urlsOf(4))).not.toContain("makeBatch");
    frontier.setRules([{ id: "all" }]);
    expect(crossings(frontier, urlsOf(5)).slice(-PLAIN.length)).toEqual(PLAIN);
    await frontier.close();
  });
});
