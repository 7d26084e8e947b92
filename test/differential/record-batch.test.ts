/**
 * Records that the kernel makes (assembly/records/make-records.ts) and records made row by row: two frontiers do the same, and a listener
 * for every admission makes one of them take the long way. Whatever they answer must be equal, and both must verify.
 */
import { afterAll, describe, expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import type {
  Frontier,
  FrontierOptions,
  Lease,
  RecordView,
} from "../../src/engine/types/frontier-types.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { commandsOf, testSeed } from "../support/seed.ts";

const PROGRAMS = commandsOf(10);
const STEPS = 60;

interface Side {
  readonly frontier: Frontier;
  readonly clock: ReturnType<typeof createVirtualClock>;
  leases: Lease[];
}

const opened: Frontier[] = [];
afterAll(async () => {
  for (const frontier of opened) await frontier.close();
});

async function openSide(options: FrontierOptions, isHeard: boolean): Promise<Side> {
  const clock = createVirtualClock(1_000_000);
  const frontier = await openFrontier({ ...options, clock, keepOpen: true });
  if (isHeard) frontier.on("accepted", () => {});
  opened.push(frontier);
  return { frontier, clock, leases: [] };
}

function optionsOf(random: Random): FrontierOptions {
  const politeness = [
    {},
    { politeness: { delayMs: 5 } },
    { politeness: { delayMs: 2, perHost: 2 } },
  ][random.below(3)];
  return {
    leaseMs: 50,
    ...(random.below(3) === 0 ? { capacity: 3_000 } : {}),
    defaults: {
      order: random.below(3) === 0 ? "lifo" : "fifo",
      startLast: random.below(3) === 0,
      depthPriority: random.below(3) - 1,
      maxDepth: random.below(4) === 0 ? 2 : 50,
      priority: random.below(2),
      backoff: { baseMs: 3, jitter: 0 },
      ...politeness,
    },
  };
}

/** Plain ones, odd ones, and ones that only the owner can make. */
function urlOf(random: Random, hosts: number): string {
  const host = `h${random.below(hosts)}.example`;
  const path = `p${random.below(2_000)}`;
  const form = random.below(40);
  if (form === 0) return `https://user:secret@${host}/${path}`;
  if (form === 1) return `http://${host}/${path}?${"long".repeat(random.below(300))}`;
  if (form === 2) return `HTTP://${host.toUpperCase()}/a/../${path}#top`;
  if (form === 3) return `ftp://${host}/${path}`;
  if (form === 4) return `http://exa mple/${path}`;
  if (form === 5) return `http://${host}/ü/${path}`;
  if (form === 6) return `http://${host}/`;
  return `${random.below(4) === 0 ? "http" : "https"}://${host}/${path}?x=${random.below(3)}`;
}

type Step = (side: Side) => unknown;

function stepOf(random: Random, hosts: number): Step {
  const urls = (most: number): string[] =>
    Array.from({ length: random.below(most) }, () => urlOf(random, hosts));
  const host = `h${random.below(hosts)}.example`;
  const kind = random.below(20);
  if (kind < 8) {
    const list = urls(kind === 0 ? 1_500 : 300);
    return ({ frontier }) => countsOf(frontier.pushMany(list));
  }
  if (kind < 11) return take(random.below(60));
  if (kind < 13) return finish(random.below(40), urls(80));
  if (kind === 13) {
    const list = urls(12).map((url) => ({ url, start: true }));
    return ({ frontier }) => countsOf(frontier.pushMany(list));
  }
  if (kind === 14) return giveUp(random.below(6));
  if (kind === 15) return steer(host, random.below(3));
  if (kind === 16) return ({ frontier }) => frontier.remove({ host });
  if (kind === 17) {
    const change = { url: urlOf(random, hosts), priority: random.below(4) - 1 };
    return ({ frontier }) => frontier.update(change.url, { priority: change.priority });
  }
  const ms = random.below(kind === 18 ? 4 : 80);
  return ({ clock }) => clock.advance(ms);
}

function take(max: number): Step {
  return (side) => {
    const leases = side.frontier.pollMany(max);
    side.leases.push(...leases);
    return leases.map(({ url, priority, depth, parent }) => [url, priority, depth, parent]);
  };
}

function finish(count: number, found: readonly string[]): Step {
  return (side) =>
    side.leases.splice(0, count).map((lease, index) => {
      const result = index === 0 ? lease.done({ found }) : lease.done();
      return [result.late, countsOf(result)];
    });
}

function giveUp(count: number): Step {
  return (side) =>
    side.leases
      .splice(0, count)
      .map((lease, index) => (index % 2 === 0 ? lease.release() : lease.retry({ delayMs: 2 })));
}

function steer(name: string, how: number): Step {
  return ({ frontier, clock }) => {
    const host = frontier.host(name);
    if (how === 0) host.hold();
    else if (how === 1) host.unhold();
    else host.blockUntil(clock.now() + 9);
  };
}

function countsOf(result: ReturnType<Frontier["pushMany"]>): unknown {
  const { size, accepted, deferred, duplicate, rejected, full } = result;
  const verdicts = Array.from({ length: size }, (_, index) => result.verdict(index).status[0]);
  return [accepted, deferred, duplicate, rejected, full, verdicts.join("")];
}

function stateOf({ frontier }: Side): unknown {
  const { pushed, accepted, pending, waiting, leased, done, failed, seen } =
    frontier.report() as unknown as Record<string, number>;
  const next = frontier.peek(50).map(({ url, priority, depth }) => [url, priority, depth]);
  return { pushed, accepted, pending, waiting, leased, done, failed, seen, next };
}

/** Rules that run dry and stand again, one for each ninth of the hosts but the last. */
function rulesOf(): FrontierOptions {
  const numbers = Array.from({ length: 400 }, (_, index) => index);
  const rules = Array.from({ length: 8 }, (_, rule) => {
    const domains = numbers.filter((n) => n % 9 === rule).map((n) => `h${n}.example`);
    return { id: `r${rule}`, match: { domains }, share: { weight: rule * 10 } };
  });
  return { rules: [...rules, { id: "rest" }] };
}

async function runProgram(random: Random, more: FrontierOptions = {}): Promise<void> {
  const options = { ...optionsOf(random), ...more };
  const sides = [await openSide(options, false), await openSide(options, true)] as const;
  const hosts = [3, 20, 400][random.below(3)] as number;
  for (let step = 0; step < STEPS; step++) {
    const act = stepOf(random, hosts);
    const [bulk, single] = sides.map((side) => [act(side), stateOf(side)]);
    expect(bulk, `step ${step} under ${JSON.stringify(options)}`).toEqual(single);
    if (step % 8 === 0) for (const { frontier } of sides) verifyFrontier(frontier);
  }
  for (const { frontier } of sides) verifyFrontier(frontier);
  const [bulk, single] = sides.map(({ frontier }) => [...frontier.records({})]);
  const byUrl = (a: RecordView, b: RecordView): number => ((a.url ?? "") < (b.url ?? "") ? -1 : 1);
  expect(bulk?.sort(byUrl)).toEqual(single?.sort(byUrl));
}

async function runPrograms(first: number, more?: FrontierOptions): Promise<void> {
  for (let program = 0; program < PROGRAMS; program++) {
    const seed = (first + program) >>> 0;
    await runProgram(createRandom(seed), more).catch((error: Error) => {
      throw new Error(`SEED=${seed}: ${error.message}`, { cause: error });
    });
  }
}

describe("records made by the kernel", () => {
  test("are those made row by row, in the same places, under every policy", async () => {
    await runPrograms(testSeed("record-batch"));
  });

  test("are so under rules that run dry and stand again", async () => {
    await runPrograms(testSeed("record-batch rules"), rulesOf());
  });
});
