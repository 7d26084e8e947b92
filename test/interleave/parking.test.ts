/** Parking in every order of its steps: two wakers and a waiter; a wake-up that is lost leaves the waiter asleep. */
import { describe, expect, it } from "vitest";
import { PARK_PARKED } from "../../src/memory/parking.ts";
import {
  bindSteps,
  explore,
  loadSteps,
  type StepApi,
  type Steps,
  type Thread,
} from "../support/interleave.ts";

const FILE = "src/memory/parking.ts";

function* call(api: StepApi, name: string, ...given: unknown[]) {
  return yield* (api[name] as StepApi[string])(...given);
}

/** Two wakers give one thing each; the waiter takes two. */
function run(steps: Steps, wakers = 2): number {
  return explore((machine) => {
    const words = new Int32Array(new SharedArrayBuffer(12));
    const api = bindSteps(steps, machine, {});
    let notifies = 0;
    function* wake(at: number): Thread {
      yield;
      words[at] = 1;
      machine.logs[machine.current] += "p";
      if ((yield* call(api, "unpark", words, 0)) === true) notifies++;
    }
    function* wait(): Thread {
      for (;;) {
        yield;
        const sum = (words[1] as number) + (words[2] as number);
        machine.logs[machine.current] += `s${sum}`;
        if (sum === wakers) return;
        yield* call(api, "parkBegin", words, 0);
        yield;
        const again = (words[1] as number) + (words[2] as number);
        machine.logs[machine.current] += `a${again}`;
        if (again > sum) yield* call(api, "parkEnd", words, 0);
        else yield* call(api, "parkWait", words, 0, Number.POSITIVE_INFINITY);
      }
    }
    const threads = wakers === 2 ? [wake(1), wake(2), wait()] : [wake(1), wait()];
    return {
      threads,
      key: () => words.join(),
      check: () => {
        if (words[0] === PARK_PARKED) throw new Error("the word says parked, and nobody is");
        if (notifies > wakers) throw new Error("more notifies than wakers");
      },
    };
  });
}

const broken: Record<string, ReadonlyArray<readonly [string, string]>> = {
  "the waiter does not say that it parks": [
    ["Atomics.store(words, at, PARK_PARKED); // pairs with the load in unpark", ""],
    [
      "Atomics.wait(words, at, PARK_PARKED, timeoutMs);",
      "Atomics.wait(words, at, PARK_AWAKE, timeoutMs);",
    ],
  ],
  "the waker does not notify": [["Atomics.notify(words, at, 1);", ""]],
  "the waker notifies and leaves the word": [
    ["if (Atomics.exchange(words, at, PARK_AWAKE) !== PARK_PARKED) return false;", ""],
  ],
};

describe("parking, in every order of its steps", () => {
  it("no wake-up is lost with one waker or two", () => {
    const steps = loadSteps(FILE);
    expect(run(steps, 1)).toBeGreaterThan(10);
    expect(run(steps, 2)).toBeGreaterThan(30);
  });

  it.each(Object.entries(broken))("is caught when %s", (_, edits) => {
    expect(() => run(loadSteps(FILE, edits))).toThrow();
  });
});
