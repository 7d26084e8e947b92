/** At the end of memory `update(url, { notBefore })` threw MEMORY_FULL when the record had left its place already, and it was lost. */
import { expect, it } from "vitest";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { createVirtualClock, openFrontier } from "../../src/index.ts";
import { takePages } from "../support/memory.ts";

it("a delay without memory changes nothing, and the same one is taken later", async () => {
  const clock = createVirtualClock(0);
  const frontier = await openFrontier({ clock });
  const urls = Array.from({ length: 50 }, (_, at) => `http://a.example/${at}`);
  frontier.pushMany(urls);
  const giveBack = takePages(frontier);
  for (const url of urls) {
    expect(() => frontier.update(url, { priority: 7, notBefore: 1_000 })).toThrowError(/memory/);
  }
  expect(frontier.report()).toMatchObject({ pending: 50, waiting: 0 });
  verifyFrontier(frontier);
  giveBack();
  for (const url of urls) expect(frontier.update(url, { notBefore: 1_000 })).toBe(true);
  expect(frontier.report()).toMatchObject({ pending: 0, waiting: 50 });
  clock.advance(1_000);
  const leases = frontier.pollMany(99);
  expect(leases.map(({ url }) => url)).toEqual(urls);
  expect(leases.every(({ priority }) => priority === 0)).toBe(true);
  verifyFrontier(frontier);
  await frontier.close();
});
