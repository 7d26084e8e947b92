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
import {
  bytesOfSegment,
  type Entry,
  type Field,
  type Segment,
  segmentOf,
} from "../support/journal-entries.ts";
import { COUNTS, type Left, leftBy, openLeft, workToEnd } from "../support/journal-program.ts";
import type { MemoryFiles } from "../support/memory-files.ts";
import { progress, stressRounds, stressSeconds, testSeed } from "../support/seed.ts";

const PROGRAMS = stressRounds(10, 1, 4);
const CALLS = 90;
/** Programs whose journals are forged. */
const FORGED = stressSeconds() > 0 ? 24 : stressRounds(6, 1, 2);
/** Forgeries of one program, in one turn. */
const OPENINGS = 80;
/** How often each kind of entry is left out, and each of its fields changed, at least: a run of that length takes some ten minutes. */
const LEAST = stressSeconds() > 0 ? 100 : 0;
const CODES = ["SNAPSHOT_CORRUPT", "FORMAT_UNSUPPORTED", "PROFILE_MISMATCH", "RULE_INVALID"];

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
  const counts: Counts = new Map();
  const answers = new Map<string, number>();
  const random = createRandom(seed);
  try {
    const programs = Array.from({ length: FORGED }, (_, n) => seed + n);
    const lefts = new Map<number, Left>();
    for (const program of programs) lefts.set(program, await leftBy(program, CALLS));
    for (const left of lefts.values()) for (const name of namesIn(left)) count(counts, name, 0);
    for (let turn = 0; turn === 0 || lefts.size > 0; turn++) {
      for (const [program, left] of lefts) {
        if (turn > 0 && namesIn(left).every((name) => of(counts, name) >= LEAST)) {
          lefts.delete(program);
          continue;
        }
        for (let times = 0; times < OPENINGS; times++) {
          const { files, changes } = forged(left, random, counts);
          const what = `program ${program}: ${changes.join(", ")}`;
          watch.tell(what);
          const answer = await told(what, () => opened(files, left, random));
          answers.set(answer, (answers.get(answer) ?? 0) + 1);
        }
      }
      progress(`turn ${turn}: ${lefts.size} programs left`);
    }
  } finally {
    await watch.end();
  }
  const least = [...counts].sort(([, one], [, other]) => one - other).slice(0, 3);
  console.log(
    JSON.stringify(Object.fromEntries(answers)),
    `${counts.size} kinds and fields`,
    least,
  );
  expect(counts.size).toBeGreaterThan(150);
  for (const [name, times] of counts) expect([name, times >= LEAST]).toEqual([name, true]);
}, 3_600_000);

/** How often a kind of entry was left out, and a field of it changed. */
type Counts = Map<string, number>;

/** Reports the seed and what was changed with every failure. */
async function told<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  }
}

/** The result of an opening: "whole", "set aside", or the code of its refusal. */
async function opened(files: MemoryFiles, left: Left, random: Random): Promise<string> {
  let answer = "whole";
  try {
    const rig = await openLeft(files, left);
    if ((await damageOf(rig.frontier)).length > 0) answer = "set aside";
    verifyFrontier(rig.frontier);
    await workToEnd(rig, random);
    verifyFrontier(rig.frontier);
    if (random.below(4) === 0) await rig.frontier.snapshot();
    await rig.frontier.close();
    if (random.below(4) > 0) return answer;
    const again = await openLeft(files, left);
    // What was corrected is corrected again, until the next snapshot.
    const damage = await damageOf(again.frontier);
    expect(damage.filter((words) => !words.includes("corrected"))).toEqual([]);
    verifyFrontier(again.frontier);
    await again.frontier.close();
    return answer;
  } catch (error) {
    if (!(error instanceof FrontierError) || !CODES.includes(error.code)) throw error;
    return error.code;
  }
}

/** Kinds and fields of all entries that were left. */
function namesIn({ files }: Left): readonly string[] {
  const paths = files.names().filter((name) => name.endsWith(".log"));
  const frames = paths.flatMap((path) => segmentOf(files.bytesOf(path), 1).frames);
  return frames.flat().flatMap((entry) => [`${entry.kind}`, ...namesOf(entry)]);
}

interface Forgery {
  readonly files: MemoryFiles;
  readonly changes: readonly string[];
}

/** Makes changes in a segment of a journal: one, or, half of the time, some more. */
function forged(left: Left, random: Random, counts: Counts): Forgery {
  const files = killedFiles(left.files);
  const paths = files.names().filter((name) => name.endsWith(".log"));
  const path = paths[random.below(paths.length)] as string;
  const segment = segmentOf(files.bytesOf(path), Number(/(\d+)\.log$/.exec(path)?.[1]));
  const changes: string[] = [];
  for (let more = random.below(2) === 0 ? 1 : 2 + random.below(6); more > 0; more--) {
    if (segment.frames.length > 0) changes.push(changed(segment, random, counts));
  }
  files.setBytes(path, bytesOfSegment(segment));
  return { files, changes };
}

function changed(segment: Segment, random: Random, counts: Counts): string {
  const { frames } = segment;
  const at = random.below(frames.length);
  switch (random.below(8)) {
    case 0: {
      const [frame = []] = frames.splice(at, 1);
      for (const { kind } of frame) count(counts, `${kind}`);
      return `frame ${at} left out (${frame.map(({ kind }) => kind).join(" ")})`;
    }
    case 1: {
      const [frame, place] = rarest(frames, random, counts, ({ kind }) => [`${kind}`]);
      const [entry] = frame.splice(place, 1);
      count(counts, `${entry?.kind}`);
      return `an entry of kind ${entry?.kind} left out`;
    }
    case 2: {
      const frame = frames[at] as Entry[];
      frames.splice(random.below(frames.length + 1), 0, [...frame]);
      return `frame ${at} twice`;
    }
    case 3: {
      const [frame] = frames.splice(at, 1);
      const to = random.below(frames.length + 1);
      frames.splice(to, 0, frame as Entry[]);
      return `frame ${at} to ${to}`;
    }
    default:
      return fieldChanged(frames, random, counts);
  }
}

/** Changes that field that was changed least. */
function fieldChanged(frames: Entry[][], random: Random, counts: Counts): string {
  const [frame, place] = rarest(frames, random, counts, namesOf);
  const entry = frame[place];
  if (entry === undefined) return "nothing";
  const names = namesOf(entry);
  const name = names.reduce((least, one) => (of(counts, one) < of(counts, least) ? one : least));
  const field = entry.fields[names.indexOf(name)] as Field;
  const words = entry.words.slice();
  const others = frames.flat().filter(({ kind }) => kind === entry.kind);
  const other = others[random.below(others.length)];
  change(words, field, random, other);
  frame[place] = { ...entry, words };
  count(counts, name);
  const wordsOf = (all: Uint32Array) => all.subarray(field.at, field.at + field.words).join(" ");
  return `${name} from ${wordsOf(entry.words)} to ${wordsOf(words)}`;
}

/** The entry among those of all frames that has what was changed least; its frame, and its place there. */
function rarest(
  frames: Entry[][],
  random: Random,
  counts: Counts,
  names: Names,
): [Entry[], number] {
  let best: [Entry[], number] = [frames[0] as Entry[], 0];
  let least = Number.POSITIVE_INFINITY;
  const from = random.below(frames.length);
  for (let at = 0; at < frames.length; at++) {
    const frame = frames[(from + at) % frames.length] as Entry[];
    frame.forEach((entry, place) => {
      const rank = Math.min(...names(entry).map((name) => of(counts, name)));
      if (rank > least || (rank === least && random.below(3) > 0)) return;
      least = rank;
      best = [frame, place];
    });
  }
  return best;
}

type Names = (entry: Entry) => readonly string[];

const namesOf: Names = ({ kind, fields }) => fields.map(({ name }) => `${kind}.${name}`);

function of(counts: Counts, name: string): number {
  return counts.get(name) ?? 0;
}

function count(counts: Counts, name: string, by = 1): void {
  counts.set(name, of(counts, name) + by);
}

/** Changes a field, mostly to what is there in another entry, or near it. */
function change(words: Uint32Array, field: Field, random: Random, other: Entry | undefined): void {
  const { at, name, type } = field;
  const same = other?.fields.find((one) => one.name === name);
  if (same !== undefined && same.words === field.words && random.below(3) === 0) {
    copyField(words, field, other as Entry, same);
    return;
  }
  const view = new DataView(words.buffer, words.byteOffset);
  const word = words[at] as number;
  const pick = <T>(...from: T[]): T => from[random.below(from.length)] as T;
  if (type === "bits") {
    const most = 2 ** (field.width as number) - 1;
    const shift = field.shift as number;
    const before = (word >>> shift) & most;
    const bits = pick(
      0,
      most,
      random.below(most + 1),
      before ^ 1,
      before + 1,
      pick(3, 4, 5, 36, 41),
    );
    words[at] = (word & ~(most << shift)) | ((bits & most) << shift);
  } else if (type === "double") {
    const double = view.getFloat64(at * 4, true);
    const start = pick(-1, 1) * (2 ** 52 + random.below(100));
    const odd = pick(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 53, -0);
    const near = pick(double + 1, double - 1, double + 0.5, -double, random.below(200));
    view.setFloat64(at * 4, pick(odd, near, near, start, random.below(1e9)), true);
  } else if (type === "bytes" || field.words > 1) {
    const byte = at * 4 + random.below(field.words * 4);
    view.setUint8(byte, pick(random.below(256), 0, view.getUint8(byte) ^ (1 << random.below(8))));
  } else {
    const flipped = word ^ (1 << random.below(32));
    words[at] = pick(0, 1, word + 1, word - 1, flipped, random.word(), 0xffff_ffff, 1 << 31);
  }
}

function copyField(words: Uint32Array, field: Field, other: Entry, same: Field): void {
  if (field.type !== "bits") {
    words.set(other.words.subarray(same.at, same.at + same.words), field.at);
    return;
  }
  const mask = (2 ** (field.width as number) - 1) << (field.shift as number);
  const word = words[field.at] as number;
  words[field.at] = (word & ~mask) | ((other.words[same.at] as number) & mask);
}

/** A thread that ends the process when nothing was told for a while, and prints what was told last. */
class Watch {
  readonly #worker = new Worker(WATCH, { eval: true });

  tell(what: string): void {
    this.#worker.postMessage(what);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

const WATCH = `
const { parentPort } = require("node:worker_threads");
const { writeSync } = require("node:fs");
let timer;
parentPort.on("message", (what) => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    writeSync(2, "no end of an opening for two minutes: " + what + "\\n");
    process.kill(process.pid, "SIGKILL");
  }, 120_000);
});
`;
