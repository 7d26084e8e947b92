import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import type { CrawlOptions } from "../../../../src/crawl/run/crawl-options.ts";
import { planCrawl } from "../../../../src/crawl/run/crawl-plan.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-plan-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Answers every page, without a socket. */
const ANSWERS = {
  download: async ({ url }: { url: string }) => {
    return { url, status: 200, headers: {}, body: Buffer.alloc(0), bytes: 0, latencyMs: 0 };
  },
};
const QUICK = { downloaders: [ANSWERS], delayMs: 0, robots: false } as const;

/** What a crawl makes of its seeds, in the form of a plan. */
async function crawled(options: CrawlOptions): Promise<unknown> {
  const visited: string[] = [];
  const run = crawl({ ...QUICK, ...options });
  run.on("page", ({ url }) => visited.push(url));
  await run.finished;
  return visited.toSorted();
}

describe("a plan", () => {
  const seeds = ["http://a.example.org/", "http://b.example.net/", "http://c.example.org/x"];

  it.each([
    ["nothing", {}, ["example.org", "example.net"]],
    ["a domain", { scope: ["example.org"] }, ["example.org"]],
    ["all below a domain", { scope: ["*.Example.org"] }, ["example.org"]],
    ["a domain with its dot", { scope: [".example.net"] }, ["example.net"]],
    ["the whole web", { scope: "any" }, "any"],
    ["hosts", { scope: "same-host" }, ["=a.example.org", "=b.example.net", "=c.example.org"]],
    [
      "folders",
      { scope: "path-prefix" },
      ["http://a.example.org/", "http://b.example.net/", "http://c.example.org/"],
    ],
    ["URLs", { scope: ["http://c.example.org/x"] }, ["http://c.example.org/x"]],
    ["rules", { rules: [{ id: "x", match: { pattern: "/x$" } }] }, []],
    ["rules within a scope", { rules: [{ id: "all" }], scope: ["*.example.net"] }, ["example.net"]],
  ] as ReadonlyArray<readonly [string, Partial<CrawlOptions>, unknown]>)(
    "of a crawl of %s takes what that visits",
    async (_, given, scope) => {
      const plan = await planCrawl({ ...QUICK, ...given, seeds });
      const taken = plan.seeds.filter(({ verdict }) => verdict === "accepted");
      expect(plan.scope).toEqual(scope);
      expect(taken.map(({ url }) => url).toSorted()).toEqual(await crawled({ ...given, seeds }));
    },
  );

  it("of a directory takes what joins it, calls known what is, and leaves it as it was", async () => {
    const directory = join(folder, "stored");
    await crawled({ directory, seeds: "http://a.example.org/" });
    const plan = await planCrawl({ ...QUICK, directory, seeds });
    expect(plan.scope).toEqual(["example.org", "example.net"]);
    expect(plan.seeds.map(({ rule, verdict }) => `${rule} ${verdict}`)).toEqual([
      "scope duplicate",
      "scope accepted",
      "scope accepted",
    ]);
    const narrow = await planCrawl({ ...QUICK, directory, seeds, scope: ["*.example.net"] });
    expect(narrow.seeds.map(({ verdict }) => verdict)).toEqual([
      "rejected",
      "accepted",
      "rejected",
    ]);
    expect(await crawled({ directory, seeds })).toEqual(seeds.slice(1));
  });

  it("makes nothing, and refuses by name what a crawl would", async () => {
    const directory = join(folder, "none");
    const items = join(folder, "none.jsonl");
    await planCrawl({ ...QUICK, directory, items, seeds });
    expect([existsSync(directory), existsSync(items)]).toEqual([false, false]);
    await expect(planCrawl({ concurrency: 0 })).rejects.toThrow("options.concurrency: 0");
    await expect(planCrawl({ analyzers: ["/no/such.mjs"] })).rejects.toThrow("/no/such.mjs");
  });
});
