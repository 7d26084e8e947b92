/**
 * Links of pages at random depths, many of them known: the depth of a record that waits is the least at which it was seen, in
 * memory and spilled, and every row has its verdict, against a map.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRandom, type Random } from "../../../../src/base/random.ts";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import type {
  Frontier,
  FrontierOptions,
  Lease,
} from "../../../../src/engine/types/frontier-types.ts";
import { verifyFrontier } from "../../../../src/engine/api/verify-frontier.ts";
import { testSeed } from "../../../support/seed.ts";

const KEPT = { keepOpen: true };
/** The deepest first, so that shorter ways are found later. */
const DEEP = { order: "lifo" } as const;
const BAD = ["http://", "ftp://a.com/", `http://a.com/${"x".repeat(9_000)}`];

/** What is known of a URL: its depth while it waits; else over or out. */
type Known = Map<string, number | undefined>;

describe("a batch of links, known and new", () => {
  test.each([
    ["in memory", { defaults: DEEP }],
    ["with priorities that hang on depth", { defaults: { ...DEEP, depthPriority: -1 } }],
    ["spilled", { memoryBytes: 150_000, durability: "none", defaults: DEEP }],
  ] satisfies [string, FrontierOptions][])("keeps the least depth: %s", async (_, options) => {
    const random = createRandom(testSeed("sighting"));
    const directory = mkdtempSync(join(tmpdir(), "sighting-"));
    const isSpilled = "memoryBytes" in options;
    const frontier = await openFrontier({
      ...options,
      ...(isSpilled ? { directory } : {}),
      ...KEPT,
    });
    const known: Known = new Map();
    const counts = { accepted: 0, duplicate: 0, rejected: 0 };
    for (let n = 0; n < 30; n++) push(`http://seed.com/${n}`);
    function push(url: string): void {
      frontier.push(url);
      known.set(url, 0);
      counts.accepted++;
    }
    for (let round = 0; round < 400; round++) {
      if (round % 3 === 0) push(`http://seed.com/${100 + round}`); // from there all ways are short
      const leases = frontier.pollMany(1 + random.below(3));
      for (const lease of leases) take(known, lease);
      for (const lease of leases) {
        const found = links(random);
        const result = lease.done({ found });
        for (const [at, url] of found.entries()) {
          const wanted = sight(known, url, lease.depth + 1);
          expect([url, result.verdict(at).status]).toEqual([url, wanted]);
          counts[wanted]++;
        }
      }
      if (round % 50 === 0) verifyFrontier(frontier);
      const { accepted, duplicate, rejected } = frontier.report();
      const refused = Object.values(rejected).reduce((sum, one) => sum + one, 0);
      expect({ accepted, duplicate, rejected: refused }).toEqual(counts);
    }
    if (isSpilled) expect(frontier.report().spilled.out).toBeGreaterThan(1_000);
    await drain(frontier, known);
    await frontier.close();
    rmSync(directory, { recursive: true });
  });
});

/** A lease shows the depth that the map says, and keeps it from then on. */
function take(known: Known, { url, depth }: Lease): void {
  expect([url, depth]).toEqual([url, known.get(url)]);
  known.set(url, undefined);
}

/** What becomes of a link, by the map. */
function sight(known: Known, url: string, depth: number): "accepted" | "duplicate" | "rejected" {
  if (BAD.includes(url)) return "rejected";
  if (!known.has(url)) {
    known.set(url, depth);
    return "accepted";
  }
  const before = known.get(url);
  if (before !== undefined) known.set(url, Math.min(before, depth));
  return "duplicate";
}

function links(random: Random): string[] {
  const count = random.below(4) === 0 ? random.below(200) : random.below(12);
  return Array.from({ length: count }, () =>
    random.below(30) === 0
      ? (BAD[random.below(BAD.length)] as string)
      : `http://h${random.below(20)}.com/${random.below(400)}`,
  );
}

/** All that waits comes out at the depth that the map says. */
async function drain(frontier: Frontier, known: Known): Promise<void> {
  for (let leases = frontier.pollMany(100); leases.length > 0; leases = frontier.pollMany(100)) {
    for (const lease of leases) take(known, lease);
    frontier.done(leases);
  }
  expect([...known.values()].filter((depth) => depth !== undefined)).toEqual([]);
}
