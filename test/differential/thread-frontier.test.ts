/**
 * A frontier on a thread of its own against one on this thread: the same calls, one after another with an await at each and
 * all at once without any, the owner held up and this thread held up, closed at any moment. What each call answers, or throws, is the same:
 * nothing hangs on which thread is faster.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createRandom, type Random } from "../../src/base/random.ts";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import { openFrontierThread } from "../../src/engine/owner-thread/open-frontier-thread.ts";
import type { FrontierOptions } from "../../src/engine/types/frontier-types.ts";
import { fingerprint } from "../../src/engine/api/url-functions.ts";
import { stressRounds, testRandom } from "../support/seed.ts";
import { type Call, callsOf, HEAVY, Side } from "../support/two-sides.ts";

/** How a program is run on both sides. */
interface Way {
  readonly name: string;
  /** Awaits each call before the next one. */
  readonly isAwaited: boolean;
  /** Before each burst the owner gets work that holds it. */
  readonly holdsOwner?: boolean;
  /** Between calls this thread is held, so that the owner runs ahead. */
  readonly holdsCaller?: boolean;
  readonly inDirectory?: boolean;
}

const WAYS: readonly Way[] = [
  { name: "with an await at each call", isAwaited: true },
  { name: "at once, without an await", isAwaited: false },
  { name: "at once, while the owner is held up", isAwaited: false, holdsOwner: true },
  { name: "at once, while the caller is held up", isAwaited: false, holdsCaller: true },
  { name: "at once, with a directory", isAwaited: false, inDirectory: true },
];

/** Each costs two frontiers, one of them a thread. */
const PROGRAMS = stressRounds(3, 1);
const BURSTS = 10;
const URLS = Array.from({ length: 100 }, (_, at) => `http://spin.test/${at}`);

function spin(): void {
  for (const url of URLS) fingerprint(url);
}

/** Makes the calls of a burst and gives what came of them. */
async function play(side: Side, calls: readonly Call[], way: Way): Promise<unknown[]> {
  const answers: Array<Promise<unknown>> = [];
  if (way.holdsOwner === true) answers.push(side.make(HEAVY));
  for (const call of calls) {
    const answer = side.make(call);
    answers.push(answer);
    // What waits by itself is ended behind the others.
    if (way.isAwaited && !call.waits) await answer;
    if (way.holdsCaller === true) spin();
  }
  side.letGo();
  const told = await Promise.all(answers);
  await side.rest();
  const asked = way.holdsOwner === true ? [undefined, ...calls] : calls;
  return told.map((answer, at) => [asked[at]?.do, answer]);
}

function optionsOf(random: Random): FrontierOptions {
  return {
    seed: 1,
    ...(random.below(2) === 0 ? { keepOpen: true } : {}),
    ...(random.below(3) === 0 ? { capacity: 20 } : {}),
    defaults: { maxAttempts: 1 + random.below(3), backoff: { baseMs: 1e9 } },
  };
}

async function program(random: Random, way: Way): Promise<void> {
  const directories: string[] = [];
  const place = (): FrontierOptions => {
    if (way.inDirectory !== true) return {};
    const directory = mkdtempSync(join(tmpdir(), "outrider-sides-"));
    directories.push(directory);
    return { directory, durability: "none" };
  };
  const options = optionsOf(random);
  const hasRoom = options.capacity === undefined;
  const here = new Side(await openFrontier({ ...options, ...place() }));
  const there = new Side(await openFrontierThread({ ...options, ...place() }));
  try {
    const closesAt = random.below(BURSTS * 2);
    for (let burst = 0; burst < BURSTS; burst++) {
      const count = 5 + random.below(20);
      const calls = callsOf(random, { count, closes: burst === closesAt, hasRoom });
      const expected = await play(here, calls, way);
      const told = await play(there, calls, way);
      expect(told).toEqual(expected);
      expect(there.heard).toEqual(here.heard);
    }
  } finally {
    await here.frontier.close();
    await there.frontier.close();
    for (const directory of directories) rmSync(directory, { recursive: true });
  }
}

describe("a frontier on a thread of its own, and one on this thread", () => {
  it.each(WAYS)("answer the same calls alike: $name", async (way) => {
    const random = testRandom(`two sides ${way.name}`);
    for (let each = 0; each < PROGRAMS; each++) {
      const seed = random.word();
      try {
        await program(createRandom(seed), way);
      } catch (cause) {
        throw new Error(`program ${each}, seed ${seed}: ${(cause as Error).message}`, { cause });
      }
    }
  });
});
