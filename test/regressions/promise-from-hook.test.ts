/** An `accept` hook that is async was refused without a word of why, and its rejection ended the process. */
import { expect, it } from "vitest";
import { createVirtualClock, type FrontierOptions, openFrontier } from "../../src/index.ts";

const late = (): never => Promise.reject(new Error("late")) as never;
/** A promise that is none of the language's. */
const thenable = (): never =>
  // biome-ignore lint/suspicious/noThenProperty: that is what is tested.
  ({ then: (_: unknown, fail: (cause: Error) => void) => fail(new Error("late")) }) as never;

const HOOKS: Array<[stage: string, (hook: () => never) => FrontierOptions]> = [
  ["accept", (accept) => ({ accept })],
  ["keyOf", (keyOf) => ({ defaults: { key: { keyOf } } })],
  ["by", (by) => ({ defaults: { politeness: { delayMs: 1, by } } })],
  ["groups", (by) => ({ defaults: { politeness: { groups: [{ by, delayMs: 1 }] } } })],
  ["of", (of) => ({ defaults: { epoch: { of } } })],
  ["onIdle", (onIdle) => ({ onIdle })],
];

it.each(HOOKS)(
  "a promise from %s is refused by name, and its rejection is harmless",
  async (stage, optionsOf) => {
    const unhandled: unknown[] = [];
    const note = (cause: unknown): void => void unhandled.push(cause);
    process.on("unhandledRejection", note);
    try {
      for (const hook of [late, thenable]) {
        const frontier = await openFrontier({ clock: createVirtualClock(0), ...optionsOf(hook) });
        const faults: string[] = [];
        frontier.on("error", ({ kind, stage: at, cause }) => faults.push(`${kind} ${at} ${cause}`));
        frontier.push("http://a.example/");
        frontier.poll()?.done();
        expect(faults.length).toBeGreaterThan(0);
        for (const fault of faults) {
          expect(fault).toMatch(new RegExp(`^hook ${stage} .*a promise \\(expected: .*at once`));
        }
        await frontier.close();
      }
      // A rejection that nobody took is told after the microtasks of a turn.
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  },
);
