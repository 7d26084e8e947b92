/**
 * A million steps from one seed: random programs over the engine on a virtual clock and a disk that fails, fills up, is killed with
 * its process and loses power. Each life begins with the files of the one before.
 *
 *   chain of lives    open ─▶ steps, snapshots, flushes, EIO and ENOSPC now and then ─▶ flush ─▶ last steps ─▶ killed | power cut
 *                      ▲                                                                        │ the state after each call is recorded
 *                      └────── the next life recovers one of those states ◀─────────────────────┘
 *
 * STEPS=1000000 runs this many; SEED=<the printed one> STEPS=1 runs only the chain that failed. Chains have consecutive seeds, so that
 * a run may be cut into parts: SEED=<seed + chains of the parts before>. PROGRESS=<file> receives a line for each chain.
 */
import { expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import { FrontierError } from "../../src/base/errors.ts";
import type { FrontierOptions, Lease } from "../../src/engine/types/frontier-types.ts";
import { coreOf, verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { act, optionsOf } from "../support/durable-program.ts";
import {
  damageOf,
  type DurableRig,
  knownOf,
  openRig,
  turn,
  withoutLock,
} from "../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles, PowerCut } from "../support/memory-files.ts";
import { progress, stressRounds, stressTimeoutMs, testSeed } from "../support/seed.ts";
import { markOf } from "../support/state-mark.ts";

const STEPS = Number(process.env.STEPS ?? stressRounds(10_000, 700));
/** Lives per directory. */
const LIVES = 8;
/** One chain of this many compares whole texts; the others compare marks of them, and texts again once one has failed. */
const TEXTS = 16;
/** Steps between two checks of every structure against every other; each opening checks too. */
const VERIFIED = 100;

interface Tally {
  steps: number;
  chains: number;
  kills: number;
  cuts: number;
  refused: number;
}

test(
  "the state after some call is recovered, whatever the disk does",
  async () => {
    const seed = testSeed("lives");
    const tally: Tally = { steps: 0, chains: 0, kills: 0, cuts: 0, refused: 0 };
    while (tally.steps < STEPS) {
      const chain = (seed + tally.chains++) >>> 0;
      await runAndShow(chain, tally).catch((error: unknown) => {
        throw new Error(`SEED=${chain} STEPS=1: ${(error as Error).message}`, { cause: error });
      });
      progress(`SEED=${seed} ${JSON.stringify(tally)}`);
    }
    console.log(JSON.stringify(tally));
    expect(tally.kills + tally.cuts).toBeGreaterThanOrEqual(tally.chains * LIVES);
  },
  stressTimeoutMs(1_200_000),
);

/** Runs a chain. One that fails runs once more with texts, which show the difference. */
async function runAndShow(seed: number, tally: Tally): Promise<void> {
  if (seed % TEXTS === 0) return runChain(seed, tally, textOf);
  try {
    await runChain(seed, tally, markOf);
  } catch (error) {
    await runChain(seed, { ...tally }, textOf);
    throw error;
  }
}

type Tell = (rig: DurableRig) => string;

/** One directory and all lives in it. */
async function runChain(seed: number, tally: Tally, tell: Tell): Promise<void> {
  const random = createRandom(seed);
  const options: FrontierOptions = {
    ...optionsOf(random),
    seed,
    durability: random.below(2) === 0 ? "sync" : { everyMs: 50 },
    snapshots: { everyBytes: 2_000 + random.below(20_000), keep: 1 + random.below(2) },
  };
  // Every third directory moves everything to disk that may leave memory: spilled blocks, identities in the cold tier.
  const isTight = random.below(3) === 0;
  let files = createMemoryFiles();
  let nowMs = 1_000;
  for (let life = 0; life < LIVES; life++) {
    const rig = await openRig(files, createVirtualClock(nowMs), options, isTight);
    const ends = await runLife({ rig, random, tally, tell });
    nowMs = rig.clock.now();
    files = ends.files;
    // Compared before anything is due: an opening does the clock's part at once.
    const next = await openRig(files, createVirtualClock(0), options, isTight);
    verifyFrontier(next.frontier);
    expect(await damageOf(next.frontier), `life ${life}`).toEqual([]);
    const found = tell(next);
    if (!ends.states.includes(found)) {
      throw new Error(`life ${life}: at no call's end\n${nearest(ends.states, found)}`);
    }
    await next.frontier.close();
  }
}

interface Ends {
  readonly files: MemoryFiles;
  /** The frontier's state after each call that may be the last one to count. */
  readonly states: string[];
}

interface Begun {
  readonly rig: DurableRig;
  readonly random: Random;
  readonly tally: Tally;
  readonly tell: Tell;
}

/** Works, makes everything durable, works a little more, and dies. */
async function runLife({ rig, random, tally, tell }: Begun): Promise<Ends> {
  const files = rig.files as MemoryFiles;
  const held: Lease[] = [];
  const states: string[] = [];
  let isNoting = false;
  const note = (): void => {
    if (!isNoting) return;
    const text = tell(rig);
    if (states.at(-1) !== text) states.push(text);
  };
  const told = telling(rig);
  for (let steps = 20 + random.below(1_200); steps > 0; steps--) {
    if (random.below(60) === 0) trouble(files, random);
    await step({ rig: told.rig, random, held, tally, isLast: false });
  }
  files.capacity = files.failAt = Number.POSITIVE_INFINITY;
  await settled(rig);
  isNoting = true;
  const noteGroups = groupNoting(rig, note);
  noteGroups();
  note();
  const isCut = random.below(2) === 0;
  let left: MemoryFiles | undefined;
  if (isCut) files.cutAt = files.changes + 1 + random.below(150);
  const copyAfter = random.below(60);
  try {
    for (let steps = 0; isCut ? steps < 150 : steps < copyAfter; steps++) {
      if (!isCut && random.below(40) === 0) trouble(files, random);
      told.again = undefined;
      await step({ rig: told.rig, random, held, tally, isLast: true });
      noteGroups();
      note();
    }
  } catch (error) {
    if (!isPowerCut(error)) throw error;
    note(); // the call may have had its effect although its answer was lost
    left = files.afterCut(random);
    files.cutAt = Number.POSITIVE_INFINITY;
    told.again?.();
    note();
  }
  left ??= isCut ? files.afterCut(random) : files.afterKill();
  if (isCut) tally.cuts++;
  else tally.kills++;
  return { files: withoutLock(left), states };
}

interface Step {
  readonly rig: DurableRig;
  readonly random: Random;
  readonly held: Lease[];
  readonly tally: Tally;
  /** After the last flush: calls that are rare elsewhere come often enough to be cut short. */
  readonly isLast: boolean;
}

/** One call, and now and then background work beside it. An error of the disk is no fault of the engine. */
async function step({ rig, random, held, tally, isLast }: Step): Promise<void> {
  if (++tally.steps % VERIFIED === 0) verifyFrontier(rig.frontier);
  try {
    if (!isLast || random.below(25) > 0) act(rig, random, held);
    else if (random.below(3) > 0) rig.frontier.clear();
    else if (rig.frontier.report().seenSet.mode !== "bloom") rig.frontier.forget();
    if (random.below(40) === 0) rig.frontier.snapshot().catch(() => undefined);
    if (random.below(30) === 0) await rig.frontier.flush();
  } catch (error) {
    if (isPowerCut(error) || !isDisk(error)) throw error;
    tally.refused++;
  }
  for (let turns = random.below(3); turns > 0; turns--) await turn();
}

/** The disk fails once, fills up, or has room again. */
function trouble(files: MemoryFiles, random: Random): void {
  const sort = random.below(4);
  if (sort === 0) files.failAt = files.changes + 1 + random.below(20);
  else if (sort === 1) files.capacity = bytesOf(files) + random.below(4_000);
  else files.capacity = Number.POSITIVE_INFINITY;
}

function bytesOf(files: MemoryFiles): number {
  return files.names().reduce((bytes, name) => bytes + files.bytesOf(name).length, 0);
}

/** Makes everything durable, now that the disk works. */
async function settled(rig: DurableRig): Promise<void> {
  for (let tries = 0; tries < 5; tries++) {
    try {
      await rig.frontier.flush();
      return;
    } catch (error) {
      if (!isDisk(error)) throw error;
    }
  }
  throw new Error("a healthy disk still refuses");
}

/**
 * Records the state at the end of each group of the journal: the clock's effects before a call are a group of their own, and a cut may
 * fall between the two. A cleared frontier has another log: call this again after each call.
 */
function groupNoting({ frontier }: DurableRig, note: () => void): () => void {
  const heard = new WeakSet<object>();
  return () => {
    const { log } = coreOf(frontier);
    if (log === undefined) throw new Error("no journal");
    if (heard.has(log)) return;
    heard.add(log);
    const end = log.end.bind(log);
    log.end = () => {
      end();
      try {
        note();
      } catch (error) {
        // Within a push: not the end of a group.
        if ((error as FrontierError).code !== "STATE_INVALID") throw error;
      }
    };
  };
}

interface Telling {
  readonly rig: DurableRig;
  /** Repeats the last `forget` or `clear`. */
  again: (() => unknown) | undefined;
}

/**
 * The same rig, able to repeat `forget` and `clear`: they write a durable entry before they change anything, and after a cut between the
 * two either state may come back. Repeated on a working disk, the call shows the later one.
 */
function telling(rig: DurableRig): Telling {
  const frontier = new Proxy(rig.frontier, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== "clear" && name !== "forget") return value.bind(target);
      return (...parts: unknown[]): unknown => {
        told.again = () => Reflect.apply(value, target, parts);
        return told.again();
      };
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
  const told: Telling = { rig: { ...rig, frontier }, again: undefined };
  return told;
}

/** Everything that each entry determines; counters and the user's state are only as new as the last flush. */
function textOf(rig: DurableRig): string {
  const { records, finished, hosts, epochs } = knownOf(rig);
  return JSON.stringify({ records, finished, hosts, epochs });
}

/** The difference between the found state and the nearest expected one: its first few lines. */
function nearest(states: readonly string[], found: string): string {
  const lines = (text: string): string[] => text.split(/(?<=[}\]],?)(?=["{])/);
  const have = new Set(lines(found));
  const lists = states.map((state) => {
    const wanted = new Set(lines(state));
    return [
      ...[...wanted].filter((line) => !have.has(line)).map((line) => `- ${line}`),
      ...[...have].filter((line) => !wanted.has(line)).map((line) => `+ ${line}`),
    ];
  });
  const sizes = lists.map((list) => list.length);
  const at = sizes.indexOf(Math.min(...sizes));
  return `state ${at} of ${states.length}\n${(lists[at] ?? []).slice(0, 6).join("\n")}`;
}

/** The journal's error names the disk; the cut is its cause. */
function isPowerCut(error: unknown): boolean {
  const { details } = error as { details?: { cause?: unknown } };
  return error instanceof PowerCut || details?.cause instanceof PowerCut;
}

function isDisk(error: unknown): boolean {
  return error instanceof FrontierError && error.code.startsWith("DISK_");
}
