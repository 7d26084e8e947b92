/**
 * The machine's clock was set back while a directory was closed. Each host that was visited before waited until the clock had come as far
 * as then: with a delay of a second and a clock that was six hours ahead, nothing was leased for six hours.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createVirtualClock, openFrontier, type Frontier, type FrontierOptions } from "outrider";

const HOUR = 3_600_000;
const DELAY = 1_000;
const BEFORE = 1_800_000_000_000;
const AFTER = BEFORE - 6 * HOUR;

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "outrider-clock-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

type Politeness = NonNullable<NonNullable<FrontierOptions["defaults"]>["politeness"]>;

function open(
  clock: ReturnType<typeof createVirtualClock>,
  politeness: Politeness,
): Promise<Frontier> {
  return openFrontier({ directory, clock, defaults: { politeness } });
}

/** Pushes pages and visits one of each host; the clock says later times meanwhile. */
async function crawlBefore(politeness: Politeness, urls: string[], first: number): Promise<void> {
  const clock = createVirtualClock(BEFORE);
  const frontier = await open(clock, politeness);
  frontier.pushMany(urls);
  for (const lease of frontier.pollMany(first)) lease.done();
  clock.advance(HOUR);
  for (const lease of frontier.pollMany(first)) lease.done();
  await frontier.close();
}

function pagesOf(hosts: number, each: number): string[] {
  return Array.from({ length: hosts * each }, (_, at) => `http://h${at % hosts}.com/${at}`);
}

describe("a clock that was set back while the directory was closed", () => {
  it("keeps hosts for their delay, not until the clock has come as far as before", async () => {
    await crawlBefore({ delayMs: DELAY }, pagesOf(5, 4), 5);
    const clock = createVirtualClock(AFTER);
    const frontier = await open(clock, { delayMs: DELAY });
    expect(frontier.pollMany(20)).toEqual([]);
    expect(frontier.nextDueAt()).toBe(AFTER + DELAY);
    clock.advance(DELAY);
    expect(frontier.pollMany(20)).toHaveLength(5);
    await frontier.close();
  });

  it("keeps groups for their delay", async () => {
    const groups = [{ by: "domain" as const, delayMs: 3 * DELAY }];
    const urls = ["http://a.x.com/1", "http://b.x.com/1", "http://c.x.com/1", "http://d.x.com/1"];
    await crawlBefore({ groups }, urls, 1);
    const clock = createVirtualClock(AFTER);
    const frontier = await open(clock, { groups });
    expect(frontier.pollMany(20)).toEqual([]);
    expect(frontier.nextDueAt()).toBe(AFTER + 3 * DELAY);
    clock.advance(3 * DELAY);
    expect(frontier.pollMany(20)).toHaveLength(1);
    await frontier.close();
  });

  it("keeps a delay set by hand, and a pause that a host asked for, whole", async () => {
    const clock = createVirtualClock(BEFORE);
    const first = await open(clock, { delayMs: DELAY });
    first.pushMany(pagesOf(3, 2));
    first.host("h0.com").delayMs = 60 * DELAY;
    for (const lease of first.pollMany(3)) lease.done();
    first.host("h1.com").blockUntil(BEFORE + 2 * HOUR);
    await first.close();
    const again = createVirtualClock(AFTER);
    const frontier = await open(again, { delayMs: DELAY });
    again.advance(DELAY);
    expect(frontier.pollMany(3).map(({ host }) => host)).toEqual(["h2.com"]);
    again.advance(59 * DELAY - 1);
    expect(frontier.poll()).toBeUndefined();
    again.advance(1);
    expect(frontier.poll()?.host).toBe("h0.com");
    expect(frontier.host("h1.com")).toMatchObject({ blockedUntil: BEFORE + 2 * HOUR });
    await frontier.close();
  });

  it("changes nothing where a delay was longer when it was set", async () => {
    await crawlBefore({ delayMs: 10 * 60 * DELAY }, pagesOf(3, 4), 3);
    const frontier = await open(createVirtualClock(BEFORE + HOUR), { delayMs: DELAY });
    expect(frontier.nextDueAt()).toBe(BEFORE + HOUR + 10 * 60 * DELAY);
    await frontier.close();
  });

  it("changes nothing where the clock only went on", async () => {
    await crawlBefore({ delayMs: 2 * HOUR }, pagesOf(3, 2), 3);
    const clock = createVirtualClock(BEFORE + HOUR);
    const frontier = await open(clock, { delayMs: 2 * HOUR });
    expect(frontier.nextDueAt()).toBe(BEFORE + 2 * HOUR);
    await frontier.close();
  });
});
