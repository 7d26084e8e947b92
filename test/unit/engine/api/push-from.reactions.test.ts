/** A pushFrom hangs nothing on what outlives its slices: a source may be slow, and never end. */
import { describe, expect, it } from "vitest";
import { pushFromThread } from "../../../../src/engine/owner-thread/thread-push-from.ts";
import { plainResult } from "../../../../src/engine/owner-thread/thread-messages.ts";
import { pushResult } from "../../../../src/engine/intake/push-result.ts";
import type { CallChannel } from "../../../../src/engine/owner-thread/call-channel.ts";
import { openBench } from "../../../support/bench-frontier.ts";

const SLICES = 500;
/** A promise of the work itself is waited for in a few places, however many slices there are. */
const REACTIONS_MAX = 10;

/** The most reactions that are hung on any one promise while something runs. */
async function mostReactions(run: () => Promise<unknown>): Promise<number> {
  const counts = new Map<unknown, number>();
  const { then } = Promise.prototype;
  // biome-ignore lint/suspicious/noThenProperty: who hangs what on a promise is what is counted.
  Promise.prototype.then = function (this: Promise<unknown>, kept, refused) {
    counts.set(this, (counts.get(this) ?? 0) + 1);
    return then.call(this, kept, refused);
  } as typeof then;
  try {
    await run();
  } finally {
    // biome-ignore lint/suspicious/noThenProperty: as it was.
    Promise.prototype.then = then;
  }
  return Math.max(...counts.values());
}

async function* slow(count: number): AsyncGenerator<string> {
  for (let index = 0; index < count; index++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    yield `http://a.com/${index}`;
  }
}

/** An owner that takes each slice, and says at the end what became of all. */
function ownerLine(taken: unknown[]): CallChannel {
  let end: (value: unknown) => void = () => undefined;
  const ended = new Promise<unknown>((resolve) => {
    end = resolve;
  });
  const call: CallChannel["call"] = ({ method, args }) => {
    if (method === "open") return ended;
    if (args[0] === undefined) end(plainResult(pushResult(new Uint8Array(taken.length))));
    else taken.push(args[0]);
    return Promise.resolve(true);
  };
  return { call, need: () => undefined } as unknown as CallChannel;
}

describe("pushFrom of a slow source", () => {
  it.each([false, true])(
    "hangs nothing on its signal for each slice (%s: on one)",
    async (isOn) => {
      const { frontier, check } = openBench({ capacity: SLICES });
      const options = { batch: 1, ...(isOn ? { signal: new AbortController().signal } : {}) };
      const run = (): Promise<unknown> => frontier.pushFrom(slow(SLICES), options);
      expect(await mostReactions(run)).toBeLessThan(REACTIONS_MAX);
      expect(frontier.report().pending).toBe(SLICES);
      check();
    },
  );

  it.each([false, true])(
    "from another thread neither, nor on its end (%s: on a signal)",
    async (isOn) => {
      const taken: unknown[] = [];
      const options = { batch: 1, ...(isOn ? { signal: new AbortController().signal } : {}) };
      const work = { channel: ownerLine(taken), key: 1 };
      const run = (): Promise<unknown> => pushFromThread(work, slow(SLICES), options);
      expect(await mostReactions(run)).toBeLessThan(REACTIONS_MAX);
      expect(taken).toHaveLength(SLICES);
    },
  );
});
