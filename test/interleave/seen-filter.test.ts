/**
 * The filter in every order of its steps: an owner that replaces entries and lowers depths, a worker that asks. What is
 * not known at that depth must never be said to be.
 */
import { describe, expect, it } from "vitest";
import {
  attachSeenFilter,
  createSeenFilter,
  filterBytes,
} from "../../src/structures/threads/seen-filter.ts";
import {
  bindSteps,
  explore,
  loadSteps,
  type StepApi,
  type Steps,
  type Thread,
} from "../support/interleave.ts";

const FILE = "src/structures/threads/seen-filter.ts";
const ENTRIES = 4;

function* call(api: StepApi, name: string, ...given: unknown[]) {
  return yield* (api[name] as StepApi[string])(...given);
}

/** Hashes of one line; the fifth takes the place of another. */
const HASHES = [0x11, 0x22, 0x33, 0x44, 0x55].map((hi) => ({ lo: 8, hi: hi | 0 }));

interface Ask {
  readonly hash: number;
  readonly depth: number;
}

/** The owner lowers one and replaces one, while two questions are asked that must be answered no. */
function run(steps: Steps, asks: readonly Ask[]): number {
  return explore((machine) => {
    const buffer = new SharedArrayBuffer(filterBytes(ENTRIES));
    createSeenFilter({ buffer, offset: 0 }, ENTRIES);
    const filter = attachSeenFilter({ buffer, offset: 0 });
    const api = bindSteps(steps, machine, { assert: () => undefined });
    const answers: unknown[] = [];
    const one = (at: number) => HASHES[at] as { lo: number; hi: number };
    function* own(): Thread {
      for (const [at, depth] of [
        [0, 9],
        [1, 1],
        [0, 5],
      ] as const) {
        yield* call(api, "filterInsert", filter, one(at).lo, one(at).hi, depth);
      }
    }
    function* ask(): Thread {
      for (const { hash, depth } of asks) {
        answers.push(yield* call(api, "filterHas", filter, one(hash).lo, one(hash).hi, depth));
      }
    }
    return {
      threads: [own(), ask()],
      key: () => `${Buffer.from(buffer).toString("latin1")}${answers.join()}`,
      check: () => {
        if (answers.includes(true)) throw new Error("known, though it never was at that depth");
      },
    };
  });
}

describe("the seen filter, in every order of its steps", () => {
  const never = [
    { hash: 0, depth: 4 },
    { hash: 2, depth: 100 },
    { hash: 1, depth: 0 },
  ];

  it("never says that an identity is known that is not, or not at that depth", () => {
    expect(run(loadSteps(FILE, [], /^words$/), never)).toBeGreaterThan(100);
  });

  it.each([
    ["the depth is not looked at", "if (known === 0 || known > depth + 1) continue;", ""],
    [
      "the high word is not looked at",
      "if (words[at + 2] === sealed(hi, known)) return true;",
      "return true;",
    ],
  ])("is caught when %s", (_, from, to) => {
    expect(() => run(loadSteps(FILE, [[from, to]], /^words$/), never)).toThrow(/known/);
  });

  it("is caught when the seal does not hold the depth", () => {
    const steps = loadSteps(FILE, [["hi ^ Math.imul(depthWord, 0x9e37_79b1)", "hi"]], /^words$/);
    // An entry whose depth falls: the new depth stands before the hash of the one whose place it takes.
    expect(() => runReplace(steps)).toThrow(/known/);
    expect(runReplace(loadSteps(FILE, [], /^words$/))).toBeGreaterThan(20);
  });
});

/** A full line; a shallow newcomer takes the place of a deep one, which is asked for at the newcomer's depth. */
function runReplace(steps: Steps): number {
  return explore((machine) => {
    const buffer = new SharedArrayBuffer(filterBytes(ENTRIES));
    createSeenFilter({ buffer, offset: 0 }, ENTRIES);
    const filter = attachSeenFilter({ buffer, offset: 0 });
    const api = bindSteps(steps, machine, { assert: () => undefined });
    let answer: unknown;
    for (let at = 0; at < 4; at++) {
      machine.current = 0;
      machine.logs[0] = "";
      for (const _ of call(api, "filterInsert", filter, 8, at + 1, 9));
    }
    function* own(): Thread {
      yield* call(api, "filterInsert", filter, 8, 0x55, 0);
    }
    function* ask(): Thread {
      answer = yield* call(api, "filterHas", filter, 8, 1, 0);
    }
    return {
      threads: [own(), ask()],
      key: () => `${Buffer.from(buffer).toString("latin1")}${answer}`,
      check: () => {
        if (answer === true) throw new Error("known, though it never was at that depth");
      },
    };
  });
}
