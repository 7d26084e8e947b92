import { expect, it, onTestFinished, vi } from "vitest";
import { LeaseSource } from "../../../../../src/integrations/redis/frontier/lease-source.ts";
import type { ServerLink } from "../../../../../src/integrations/redis/server/server-link.ts";

const CALL_MAX = 96;

interface Asked {
  readonly partition: number;
  readonly most: number;
  /** Answers with so many leases; `next`: when the partition has something again, "" for never. */
  answer(count: number, next?: string): void;
  fail(cause: Error): void;
}

/** A source over partitions that answer when the test wants it. */
function heldSource(partitions: number): { asked: Asked[]; source: LeaseSource } {
  const asked: Asked[] = [];
  const record = Buffer.alloc(32);
  const link = {
    keys: Array.from({ length: partitions }, () => []),
    batch: () => Buffer.alloc(14),
    ...{ sized: (most: number) => most, timed: () => undefined },
    run: (_: string, partition: number, args: readonly unknown[]) =>
      new Promise<readonly unknown[]>((resolve, fail) => {
        const answer = (count: number, next = ""): void => {
          const list = Array.from({ length: count }, () => Buffer.from(record));
          resolve(["L", next, "1", "", "0", "1000", Buffer.alloc(36 * count), ...list]);
        };
        asked.push({ partition, most: Number(args[1]), answer, fail });
      }),
  };
  const clock = { now: () => 0, monotonic: () => 0, schedule: () => () => undefined };
  const source = new LeaseSource({
    ...{ link: link as unknown as ServerLink, leaseMs: 1_000, maxLeases: 0, clock },
    onAnswer: async () => undefined,
    onFault: () => undefined,
  });
  return { asked, source };
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

it("asks a partition again while others have not answered, as long as it has what is asked for", async () => {
  const { asked, source } = heldSource(2);
  const leases = source.poll(2 * 2 * CALL_MAX + 2, true);
  for (let call = 0; call < 3; call++) {
    await turn();
    const [last] = asked.filter(({ partition }) => partition === 0).slice(-1);
    last?.answer(last.most);
  }
  await turn();
  expect(asked.map(({ partition, most }) => [partition, most])).toEqual([
    ...[
      [0, CALL_MAX],
      [1, CALL_MAX],
    ],
    ...[
      [0, CALL_MAX],
      [0, 1],
    ],
  ]);
  asked[1]?.answer(0);
  await turn();
  // What partition 1 did not have, partition 0 is asked for.
  expect(asked.slice(4).map(({ partition, most }) => [partition, most])).toEqual([[0, CALL_MAX]]);
  asked[4]?.answer(3);
  expect(await leases).toHaveLength(2 * CALL_MAX + 1 + 3);
});

it("names a partition as asked until it answers or fails, and wakes those that wait where it has more", async () => {
  const { asked, source } = heldSource(1);
  const first = source.poll(2, true);
  await turn();
  expect(source.isAsking).toBe(true);
  let isAwake = false;
  const woken = source.wait(Number.POSITIVE_INFINITY, undefined).then(() => {
    isAwake = true;
  });
  await turn();
  expect(isAwake).toBe(false);
  asked[0]?.answer(2);
  await first;
  await woken;
  expect(source.isAsking).toBe(false);
  const second = source.poll(2, true);
  await turn();
  asked[1]?.fail(new Error("gone"));
  await expect(second).rejects.toThrow("gone");
  expect(source.isAsking).toBe(false);
});

it("lets them wait where a partition had less than was asked for", async () => {
  const { asked, source } = heldSource(1);
  const polled = source.poll(2, true);
  let isAwake = false;
  void source.wait(Number.POSITIVE_INFINITY, undefined).then(() => {
    isAwake = true;
  });
  await turn();
  asked[0]?.answer(1);
  expect(await polled).toHaveLength(1);
  for (let turns = 0; turns < 3; turns++) await turn();
  expect(isAwake).toBe(false);
});

it("asks each partition in its turn, however few leases each poll is for", async () => {
  const { asked, source } = heldSource(3);
  for (let poll = 0; poll < 6; poll++) {
    const polled = source.poll(1, true);
    await turn();
    asked.at(-1)?.answer(1);
    await polled;
  }
  expect(asked.map(({ partition }) => partition)).toEqual([0, 1, 2, 0, 1, 2]);
});

it("still asks a partition of which a poll of one host had nothing", async () => {
  const { asked, source } = heldSource(1);
  const polled = source.pollHost({ name: "h.org", partition: 0 }, 5);
  await turn();
  asked[0]?.answer(0);
  expect(await polled).toEqual([]);
  void source.poll(1, false);
  await turn();
  expect(asked).toHaveLength(2);
});

it("asks no more often while many wait than while one does", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
  let calls = 0;
  const link = {
    keys: [[]],
    batch: () => Buffer.alloc(14),
    ...{ sized: (most: number) => most, timed: () => undefined },
    run: async () => {
      calls++;
      return ["L", "", "1", "", String(Date.now()), "0"];
    },
  };
  const source = new LeaseSource({
    ...{ link: link as unknown as ServerLink, leaseMs: 1_000, maxLeases: 0, clock: undefined },
    onAnswer: async () => undefined,
    onFault: () => undefined,
  });
  const waitAndPoll = async (): Promise<void> => {
    for (;;) {
      await source.wait(Number.POSITIVE_INFINITY, undefined);
      await source.poll(1, false);
    }
  };
  for (let waiting = 0; waiting < 20; waiting++) {
    void waitAndPoll();
    await vi.advanceTimersByTimeAsync(50);
  }
  const before = calls;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(calls - before).toBeLessThanOrEqual(12);
});
