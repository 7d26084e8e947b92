/**
 * Programs over directories of every sort, whose journals hold every kind of entry: polite hosts in groups, sets of rules that change
 * keys and units, recrawls, a filter, the cold tier, spilled lanes; volatile records among all of them.
 */
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { coreOf } from "../../src/engine/api/verify-frontier.ts";
import type {
  FrontierOptions,
  Lease,
  RequestInput,
  Rule,
} from "../../src/engine/types/frontier-types.ts";
import { act, optionsOf } from "./durable-program.ts";
import {
  type DurableRig,
  killedFiles,
  openRig,
  rigSettings,
  turn,
  type VirtualClock,
} from "./durable-rig.ts";
import { createMemoryFiles, type MemoryFiles } from "./memory-files.ts";

interface Flavour {
  readonly options: FrontierOptions;
  readonly isTight: boolean;
}

export interface Left {
  readonly files: MemoryFiles;
  readonly flavour: Flavour;
  readonly nowMs: number;
  /** What the frontier counted when it was killed. */
  readonly counts: Readonly<Record<(typeof COUNTS)[number], number>>;
}

export const COUNTS = ["accepted", "deferred", "done", "removed", "forgotten"] as const;

/** Options of the n-th flavour; all others are random. */
function flavourOf(random: Random, n: number): Flavour {
  const options = optionsOf(random);
  const { defaults } = options;
  const groups = [{ by: "domain" as const, delayMs: 40, limit: 2 }, { by: "address" as const }];
  const politeness = { delayMs: 20, groups, budget: { urls: 60 } };
  const exact = { mode: "exact" as const, capacity: 64 };
  const tiered = { mode: "tiered" as const, memoryBytes: 1_000 };
  switch (n % 6) {
    case 0:
      return {
        options: { ...options, seen: exact, defaults: { ...defaults, politeness } },
        isTight: false,
      };
    case 1:
      return {
        options: { ...options, seen: exact, rules: rulesOf(random), memoryBytes: 20_000 },
        isTight: false,
      };
    case 2: {
      const epoch = random.below(2) === 0 ? { every: 300 } : { adaptive: { min: 100, max: 2_000 } };
      return {
        options: { ...options, seen: exact, defaults: { ...defaults, epoch } },
        isTight: random.below(2) === 0,
      };
    }
    case 3: {
      const { epoch: _, ...rest } = { ...defaults };
      const bloom = { mode: "bloom" as const, capacity: 16, falsePositiveRate: 1e-9 };
      return { options: { ...options, seen: bloom, defaults: rest }, isTight: false };
    }
    case 4:
      return {
        options: { ...options, seen: tiered, defaults: { ...defaults, politeness } },
        isTight: true,
      };
    default:
      return {
        options: { ...options, seen: tiered, rules: rulesOf(random), memoryBytes: 20_000 },
        isTight: random.below(2) === 0,
      };
  }
}

/** A set of rules; sets differ in keys, in units of politeness and in what they match. */
export function rulesOf(random: Random): Rule[] {
  const pick = <T>(...of: T[]): T => of[random.below(of.length)] as T;
  const rules = ["a", "b", "c"].filter(() => random.below(3) > 0);
  return [...rules, "rest"].map((id) => ({
    id,
    ...(id === "rest"
      ? {}
      : { match: pick({ hosts: ["h1.example", "h2.example"] }, { pattern: "/[0-9]$" }) }),
    ...pick<object>({}, { key: { methods: "ignore" } }, { key: { profile: "url" } }),
    ...pick<object>({}, {}, { epoch: { every: 300 } }),
    ...pick<object>(
      {},
      { politeness: { delayMs: 10, by: "domain" } },
      { politeness: { groups: [{ by: "domain", delayMs: 30 }] } },
    ),
    ...pick<object>({}, { share: { priority: 2 } }, { order: "lifo" }),
  }));
}

/** Runs the program of a seed; returns what a killed process leaves. */
export async function leftBy(seed: number, calls: number): Promise<Left> {
  const random = createRandom(seed);
  const flavour = flavourOf(random, seed);
  const files = createMemoryFiles();
  const clock = createVirtualClock(1_000);
  const rig = await openRig(files, clock, flavour.options, flavour.isTight);
  const { frontier } = rig;
  const held: Lease[] = [];
  const snapshotAt = random.below(3) === 0 ? random.below(calls) : -1;
  for (let call = 0; call < calls; call++) {
    step(rig, random, held);
    if (call === snapshotAt) await snapshotOf(frontier, random);
    if (random.below(3) === 0) await frontier.flush();
  }
  await frontier.flush();
  const { accepted, deferred, done, removed, forgotten } = frontier.report();
  const counts = { accepted, deferred, done, removed, forgotten };
  const left = { files: killedFiles(files), flavour, nowMs: clock.now(), counts };
  await frontier.close({ discard: true });
  return left;
}

/** Writes a snapshot, or begins one, which the process is killed in the midst of. */
async function snapshotOf(frontier: LocalFrontier, random: Random): Promise<void> {
  const written = frontier.snapshot().catch(() => undefined);
  if (random.below(3) > 0) await written;
}

function step(rig: DurableRig, random: Random, held: Lease[]): void {
  const { frontier } = rig;
  const isBloom = coreOf(frontier).seen.mode === "bloom";
  switch (random.below(18)) {
    case 0:
      frontier.push(volatileOf(random));
      break;
    case 1:
      if (!isBloom) putSomething(rig, random);
      break;
    case 2:
      steer(frontier, random, isBloom);
      break;
    case 3:
    case 4:
    case 5:
      rig.clock.advance(random.below(80));
      held.push(...frontier.pollMany(1 + random.below(4)));
      break;
    case 6: {
      const [lease] = held.splice(random.below(held.length), 1);
      if (lease !== undefined) finish(lease, random);
      break;
    }
    default:
      act(rig, random, held);
  }
}

function urlOf(random: Random): string {
  return `https://h${random.below(5)}.example/${random.below(40)}`;
}

function volatileOf(random: Random): RequestInput {
  const input: RequestInput = { url: urlOf(random), volatile: true };
  if (random.below(2) === 0) input.priority = 4;
  if (random.below(2) === 0) input.epoch = `round-${random.below(3)}`;
  return input;
}

function putSomething({ frontier, clock }: DurableRig, random: Random): void {
  const request = { url: urlOf(random), volatile: random.below(4) === 0 };
  if (random.below(2) === 0) frontier.put(request, { dueAt: clock.now() + random.below(400) });
  else frontier.put(request, random.below(2) === 0 ? {} : { data: random.below(9) });
}

/** What `act` seldom does. */
function steer(frontier: LocalFrontier, random: Random, isBloom: boolean): void {
  switch (random.below(6)) {
    case 0:
      if (!isBloom) frontier.setRules(rulesOf(random));
      break;
    case 1:
      if (!isBloom) frontier.forget({ epoch: `round-${random.below(3)}` });
      break;
    case 2:
      frontier.host(`h${random.below(5)}.example`).address = "192.0.2.1";
      break;
    case 3:
      frontier.requeue({ state: "failed" });
      frontier.state = random.below(2) === 0 ? { steps: [5] } : { step: 1 };
      break;
    case 4:
      if (random.below(3) === 0) frontier.forget();
      break;
    default:
      if (random.below(3) === 0) frontier.clear();
  }
}

/** Pages of 64 KiB: twice what these programs need. Memory that is made anew takes most of the time of an opening. */
const PAGES = 160;

/** Opens what was left, later. */
export async function openLeft(files: MemoryFiles, { flavour, nowMs }: Left): Promise<DurableRig> {
  const clock: VirtualClock = createVirtualClock(nowMs);
  const settings = rigSettings(files, clock, flavour.options, flavour.isTight);
  const frontier = await LocalFrontier.open({ ...settings, pageCountMax: PAGES });
  return { frontier, files, clock };
}

/** Steps within which a frontier of these programs comes to its end. */
const STEPS_MAX = 2_000;
/** What waits for longer is not waited for. */
const WAIT_MS = 86_400_000;

/** Takes all there is, until nothing is left that could be leased within a day. Throws when that takes too many steps. */
export async function workToEnd(rig: DurableRig, random: Random): Promise<void> {
  const { clock, frontier } = rig;
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    const leases = frontier.pollMany(1 + random.below(8));
    for (const lease of leases) finish(lease, random);
    if (leases.length > 0) continue;
    const atMs = frontier.nextDueAt();
    if (atMs === undefined || atMs > clock.now() + WAIT_MS) return;
    // Counters, since a report costs more than the whole step.
    const { pending, waiting } = coreOf(frontier).counters;
    // Under a rule that recrawls there is always a next one.
    if (pending + waiting === 0) return;
    clock.advance(Math.max(atMs - clock.now(), 1));
    if (steps % 50 === 0) await turn();
  }
  throw new Error(`more than ${STEPS_MAX} steps: ${JSON.stringify(frontier.report())}`);
}

function finish(lease: Lease, random: Random): void {
  switch (random.below(8)) {
    case 0:
      lease.retry();
      break;
    case 1:
      lease.fail("no");
      break;
    default:
      lease.done({ outcome: { latencyMs: 5, changed: random.below(2) === 0 } });
  }
}
