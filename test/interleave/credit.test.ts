/**
 * The words beside the rings in every order of their steps: a worker whose ring is full and the owner who frees it; leases
 * begun and the owner who waits for that. A wait that nobody ends, or a lease begun that is not counted, must not be.
 */
import { describe, expect, it } from "vitest";
import * as crew from "../../src/layout/threads/worker-seats.ts";
import {
  bindSteps,
  explore,
  loadSteps,
  type StepApi,
  type Steps,
  type Thread,
} from "../support/interleave.ts";

const FILES = ["src/memory/parking.ts", "src/workers/protocol/lane-credit.ts"];
const SEAT_WORDS = crew.SEAT_HEADER_BYTES / 4;

function assert(condition: boolean, invariant: string): void {
  if (!condition) throw new Error(invariant);
}

function* call(api: StepApi, name: string, ...given: unknown[]) {
  return yield* (api[name] as StepApi[string])(...given);
}

function seatWords(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(SEAT_WORDS * 4));
}

/** What the two sides may do in the wrong order. */
interface Wrong {
  /** The worker looks for room first, and says then that it waits. */
  readonly saysLate?: boolean;
  /** The owner looks whether the worker waits, and frees the ring then. */
  readonly tellsFirst?: boolean;
  /** The worker asks for room alone, not for the leases that it has at hand. */
  readonly forgetsLeases?: boolean;
}

/**
 * A ring of one place, full: `used` is 1. A worker holds a result back, and one lease at hand that it begins when the result
 * has gone. It looks and sleeps as Attendant does; the owner frees the ring once.
 */
function runFull(steps: Steps, wrong: Wrong = {}): number {
  return explore((machine) => {
    const api = bindSteps(steps, machine, crew);
    const seat = seatWords();
    const used = Int32Array.of(1);
    let isKept = true;
    function* isFull(): Generator<undefined, boolean, unknown> {
      yield;
      machine.logs[machine.current] += `u${used[0]}`;
      return used[0] === 1;
    }
    function* flush() {
      if (isKept && !(yield* isFull())) {
        used[0] = 1;
        isKept = false;
      }
      if (wrong.saysLate !== true) yield* call(api, "setRingFull", seat, isKept);
    }
    function* work(): Thread {
      for (;;) {
        yield* flush();
        if (!isKept) return; // the lease begins
        yield* flush(); // the last one: it may find room that the first did not
        yield* call(api, "parkBegin", seat, crew.SEAT_PARK_WORD);
        const isMore = isKept ? !(yield* isFull()) : wrong.forgetsLeases !== true;
        if (wrong.saysLate === true) yield* call(api, "setRingFull", seat, isKept);
        if (isMore) yield* call(api, "parkEnd", seat, crew.SEAT_PARK_WORD);
        else yield* call(api, "parkWait", seat, crew.SEAT_PARK_WORD, 0);
      }
    }
    function* own(): Thread {
      if (wrong.tellsFirst === true) yield* call(api, "wakeForRoom", seat);
      yield;
      used[0] = 0;
      if (wrong.tellsFirst !== true) yield* call(api, "wakeForRoom", seat);
    }
    return {
      threads: [work(), own()],
      key: () => [seat[crew.SEAT_PARK_WORD], seat[crew.SEAT_FULL_WORD], used[0], isKept].join(),
      check: () => assert(!isKept, "the result has gone"),
    };
  });
}

/** Workers begin leases, so many each; the owner waits until all have begun. `isLate`: told first, counted then. */
function runBegun(steps: Steps, begins: readonly number[], isLate = false): number {
  return explore((machine) => {
    const api = bindSteps(steps, machine, crew);
    const seats = begins.map(seatWords);
    const all = begins.reduce((sum, count) => sum + count, 0);
    const owner = new Int32Array(new SharedArrayBuffer(4));
    function* work(seat: Int32Array, index: number): Thread {
      for (let lease = 0; lease < (begins[index] as number); lease++) {
        if (isLate) yield* call(api, "unpark", owner, 0);
        yield* call(api, "countBegun", seat, 3);
        if (!isLate) yield* call(api, "unpark", owner, 0);
      }
    }
    function* begun() {
      let sum = 0;
      for (const seat of seats) {
        sum += (yield* call(api, "begunOf", seat, 3)) as number;
      }
      return sum;
    }
    function* own(): Thread {
      for (;;) {
        const before = yield* begun();
        if (before === all) return;
        yield* call(api, "parkBegin", owner, 0);
        const again = yield* begun();
        if (again !== before) yield* call(api, "parkEnd", owner, 0);
        else yield* call(api, "parkWait", owner, 0, 0);
      }
    }
    return {
      threads: [...seats.map(work), own()],
      key: () => [...seats.map((seat) => seat.subarray(104, 108).join()), owner[0]].join(),
      check: () => undefined,
    };
  });
}

/** A worker that may die at any step, and the owner who looks which leases had begun (I2). */
function runDeath(steps: Steps, isLate = false): number {
  return explore((machine) => {
    const api = bindSteps(steps, machine, crew);
    const seat = seatWords();
    const handled = new Int32Array(new SharedArrayBuffer(4));
    function* handle(): Thread {
      yield;
      handled[0] = (handled[0] as number) + 1;
    }
    function* work(): Thread {
      for (let lease = 0; lease < 2; lease++) {
        if (isLate) yield* handle();
        yield* call(api, "countBegun", seat, 1);
        if (!isLate) yield* handle();
      }
    }
    function* bury(): Thread {
      yield;
      const seen = handled[0] as number;
      machine.logs[machine.current] += `h${seen}`;
      const begun = (yield* call(api, "begunOf", seat, 1)) as number;
      assert(begun >= seen, "a handler saw a lease that had not begun");
    }
    return {
      threads: [work(), bury()],
      key: () => `${seat[105]},${handled[0]}`,
      check: () => undefined,
    };
  });
}

describe("a ring that is full, in every order of steps", () => {
  const real = loadSteps(FILES);

  it("gets its room: no thread sleeps for ever, and what was held back goes", () => {
    expect(runFull(real)).toBeGreaterThan(30);
  });

  it.each<[string, Wrong]>([
    ["the worker says so after its last look for room", { saysLate: true }],
    ["the owner looks whether the worker waits before it frees the ring", { tellsFirst: true }],
    ["the worker forgets the leases that it has at hand", { forgetsLeases: true }],
  ])("is caught when %s", (_, wrong) => {
    expect(() => runFull(real, wrong)).toThrow(/nobody will wake it/);
  });

  it.each([
    ["the worker never says so", "Atomics.store(seat, SEAT_FULL_WORD, full);", ";"],
    ["the owner does not look", "if (Atomics.load(seat, SEAT_FULL_WORD) !== 0)", "if (false)"],
    ["the owner wakes nobody", "unpark(seat, SEAT_PARK_WORD);", ";"],
  ])("is caught when %s", (_, from, to) => {
    expect(() => runFull(loadSteps(FILES, [[from, to]]))).toThrow(/nobody will wake it/);
  });
});

describe("leases begun, in every order of steps", () => {
  const real = loadSteps(FILES);
  const count = "Atomics.store(seat, at, ((seat[at] as number) + 1) | 0);";

  it("are heard of by an owner who waits for two workers", () => {
    expect(runBegun(real, [2])).toBeGreaterThan(50);
    expect(runBegun(real, [1, 1])).toBeGreaterThan(100);
  });

  it("are caught when they are told before they are counted, or not counted", () => {
    expect(() => runBegun(real, [1, 1], true)).toThrow(/nobody will wake it/);
    expect(() => runBegun(loadSteps(FILES, [[count, ""]]), [1])).toThrow(/nobody will wake it/);
  });

  it("are counted before a handler sees them, and caught when they are not (I2)", () => {
    expect(runDeath(real)).toBeGreaterThan(5);
    expect(() => runDeath(real, true)).toThrow(/had not begun/);
  });
});
