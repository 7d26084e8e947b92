/**
 * Journal entries that the kernel writes of the records a batch has admitted (assembly/journal/admitted-entries.ts), and the same ones written
 * record by record: of the same program both must be the same files, byte for byte.
 */
import { expect, onTestFinished, test, vi } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import { coreOf } from "../../src/engine/api/verify-frontier.ts";
import type { FrontierOptions, Lease, Rule } from "../../src/engine/types/frontier-types.ts";
import { LOG_ADMITTED } from "../../src/frontier/records/transition-log.ts";
import {
  JOURNAL_FRAME_WORDS,
  JOURNAL_HOST_MADE,
  JOURNAL_PARENT,
} from "../../src/layout/files/journal.ts";
import type { Core } from "../../src/frontier/core.ts";
import { listRecords } from "../../src/frontier/records/record-walk.ts";
import { hostOf } from "../../src/frontier/records/transitions.ts";
import { createFrameBuffer } from "../../src/persistence/journal/frame-buffer.ts";
import type { TransitionListener } from "../../src/persistence/journal/transition-listener.ts";
import { createNames } from "../../src/persistence/journal/nameless-records.ts";
import { HOST_MARKED, setHostFlag } from "../../src/structures/hosts/host-table.ts";
import { recordParent, setRecordAgain } from "../../src/structures/records/record.ts";
import { SCRATCH_ROWS } from "../../src/structures/records/kernel-scratch.ts";
import { setWordAt } from "../../src/structures/store.ts";
import { JournalLog } from "../../src/persistence/journal/journal-log.ts";
import { admittedRecord } from "../../src/structures/records/entry-batch.ts";
import { act, broadOptionsOf, optionsOf } from "../support/durable-program.ts";
import { type DurableRig, openMemoryRig, openRig } from "../support/durable-rig.ts";
import { entriesOf, segmentOf } from "../support/journal-entries.ts";
import { createMemoryFiles, type MemoryFiles } from "../support/memory-files.ts";
import { stressRounds, testSeed } from "../support/seed.ts";

const PROGRAMS = stressRounds(24, 4, 12);
const CALLS = 60;
/** The longest text and host of these URLs. */
const LONG_BYTES = 900;
/** Room for few entries: the longest is left to the owner, and so is what comes when the room is full. */
const SHORT_ROOM = 700;

interface Left {
  readonly files: MemoryFiles;
  /** Entries of admissions that were written one by one. */
  readonly single: number;
}

test("a journal is the same, byte for byte, whoever writes the entries of a batch", async () => {
  const seed = testSeed("admitted entries");
  const shapes = new Set<string>();
  let single = 0;
  let all = 0;
  for (let program = 0; program < PROGRAMS; program++) {
    const own = `SEED=${seed + program}`;
    const kernel = await leftBy(seed + program, false);
    const twin = await leftBy(seed + program, true);
    expect(kernel.files.names(), own).toEqual(twin.files.names());
    for (const name of kernel.files.names()) {
      const [bytes, other] = [kernel.files.bytesOf(name), twin.files.bytesOf(name)];
      if (Buffer.compare(bytes, other) === 0) continue;
      expect(entriesIn(name, bytes), `${own} ${name}`).toEqual(entriesIn(name, other));
      expect(Buffer.from(bytes), `${own} ${name}`).toEqual(Buffer.from(other));
    }
    for (const shape of shapesIn(twin.files)) shapes.add(shape);
    single += kernel.single;
    all += twin.single;
  }
  expect(single).toBeLessThan(all / 2);
  expect([...shapes].sort()).toEqual(SHAPES);
});

test("records of every state and kind are written alike", async () => {
  const seed = testSeed("admitted entries of any record");
  const shapes = new Set<string>();
  for (let program = 0; program < PROGRAMS; program++) {
    const random = createRandom(seed + program);
    const options = choose(random, false);
    const rig = await openMemoryRig(createMemoryFiles(), createVirtualClock(1_000), options);
    const held: Lease[] = [];
    for (let call = 0; call < CALLS; call++) step(rig, random, held, 30);
    const records = recordsOf(coreOf(rig.frontier), random);
    const log = { isLate: random.below(4) === 0, isHeard: random.below(4) === 0 };
    const kernel = entriesOfAll(rig, records, { ...log, isSingle: false });
    const twin = entriesOfAll(rig, records, { ...log, isSingle: true });
    expect(kernel, `SEED=${seed + program}`).toEqual(twin);
    for (const { kind, words } of entriesOf(kernel))
      for (const shape of shapesOf(kind, words)) shapes.add(shape);
    await rig.frontier.close();
  }
  expect([...shapes].sort()).toEqual(SHAPES.filter((shape) => shape !== "long frame"));
});

test("no entry reaches beyond the room that the kernel has for them", async () => {
  const urls = Array.from({ length: 500 }, (_, at) => `https://h${at % 9}.example/${at}`);
  const counts: number[] = [];
  for (const room of [undefined, SHORT_ROOM]) {
    const rig = await openRig(createMemoryFiles(), createVirtualClock(1_000));
    if (room !== undefined) Object.assign(coreOf(rig.frontier).scratch, { textBytes: room });
    const written = watched(false);
    rig.frontier.pushMany(urls);
    counts.push(written());
    await rig.frontier.close();
  }
  const [alone = 0, short = 0] = counts;
  expect(alone).toBeLessThan(2); // the first one of a set of rules
  expect(short).toBeGreaterThan((500 * 40) / SHORT_ROOM); // an entry has more than 40 bytes
});

test("a parent is named again where another one stands at its handle, or its own at another", async () => {
  const rig = await openMemoryRig(createMemoryFiles(), createVirtualClock(1_000));
  const { frontier } = rig;
  const core = coreOf(frontier);
  frontier.pushMany(["https://a.example/", "https://b.example/"]);
  for (const [page, lease] of frontier.pollMany(2).entries())
    lease.done({ found: [`https://c.example/${page}`, `https://d.example/${page}`] });
  const records = recordsOf(core, createRandom(1));
  const parentOf = (record: number): number => recordParent(core.store, record);
  const [one = 0] = records;
  const two = records.find((record) => record !== one && parentOf(record) === parentOf(one)) ?? 0;
  const other = records.find((record) => parentOf(record) !== parentOf(one)) ?? 0;
  const print = (record: number): Uint32Array => {
    const at = parentOf(record) * 2 + 2;
    return core.store.region.views.u32.subarray(at, at + 4);
  };
  const kinds: number[][] = [];
  for (const isSingle of [false, true]) {
    const before = print(one).slice();
    const write = logOf(rig, { isSingle, isLate: false, isHeard: false });
    write([one, two]);
    print(two).fill(7);
    write([two]);
    print(other).fill(7);
    const written = entriesOf(write([other])).map(({ kind }) => kind);
    kinds.push(written.filter((kind) => kind !== JOURNAL_HOST_MADE)); // the twin finds hosts named
    print(one).set(before);
  }
  const [parent, child] = [JOURNAL_PARENT, LOG_ADMITTED];
  const expected = [parent, child, child, parent, child, parent, child];
  expect(kinds).toEqual([expected, expected]);
  await frontier.close();
});

/** All live records in an order of their own; some of them came again. */
function recordsOf(core: Core, random: Random): number[] {
  const { handles, count } = listRecords(core, new Set(["pending", "waiting", "leased", "failed"]));
  const records = Array.from(handles.subarray(0, count));
  for (let at = records.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [records[at], records[other]] = [records[other] as number, records[at] as number];
  }
  for (const record of records) if (random.below(8) === 0) setRecordAgain(core.store, record);
  return records.slice(0, SCRATCH_ROWS);
}

interface LogChoices {
  readonly isSingle: boolean;
  readonly isLate: boolean;
  readonly isHeard: boolean;
}

/** The entries of records as one group, under hosts of which each other one is named already. */
function entriesOfAll(rig: DurableRig, records: number[], choices: LogChoices): Uint32Array {
  const { store } = coreOf(rig.frontier);
  for (const [at, record] of records.entries()) {
    const host = hostOf(coreOf(rig.frontier), record);
    if (host !== 0) setHostFlag(store, host, HOST_MARKED, at % 2 === 0);
  }
  return logOf(rig, choices)(records);
}

/** A log of its own: writes the entries of records and returns all of its words. */
function logOf({ frontier }: DurableRig, choices: LogChoices): (records: number[]) => Uint32Array {
  const core = coreOf(frontier);
  const frames = createFrameBuffer();
  const listener = { timeMs: () => 9, onTransition: () => {} } as unknown as TransitionListener;
  const log = new JournalLog({
    ...{ core, frames, names: createNames(core), isLate: choices.isLate },
    ...(choices.isHeard ? { listener } : {}),
    onGroup: () => {},
    onBreak: () => {},
  });
  log.specsNoted = core.specs;
  return (records) => {
    for (const [at, record] of records.entries())
      setWordAt(core.store, (core.scratch.admitted >> 2) + at, record);
    if (choices.isSingle) oneByOne.call(log, records.length);
    else log.admitted(records.length);
    return frames.u32.slice(JOURNAL_FRAME_WORDS, frames.end);
  };
}

/** What must have occurred: fields of admissions, hosts and parents, and a frame that is longer than most. */
const SHAPES = [
  ...["admitted blob", "admitted budget", "admitted due", "admitted nameless", "admitted parent"],
  ...["admitted plain", "admitted priority", "admitted whole", "host", "long frame", "long text"],
  ...["parent", "rule", "volatile"],
];

/** The program of a seed; what it leaves when it is closed. `isSingle`: each entry is written by itself. */
async function leftBy(seed: number, isSingle: boolean): Promise<Left> {
  const random = createRandom(seed);
  const files = createMemoryFiles();
  const isTight = random.below(5) === 0;
  const durability = random.below(2) === 0 ? "sync" : { everyMs: 10 };
  const options: FrontierOptions = { ...choose(random, isTight), durability };
  const rig = await openRig(files, createVirtualClock(1_000), options, isTight);
  const isShort = random.below(4) === 0;
  const held: Lease[] = [];
  const written = watched(isSingle);
  for (let call = 0; call < CALLS; call++) {
    const { scratch } = coreOf(rig.frontier);
    if (isShort) Object.assign(scratch, { textBytes: SHORT_ROOM });
    step(rig, random, held, isTight ? 200 : 900);
    if (random.below(10) === 0) await rig.frontier.flush();
  }
  await rig.frontier.flush();
  const single = written();
  await rig.frontier.close();
  return { files, single };
}

/** Counts the admissions whose entries are written one by one; `isSingle`: all are. */
function watched(isSingle: boolean): () => number {
  let count = 0;
  const { record } = JournalLog.prototype;
  const spied = vi.spyOn(JournalLog.prototype, "record").mockImplementation(function (
    this: JournalLog,
    ...[kind, handle, value]: [number, number, number]
  ) {
    if (kind === LOG_ADMITTED) count++;
    record.call(this, kind, handle, value);
  });
  const spies = [spied];
  if (isSingle) spies.push(vi.spyOn(JournalLog.prototype, "admitted").mockImplementation(oneByOne));
  const restore = (): void => {
    for (const spy of spies) spy.mockRestore();
  };
  onTestFinished(restore);
  return () => {
    restore();
    return count;
  };
}

function oneByOne(this: JournalLog, count: number): void {
  for (let at = 0; at < count; at++) {
    this.record(LOG_ADMITTED, admittedRecord(this.core.scratch, at), 0);
  }
}

function choose(random: Random, isTight: boolean): FrontierOptions {
  const options = random.below(2) === 0 ? optionsOf(random) : broadOptionsOf(random);
  const { defaults } = options;
  const isPlain = random.below(3) > 0;
  return {
    ...options,
    seen: isTight ? (undefined as never) : { mode: "exact", capacity: 64 },
    capacity: random.below(4) === 0 ? 3_000 : 1e6,
    ...(random.below(2) === 0 ? { rules: rulesOf(random) } : {}),
    // Epochs and budgets are decided row by row: most programs are to have none.
    defaults: isPlain
      ? {
          ...(defaults?.order === undefined ? {} : { order: defaults.order }),
          depthPriority: random.below(2),
          priority: random.below(3) - 1,
          ...(random.below(2) === 0 ? { politeness: { delayMs: random.below(9) } } : {}),
        }
      : { ...defaults },
  };
}

/** Rules by host, by path and for the rest, each with a priority and a pace of its own. */
function rulesOf(random: Random): Rule[] {
  const own = (): Partial<Rule> => ({
    priority: random.below(5) - 2,
    depthPriority: random.below(2),
    politeness: {
      delayMs: random.below(2) * 5,
      // Decided row by row; what a host has spent stays when the next rules come.
      ...(random.below(8) === 0 ? { budget: { urls: 1_000 } } : {}),
    },
  });
  return [
    { id: "hosts", match: { hosts: ["h1.example", "h2.example", "lone3.example"] }, ...own() },
    { id: "paths", match: { pattern: "/p[0-4]" }, ...own() },
    { id: "rest", ...own() },
  ];
}

function step(rig: DurableRig, random: Random, held: Lease[], most: number): void {
  const { clock, frontier } = rig;
  switch (random.below(12)) {
    case 0:
    case 1:
    case 2:
      frontier.pushMany(urlsOf(random, most));
      break;
    case 3:
      frontier.pushMany(urlsOf(random, 40).map((url) => ({ url, priority: random.below(3) })));
      break;
    case 4:
      frontier.push({ url: urlOf(random), volatile: true });
      frontier.push({ url: urlOf(random), dedup: "skip" });
      frontier.push({ url: urlOf(random), notBefore: clock.now() + 50, data: { at: 1 } });
      break;
    case 5:
      held.push(...frontier.pollMany(1 + random.below(8)));
      break;
    case 6:
    case 7:
      // Links of several pages in one call, and of one.
      frontier.done(held.splice(0, 3));
      held.pop()?.done({ found: urlsOf(random, 120) });
      held.pop()?.done({ found: urlsOf(random, 120) });
      break;
    case 8:
      if (random.below(4) === 0) frontier.setRules(rulesOf(random));
      clock.advance(random.below(60));
      break;
    default:
      act(rig, random, held);
  }
}

function urlsOf(random: Random, most: number): string[] {
  return Array.from({ length: random.below(most) }, () => urlOf(random));
}

/** Plain ones for the most part; every length modulo 4, and some that only the owner makes. */
function urlOf(random: Random): string {
  const path = `p${random.below(10)}/${"x".repeat(random.below(9))}${random.below(3_000)}`;
  const isLone = random.below(4) === 0;
  const name = isLone ? `lone${random.below(5_000)}` : `h${random.below(20)}`;
  const host = `${name}${"y".repeat(random.below(3))}.example`;
  switch (random.below(40)) {
    case 0:
      return `https://user:secret@${host}/${path}`;
    case 1:
      return `http://${host}/${path}?${"long".repeat(random.below(LONG_BYTES / 4))}`;
    case 2:
      return `http://${"very-long.".repeat(random.below(20))}${host}/${path}`;
    case 3:
      return `http://${host}/`;
    case 4:
      return `http://exa mple/${path}`;
    default:
      return `${random.below(4) === 0 ? "http" : "https"}://${host}/${path}`;
  }
}

/** The entries of a segment, for a difference that can be read. */
function entriesIn(name: string, bytes: Uint8Array): unknown {
  if (!name.endsWith(".log")) return name;
  const frames: unknown[] = [];
  for (const entries of segmentOf(bytes, 1).frames)
    frames.push(entries.map(({ words }) => Buffer.from(words.buffer).toString("hex")));
  return frames;
}

/** What occurs in the journal of a program. */
function shapesIn(files: MemoryFiles): Set<string> {
  const shapes = new Set<string>();
  for (const name of files.names()) {
    if (!name.endsWith(".log")) continue;
    for (const entries of segmentOf(files.bytesOf(name), 1).frames) {
      let words = 0;
      for (const entry of entries) {
        words += entry.words.length;
        for (const shape of shapesOf(entry.kind, entry.words)) shapes.add(shape);
      }
      if (words * 4 > 100_000) shapes.add("long frame");
    }
  }
  return shapes;
}

const HAS = ["priority", "due", "budget", "blob", "parent"];

function shapesOf(kind: number, words: Uint32Array): string[] {
  if (kind === 32) return ["parent"];
  if (kind === 33) return ["host"];
  if (kind === 42) return ["volatile"];
  if (kind !== 1) return [];
  const head = words[0] as number;
  const fields = words[8] as number;
  const shapes = HAS.filter((_, bit) => ((fields >>> 8) & (1 << bit)) !== 0);
  if (shapes.length === 0) shapes.push("plain");
  if ((fields & 2) !== 0) shapes.push("whole");
  if ((head & 2048) !== 0) shapes.push("nameless");
  const own = shapes.map((shape) => `admitted ${shape}`);
  if (head >>> 16 > 0) own.push("rule");
  if ((words[7] as number) > 512) own.push("long text");
  return own;
}
