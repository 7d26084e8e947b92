/**
 * A trap of ever new subdomains took nearly all requests of a crawl: hosts that were never visited went before all others, and each
 * page of the trap brought more of them. New hosts of one registrable domain have a share now (RulePolicy.freshHosts).
 */
import { expect, it } from "vitest";
import { crawl } from "../../src/crawl.ts";
import { openSyntheticWeb } from "../../src/testing.ts";
import { createVirtualClock, openFrontier } from "../../src/index.ts";

const TRAP = "http://s0.endless.test/";
const HOSTS = 10;
const PAGES = 100;

const isTrap = ({ host }: { host: string }): boolean => !/^h\d+\.outrider\.test/.test(host);

it("a crawl visits all pages of known hosts beside the synthetic web's subdomain trap", async () => {
  await using web = await openSyntheticWeb({ seed: 3, hosts: HOSTS, pages: PAGES, mishaps: 0 });
  await crawl({
    seeds: [web.seed, TRAP],
    dial: web.dial,
    allowPrivate: true,
    delayMs: 0,
    maxPages: 2 * PAGES,
    robots: false,
  }).finished;
  const pages = web.log.entries.filter(({ path }) => path === "/" || path.startsWith("/p/"));
  const known = new Set(pages.filter((entry) => !isTrap(entry)).map((e) => e.host + e.path));
  expect(known.size).toBe(PAGES);
});

/** Leases one record after the other; each page of the trap brings four new subdomains. Returns how often each side was leased. */
async function drive(
  freshHosts: "first" | "share" | number,
): Promise<{ trap: number; known: number }> {
  const clock = createVirtualClock(1_000);
  await using frontier = await openFrontier({
    clock,
    defaults: { freshHosts, politeness: { perHost: 1 } },
  });
  for (let host = 0; host < 20; host++) {
    frontier.pushMany(Array.from({ length: 200 }, (_, page) => `http://k${host}.example/${page}`));
  }
  frontier.push("http://s0.endless.test/");
  const counts = { trap: 0, known: 0 };
  let next = 1;
  for (let turn = 0; turn < 1_000; turn++) {
    const lease = frontier.poll();
    if (lease === undefined) break;
    const isOfTrap = lease.host.endsWith(".endless.test");
    counts[isOfTrap ? "trap" : "known"]++;
    lease.done({
      found: isOfTrap ? [1, 2, 3, 4].map(() => `http://s${next++}.endless.test/`) : [],
    });
  }
  return counts;
}

it("new hosts of one domain get the share that the rule names, while others may go", async () => {
  expect((await drive("first")).trap).toBeGreaterThan(950);
  const share = await drive("share");
  expect(share.trap).toBeGreaterThan(90);
  expect(share.trap).toBeLessThanOrEqual(101);
  expect((await drive(0.5)).trap).toBeGreaterThan(450);
});

it("new hosts of many domains still go first, in the order of joining, and a share keeps nobody idle", async () => {
  const clock = createVirtualClock(1_000);
  await using frontier = await openFrontier({
    clock,
    defaults: { freshHosts: "share", politeness: { delayMs: 1_000 } },
  });
  frontier.pushMany(["http://a.example/1", "http://a.example/2"]);
  expect(frontier.poll()?.host).toBe("a.example");
  clock.advance(1_000);
  frontier.pushMany(["http://b.org/", "http://c.org/", "http://x.c.org/", "http://y.c.org/"]);
  const hosts = Array.from({ length: 3 }, () => frontier.poll()?.host);
  expect(hosts).toEqual(["b.org", "c.org", "x.c.org"]);
  expect(frontier.poll()?.host).toBe("y.c.org");
});
