/**
 * A handler that wrote over the memory that it shares with the owner ended the owner with an uncaught error, and `run()` never returned.
 * The owner judges what it finds in a ring, and removes the worker that wrote what cannot be.
 */
import { expect, it } from "vitest";
import { openFrontier } from "../../src/index.ts";
import { WorkerPool } from "../../src/pool.ts";
import {
  MESSAGE_DONE,
  MESSAGE_PUSH,
  MESSAGE_SEND,
  RESULT_HEAD_BYTES,
} from "../../src/layout/threads/worker-messages.ts";
import {
  SEAT_BYTES,
  SEAT_HEADER_BYTES,
  SEAT_INBOUND_OFFSET,
  SEAT_TAKEN_WORD,
  SHARED_HEADER_BYTES,
  SHARED_SEATS,
} from "../../src/layout/threads/worker-seats.ts";
import {
  SPSC_HEADER_BYTES,
  SPSC_HEAD_WORD,
  SPSC_TAIL_WORD,
} from "../../src/layout/threads/spsc-lane.ts";
import { closeAfter } from "../support/listening.ts";

interface Way {
  readonly what: string;
  readonly fills?: ReadonlyArray<{ from: number; to: number; byte?: number }>;
  /** Words of the shared memory, in the order of writing. */
  readonly stores?: ReadonlyArray<readonly [number, number]>;
}

const SEATS_END = SHARED_HEADER_BYTES + SHARED_SEATS * SEAT_BYTES;
const SEAT = { from: SHARED_HEADER_BYTES, to: SHARED_HEADER_BYTES + SEAT_BYTES };
const RING = SHARED_HEADER_BYTES + SEAT_INBOUND_OFFSET;
const RING_WORD = RING / 4;
const MESSAGE_WORD = (RING + SPSC_HEADER_BYTES) / 4;

/** A record in one piece at the ring's first slot, of a size, and a head; then it is published. */
function record(size: number, head: readonly number[]): ReadonlyArray<readonly [number, number]> {
  const words = [size, 0, ...head];
  const stores = words.map((value, at) => [MESSAGE_WORD + at, value] as const);
  return [...stores, [RING_WORD + SPSC_TAIL_WORD, Math.ceil((size + 8) / 64)]];
}

const HEAD = RESULT_HEAD_BYTES;
const WAYS: readonly Way[] = [
  { what: "its seat, with every byte", fills: [SEAT] },
  { what: "its seat, with zeros", fills: [{ ...SEAT, byte: 0 }] },
  { what: "its seat, with ones", fills: [{ ...SEAT, byte: 255 }] },
  { what: "all seats", fills: [{ ...SEAT, to: SEATS_END }] },
  { what: "the words of its seat", fills: [{ ...SEAT, to: SEAT.from + SEAT_HEADER_BYTES }] },
  { what: "a cursor", stores: [[RING_WORD + SPSC_TAIL_WORD, 0x7ff0_0000]] },
  { what: "a message of an unknown kind", stores: record(HEAD, [99, 1, 0, 0, 0, 0]) },
  { what: "more links than bytes", stores: record(HEAD, [MESSAGE_DONE, 1, 1 << 30, 0, 0, 0]) },
  {
    what: "less text than its links",
    stores: record(HEAD + 4, [MESSAGE_PUSH, 0, 1, ...Array(11).fill(0), 9]),
  },
  { what: "a message without a head", stores: record(8, [MESSAGE_DONE, 1]) },
  { what: "a record that lies beyond the ring", stores: record(1 << 30, [MESSAGE_DONE, 1]) },
  {
    what: "extras that are no msgpack",
    stores: record(HEAD + 4, [MESSAGE_SEND, 1, 0, 0, 4, 0, ...Array(8).fill(0), 0x00c1_c1c1]),
  },
  {
    what: "extras that are nothing",
    stores: record(HEAD + 1, [MESSAGE_PUSH, 0, 0, 0, 1, 0, ...Array(8).fill(0), 0xc0]),
  },
  {
    what: "leases begun that were never sent",
    stores: [[SHARED_HEADER_BYTES / 4 + SEAT_TAKEN_WORD, 1_000_000]],
  },
];
const PAGES = 5;
const HANDLER = new URL("../support/overwrite-visit.mjs", import.meta.url);

it.each(WAYS.map((way, index) => [way.what, index] as const))(
  "a worker that writes over %s is replaced, and the run goes on to its end",
  async (_, way) => {
    const frontier = await openFrontier({ defaults: { maxAttempts: 2 } });
    closeAfter(() => frontier.close());
    const causes: string[] = [];
    let deliveries = 0;
    frontier.on("leased", (leases) => {
      deliveries += leases.filter(({ url }) => url.includes("/bad")).length;
    });
    frontier.on("error", ({ cause }) => causes.push(String(cause)));
    const { memory } = frontier.share() as unknown as { memory: SharedArrayBuffer };
    const pool = new WorkerPool({
      ...{ frontier, handler: HANDLER, threads: 1, concurrency: 1 },
      workerData: {
        memory,
        ways: WAYS,
        cursors: [RING_WORD + SPSC_HEAD_WORD, RING_WORD + SPSC_TAIL_WORD],
      },
    });
    closeAfter(() => pool.close());
    frontier.push({ url: `http://a.test/bad?way=${way}`, priority: 1 });
    frontier.pushMany(Array.from({ length: PAGES }, (__, page) => `http://a.test/${page}`));
    await pool.run();
    const { done, failed, pending, leased } = frontier.report();
    expect([done, failed, pending, leased]).toEqual([PAGES, 1, 0, 0]);
    expect(causes[0]).toContain("shared memory was written over");
    // Nearly each of them was an attempt; without that they go on to `maxDeliveries`, and those of the pages beside it too.
    expect(deliveries).toBeLessThan(5);
  },
);
