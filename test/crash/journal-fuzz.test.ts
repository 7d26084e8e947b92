/**
 * Journals under right checksums in which entries are left out, repeated or changed, field by field. What cannot be is reported and set
 * aside; whatever is opened is consistent, and can be worked to its end in so many steps. Journals that nobody changed are believed whole.
 *
 *   programs of every flavour ─▶ journals ─┬─▶ as they are: all of it is there
 *                                          └─▶ changes, sealed again ─▶ opened ─▶ verified ─▶ worked to the end ─▶ verified
 *
 * A call that never returns is ended by a thread that watches (Watch).
 */
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { FrontierError } from "../../src/base/errors.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { damageOf, killedFiles } from "../support/durable-rig.ts";
import { type Counts, Forger, type Forgery } from "../support/journal-forgery.ts";
import { COUNTS, type Left, leftBy, openLeft, workToEnd } from "../support/journal-program.ts";
import { sized } from "../support/size.ts";
import { progress, stressRounds, stressSeconds, testSeed } from "../support/seed.ts";

const PROGRAMS = stressRounds(10, 1, 4);
const CALLS = 90;
/** Programs whose journals are forged. They are short, and many of them hold every kind of entry. */
const FORGED = stressRounds(40, 1, 8);
const FORGED_CALLS = 24;
/**
 * How often each kind of entry is left out, and each of its fields changed, at least. A hundred times take some 14,000 openings: four of
 * five are cut off at what cannot be, and what follows does not count.
 */
const LEAST = stressSeconds() > 0 ? Math.max(100, stressRounds(0, 5)) : sized(100, 0);
/** A kind or field that nothing comes to ends the run with its name. */
const OPENINGS_MAX = 300 * Math.max(LEAST, 1);
const OPENINGS_LEAST = 160;
const CODES = ["SNAPSHOT_CORRUPT", "FORMAT_UNSUPPORTED", "PROFILE_MISMATCH"];

test("journals as they were written are believed whole", async () => {
  const seed = testSeed("journals");
  let accepted = 0;
  for (let program = 0; program < PROGRAMS * 3; program++) {
    await told(`program ${seed + program}`, async () => {
      const left = await leftBy(seed + program, CALLS * 2);
      accepted += left.counts.accepted;
      const rig = await openLeft(killedFiles(left.files), left);
      let lost = 0;
      rig.frontier.on("resumed", (resumed) => {
        lost = resumed.lost;
      });
      expect(await damageOf(rig.frontier)).toEqual([]);
      verifyFrontier(rig.frontier);
      const report = rig.frontier.report();
      const counts = Object.fromEntries(COUNTS.map((name) => [name, report[name]]));
      expect(counts).toEqual({ ...left.counts, forgotten: left.counts.forgotten + lost });
      await workToEnd(rig, createRandom(seed));
      verifyFrontier(rig.frontier);
      await rig.frontier.close();
    });
  }
  expect(accepted).toBeGreaterThan(PROGRAMS * 50);
}, 3_600_000);

test("a forged journal is opened or refused by name, and never hangs or breaks an invariant", async () => {
  const seed = testSeed("journal-fuzz");
  const watch = new Watch();
  const answers = new Map<string, number>();
  const random = createRandom(seed);
  const lefts: Left[] = [];
  for (let n = 0; n < FORGED; n++) lefts.push(await leftBy(seed + n, FORGED_CALLS));
  const forger = new Forger(random, lefts);
  try {
    for (let opening = 0; opening < OPENINGS_MAX; opening++) {
      if (opening >= OPENINGS_LEAST && forger.least()[1] >= LEAST) break;
      const forgery = forger.next();
      const what = `opening ${opening}: ${forgery.changes.join(", ")}`;
      watch.tell(what);
      const answer = await told(what, () => opened(forgery, forger, random));
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      if (opening % 500 === 0) progress(`opening ${opening}: ${forger.least().join(" ")}`);
    }
  } finally {
    await watch.end();
  }
  const { counts } = forger;
  console.log(JSON.stringify(Object.fromEntries(answers)), linesOf(counts));
  expect(counts.size).toBeGreaterThan(150);
  for (const [name, times] of counts) expect([name, times >= LEAST]).toEqual([name, true]);
}, 3_600_000);

/** Reports what was changed with every failure. */
async function told<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  }
}

/** The result of an opening: "whole", "set aside", or the code of its refusal. */
async function opened(forgery: Forgery, forger: Forger, random: Random): Promise<string> {
  const { files, left } = forgery;
  let answer = "whole";
  try {
    const rig = await openLeft(files, left);
    const damage = await damageOf(rig.frontier);
    if (damage.length > 0) answer = "set aside";
    const isForged = forger.count(forgery, damage);
    verifyFrontier(rig.frontier);
    // Where nothing that was changed was believed, what is left is a journal's beginning as it was written.
    if (isForged || random.below(8) === 0) {
      await workToEnd(rig, random);
      verifyFrontier(rig.frontier);
      if (random.below(4) === 0) await rig.frontier.snapshot();
    }
    await rig.frontier.close();
    if (random.below(8) > 0) return answer;
    const again = await openLeft(files, left);
    // What was corrected is corrected again, until the next snapshot.
    const still = await damageOf(again.frontier);
    expect(still.filter((words) => !words.includes("corrected"))).toEqual([]);
    verifyFrontier(again.frontier);
    await again.frontier.close();
    return answer;
  } catch (error) {
    if (!(error instanceof FrontierError) || !CODES.includes(error.code)) throw error;
    return error.code;
  }
}

/** One line for each kind: how often it was left out, and each of its fields changed. */
function linesOf(counts: Counts): string {
  const lines = new Map<string, string[]>();
  for (const [name, times] of counts) {
    const [kind = "", field = "left out"] = name.split(".");
    lines.set(kind, [...(lines.get(kind) ?? []), `${field} ${times}`]);
  }
  const sorted = [...lines].sort(([a], [b]) => Number(a) - Number(b));
  const rows = sorted.map(([kind, each]) => `  ${kind.padStart(2)}  ${each.join(" · ")}`);
  return [`${counts.size} kinds and fields`, ...rows].join("\n");
}

/** A thread that ends the process when nothing new was told between two looks, and prints what was told last. */
class Watch {
  readonly #shared = new SharedArrayBuffer(WATCH_BYTES);
  readonly #turn = new Int32Array(this.#shared, 0, 1);
  readonly #text = new Uint8Array(this.#shared, 4);
  readonly #worker = new Worker(WATCH, { eval: true, workerData: this.#shared });

  tell(what: string): void {
    this.#text.fill(0);
    new TextEncoder().encodeInto(what, this.#text);
    Atomics.add(this.#turn, 0, 1);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

const WATCH_BYTES = 4096;
const WATCH = `
const { workerData } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const turn = new Int32Array(workerData, 0, 1);
let seen = -1;
setInterval(() => {
  const now = Atomics.load(turn, 0);
  if (now !== seen) return void (seen = now);
  const what = Buffer.from(workerData, 4).toString("utf8");
  writeSync(2, "no end of an opening for two minutes: " + what + "\\n");
  process.kill(process.pid, "SIGKILL");
}, 120_000);
`;
