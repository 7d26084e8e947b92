/**
 * The one way to leave a test out: at run time, by a condition, with a reason. The reporter (tools/skips.mjs) prints and counts skipped
 * tests, and fails a run in which a test was skipped in any other way.
 */

/** The part of the context of a test, or of a `beforeEach`, that is needed here. */
export interface Skipper {
  skip(note?: string): never;
}

/** Ends the test as skipped unless `isPossible`. The reason names what this machine lacks. */
export function skipUnless(
  context: Skipper,
  isPossible: boolean,
  reason: string,
): asserts isPossible {
  if (!isPossible) context.skip(reason);
}

/** The part of the context of a test that is needed to report a part as left out. */
export interface Annotator {
  annotate(message: string, type?: string): Promise<unknown>;
}

/** Reports a part of a test as left out while the rest runs, such as one side of a comparison. */
export async function leaveOut(context: Annotator, reason: string): Promise<void> {
  await context.annotate(reason, "left out");
}
