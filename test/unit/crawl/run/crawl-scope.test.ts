import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import type { Download } from "../../../../src/crawl/module-registry.ts";
import { type ScopeChange, scopeOf, withinScope } from "../../../../src/crawl/run/crawl-scope.ts";
import { openFrontier, type Rule } from "../../../../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-scope-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every page of these hosts leads to one deeper and to the other hosts. */
const HOSTS = ["a.test", "b.test", "c.test"];
const asked: string[] = [];
const downloader = {
  async download({ url }: { url: string }): Promise<Download> {
    asked.push(url);
    const { pathname } = new URL(url);
    const hrefs = pathname.length > 4 ? [] : HOSTS.map((host) => `http://${host}${pathname}x`);
    const body = Buffer.from(hrefs.map((href) => `<a href="${href}">`).join(""));
    const headers = { "content-type": "text/html" };
    return { url, status: 200, headers, body, bytes: body.length, latencyMs: 1 };
  },
};

type Given = Parameters<typeof crawl>[0];

/** Goes on in a directory; what it asked for, and what it was told of its scope. */
async function goOn(directory: string, options: Given) {
  asked.length = 0;
  const changes: ScopeChange[] = [];
  const base = { directory, robots: false, delayMs: 0, downloaders: [downloader] };
  const run = crawl({ ...base, ...options });
  run.on("scope", (change) => changes.push(change));
  const { failures, pending, rejected } = await run.finished;
  return { asked: asked.toSorted(), changes, failures, pending, rejected };
}

describe("the scope of a directory that goes on", () => {
  it("has the domains of new seeds beside its own: what was pending there is visited", async () => {
    const directory = join(folder, "union");
    const first = await goOn(directory, { seeds: "http://a.test/", maxPages: 1 });
    expect(first).toMatchObject({ pending: 1, changes: [], rejected: { "no-rule": 2 } });
    const second = await goOn(directory, { seeds: "http://b.test/", maxPages: 100 });
    const change = { domains: ["a.test", "b.test"], joined: ["b.test"], left: [] };
    expect(second.changes).toEqual([change]);
    expect(second).toMatchObject({ pending: 0, failures: {} });
    expect(new Set(second.asked.map((url) => new URL(url).host))).toEqual(
      new Set(["a.test", "b.test"]),
    );
    // The same again, or nothing: all of it is known, and nothing is told.
    for (const seeds of [["http://a.test/", "http://b.test/known"], []]) {
      const again = await goOn(directory, { seeds });
      expect(again).toMatchObject({ changes: [], failures: {} });
      expect(again.asked).toEqual(seeds.slice(1));
    }
  });

  it("is what is named, and that alone; what is pending elsewhere fails by name", async () => {
    const directory = join(folder, "named");
    await goOn(directory, { seeds: "http://a.test/", maxPages: 1 });
    const other = await goOn(directory, { seeds: "http://b.test/", scope: ["b.test"] });
    const change = { domains: ["b.test"], joined: ["b.test"], left: ["a.test"] };
    expect(other).toMatchObject({ changes: [change], failures: { "no-rule": 1 }, pending: 0 });
    expect(other.asked.every((url) => url.startsWith("http://b.test/"))).toBe(true);
    const any = await goOn(directory, { seeds: "http://c.test/", scope: "any" });
    expect(any).toMatchObject({ changes: [{ domains: "any" }], rejected: {} });
    expect(any.asked).toContain("http://a.test/xx");
    // It stays so until another is named.
    const still = await goOn(directory, { seeds: "http://d.test/" });
    expect(still).toMatchObject({ changes: [], asked: expect.arrayContaining(["http://d.test/"]) });
  });

  it("takes what no rule of its file takes, and leaves the rest to them", async () => {
    const directory = join(folder, "rules");
    const rules: Rule[] = [{ id: "flat", match: { domains: ["a.test"] }, maxDepth: 1 }];
    await goOn(directory, { seeds: "http://a.test/", rules, maxPages: 1 });
    const both = await goOn(directory, { seeds: ["http://a.test/new", "http://b.test/"] });
    expect(both.changes).toEqual([{ domains: ["b.test"], joined: ["b.test"], left: [] }]);
    const ofA = both.asked.filter((url) => url.startsWith("http://a.test/"));
    // Of the depth that its rule allows, though b.test leads further.
    expect(ofA).toEqual(["http://a.test/new", "http://a.test/newx", "http://a.test/x"]);
    await using frontier = await openFrontier({ directory });
    expect(frontier.rules()?.map(({ id }) => id)).toEqual(["flat", "scope"]);
  });
});

describe("what a scope asks for", () => {
  const rules: Rule[] = [
    { id: "scope", match: { domains: ["a.test"], pattern: "/news/" } },
    { id: "scope-2", match: { domains: ["a.test"] }, maxDepth: 1 },
    { id: "scope-3", match: { hosts: ["c.test"] } },
  ];

  it("leaves rules that a user named as it names its own", async () => {
    await using frontier = await openFrontier({ rules });
    const given = frontier.rules() as Rule[];
    const joined = scopeOf(frontier, undefined, ["http://b.test/"]);
    const own = { id: "scope-4", match: { domains: ["b.test"] } };
    expect(joined.rules).toEqual([...given, own]);
    expect(scopeOf(frontier, "any", []).rules).toEqual([...given, { id: "scope-4" }]);
    const alone = scopeOf(frontier, ["a.test"], []);
    const left = given.map(({ id }) => `rule ${id}`);
    expect(alone.change).toEqual({ domains: ["a.test"], joined: ["a.test"], left });
    expect(given.map(({ id }) => id)).not.toContain(alone.rules?.[0]?.id);
    // Its own it knows again, beside them.
    frontier.setRules([...given, own]);
    const both = { id: "scope-4", match: { domains: ["b.test", "d.test"] } };
    expect(scopeOf(frontier, undefined, ["http://d.test/"]).rules).toEqual([...given, both]);
  });

  it("looks once at each seed", async () => {
    await using frontier = await openFrontier({ rules });
    const explain = vi.spyOn(frontier, "explain");
    scopeOf(frontier, undefined, ["http://a.test/", "http://b.test/", "http://b.test/2"]);
    expect(explain).toHaveBeenCalledTimes(3);
  });
});

describe("rules within a scope", () => {
  const scope = ["example.org", "B.test"];
  it.each([
    ["any URL", undefined, { domains: scope }],
    ["a pattern", { pattern: "/news/" }, { pattern: "/news/", domains: scope }],
    ["a wider domain", { domains: ["org"] }, { hosts: [], domains: ["example.org"] }],
    [
      "a narrower one",
      { domains: ["www.example.org", "x.com"] },
      { hosts: [], domains: ["www.example.org"] },
    ],
    ["hosts", { hosts: ["b.test:8080", "notb.test"] }, { hosts: ["b.test:8080"], domains: [] }],
    ["others alone", { hosts: ["x.com"] }, null],
    [
      "domains with a dot before them",
      { domains: [".org", ".b.test", ".x.com"] },
      { hosts: [], domains: [".b.test", "example.org"] },
    ],
  ])("%s", (_, match, expected) => {
    const rules = withinScope([{ id: "r", ...(match === undefined ? {} : { match }) }], scope);
    expect(rules).toEqual(expected === null ? [] : [{ id: "r", match: expected }]);
  });

  it.each([
    ["left out of it", { scope: ["example.org"], active: true }],
    ["not active", { active: false }],
  ])(
    "that come again keep no crawl waiting where they are %s",
    async (_, { active, ...options }) => {
      const rules: Rule[] = [
        { id: "own", match: { domains: ["example.org"] } },
        {
          id: "news",
          match: { domains: ["x.com"] },
          seeds: ["http://x.com/"],
          every: "1h",
          active,
        },
      ];
      const run = crawl({ rules, robots: false, downloaders: [downloader], ...options });
      const deadline = setTimeout(() => void run.stop(), 60_000);
      expect(await run.finished).toMatchObject({ reason: "finished", pages: 0 });
      clearTimeout(deadline);
    },
  );

  it("are none where it names nothing, and a crawl is refused it", () => {
    const rules: Rule[] = [{ id: "r" }, { id: "s", match: { hosts: ["b.test"] } }];
    expect(withinScope(rules, [])).toEqual([]);
    for (const nothing of [[], ["*."], ["."]]) {
      expect(() => crawl({ seeds: "http://a.test/", scope: nothing })).toThrow("options.scope");
    }
  });

  it("are as they were where there is none, and whatever they are", () => {
    const rules = [{ id: "r" }];
    expect(withinScope(rules, undefined)).toBe(rules);
    expect(withinScope(rules, "any")).toBe(rules);
    for (const odd of [null, "rules", [null], [{ id: "x", match: { hosts: "h" } }]]) {
      expect(withinScope(odd as never, scope)).toEqual(
        odd?.[0] === null ? [{ match: { domains: scope } }] : odd,
      );
    }
  });
});
