/**
 * Closing in every order of steps (I4 of the hub): one pushes into its ring while the owner closes. What the pusher was told is
 * queued, the owner has taken in; the ring's code is the real one.
 */
import { describe, expect, it } from "vitest";
import * as layout from "../../src/layout/threads/spsc-lane.ts";
import {
  attachConsumer,
  attachProducer,
  createSpscLane,
  spscBytes,
} from "../../src/structures/threads/spsc-lane.ts";
import {
  bindSteps,
  explore,
  loadSteps,
  type StepApi,
  type Steps,
  type Thread,
} from "../support/interleave.ts";

const FILE = "src/structures/threads/spsc-lane.ts";

interface Wrong {
  /** The pusher looks at the phase before it publishes. */
  readonly looksEarly?: boolean;
  /** The owner looks at the ring before it says that it closes. */
  readonly drainsEarly?: boolean;
}

function* call(api: StepApi, name: string, ...given: unknown[]) {
  return yield* (api[name] as StepApi[string])(...given);
}

/** How many states; throws where something was told to be queued and is not in. */
function run(steps: Steps, wrong: Wrong = {}): number {
  return explore((machine) => {
    const place = { buffer: new SharedArrayBuffer(spscBytes(4)), offset: 0 };
    createSpscLane(place, 4, 0x7fff_ffff);
    const phase = new Int32Array(new SharedArrayBuffer(4));
    const api = bindSteps(steps, machine, { ...layout, VERIFY: false, assert: () => undefined });
    const producer = attachProducer(place);
    const consumer = attachConsumer(place);
    const answers: string[] = [];
    let taken = 0;
    function* isClosed() {
      yield;
      const closed = Atomics.load(phase, 0);
      machine.logs[machine.current] += `p${closed}`;
      return closed === 1;
    }
    function* push(): Thread {
      for (let count = 0; count < 2; count++) {
        if (yield* isClosed()) return;
        let isLate = wrong.looksEarly === true ? yield* isClosed() : false;
        yield* call(api, "laneSend", producer, Uint8Array.of(count), 0, 1);
        yield* call(api, "lanePublish", producer);
        if (wrong.looksEarly !== true) isLate = yield* isClosed();
        answers.push(isLate ? "rejected" : "queued");
      }
    }
    function* drain() {
      while ((yield* call(api, "laneNext", consumer)) === true) {
        taken++;
        yield* call(api, "laneDrop", consumer);
      }
      yield* call(api, "laneFree", consumer);
    }
    function* close(): Thread {
      yield* drain(); // a turn before
      if (wrong.drainsEarly !== true) {
        yield;
        Atomics.store(phase, 0, 1);
        yield* drain();
        return;
      }
      yield* drain();
      yield;
      Atomics.store(phase, 0, 1);
    }
    return {
      threads: [push(), close()],
      key: () => `${Buffer.from(place.buffer).toString("latin1")}${phase[0]}${answers}${taken}`,
      check: () => {
        const queued = answers.filter((answer) => answer === "queued").length;
        if (queued > taken) throw new Error(`${queued} were told to be queued, ${taken} are in`);
      },
    };
  });
}

describe("closing while somebody pushes, in every order of steps", () => {
  const real = loadSteps(FILE);

  it("takes in all that was answered as queued", () => {
    expect(run(real)).toBeGreaterThan(100);
  });

  it.each<[string, Wrong]>([
    ["the pusher looks at the phase before it publishes", { looksEarly: true }],
    ["the owner looks at the ring before it says that it closes", { drainsEarly: true }],
  ])("is caught when %s", (_, wrong) => {
    expect(() => run(real, wrong)).toThrow(/told to be queued/);
  });
});
