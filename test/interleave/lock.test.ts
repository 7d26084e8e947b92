/**
 * The lock under every order of its steps: the real code of several processes, one call to files or to the process table at a time,
 * each of which may be the process's last.
 *
 *   a step   the process begins anew and is told what it was told before, call by call; the one after those is made, and it ends there.
 *            Calls on a file that only its maker links belong to the step before them
 *   a break  a step of another process while one could go on: two are let loose in every order, three with so many breaks at most
 *   a state  the files, and what each process was told: states that are equal are one
 */
import { describe, expect, it } from "vitest";
import { FrontierError } from "../../src/base/errors.ts";
import type { Files } from "../../src/persistence/files.ts";
import {
  giveLock,
  type ProcessTable,
  takeLock,
} from "../../src/persistence/directory/directory-lock.ts";

type Phase = "taking" | "holding" | "giving" | "refused" | "over";

interface Process {
  readonly pid: number;
  /** What its calls answered. */
  readonly log: readonly Answer[];
  readonly phase: Phase;
  readonly isAlive: boolean;
  readonly hasHeld: boolean;
}

type Answer = { readonly value: unknown } | { readonly code: string };

interface World {
  /** Contents by name. Nothing changes a file that has two names. */
  readonly files: ReadonlyMap<string, string>;
  readonly processes: readonly Process[];
  readonly deaths: number;
  /** Who made the last step; -1: nobody yet. */
  readonly turn: number;
  /** How often a process may still be broken off by another while it could go on. */
  readonly breaks: number;
}

interface Explored {
  states: number;
  held: number;
}

/** Makes a call, or tells again what it answered. `isOwn`: it is no step. */
type Call = <T>(make: () => T, isOwn?: boolean) => T;

/** Ends a run of a process behind its step; every call after it as well. */
const PAUSE = new Error("the process waits for its turn");

const DIRECTORY = "/d";
const PATH = `${DIRECTORY}/lock`;

function nonceOf(pid: number): string {
  return String(pid).repeat(32).slice(0, 32);
}

function factsOf(pid: number): ProcessTable["self"] {
  return { pid, started: "", boot: "b", space: "s", host: "h" };
}

function ownerText(pid: number): string {
  return JSON.stringify({ ...factsOf(pid), nonce: nonceOf(pid) });
}

/** What the platform throws; made once each, since most of the time would go into their stacks. */
const FAILURES = new Map(
  ["ENOENT", "EEXIST"].map((code) => [
    code,
    Object.assign(new Error(code), { code, syscall: "call" }),
  ]),
);

function failure(code: string): Error {
  return FAILURES.get(code) as Error;
}

/** One step of a process, and what it leads to. */
function stepOf(world: World, index: number): World {
  const process = world.processes[index] as Process;
  const files = new Map(world.files);
  const log = [...process.log];
  let made = 0;
  let isPaused = false;
  let isMade = false;
  const call: Call = (make, isOwn = false) => {
    isPaused ||= made === log.length && isMade && !isOwn;
    if (isPaused) throw PAUSE;
    if (made === log.length) {
      log.push(answerOf(make));
      isMade ||= !isOwn;
    }
    const answer = log[made++] as Answer;
    if ("code" in answer) throw failure(answer.code);
    return answer.value as ReturnType<typeof make>;
  };
  let phase: Phase = "taking";
  let { hasHeld } = process;
  try {
    const place = { files: filesOf(files, call, nonceOf(process.pid)), directory: DIRECTORY };
    const table: ProcessTable = {
      self: factsOf(process.pid),
      isRunning: (pid) => call(() => world.processes.some((one) => one.pid === pid && one.isAlive)),
      startedOf: () => "",
    };
    const lock = takeLock(place, table, nonceOf(process.pid));
    if (!isPaused) {
      phase = "holding";
      hasHeld = true;
      call(() => true); // what is done under the lock
      phase = "giving";
      giveLock(place, lock);
      if (!isPaused) phase = "over";
    }
  } catch (error) {
    const isRefused = error instanceof FrontierError && error.code === "FRONTIER_LOCKED";
    if (!isPaused && !isRefused) throw error;
    if (!isPaused) phase = "refused";
  }
  const processes = world.processes.slice();
  processes[index] = { ...process, log, phase, hasHeld };
  const isBreak = world.turn !== index && canGoOn(world.processes[world.turn]);
  return { ...world, files, processes, turn: index, breaks: world.breaks - (isBreak ? 1 : 0) };
}

function canGoOn(process: Process | undefined): boolean {
  if (process === undefined) return false;
  return process.isAlive && process.phase !== "over" && process.phase !== "refused";
}

function answerOf(make: () => unknown): Answer {
  try {
    return { value: make() };
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code as string };
  }
}

/** Files in which a step is one call that others see: a file is opened and read at once. */
function filesOf(files: Map<string, string>, call: Call, nonce: string): Files {
  const open = new Map<number, { path: string; text: string }>();
  const there = (path: string): string => {
    const text = files.get(path);
    if (text === undefined) throw failure("ENOENT");
    return text;
  };
  const calls: Partial<Files> = {
    open: (path, flags) => {
      const text = call(() => {
        if (flags === "r") return there(path);
        files.set(path, "");
        return "";
      }, flags === "w");
      open.set(open.size + 1, { path, text });
      return open.size;
    },
    close: () => undefined,
    sync: () => undefined,
    size: (file) => Buffer.byteLength(open.get(file)?.text ?? ""),
    read: (...[file, bytes, start, length, position]) => {
      const text = Buffer.from(open.get(file)?.text ?? "").subarray(position, position + length);
      bytes.set(text, start);
      return text.length;
    },
    write: (file, bytes) => {
      return call(() => {
        // Somebody may have removed it: what is written goes nowhere.
        const { path } = open.get(file) as { path: string };
        if (files.has(path)) files.set(path, Buffer.from(bytes).toString("utf8"));
        return bytes.length;
      }, true);
    },
    exists: (path) => call(() => files.has(path)),
    link: (from, to) =>
      call(() => {
        const text = there(from);
        if (files.has(to)) throw failure("EEXIST");
        files.set(to, text);
      }),
    rename: (from, to) =>
      call(() => {
        files.set(to, there(from));
        files.delete(from);
      }),
    remove: (path) =>
      call(
        () => {
          there(path);
          files.delete(path);
        },
        path.endsWith(`${nonce}.tmp`),
      ),
    list: () =>
      call(() => [...files.keys()].sort().map((path) => path.slice(DIRECTORY.length + 1))),
  };
  return calls as Files;
}

interface Bounds {
  readonly deaths: number;
  readonly breaks: number;
}

/** Goes through every order within the bounds; the states that there are. */
function explore(
  files: Readonly<Record<string, string>>,
  pids: readonly number[],
  { deaths, breaks }: Bounds,
): Explored {
  const processes = pids.map(
    (pid): Process => ({ pid, log: [], phase: "taking", isAlive: true, hasHeld: false }),
  );
  const found: Explored = { states: 0, held: 0 };
  const seen = new Set<string>();
  const numberOf = numbering();
  const begin = new Map(Object.entries(files));
  const left: World[] = [{ files: begin, processes, deaths, turn: -1, breaks }];
  for (let world = left.pop(); world !== undefined; world = left.pop()) {
    const key = keyOf(world, numberOf);
    if (seen.has(key)) continue;
    seen.add(key);
    found.states++;
    check(world, found);
    for (const [at, process] of world.processes.entries()) {
      if (!canGoOn(process)) continue;
      const next = stepOf(world, at);
      if (next.breaks >= 0) left.push(next);
      if (world.deaths > 0) left.push(deathOf(world, at));
    }
  }
  return found;
}

function deathOf(world: World, at: number): World {
  const processes = world.processes.slice();
  processes[at] = { ...(processes[at] as Process), isAlive: false };
  return { ...world, processes, deaths: world.deaths - 1 };
}

/** Short for a text: its number among all that were met. */
function numbering(): (text: string) => number {
  const numbers = new Map<string, number>();
  return (text) => {
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  };
}

function keyOf(world: World, numberOf: (text: string) => number): string {
  const { files, processes, deaths, turn, breaks } = world;
  const parts = processes.map(({ log, isAlive }) => `${numberOf(JSON.stringify(log))}${isAlive}`);
  const bound = breaks === ANY ? "" : `${turn} ${breaks} `;
  return `${bound}${deaths} ${parts.join(" ")} ${numberOf(JSON.stringify([...files].sort()))}`;
}

function check({ files, processes }: World, found: Explored): void {
  const holding = processes.filter(({ isAlive, phase }) => isAlive && phase === "holding");
  if (holding.length > 1) expect(holding, "holders at one time").toHaveLength(1);
  for (const { pid } of holding) expect(JSON.parse(files.get(PATH) ?? "{}").pid).toBe(pid);
  const isOver = processes.every(({ isAlive, phase }) => {
    return !isAlive || phase === "over" || phase === "refused";
  });
  if (!isOver) return;
  const held = processes.filter(({ hasHeld }) => hasHeld).length;
  // Somebody is refused by one that has it, or that died on its way.
  if (processes.every(({ isAlive }) => isAlive)) expect(held).toBeGreaterThan(0);
  found.held = Math.max(found.held, held);
  if (processes.every(({ isAlive }) => isAlive)) {
    expect([...files.keys()], "left behind").toEqual([]);
  }
}

const TWICE = { deaths: 0, breaks: 2 };
const ONCE = { deaths: 0, breaks: 1 };
const DYING = { deaths: 1, breaks: 1 };
const ANY = Number.POSITIVE_INFINITY;
const DEAD = { [PATH]: ownerText(8) };
const CLAIMED = { ...DEAD, [`${PATH}.${nonceOf(8)}.claim`]: ownerText(9) };

describe("under every order of their steps, of processes that want a lock one at most has it", () => {
  it.each<[string, Readonly<Record<string, string>>, readonly number[], Bounds]>([
    ["two, and it is free", {}, [1, 2], { deaths: 0, breaks: ANY }],
    ["two, its owner is dead", DEAD, [1, 2], { deaths: 0, breaks: ANY }],
    [
      "two, and who claimed it of the dead is dead too",
      CLAIMED,
      [1, 2],
      { deaths: 0, breaks: ANY },
    ],
    ["two of which one may die, its owner is dead", DEAD, [1, 2], { deaths: 1, breaks: ANY }],
    ["three, and it is free", {}, [1, 2, 3], { deaths: 0, breaks: ANY }],
    ["three broken off twice at most, its owner is dead", DEAD, [1, 2, 3], TWICE],
    ["three broken off once at most, a claimant is dead too", CLAIMED, [1, 2, 3], ONCE],
    ["three of which one may die, broken off once at most", DEAD, [1, 2, 3], DYING],
  ])(
    "%s",
    (_, files, pids, bounds) => {
      const found = explore(files, pids, bounds);

      expect(found.held).toBeGreaterThan(0);
    },
    600_000,
  );
});
