/**
 * What comes back from a directory, against the frontier that wrote it: random programs, stopped at random calls as a
 * kill would, with snapshots being written beside them; most of them with everything on disk that may go there, half of
 * them with whole hosts. Everything must be equal: records, places, clocks, identities,
 * counters. The running frontier is the model.
 */
import { expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import type { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import type { Lease } from "../../src/engine/types/frontier-types.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { act, broadOptionsOf, optionsOf } from "../support/durable-program.ts";
import { damageOf, killedFiles, knownOf, openRig, turn } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";
import { stressRounds, testSeed } from "../support/seed.ts";

const PROGRAMS = stressRounds(6, 1);
const CALLS = 160;
/** Of programs whose hosts go to disk. */
const BROAD_HOSTS = 24;

test("a killed frontier comes back as it was when it was flushed, snapshots or none (I4, I5)", async () => {
  const seed = testSeed("durable");
  for (let program = 0; program < PROGRAMS; program++) {
    await run(seed + program).catch((error: unknown) => {
      throw new Error(`SEED=${seed + program}: ${(error as Error).message}`, { cause: error });
    });
  }
});

async function run(seed: number): Promise<void> {
  const random = createRandom(seed);
  const isBroad = seed % 2 === 0;
  const options = {
    ...(isBroad ? broadOptionsOf(random) : optionsOf(random)),
    durability: random.below(2) === 0 ? ("sync" as const) : { everyMs: 50 },
  };
  let files = createMemoryFiles();
  let clock = createVirtualClock(1_000);
  const isTight = isBroad || random.below(2) === 0;
  let rig = await openRig(files, clock, options, isTight);
  let held: Lease[] = [];
  for (let call = 0; call < CALLS; call++) {
    act(rig, random, held, isBroad ? BROAD_HOSTS : undefined);
    if (random.below(25) === 0) void rig.frontier.snapshot().catch(() => undefined);
    for (let turns = random.below(3); turns > 0; turns--) await turn();
    if (random.below(20) > 0) continue;
    await rig.frontier.flush();
    const known = knownOf(rig);
    const copy = await openRig(
      killedFiles(files),
      createVirtualClock(clock.now()),
      options,
      isTight,
    );
    verifyFrontier(copy.frontier);
    expect(await damageOf(copy.frontier)).toEqual([]);
    expect(knownOf(copy)).toEqual(known);
    expect(askAll(copy.frontier)).toEqual(askAll(rig.frontier));
    if (random.below(3) > 0) {
      await copy.frontier.close({ discard: true });
      continue;
    }
    // The copy goes on in the place of the frontier it was made of.
    await rig.frontier.close();
    files = copy.files as typeof files;
    clock = copy.clock;
    rig = copy;
    held = [];
  }
  await rig.frontier.close();
  await orderSurvives(rig.files as typeof files, options, random);
}

/** Whether each URL of the program is known: also where a filter alone remembers it. */
function askAll(frontier: LocalFrontier): boolean[] {
  const urls = Array.from({ length: 200 }, (_, at) => `https://h${at % 5}.example/${at % 40}`);
  return urls.map((url) => frontier.record(url) !== undefined);
}

/** Closed and opened again, with a snapshot or without one, it hands out in one and the same order. */
async function orderSurvives(
  files: ReturnType<typeof createMemoryFiles>,
  options: object,
  random: Random,
): Promise<void> {
  const first = await openRig(killedFiles(files), createVirtualClock(1e6), options);
  if (random.below(2) === 0) await first.frontier.snapshot();
  const orders: string[][] = [];
  for (const rig of [first, await openRig(killedFiles(files), createVirtualClock(1e6), options)]) {
    const order: string[] = [];
    for (let turns = 0; turns < 400; turns++) {
      for (const lease of rig.frontier.pollMany(3)) {
        order.push(`${lease.url} ${lease.deliveries} ${lease.attempt}`);
        lease.done();
      }
      rig.clock.advance(20);
    }
    orders.push(order);
    await rig.frontier.close();
  }
  expect(orders[0]).toEqual(orders[1]);
}
