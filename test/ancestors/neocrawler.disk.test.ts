/** N: what NEOCrawler keeps of every URL: its record, the trail of its states, and where it was found. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import { presets } from "../../src/engine/options/presets.ts";
import type { Frontier, Rule } from "../../src/engine/types/frontier-types.ts";
import { fingerprint } from "../../src/engine/api/url-functions.ts";

const LIST = "http://a.com/list/1";
const RULES: Rule[] = [
  { id: "a.com:list", match: { domains: ["a.com"], pattern: "/list/" }, epoch: { version: "v7" } },
  { id: "a.com:detail", match: { domains: ["a.com"], pattern: "/detail/" } },
];

const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "neo-"));
  directories.push(directory);
  return directory;
}

/** Opened at `startMs`: a restart is another clock. */
async function openNeo(directory: string, startMs: number) {
  const clock = createVirtualClock(startMs);
  const options = { directory, clock, records: "full", rules: RULES, keepOpen: true } as const;
  return { clock, frontier: await openFrontier(presets.neocrawler(options)) };
}

const trailOf = (frontier: Frontier, url: string): string[] =>
  (frontier.record(url)?.trail ?? []).map(({ state, atMs }) => `${state} ${atMs}`);

describe("NEOCrawler on disk", () => {
  it("N10: a URL's record tells rule, version, where it was found, when it was made, its last state and data", async () => {
    const directory = temporary();
    const { clock, frontier } = await openNeo(directory, 1_000);
    frontier.push({ url: LIST, data: { jshandle: true } });
    clock.advance(10);
    const lease = frontier.poll();
    lease?.done({ found: ["http://a.com/detail/1"] });
    const page = frontier.record(LIST);
    expect(page).toMatchObject({
      ...{ state: "done", url: LIST, host: "a.com", rule: "a.com:list", data: { jshandle: true } },
      times: { admittedAt: 1_000, leasedAt: 1_010, finishedAt: 1_010 },
    });
    expect(page?.parent).toBe(undefined);
    expect(frontier.explain(LIST).epoch).toBe("v7");
    const detail = frontier.record("http://a.com/detail/1");
    expect(detail).toMatchObject({
      ...{ state: "pending", rule: "a.com:detail", parent: lease?.fingerprint, depth: 1 },
      times: { admittedAt: 1_010 },
    });
    expect(frontier.record("http://a.com/detail/2")).toBe(undefined);
    await frontier.close();
    const again = await openNeo(directory, 9_000);
    expect(again.frontier.record(LIST)).toEqual(page);
    expect(again.frontier.record("http://a.com/detail/1")).toEqual(detail);
    await again.frontier.close();
  });

  it("N11: the trail has every state and its time in order, over a restart, and at most the last 16", async () => {
    const directory = temporary();
    const url = "http://a.com/detail/1";
    let { clock, frontier } = await openNeo(directory, 0);
    const round = (end: (lease: ReturnType<Frontier["poll"]>) => unknown): void => {
      clock.advance(5);
      const lease = frontier.poll();
      clock.advance(5);
      end(lease);
    };
    frontier.push(url);
    round((lease) => lease?.retry());
    round((lease) => lease?.fail("crawled_failure"));
    const first = ["pending 0", "leased 5", "pending 10", "leased 15", "failed 20"];
    expect(trailOf(frontier, url)).toEqual(first);
    expect(frontier.record(url)?.state).toBe("failed");
    await frontier.close();

    ({ clock, frontier } = await openNeo(directory, 100));
    expect(trailOf(frontier, url)).toEqual(first);
    expect(frontier.requeue({ state: "failed" })).toBe(1);
    round((lease) => lease?.release());
    const second = [...first, "pending 100", "leased 105", "pending 110"];
    expect(trailOf(frontier, url)).toEqual(second);
    const more: string[] = [];
    for (let at = 110; at < 160; at += 10) {
      round((lease) => (at < 150 ? lease?.release() : lease?.done()));
      more.push(`leased ${at + 5}`, `${at < 150 ? "pending" : "done"} ${at + 10}`);
    }
    expect(trailOf(frontier, url)).toEqual([...second, ...more].slice(-16));
    await frontier.close();
  });

  it("N24: each record names the page it was found on, up to the seed, over a restart", async () => {
    const directory = temporary();
    const chain = [LIST, ...[1, 2, 3].map((at) => `http://a.com/detail/${at}`)];
    let { frontier } = await openNeo(directory, 0);
    frontier.push(LIST);
    for (const url of chain.slice(1, 3)) frontier.poll()?.done({ found: [url] });
    await frontier.close();
    ({ frontier } = await openNeo(directory, 9_000));
    // The first page that names it is the one that found it.
    frontier.poll()?.done({ found: [...chain.slice(3), LIST] });
    frontier.poll();
    const { key } = presets.neocrawler().defaults ?? {};
    const known = new Map(chain.map((url) => [fingerprint(url, key), url]));
    const back: string[] = [];
    for (let url = chain[3]; url !== undefined; ) {
      back.unshift(url);
      url = known.get(frontier.record(url)?.parent ?? "");
    }
    expect(back).toEqual(chain);
    expect(frontier.record(LIST)?.parent).toBe(undefined);
    await frontier.close();
  });
});
