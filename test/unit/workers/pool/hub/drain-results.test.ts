/** Results from a ring to a frontier whose disk fails now and then: applied in order, whole, each once. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FrontierError } from "../../../../../src/base/errors.ts";
import { MESSAGE_DONE, MESSAGE_RETRY } from "../../../../../src/layout/threads/worker-messages.ts";
import {
  SPSC_HEAD_WORD,
  SPSC_PIECE_BYTES,
  SPSC_SLOT_SHIFT,
} from "../../../../../src/layout/threads/spsc-lane.ts";
import {
  attachProducer,
  type LaneConsumer,
  laneFree,
  laneUsed,
} from "../../../../../src/structures/threads/spsc-lane.ts";
import { ResultDrain, RESULT_WORK } from "../../../../../src/workers/pool/hub/drain-results.ts";
import type {
  OwnedLease,
  OwnerPort,
  ResultBatch,
} from "../../../../../src/workers/pool/hub/owner-port.ts";
import { Seat } from "../../../../../src/workers/pool/hub/worker-seat.ts";
import {
  createSharedMemory,
  inboundPlace,
} from "../../../../../src/workers/protocol/shared-memory.ts";
import { readResult, writeResult } from "../../../../../src/workers/protocol/result-message.ts";
import { createSender, flushSender } from "../../../../../src/workers/protocol/message-sender.ts";
import { testSeed } from "../../../../support/seed.ts";

/** Whether the producer may not yet overwrite a message (I2). */
function isHeldBack(ring: LaneConsumer, message: Buffer, start: number): boolean {
  if (message !== ring.slots) return true;
  const slot = (start - SPSC_PIECE_BYTES) >>> SPSC_SLOT_SHIFT;
  const head = Atomics.load(ring.words, SPSC_HEAD_WORD);
  return ((slot - head) & (ring.capacity - 1)) < laneUsed(ring);
}

/** An owner that records what it applies, or fails for want of disk. */
function owner() {
  const told: string[] = [];
  const state: { isFull: boolean; told: string[]; ring?: LaneConsumer } = { isFull: false, told };
  const need = (): void => {
    if (state.isFull) throw new FrontierError("DISK_FULL", "disk: full");
  };
  const port = {
    maxFound: 50,
    canApplyResults: () => true,
    applyResults({ leases, messages, starts }: ResultBatch) {
      leases.forEach((_, at) => {
        expect(
          isHeldBack(state.ring as LaneConsumer, messages[at] as Buffer, starts[at] as number),
        ).toBe(true);
      });
      need();
      leases.forEach(({ url }, at) => {
        const { links } = readResult(messages[at] as Buffer, starts[at] as number);
        told.push(`${url} ${links.join(",")}`);
      });
      return leases.map(() => false);
    },
    countDropped: () => undefined,
    fault: () => undefined,
  } as unknown as OwnerPort;
  const lease = (id: number): OwnedLease =>
    ({
      url: `${id}`,
      done({ found }: { found: string[] }) {
        need();
        told.push(`${id} ${found.join(",")}`);
        return { late: false };
      },
      retry() {
        need();
        told.push(`${id} retry`);
        return "requeued";
      },
    }) as unknown as OwnedLease;
  return { state, port, lease };
}

describe("results from a worker's ring", () => {
  it("are applied in order and once each, also when they wrap, come in pieces or meet a full disk (I1 to I3)", () => {
    const step = fc.record({
      results: fc.array(
        fc.record({
          links: fc.integer({ min: 0, max: 120 }),
          bytes: fc.constantFrom(1, 20, 300, 9_000),
          isRetry: fc.boolean(),
        }),
        { maxLength: 60 },
      ),
      isFull: fc.boolean(),
      isRescued: fc.boolean(),
      most: fc.constantFrom(1, 100, 2_000),
    });
    const memory = createSharedMemory(4);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const { state, port, lease } = owner();
        const seat = new Seat(memory, 0, false);
        state.ring = seat.inbound;
        const sender = createSender(attachProducer(inboundPlace(memory, 0)));
        const drain = new ResultDrain(port);
        const expected: string[] = [];
        let id = 0;
        const turn = (most: number): boolean => {
          flushSender(sender);
          const { isMore, work } = drain.take(seat, most);
          expect(seat.fault).toBeUndefined();
          // The last one may exceed it: none is split (I4).
          expect(work).toBeLessThan(most + RESULT_WORK + 120 + (120 * 9_100) / 512);
          const isOpen = drain.flush();
          laneFree(seat.inbound);
          return isMore || !isOpen || sender.kept.length > 0 || !seat.isQuiet;
        };
        for (const { results, isFull, isRescued, most } of steps) {
          for (const { links, bytes, isRetry } of results) {
            id++;
            const found = Array.from({ length: isRetry ? 0 : links }, (_, at) => {
              return `${id}:${at}:${"x".repeat(bytes)}`;
            });
            const begun = { priorityClass: 0, order: -1 };
            seat.entries.add({ id, lease: lease(id), ...begun } as never);
            const kind = isRetry ? MESSAGE_RETRY : MESSAGE_DONE;
            writeResult(sender, {
              kind,
              id,
              links: found,
              extras: undefined,
              dropped: [0, 0, 0, 0, 0],
            });
            expected.push(isRetry ? `${id} retry` : `${id} ${found.join(",")}`);
          }
          state.isFull = isFull;
          flushSender(sender);
          if (isRescued) drain.copyUnread(seat);
          turn(most);
        }
        state.isFull = false;
        while (turn(2_000)) expect(state.told.length).toBeLessThanOrEqual(expected.length);
        expect(state.told).toEqual(expected);
        expect(seat.entries.size).toBe(0);
      }),
      { seed: testSeed("drain"), numRuns: 60 },
    );
  });
});
