/** Lives of a frontier with tiers that end in a kill: what the child reported, and what the next opening must find. */
import { expect } from "vitest";
import { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { normalizeOptions } from "../../src/engine/options/normalize-options.ts";
import type { FrontierOptions } from "../../src/engine/types/frontier-types.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";

export interface Life {
  /** All numbers below were durable. */
  readonly pushed: number;
  /** This many were done, durably. */
  readonly done: number;
  /** Numbers begin here since it was cleared. */
  readonly base?: number;
  /** They may begin here: a clear was about to happen. */
  readonly clearing?: number | undefined;
}

/** The state known from a child's lines and from those before it. */
export function lifeOf(text: string, before: Life = { pushed: 0, done: 0 }): Life {
  let { pushed, done, base = 0, clearing } = before;
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  for (const [, word, said] of whole.matchAll(/^(pushed|done|base|clearing) (\d+)$/gm)) {
    const number = Number(said);
    if (word === "pushed") pushed = Math.max(pushed, number);
    else if (word === "done") done = Math.max(done, number);
    else if (word === "clearing") clearing = number;
    else {
      if (number !== base) done = 0;
      base = number;
      clearing = undefined;
    }
  }
  return { pushed, done, base, clearing };
}

/**
 * Opens what a kill left: everything flushed is there, once and in order; nothing done is pending, nothing was invented, every admitted
 * identity is still known, no file was damaged. Returns the next number to push.
 */
export async function checkLife(options: FrontierOptions, life: Life): Promise<number> {
  const frontier = await LocalFrontier.open(normalizeOptions(options));
  const damage: string[] = [];
  frontier.on("resumed", (resumed) => damage.push(...resumed.damage));
  verifyFrontier(frontier);
  const { done, pending, leased, accepted } = frontier.report();
  const urlOf = (number: number): string => `http://h${number % 7}.test/${number}`;
  let { base = 0 } = life;
  const { clearing = base } = life;
  const isCleared = clearing > base && frontier.record(urlOf(base)) === undefined;
  if (isCleared) base = clearing;
  else expect(done).toBeGreaterThanOrEqual(life.done);
  expect(base + accepted).toBeGreaterThanOrEqual(life.pushed);
  expect(done + pending + leased).toBe(accepted);
  const urls = Array.from({ length: accepted }, (_, at) => urlOf(base + at));
  // No done URL is pending, none is lost: the others are in the order of pushing.
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
