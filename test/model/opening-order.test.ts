/**
 * The order of leases after an opening equals that of a frontier that was never closed.
 *
 * There are thousands of records, so that they are placed in bulk and part by part. Rules are of each kind. Some hosts are on
 * hold, some are blocked, some have a delay of their own. A directory holds a snapshot, a journal, or a snapshot and the journal of what came after it.
 */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import type { FrontierOptions, RequestInput } from "../../src/index.ts";
import { damageOf, type DurableRig, killedFiles, openRig } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";
import { testSeed } from "../support/seed.ts";
import { sized } from "../support/size.ts";

/** More than are sorted one by one (src/frontier/records/sort-records.ts). */
const URLS = 7_000;
const HOSTS = 90;
const VISITS = 500;
const TURN_MS = 500;

const slow = { delayMs: 40, perHost: 1 };
const match = { pattern: "/(1|4|7)[0-9]*$" };
const KINDS: Array<[string, FrontierOptions, boolean]> = [
  ["one rule without politeness", {}, false],
  ["one rule with politeness", { defaults: { politeness: slow } }, false],
  ["last in first out", { defaults: { politeness: slow, order: "lifo" } }, false],
  ["hosts on disk", { defaults: { politeness: slow } }, true],
  ["groups", { defaults: { politeness: { ...slow, groups: [{ by: "domain" }] } } }, false],
  [
    "two rules with politeness",
    {
      rules: [{ id: "a", match, politeness: slow, order: "lifo", priority: 3 }, { id: "b" }],
      defaults: { politeness: { delayMs: 7, perHost: 2 } },
    },
    false,
  ],
  [
    "a rule with politeness and one without",
    {
      rules: [
        { id: "a", match, politeness: slow },
        { id: "b", order: "lifo" },
      ],
    },
    false,
  ],
];

describe.each(KINDS)("%s", (_, options, isTight) => {
  it.each(sized(["from a snapshot", "from a journal", "from both"], ["from both"]))(
    "hands out in the order of a frontier that never closed, opened %s",
    async (from) => {
      const random = createRandom(testSeed("opening-order"));
      const files = createMemoryFiles();
      const rig = await openRig(files, createVirtualClock(1_000), options, isTight);
      fill(rig, random, 0, from === "from both" ? URLS / 2 : URLS);
      visit(rig, random);
      if (from !== "from a journal") await rig.frontier.snapshot();
      if (from === "from both") fill(rig, random, URLS / 2, URLS);
      if (from === "from both") visit(rig, random);
      await rig.frontier.flush();
      const clock = createVirtualClock(rig.clock.now());
      const copy = await openRig(killedFiles(files), clock, options, isTight);
      verifyFrontier(copy.frontier);
      expect(await damageOf(copy.frontier)).toEqual([]);
      const order = orderOf(copy);
      expect(order.length).toBeGreaterThan(URLS * 0.8);
      expect(order).toEqual(orderOf(rig));
      await Promise.all([copy.frontier.close(), rig.frontier.close()]);
    },
  );
});

function fill({ clock, frontier }: DurableRig, random: Random, from: number, end: number): void {
  const requests = Array.from({ length: end - from }, (_, at): RequestInput => {
    const request: RequestInput = {
      url: `https://h${random.below(HOSTS)}.d${random.below(3)}.example/${from + at}`,
    };
    if (random.below(5) === 0) request.priority = random.below(5) - 2;
    if (random.below(9) === 0) request.notBefore = clock.now() + random.below(90_000);
    if (random.below(20) === 0) request.start = true;
    return request;
  });
  frontier.pushMany(requests);
  for (let host = 0; host < HOSTS; host += 7) {
    const steered = frontier.host(`h${host}.d${random.below(3)}.example`);
    if (host % 2 === 0) steered.blockUntil(clock.now() + random.below(60_000));
    else steered.delayMs = 100;
    if (host % 5 === 0) steered.hold();
  }
}

function visit({ clock, frontier }: DurableRig, random: Random): void {
  for (let visits = 0; visits < VISITS; visits += 25) {
    for (const lease of frontier.pollMany(25)) {
      const end = random.below(10);
      if (end === 0) lease.retry({ delayMs: random.below(9_000) });
      else if (end === 1) lease.fail("no");
      else lease.done();
    }
    clock.advance(20);
  }
}

/** All that is handed out until a while after the last clock has passed. */
function orderOf({ clock, frontier }: DurableRig): string[] {
  const order: string[] = [];
  for (let turns = 0; turns < 600; turns++) {
    for (const lease of frontier.pollMany(200)) {
      order.push(`${turns} ${lease.url} ${lease.attempt}`);
      lease.done();
    }
    clock.advance(TURN_MS);
  }
  return order;
}
