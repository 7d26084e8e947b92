/** The owner's turns: a bounded amount of work between two checks of the clock, and no seat delayed by another. */
import { describe, expect, it } from "vitest";
import { MESSAGE_DONE } from "../../../../../src/layout/threads/worker-messages.ts";
import { attachProducer } from "../../../../../src/structures/threads/spsc-lane.ts";
import { RESULT_WORK } from "../../../../../src/workers/pool/hub/drain-results.ts";
import { WorkerHub } from "../../../../../src/workers/pool/hub/worker-hub.ts";
import type {
  OwnedLease,
  OwnerPort,
  ResultBatch,
} from "../../../../../src/workers/pool/hub/owner-port.ts";
import { ROUND_WORK } from "../../../../../src/workers/pool/hub/hub-rounds.ts";
import type { Seat } from "../../../../../src/workers/pool/hub/worker-seat.ts";
import { inboundPlace } from "../../../../../src/workers/protocol/shared-memory.ts";
import {
  NOTHING_DROPPED,
  writeResult,
} from "../../../../../src/workers/protocol/result-message.ts";
import { createSender, flushSender } from "../../../../../src/workers/protocol/message-sender.ts";
import { until } from "../../../../support/pool.ts";

const LINKS = Array.from({ length: 8 }, (_, at) => `http://a.test/${at}`);
const WORK = RESULT_WORK + LINKS.length;

/** An owner whose every step outlasts a slice: a turn ends with its first round. */
function slowOwner() {
  /** The work of each turn. */
  const turns: string[][] = [[]];
  const note = (what: string): void => {
    (turns.at(-1) as string[]).push(what);
    const end = performance.now() + 0.02;
    while (performance.now() < end);
  };
  const port = {
    name: "test",
    clock: { now: () => 0 },
    kernel: {},
    maxUrlBytes: 100,
    maxFound: 100,
    pollMany: () => [],
    canApplyResults: () => true,
    applyResults({ leases }: ResultBatch) {
      const end = performance.now() + 3;
      while (performance.now() < end);
      for (const { url } of leases) note(url);
      return leases.map(() => false);
    },
    countDropped: () => undefined,
    isFinished: () => {
      turns.push([]);
      return false;
    },
    isClosed: () => false,
    onChange: () => () => undefined,
    keyPolicy: () => undefined,
    linkFacts: () => undefined,
  } as unknown as OwnerPort;
  const lease = (url: string): OwnedLease =>
    ({
      url,
      deadlineMs: Number.MAX_SAFE_INTEGER,
      release: () => {
        note(`${url} back`);
        return true;
      },
    }) as unknown as OwnedLease;
  return { turns, port, lease };
}

/** Puts this many results of a seat into its ring, and leaves other leases without a result. */
function fill(
  hub: WorkerHub,
  seat: Seat,
  count: { results: number; leases: number },
  lease: (url: string) => OwnedLease,
) {
  const sender = createSender(attachProducer(inboundPlace(hub.memory, seat.index)));
  for (let id = 1; id <= count.results + count.leases; id++) {
    const order = id > count.results ? id : id - count.results - 1; // below 0: it has begun
    const entry = { id, lease: lease(`${seat.index}:${id}`), priorityClass: 0, order };
    seat.entries.add({ ...entry, ruleNumber: 0, extras: undefined, isCancelled: false });
    if (id > count.results) continue;
    const said = { kind: MESSAGE_DONE, id, links: LINKS, extras: undefined };
    writeResult(sender, { ...said, dropped: NOTHING_DROPPED });
  }
  flushSender(sender);
  expect(sender.kept).toHaveLength(0);
}

describe("the owner's turns", () => {
  it("apply one round's work and no more, however many seats have results, and serve each in its turn (I1)", async () => {
    const { turns, port, lease } = slowOwner();
    const hub = new WorkerHub(port);
    const seats = Array.from({ length: 8 }, () => hub.reserve());
    for (const seat of seats) fill(hub, seat, { results: 300, leases: 0 }, lease);
    hub.wake();
    await until(() => seats.every(({ entries }) => entries.size === 0), "all applied");
    hub.close();
    const served = turns.map((turn) => new Set(turn.map((url) => Number(url.split(":")[0]))));
    for (const turn of turns) expect((turn.length - 1) * WORK).toBeLessThan(ROUND_WORK + WORK);
    // Two seats a round: of eight, none waits for more than the three rounds of the others.
    const busy = served.filter(({ size }) => size > 0);
    for (let at = 0; at < 12; at += 4) {
      const all = busy.slice(at, at + 4).flatMap((round) => [...round]);
      expect(new Set(all).size).toBe(8);
    }
    expect(turns.flat().filter((url) => url.startsWith("0:"))).toEqual(
      Array.from({ length: 300 }, (_, at) => `0:${at + 1}`),
    );
  });

  it("settle a dead thread's results and leases in rounds: results first, while other seats are served", async () => {
    const { turns, port, lease } = slowOwner();
    const hub = new WorkerHub(port);
    const [dead, alive] = [hub.reserve(), hub.reserve()];
    fill(hub, dead, { results: 400, leases: 300 }, lease);
    fill(hub, alive, { results: 10, leases: 0 }, lease);
    const settled = hub.workerDied(dead, "left");
    expect(hub.reserve().index).toBe(0); // its seat is free at once
    expect(dead.entries.size).toBe(700);
    await settled;
    expect(dead.entries.size).toBe(0);
    await until(() => alive.entries.size === 0, "the other one too");
    hub.close();
    const own = turns.flat().filter((url) => url.startsWith("0:"));
    expect(own).toEqual([
      ...Array.from({ length: 400 }, (_, at) => `0:${at + 1}`),
      ...Array.from({ length: 300 }, (_, at) => `0:${at + 401} back`),
    ]);
    for (const turn of turns) {
      const back = turn.filter((url) => url.endsWith("back")).length;
      const work = back * RESULT_WORK + (turn.length - back) * WORK;
      expect(work).toBeLessThan(ROUND_WORK + 2 * WORK);
    }
  });
});
