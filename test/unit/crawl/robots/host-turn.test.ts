import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { inTurn, TURN_MS_MAX } from "../../../../src/crawl/robots/host-turn.ts";
import { openFrontier } from "../../../../src/index.ts";

const DELAY = 1_000;
const HERE = "http://here.test/";
const THERE = "http://there.test/robots.txt";

async function rig() {
  const clock = createVirtualClock(1_700_000_000_000);
  const defaults = { politeness: { delayMs: DELAY, perHost: 1 } };
  const frontier = await openFrontier({ clock, defaults, keepOpen: true });
  const stop = new AbortController();
  const hostKeyOf = (url: string): string => new URL(url).host;
  const turns = {
    frontier,
    clock,
    delayMs: DELAY,
    hostKeyOf,
    signal: stop.signal,
    blocks: new Map(),
  };
  const startMs = clock.now();
  let answer: readonly [isGiven: boolean, afterMs: number] | undefined;
  let end = (): void => {};
  const long = new Promise<void>((resolve) => {
    end = resolve;
  });
  /** The work takes until `end` is called, or no time. */
  const ask = async (url = THERE, isLong = false): Promise<void> => {
    const work = (): Promise<void> => {
      answer = [true, clock.now() - startMs];
      return isLong ? long : Promise.resolve();
    };
    inTurn(turns, { url, leaseUrl: HERE }, work).catch(() => {
      answer = [false, clock.now() - startMs];
    });
    for (let turn = 0; turn < 4; turn++) await Promise.resolve();
  };
  /** In steps, so that whoever waits has its turn between two of them. */
  const advance = async (ms: number, eachStep = (): void => {}): Promise<void> => {
    for (let spent = 0; spent < ms; spent += 50) {
      clock.advance(50);
      for (let turn = 0; turn < 4; turn++) await Promise.resolve();
      eachStep();
    }
  };
  return { clock, frontier, stop, ask, advance, answer: () => answer, end: () => end() };
}

describe("a turn at a host without a lease", () => {
  it("is given at once where the host may go, and begins its delay", async () => {
    const { frontier, clock, ask, advance, answer } = await rig();
    frontier.push("http://there.test/page");
    await ask();
    expect(frontier.poll()).toBeUndefined();
    await advance(DELAY - 50);
    expect(answer()).toEqual([true, 0]);
    expect(frontier.poll()).toBeUndefined();
    clock.advance(50);
    expect(frontier.poll()?.url).toBe("http://there.test/page");
    await frontier.close();
  });

  it("keeps the frontier off its host until what was asked for is there, and for the delay after it", async () => {
    const { frontier, ask, advance, answer, end } = await rig();
    frontier.push("http://there.test/page");
    await ask(THERE, true);
    await advance(5 * DELAY, () => expect(frontier.poll()).toBeUndefined());
    end();
    await advance(DELAY, () => expect(frontier.poll()).toBeUndefined());
    await advance(50);
    expect(answer()).toEqual([true, 0]);
    expect(frontier.poll()?.url).toBe("http://there.test/page");
    await frontier.close();
  });

  it("blocks its host a few seconds ahead and no more, however long it takes: so much a kill leaves behind", async () => {
    const { frontier, clock, ask, advance, end, stop } = await rig();
    const host = frontier.host("there.test");
    await ask(THERE, true);
    let most = 0;
    await advance(65_000, () => {
      most = Math.max(most, host.readyAt - clock.now());
      expect(host.readyAt).toBeGreaterThan(clock.now());
    });
    expect(most).toBeLessThanOrEqual(5_000);
    end();
    await advance(50);
    expect(host.readyAt - clock.now()).toBeLessThanOrEqual(DELAY);
    await advance(60_000);
    expect(host.readyAt).toBeLessThan(clock.now());
    stop.abort();
    await frontier.close();
  });

  it("leaves a pause as it is that the host asks a visit for during the turn", async () => {
    const { frontier, clock, ask, advance, end } = await rig();
    frontier.host("there.test").limit = 2;
    frontier.host("there.test").delayMs = 0;
    frontier.pushMany(["http://there.test/1", "http://there.test/2"]);
    const [lease] = frontier.pollMany(1);
    await ask(THERE, true);
    await advance(2_000);
    lease?.retry({ outcome: { status: 429, retryAfterMs: 3_000 } });
    const untilMs = clock.now() + 3_000;
    await advance(200);
    end();
    await advance(2_750, () => expect(frontier.pollMany(9)).toEqual([]));
    expect(frontier.host("there.test").blockedUntil).toBe(untilMs);
    await advance(50);
    expect(frontier.pollMany(9)).not.toEqual([]);
    await frontier.close();
  });

  it("waits for a pause that the host asks a visit for while the turn waits", async () => {
    const { frontier, ask, advance, answer } = await rig();
    frontier.push("http://there.test/1");
    const lease = frontier.poll();
    await ask();
    await advance(500);
    lease?.retry({ outcome: { status: 429, retryAfterMs: 5_000 } });
    await advance(4_950);
    expect(answer()).toBeUndefined();
    await advance(200);
    expect(answer()?.[0]).toBe(true);
    await frontier.close();
  });

  it("waits for the delay of the visit before, and the frontier gives nothing meanwhile", async () => {
    const { frontier, ask, advance, answer } = await rig();
    frontier.pushMany(["http://there.test/1", "http://there.test/2"]);
    frontier.poll()?.done();
    await ask();
    const given: number[] = [];
    await advance(2 * DELAY - 50, () => given.push(frontier.pollMany(9).length));
    expect(answer()).toEqual([true, DELAY]);
    expect(given.every((count) => count === 0)).toBe(true);
    await advance(50);
    expect(frontier.pollMany(9)).toHaveLength(1);
    await frontier.close();
  });

  it("waits for a visit under way, then for the delay that its end begins", async () => {
    const { frontier, ask, advance, answer } = await rig();
    frontier.pushMany(["http://there.test/1", "http://there.test/2"]);
    const lease = frontier.poll();
    await ask();
    await advance(3_000, () => expect(frontier.pollMany(9)).toEqual([]));
    expect(answer()).toBeUndefined();
    lease?.done();
    await advance(DELAY - 50, () => expect(frontier.pollMany(9)).toEqual([]));
    expect(answer()).toBeUndefined();
    await advance(150, () => expect(frontier.pollMany(9)).toEqual([]));
    expect(answer()?.[0]).toBe(true);
    await frontier.close();
  });

  it("at the host of one's own lease waits for the delay alone", async () => {
    const { frontier, ask, advance, answer } = await rig();
    frontier.push(HERE);
    expect(frontier.poll()?.url).toBe(HERE);
    await ask("http://here.test/elsewhere.txt");
    await advance(DELAY - 50);
    expect(answer()).toBeUndefined();
    await advance(50);
    expect(answer()).toEqual([true, DELAY]);
    await frontier.close();
  });

  it("is refused where it would not come for a minute, where the host is held, and at the end", async () => {
    const far = await rig();
    far.frontier.host("there.test").blockUntil(far.clock.now() + TURN_MS_MAX + 1);
    await far.ask();
    await far.advance(50);
    expect(far.answer()?.[0]).toBe(false);
    const held = await rig();
    held.frontier.host("there.test").blockUntil(held.clock.now() + 10);
    held.frontier.host("there.test").hold();
    await held.ask();
    await held.advance(50);
    expect(held.answer()?.[0]).toBe(false);
    const full = await rig();
    full.frontier.push(THERE);
    full.frontier.poll();
    await full.ask();
    await full.advance(500);
    full.stop.abort();
    await full.advance(50);
    expect(full.answer()?.[0]).toBe(false);
    for (const { frontier } of [far, held, full]) await frontier.close();
  });
});
