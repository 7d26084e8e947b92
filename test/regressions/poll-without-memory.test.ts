/**
 * At the end of memory each poll that threw MEMORY_FULL lost the record that it had just taken out of its place, and let go of the leases
 * that it had already made: they came back at their deadlines, an attempt the poorer.
 */
import { expect, it } from "vitest";
import { coreOf, verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { createVirtualClock, openFrontier } from "../../src/index.ts";
import { takePages } from "../support/memory.ts";

const URLS = 10_000;

const cases = [
  { name: "one host", defaults: {} },
  { name: "hosts that take turns", defaults: { politeness: { perHost: 5 } } },
].flatMap((one) => [0, 1, 2, 65, 66].map((pages) => ({ ...one, pages })));

it.each(cases)(
  "a poll with $pages pages gives what it has made, or nothing, and loses nothing: $name",
  async ({ defaults, pages }) => {
    const frontier = await openFrontier({ clock: createVirtualClock(0), defaults });
    const urls = Array.from({ length: URLS }, (_, at) => `http://h${at % 2_000}.example/${at}`);
    expect(frontier.pushMany(urls).accepted).toBe(URLS);
    const giveBack = takePages(frontier, pages);
    const leased: string[] = [];
    for (let refusals = 0; refusals < 3 && leased.length < URLS; ) {
      try {
        for (const { url } of frontier.pollMany(97)) leased.push(url);
      } catch (error) {
        expect(error).toMatchObject({ code: "MEMORY_FULL" });
        refusals++;
      }
      expect(coreOf(frontier).counters.leased).toBe(leased.length);
    }
    verifyFrontier(frontier);
    giveBack();
    while (leased.length < URLS) {
      const leases = frontier.pollMany(1_000);
      expect(leases.length).toBeGreaterThan(0);
      for (const { url } of leases) leased.push(url);
    }
    expect(new Set(leased).size).toBe(URLS);
    expect(frontier.report()).toMatchObject({ leased: URLS, pending: 0 });
    verifyFrontier(frontier);
    await frontier.close();
  },
);
