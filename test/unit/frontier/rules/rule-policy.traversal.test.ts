/** Which way a crawl goes through a site, by name. */
import { expect, it } from "vitest";
import {
  openFrontier,
  presets,
  type RulePolicy,
  TRAVERSALS,
  type FrontierOptions,
} from "../../../../src/index.ts";

/** The order of a small tree: two seeds, two links each, one below each of those. */
async function walk(options: FrontierOptions): Promise<string> {
  const frontier = await openFrontier(options);
  frontier.pushMany(["https://a.example/1", "https://a.example/2"]);
  const path: string[] = [];
  for (let lease = frontier.poll(); lease !== undefined; lease = frontier.poll()) {
    const { url, depth } = lease;
    path.push(new URL(url).pathname.slice(1));
    lease.done({ found: [`${url}a`, `${url}b`].slice(0, 2 - depth) });
  }
  await frontier.close();
  return path.join(" ");
}

const ways = (defaults: RulePolicy): Promise<string> => walk({ defaults });
const BREADTH = "1 2 1a 1b 2a 2b 1aa 1ba 2aa 2ba";
const DEPTH = "2 2b 2ba 2a 2aa 1 1b 1ba 1a 1aa";

it("breadth-first goes level by level, depth-first to the last link first", async () => {
  expect(TRAVERSALS).toEqual(["breadth-first", "depth-first"]);
  expect(await ways({ traversal: "breadth-first" })).toBe(BREADTH);
  expect(await ways({ traversal: "depth-first" })).toBe(DEPTH);
});

it("is depthPriority and order, either of which stands over it", async () => {
  expect(await ways({ depthPriority: 1, order: "fifo" })).toBe(BREADTH);
  expect(await ways({ depthPriority: -1, order: "lifo" })).toBe(DEPTH);
  expect(await ways({ traversal: "depth-first", order: "fifo", depthPriority: 1 })).toBe(BREADTH);
});

it("is taken by a rule, which has it from defaults unless it says otherwise, and by presets", async () => {
  const rules = [{ id: "all" }];
  expect(await walk({ rules, defaults: { traversal: "depth-first" } })).toBe(DEPTH);
  const own = [{ id: "all", traversal: "breadth-first" } as const];
  expect(await walk({ rules: own, defaults: { traversal: "depth-first" } })).toBe(BREADTH);
  const defaults = { traversal: "breadth-first", politeness: { perHost: 100 } } as const;
  expect(await walk(presets.scrapy({ defaults }))).toBe(BREADTH);
  expect(await walk(presets.webmagic({ defaults: { traversal: "depth-first" } }))).toBe(DEPTH);
});

it("is refused by name where it is neither", async () => {
  await expect(openFrontier({ defaults: { traversal: "best" as never } })).rejects.toThrow(
    "options.defaults.traversal: \"best\" (expected: 'breadth-first' or 'depth-first')",
  );
  await expect(openFrontier({ rules: [{ id: "r", traversal: "" as never }] })).rejects.toThrow(
    "rule 'r'.traversal",
  );
});
