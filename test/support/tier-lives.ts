/** Lives of a frontier with tiers that end in a kill: what the child said, and what the next opening must find. */
import { expect } from "vitest";
import { MemoryFrontier } from "../../src/engine/frontier.ts";
import { normalizeOptions } from "../../src/engine/options.ts";
import type { FrontierOptions } from "../../src/engine/types.ts";
import { verifyFrontier } from "../../src/engine/verify.ts";

export interface Life {
  /** All numbers below were durable. */
  readonly pushed: number;
  /** So many were done, durably. */
  readonly done: number;
}

/** The last words of a child. */
export function lifeOf(text: string): Life {
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const last = (word: string): number =>
    Number(
      whole
        .match(new RegExp(`^${word} (\\d+)$`, "gm"))
        ?.at(-1)
        ?.split(" ")[1] ?? 0,
    );
  return { pushed: last("pushed"), done: last("done") };
}

/**
 * Opens what a kill left: all that was flushed is there, once and in order; nothing done comes back, nothing bogus is there, all
 * that was ever admitted is known, no file was damaged. Returns the next number to push.
 */
export async function checkLife(options: FrontierOptions, life: Life): Promise<number> {
  const frontier = await MemoryFrontier.open(normalizeOptions(options));
  const damage: string[] = [];
  frontier.on("resumed", (resumed) => damage.push(...resumed.damage));
  verifyFrontier(frontier);
  const { done, pending, leased, accepted } = frontier.report();
  expect(accepted).toBeGreaterThanOrEqual(life.pushed);
  expect(done).toBeGreaterThanOrEqual(life.done);
  expect(done + pending + leased).toBe(accepted);
  const urls = Array.from({ length: accepted }, (_, at) => `http://h${at % 7}.test/${at}`);
  // Nothing done comes back, nothing is lost: the rest stands in the order of pushing.
  const rest = [...frontier.records({ state: "pending" })].map(({ url }) => url);
  expect(rest.sort()).toEqual(urls.slice(done).sort());
  const first = frontier.pollMany(200);
  expect(first.map(({ url }) => url)).toEqual(urls.slice(done, done + first.length));
  for (const lease of first.reverse()) lease.release();
  for (let start = 0; start < accepted; start += 5000) {
    const part = urls.slice(start, start + 5000);
    expect(frontier.pushMany(part).duplicate).toBe(part.length);
  }
  await frontier.close();
  expect(damage).toEqual([]);
  return accepted;
}
