/**
 * Rules in the workers: what they refuse by themselves is what the owner would have refused, also while rules are swapped. A loop on the
 * owner's thread and a pool make the same crawl; all counts must be equal.
 */
import { describe, expect, it } from "vitest";
import { createRandom, type Random } from "../../../../src/base/random.ts";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import type {
  Frontier,
  FrontierOptions,
  Rule,
} from "../../../../src/engine/types/frontier-types.ts";
import { WorkerPool } from "../../../../src/workers/pool/worker-pool.ts";
import { until } from "../../../support/pool.ts";
import { testSeed } from "../../../support/seed.ts";

/**
 * Links of a page. Each new link is on this page only, so that its depth does not depend on the order of visits. The page also holds
 * seeds, one link twice, invalid URLs, and hosts that few rules take. Workers get the text of this function, so it refers to nothing
 * outside.
 */
function linksOf(url: string): string[] {
  const { host, pathname } = new URL(url);
  const links: string[] = [];
  const hosts = ["a.test", "b.a.test", "c.test:8080", "d.test", "e.test", "xn--bcher-kva.test"];
  for (let at = 0; at < hosts.length; at++) {
    const kind = (pathname.length + at) % 3;
    const scheme = kind === 0 ? "https" : "http";
    const end = kind === 1 ? ".pdf" : `?q=${at}#part`;
    links.push(`${scheme}://${hosts[at]}${pathname}/${host.length}${at}${end}`);
  }
  const again = links[0] as string;
  const known = ["http://a.test/0", "http://d.test/1", "http://e.test/2"];
  links.push(again, ...known, "mailto:a@a.test", "http://[", "http://a b/", "http://d.test:bad/");
  return links;
}

const HANDLER = `data:text/javascript,${encodeURIComponent(
  `export default ({ url }, context) => { context.push((${linksOf})(url)); }`,
)}`;

/** Blocks its thread until the test releases it, and then finds a link. */
const BLOCKS = `data:text/javascript,${encodeURIComponent(
  `import { workerData } from "node:worker_threads";
   export default ({ depth }, context) => {
     if (depth > 0) return;
     Atomics.wait(workerData, 0, 0);
     context.push(["http://b.test/", "mailto:a@b.test"]);
   }`,
)}`;

/** Rules to choose from; depths are low, so that every crawl ends. */
const RULES: readonly Rule[] = [
  { id: "a", match: { hosts: ["a.test"] }, maxDepth: 3 },
  { id: "below a", match: { domains: ["a.test"] }, maxDepth: 2 },
  { id: "port", match: { hosts: ["c.test:8080"] }, maxDepth: 1 },
  { id: "pages", match: { pattern: "\\.pdf$", schemes: ["http"] }, maxDepth: 2 },
  { id: "dead end", match: { domains: ["d.test"] }, follow: false, maxDepth: 4 },
  { id: "secure", match: { schemes: ["https"] }, maxDepth: 3 },
  { id: "anchored", match: { pattern: "^https?://e\\.test/" }, maxDepth: 0 },
  { id: "all", maxDepth: 1 },
];

function setOf(random: Random): Rule[] {
  const chosen = RULES.filter(() => random.below(2) === 1);
  return chosen.length > 0 ? chosen : [RULES[0] as Rule];
}

const seedsOf = (round: number): string[] =>
  ["a.test", "b.a.test", "c.test:8080", "d.test", "e.test"].flatMap((host) => [
    ...[0, 1, 2].map((at) => `http://${host}/${at}`),
    `https://${host}/${round}/seed.pdf`,
  ]);

type Drive = (frontier: Frontier) => Promise<void>;

/** A crawl under each set in turn; returns its counts after each. */
async function crawl(options: FrontierOptions, sets: readonly Rule[][], drive: Drive) {
  const [rules] = sets;
  const frontier = await openFrontier({ ...options, ...(rules && { rules }), keepOpen: true });
  const counts: object[] = [];
  for (const [round, rules] of sets.entries()) {
    if (round > 0) frontier.setRules(rules);
    frontier.pushMany(seedsOf(round));
    await drive(frontier);
    const { pushed, accepted, duplicate, rejected, done, failed, ...report } = frontier.report();
    const ended = Object.entries(report.rules).map(([id, rule]) => [id, rule.done]);
    counts.push({ pushed, accepted, duplicate, rejected, done, failed, ended });
  }
  return { frontier, counts };
}

const isQuiet = (frontier: Frontier): boolean => {
  const { pending, waiting, leased } = frontier.report();
  return pending + waiting + leased === 0;
};

async function loop(frontier: Frontier): Promise<void> {
  for (let leases = frontier.pollMany(50); leases.length > 0; leases = frontier.pollMany(50)) {
    for (const lease of leases) lease.done({ found: linksOf(lease.url) });
  }
}

async function compare(options: FrontierOptions, sets: readonly Rule[][]): Promise<void> {
  const single = await crawl(options, sets, loop);
  await single.frontier.close();
  let pool: WorkerPool | undefined;
  const controller = new AbortController();
  let ended: Promise<void> | undefined;
  // One run for all sets, so that the threads stay the same.
  const many = await crawl(options, sets, async (frontier) => {
    pool ??= new WorkerPool({ frontier, handler: HANDLER, threads: 2, concurrency: 4 });
    ended ??= expect(pool.run({ signal: controller.signal })).rejects.toThrow();
    await until(() => isQuiet(frontier), "all done");
  });
  controller.abort();
  await ended;
  expect(many.counts).toEqual(single.counts);
  // The owner refuses seeds, and what its hook refuses; workers have refused everything else.
  const { hook = 0, ...rejected } = many.frontier.report().rejected;
  const refused = Object.values(rejected).reduce((all, count) => all + count, 0);
  const seeds = seedsOf(0).length * sets.length;
  expect(pool?.report().dropped ?? 0).toBeGreaterThanOrEqual(refused - seeds);
  await pool?.close();
  await many.frontier.close();
}

describe("rules in the workers", () => {
  const random = createRandom(testSeed("edge rules"));
  const sets = Array.from({ length: 4 }, () => [setOf(random), setOf(random), setOf(random)]);

  it.each(sets.map((three, at) => [at, three] as const))(
    "count the same as a loop, while rules are swapped (%i)",
    (_, three) => compare({}, three),
  );

  it("count the same as a loop where a hook, a budget or an epoch decides about the rest", async () => {
    const [three] = sets as [Rule[][]];
    await compare({ accept: ({ url }) => !url.includes("1") }, three);
    const budget = three.map((set) =>
      set.map((rule) => ({ ...rule, politeness: { budget: { urls: 9_999 } } })),
    );
    await compare({}, budget);
    const version = { epoch: { version: 1 } } as const;
    await compare({}, [
      three[0] as Rule[],
      (three[1] as Rule[]).map((one) => ({ ...one, ...version })),
    ]);
  });

  it("refuse nothing by a set that was swapped while a handler blocked its thread", async () => {
    const only = { id: "a", match: { hosts: ["a.test"] }, follow: true };
    const frontier = await openFrontier({ rules: [only], keepOpen: true });
    const flag = new Int32Array(new SharedArrayBuffer(4));
    const pool = new WorkerPool({ frontier, handler: BLOCKS, threads: 1, workerData: flag });
    const controller = new AbortController();
    const ended = expect(pool.run({ signal: controller.signal })).rejects.toThrow();
    frontier.push("http://a.test/");
    await until(() => pool.report().handling === 1, "a handler at work");
    // Sent to the worker, which cannot read it.
    frontier.setRules([only, { id: "rest", follow: false }]);
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
    await until(() => isQuiet(frontier), "all done");
    expect(frontier.report()).toMatchObject({ accepted: 2, rejected: { scheme: 1 } });
    expect(pool.report().dropped).toBe(0);
    controller.abort();
    await ended;
    await pool.close();
    await frontier.close();
  });

  it("lose nothing that every set takes while sets change during the crawl", async () => {
    const taken: Rule = { id: "a", match: { domains: ["a.test"] }, maxDepth: 4 };
    const one = [taken, { id: "pages", match: { pattern: "\\.pdf$" }, maxDepth: 2 }];
    const other = [
      { id: "rest", maxDepth: 1 },
      { ...taken, maxDepth: 4 },
    ];
    const frontier = await openFrontier({ rules: one });
    const pool = new WorkerPool({ frontier, handler: HANDLER, threads: 2, concurrency: 4 });
    const seeds = seedsOf(0).filter((url) => new URL(url).host.endsWith("a.test"));
    frontier.pushMany(seeds);
    let swaps = 0;
    const timer = setInterval(() => frontier.setRules(++swaps % 2 === 0 ? one : other), 1);
    await pool.run();
    clearInterval(timer);
    const wanted = new Set(seeds);
    for (const url of wanted) {
      const depth = url.split("/").length - 4;
      expect(frontier.record(url)).toMatchObject({ state: "done" });
      if (depth >= 4) continue;
      for (const link of linksOf(url))
        if (/^https?:\/\/(b\.)?a\.test\//.test(link)) wanted.add(link);
    }
    expect(wanted.size).toBeGreaterThan(100);
    await pool.close();
    await frontier.close();
  });
});
