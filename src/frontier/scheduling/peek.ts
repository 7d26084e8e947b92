/** Peek: what would be handed out now, found by handing it out and undoing that in reverse. */
import type { Core, SteppedMs } from "../core.ts";
import type { HandOut } from "./hand-out.ts";
import { holdRoom, releaseHeldRoom } from "../records/memory-reserve.ts";
import { handOut, undoHandOut } from "./schedule.ts";

/** A hand-out to be undone, with what it cost its rule. */
interface Peeked extends HandOut {
  readonly passBefore: number;
  readonly currentBefore: number;
}

/**
 * The records of the next hand-outs, at most `max`, in their order; fewer if there is no memory to find them.
 */
export function peekRecords(core: Core, max: number, nowMs: SteppedMs): number[] {
  const outs: Peeked[] = [];
  // Each takes what a lease takes, and its undoing as much.
  if (!holdRoom(core, 2 * max)) return [];
  try {
    while (outs.length < max) {
      const out = emptyHandOut();
      if (!handOut(core, nowMs, out)) break;
      const { passBefore, currentBefore } = core.shares;
      outs.push({ ...out, passBefore, currentBefore });
    }
    return outs.map(({ record }) => record);
  } finally {
    for (const out of outs.reverse()) undoHandOut(core, out, nowMs);
    releaseHeldRoom(core);
  }
}

function emptyHandOut(): HandOut {
  const numbers = {
    record: 0,
    sequence: 0,
    givenMs: 0,
    turnBefore: 0,
    readyAtBefore: 0,
    readyAtSet: 0,
  };
  return { ...numbers, holds: undefined };
}
