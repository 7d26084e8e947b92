/** Frontiers of the contract's tests: opened through the public surface on a virtual clock, closed after the test that opened them. */
import { onTestFinished } from "vitest";
import {
  createVirtualClock,
  FrontierError,
  type FrontierOptions,
  openFrontier,
} from "../../src/index.ts";

export const A = "http://a.example/";
export const B = "http://b.example/";

export async function open(options: FrontierOptions = {}, startMs = 1_000_000) {
  const clock = createVirtualClock(startMs);
  const frontier = await openFrontier({ clock, ...options });
  onTestFinished(() => frontier.close());
  return { frontier, clock };
}

/** The code of what a call throws. */
export function codeOf(act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    if (error instanceof FrontierError) return error.code;
    throw error;
  }
  return undefined;
}
