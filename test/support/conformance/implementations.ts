/**
 * The implementations of `AsyncFrontier` that the conformance suite judges, with what each of them supports. What one does not
 * support, it must refuse by name at opening (test/conformance/refusals.suite.ts): a feature is never ignored in silence.
 *
 *   memory      the engine on this thread                   virtual clock
 *   directory   the same, with journal and snapshots        virtual clock, opens again
 *   thread      the owner's thread, plain data alone        real clock
 *   redis       state and atomic steps in a Redis server    real clock, opens again
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createVirtualClock } from "../../../src/base/clock.ts";
import { openFrontier } from "../../../src/engine/api/open-frontier.ts";
import { openFrontierThread } from "../../../src/engine/owner-thread/open-frontier-thread.ts";
import type { AsyncFrontier } from "../../../src/engine/types/async-frontier.ts";
import type { FrontierOptions } from "../../../src/engine/types/frontier-types.ts";
import type { Skipper } from "../skip.ts";
import { asyncOf } from "./async-of.ts";

/** What an implementation may lack. */
export interface Supports {
  /** Functions as options: `keyOf`, `by`, `of`, `accept`. */
  readonly functions: boolean;
  /** The hook `onIdle`, which every process has for itself. */
  readonly idleHook: boolean;
  /** Groups wider than a host. */
  readonly groups: boolean;
  /** Epochs by observed change. */
  readonly adaptiveEpochs: boolean;
  /** `freshHosts` other than `"first"`. */
  readonly freshShares: boolean;
  /** Host clocks keep the exact order of records whose rule has no politeness. */
  readonly hostsApart: boolean;
  /** `records: "full"`: trails, and done records that can be made pending again. */
  readonly fullRecords: boolean;
  /** `forget({ epoch: "forever" })` beside identities of other epochs. */
  readonly foreverBeside: boolean;
  /** The option `breaker`. */
  readonly breaker: boolean;
  /** The option `clock`. */
  readonly ownClock: boolean;
  /** Opening again continues where the frontier was closed. */
  readonly opensAgain: boolean;
}

/** One frontier under test, with its clock. */
export interface Rig {
  readonly frontier: AsyncFrontier;
  /** The time by which this frontier judges, in milliseconds since 1970. */
  now(): number;
  /** Lets so many milliseconds pass, on the clock by which this frontier judges. */
  pass(ms: number): Promise<void>;
  /** Closes the frontier and opens what it left, with the same options unless others are given. */
  again(options?: FrontierOptions): Promise<Rig>;
}

export interface Implementation {
  readonly name: string;
  readonly supports: Supports;
  /** Whether its clock stands still between two calls. */
  readonly isExact: boolean;
  /** Opens one that is closed and deleted after the test; skips the test where the machine lacks what it needs. */
  open(context: Skipper, options?: FrontierOptions): Promise<Rig>;
}

const EVERYTHING: Supports = {
  functions: true,
  foreverBeside: true,
  idleHook: true,
  breaker: true,
  groups: true,
  adaptiveEpochs: true,
  fullRecords: true,
  freshShares: true,
  hostsApart: true,
  ownClock: true,
  opensAgain: true,
};
/** A time of the present, so that a number kept in too few bits shows. */
const START_MS = 1_700_000_000_000;

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "outrider-conformance-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

async function openHere(
  options: FrontierOptions,
  clock: ReturnType<typeof createVirtualClock>,
): Promise<Rig> {
  const frontier = asyncOf(await openFrontier({ clock, ...options }));
  onTestFinished(() => frontier.close());
  return {
    frontier,
    now: () => clock.now(),
    pass: async (ms) => clock.advance(ms),
    again: async (others = options) => {
      await frontier.close();
      return openHere({ ...others, directory: options.directory }, clock);
    },
  };
}

/** Resolves when so many milliseconds of the system's clock are over. */
export async function passReal(ms: number): Promise<void> {
  const end = performance.now() + ms + 2;
  while (performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, end - performance.now()));
  }
}

async function openThread(options: FrontierOptions): Promise<Rig> {
  const frontier = await openFrontierThread(options);
  onTestFinished(() => frontier.close());
  return {
    frontier,
    now: () => Date.now(),
    pass: passReal,
    again: async (others = options) => {
      await frontier.close();
      return openThread({ ...others, directory: options.directory });
    },
  };
}

export const memory: Implementation = {
  name: "memory",
  supports: { ...EVERYTHING, fullRecords: false, opensAgain: false },
  isExact: true,
  open: (_, options = {}) => openHere(options, createVirtualClock(START_MS)),
};

export const directory: Implementation = {
  name: "directory",
  supports: { ...EVERYTHING, foreverBeside: false },
  isExact: true,
  open: (_, options = {}) =>
    openHere({ ...options, directory: temporary() }, createVirtualClock(START_MS)),
};

export const thread: Implementation = {
  name: "thread",
  supports: {
    ...EVERYTHING,
    ...{ functions: false, foreverBeside: false, idleHook: false, ownClock: false },
  },
  isExact: false,
  open: (_, options = {}) => openThread({ ...options, directory: temporary() }),
};
