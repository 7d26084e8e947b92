/**
 * Lone hosts with a directory: programs over many hosts on two frontiers that are killed and opened again now and then, one of which makes
 * every host at once. Every lease and every answer is the same, with what can be on disk or all in memory. `SEED=` repeats a run.
 */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import { coreOf, verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import type { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { listRecords } from "../../src/frontier/records/record-walk.ts";
import { openLone } from "../../src/structures/hosts/host-table.ts";
import { isLone } from "../../src/structures/records/record.ts";
import type { Lease } from "../../src/index.ts";
import { type DurableRig, killedFiles, knownOf, openRig } from "../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles } from "../support/memory-files.ts";
import { testSeed } from "../support/seed.ts";
import { sized } from "../support/size.ts";

const START_MS = 1_700_000_000_000;
const HOSTS = 90;
const PROGRAMS = sized(40, 10);
const STEPS = 60;
const OPTIONS = { defaults: { politeness: { delayMs: 20, perHost: 2 } }, leaseMs: 1_000_000 };

interface Met {
  /** Lone hosts that were there when the process was killed. */
  killed: number;
}

type Call = (frontier: LocalFrontier, leases: Map<string, Lease>) => unknown;

function nextCall(random: Random): Call {
  const urls = Array.from({ length: 1 + random.below(14) }, urlOf);
  const host = `h${random.below(HOSTS)}.test`;
  const max = 1 + random.below(8);
  const untilMs = START_MS + random.below(1_000);
  switch (random.below(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return (frontier) => frontier.pushMany(urls);
    case 4:
      return (frontier) => frontier.remove({ host });
    case 5:
      return (frontier) => void frontier.host(host).blockUntil(untilMs);
    case 6:
      return (frontier) => frontier.explain(urls[0] as string).dueAt;
    case 7:
    case 8:
      return (_, leases) =>
        end([...leases.values()].slice(0, max), leases, (lease) => lease.done({ found: urls }));
    case 9:
      return (_, leases) =>
        end([...leases.values()].slice(0, 2), leases, (lease) => lease.release());
    default:
      return (frontier, leases) => {
        const taken = frontier.pollMany(max);
        for (const lease of taken) leases.set(lease.url, lease);
        return taken.map(({ url }) => url);
      };
  }

  function urlOf(): string {
    return `https://h${random.below(HOSTS)}.test/${random.below(9)}`;
  }
}

function end(picked: Lease[], leases: Map<string, Lease>, how: (lease: Lease) => unknown): unknown {
  return picked.map((lease) => {
    leases.delete(lease.url);
    return [lease.url, how(lease)];
  });
}

async function play(seed: number, isTight: boolean, met: Met): Promise<void> {
  const random = createRandom(seed);
  const clock = createVirtualClock(START_MS);
  const opened = (): Promise<DurableRig> => openRig(createMemoryFiles(), clock, OPTIONS, isTight);
  const sides = [await opened(), await opened()] as [DurableRig, DurableRig];
  const leases = [new Map<string, Lease>(), new Map<string, Lease>()] as const;
  for (let step = 0; step < STEPS; step++) {
    const at = `SEED=${seed} step ${step}`;
    const call = nextCall(random);
    const answers = sides.map(({ frontier }, side) =>
      JSON.stringify(call(frontier, leases[side] as Map<string, Lease>)),
    );
    expect(answers[1], at).toBe(answers[0]);
    makeAll(sides[0].frontier);
    clock.advance(random.below(30));
    for (const { frontier } of sides) verifyFrontier(frontier);
    if (random.below(9) > 0) continue;
    met.killed += coreOf(sides[1].frontier).hosts.lone;
    const isWhole = random.below(2) === 0;
    for (const [side, { files, frontier }] of sides.entries()) {
      if (isWhole) await frontier.snapshot();
      else await frontier.flush();
      // No lease outlives the process.
      leases[side]?.clear();
      const killed = killedFiles(files as MemoryFiles);
      sides[side] = await openRig(killed, clock, OPTIONS, isTight);
      verifyFrontier(sides[side]?.frontier as LocalFrontier);
    }
    // Which hosts are on disk may differ.
    if (!isTight) expect(knownOf(sides[1]), at).toEqual(knownOf(sides[0]));
    expect(urlsOf(sides[1].frontier), at).toEqual(urlsOf(sides[0].frontier));
  }
  for (const { frontier } of sides) await frontier.close();
}

/** Makes the hosts of all lone records. */
function makeAll(frontier: LocalFrontier): void {
  const core = coreOf(frontier);
  const { handles, count } = listRecords(core, new Set(["pending"]));
  for (const record of handles.subarray(0, count)) {
    if (isLone(core.store, record)) openLone(core.hosts, record);
  }
}

function urlsOf(frontier: LocalFrontier): unknown {
  const { pending, waiting, done, seen } = frontier.report();
  const order = frontier.peek(1_000).map(({ url }) => url);
  return { pending, waiting, done, seen, order };
}

describe("hosts that are one record, with a directory", () => {
  for (const isTight of [false, true]) {
    it(`come back as they were, ${isTight ? "with what can be on disk" : "all in memory"}`, async () => {
      const met = { killed: 0 };
      const seed = testSeed(`lone durable ${isTight}`);
      for (let program = 0; program < PROGRAMS; program++) await play(seed + program, isTight, met);
      if (!isTight) expect(met.killed).toBeGreaterThan(50);
    });
  }
});
