import { expect, it } from "vitest";
import {
  type PushBatch,
  PushLines,
} from "../../../../../src/integrations/redis/requests/push-lines.ts";
import type { Row } from "../../../../../src/integrations/redis/requests/request-reader.ts";
import { ROWS_MAX } from "../../../../../src/integrations/redis/requests/row-list.ts";

const CALLS_MAX = 64;

function rowOf(partition: number, depth = 0): Row {
  return {
    ...{ partition, depth, unit: "h.org", rule: 1, priority: 0, isStart: false, epoch: "" },
    ...{ bytes: Buffer.alloc(36), at: 16, end: 36, dueMs: undefined },
    ...{ dedup: "check" as const, isOnce: false, domain: undefined },
  };
}

/** Lines whose calls end when the test wants it. */
function heldLines() {
  const calls: Array<
    PushBatch & { end: (isTaken: boolean) => void; fail: (cause: Error) => void }
  > = [];
  const lines = new PushLines(
    (batch) =>
      new Promise((end, fail) => {
        calls.push({ ...batch, end, fail });
      }),
  );
  return { calls, lines };
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const placesOf = (calls: readonly PushBatch[], partition: number): number[] =>
  calls.filter((call) => call.partition === partition).flatMap(({ places }) => places);

it("sends a partition's rows in their order, one call after the other, and several partitions at once", async () => {
  const { calls, lines } = heldLines();
  const count = 2 * ROWS_MAX + 5;
  for (let place = 0; place < 2 * count; place++) lines.add(rowOf(place % 2), place, 1);
  const end = lines.end();
  for (let done = 0; done < 6; done += 2) {
    await turn();
    expect(calls.map(({ partition }) => partition)).toHaveLength(done + 2);
    for (const call of calls.slice(done)) call.end(true);
  }
  expect(await end).toEqual([]);
  for (const partition of [0, 1]) {
    const wanted = Array.from({ length: count }, (_, at) => 2 * at + partition);
    expect(placesOf(calls, partition)).toEqual(wanted);
  }
  expect(calls.map(({ rows }) => rows.length)).toEqual([
    ROWS_MAX,
    ROWS_MAX,
    ROWS_MAX,
    ROWS_MAX,
    5,
    5,
  ]);
});

it("begins to send before the last row has come", async () => {
  const { calls, lines } = heldLines();
  for (let place = 0; place < ROWS_MAX; place++) lines.add(rowOf(0), place, 1);
  await lines.room();
  expect(calls).toHaveLength(1);
});

it("gives back a refused batch and all that follows in its line, in order, unsent", async () => {
  const { calls, lines } = heldLines();
  const count = 3 * ROWS_MAX;
  for (let place = 0; place < 2 * count; place++) lines.add(rowOf(place % 2), place, 1);
  await turn();
  const end = lines.end();
  for (let taken = 0; taken < calls.length; taken++) {
    const call = calls[taken] as (typeof calls)[number];
    call.end(call.partition === 1 || placesOf(calls, 0).length <= ROWS_MAX);
    await turn();
    // Of partition 0 the second call is refused, so that there is no third.
  }
  const again = await end;
  expect(again).toEqual(Array.from({ length: 2 * ROWS_MAX }, (_, at) => 2 * (at + ROWS_MAX)));
  expect(placesOf(calls, 0)).toHaveLength(2 * ROWS_MAX);
  expect(placesOf(calls, 1)).toHaveLength(count);
});

it("gives back rows of several lines in the order of their push", async () => {
  const { calls, lines } = heldLines();
  for (let place = 0; place < 6; place++) lines.add(rowOf(place % 2), place, 1);
  const end = lines.end();
  await turn();
  for (const call of calls) call.end(false);
  expect(await end).toEqual([0, 1, 2, 3, 4, 5]);
});

it("keeps rows that were read under different versions of the rules apart", async () => {
  const { calls, lines } = heldLines();
  for (const [place, version] of [1, 1, 2, 2, 2].entries()) lines.add(rowOf(0), place, version);
  const end = lines.end();
  await turn();
  calls[0]?.end(true);
  await turn();
  calls[1]?.end(true);
  await end;
  expect(calls.map(({ version, places }) => [version, places])).toEqual([
    [1, [0, 1]],
    [2, [2, 3, 4]],
  ]);
});

it("asks for no more rows while 64 calls wait, and rejects as a call does, without sending the rest", async () => {
  const { calls, lines } = heldLines();
  for (let place = 0; place < CALLS_MAX * ROWS_MAX; place++) lines.add(rowOf(place % 4), place, 1);
  let hasRoom = false;
  const room = lines.room().then(() => {
    hasRoom = true;
  });
  for (let turns = 0; turns < 5; turns++) await turn();
  expect([hasRoom, calls.length]).toEqual([false, 4]);
  calls[0]?.end(true);
  await room;
  await turn();
  calls[1]?.fail(new Error("gone"));
  await turn();
  expect(lines.hasFailed).toBe(true);
  for (const { end } of calls.slice(2)) end(true);
  await expect(lines.end()).rejects.toThrow("gone");
  expect(calls).toHaveLength(5);
});
