/** What threads find is admitted as `done({ found })` of each page would have: every field of every record. */
import { describe, expect, it } from "vitest";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import type { Frontier, FrontierOptions } from "../../../../src/engine/types/frontier-types.ts";
import { WorkerPool } from "../../../../src/workers/pool/worker-pool.ts";
// @ts-expect-error plain JavaScript, as worker threads of Node 20 load it
import { fails, linksOf } from "../../../support/web-visit.mjs";

const WEB = new URL("../../../support/web-visit.mjs", import.meta.url);
const SEEDS = Array.from({ length: 15 }, (_, at) => `http://w${at % 9}.test/${at * 10}`);

function knownOf(frontier: Frontier): object {
  const { pushed, accepted, duplicate, rejected, done, failed, depths } = frontier.report();
  // A worker looks at the depth first and at the URL then, the owner the other way round: the reason may differ.
  const refused = Object.values(rejected).reduce((all, one) => all + one, duplicate);
  const kept = [...frontier.records({ state: "failed" })].map(
    ({ url = "", depth, parent }) => `${depth} ${parent} ${url.length} ${url.slice(0, 60)}`,
  );
  return { pushed, accepted, refused, done, failed, depths, kept };
}

/** One page after the other, as a program without threads does. */
async function alone(options: FrontierOptions): Promise<object> {
  const frontier = await openFrontier(options);
  frontier.pushMany(SEEDS);
  for (;;) {
    const lease = frontier.poll();
    if (lease === undefined) break;
    if (fails(lease.url)) lease.fail("kept");
    else lease.done({ found: linksOf(lease.url, lease.depth) });
  }
  const known = knownOf(frontier);
  await frontier.close();
  return known;
}

async function pooled(options: FrontierOptions, isShared: boolean): Promise<object> {
  const frontier = await openFrontier(options);
  if (isShared) frontier.share(); // the edge decides from the first page on
  frontier.pushMany(SEEDS);
  // One handler after the other on one thread: results come in the order of the leases.
  const pool = new WorkerPool({ frontier, handler: WEB, threads: 1, concurrency: 1 });
  await pool.run();
  const known = knownOf(frontier);
  await pool.close();
  await frontier.close();
  return known;
}

describe("results of workers, applied many at a time", () => {
  it.each<[string, FrontierOptions]>([
    ["one rule", {}],
    ["a largest depth", { defaults: { maxDepth: 2 } }],
    ["no following", { defaults: { follow: false } }],
    ["a rule that is matched", { rules: [{ id: "web", match: { schemes: ["http"] } }] }],
    ["a hook", { accept: ({ url }) => !url.endsWith("7") }],
    ["short URLs", { maxUrlBytes: 1_000 }],
    ["keys with a fragment", { defaults: { key: { profile: "url", fragment: "keep" } } }],
  ])("leave what a loop without threads leaves, under %s", async (_, options) => {
    const expected = await alone(options);
    expect(await pooled(options, true)).toEqual(expected);
    expect(await pooled(options, false)).toEqual(expected);
  });
});
