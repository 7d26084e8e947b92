/**
 * The lane's real code in every order of its steps: a producer and a consumer, up to four operations each, rings of
 * one, two and four slots, cursors that wrap. Broken copies of the same file must be caught by the same programs.
 */
import { describe, expect, it } from "vitest";
import * as layout from "../../src/layout/threads/spsc-lane.ts";
import {
  attachConsumer,
  attachProducer,
  createSpscLane,
  LANE_EMPTY,
  LANE_PIECES,
  spscBytes,
} from "../../src/structures/threads/spsc-lane.ts";
import {
  bindSteps,
  explore,
  loadSteps,
  type StepApi,
  type Steps,
  type Thread,
} from "../support/interleave.ts";

const FILE = "src/structures/threads/spsc-lane.ts";
const free = { ...layout, assert, VERIFY: false };

function assert(condition: boolean, invariant: string): void {
  if (!condition) throw new Error(invariant);
}

interface Program {
  readonly capacity: number;
  readonly start: number;
  /** Sizes of records; a batch is published together. */
  readonly batches: readonly (readonly number[])[];
  readonly reads: number;
  /** Records are left in the ring and read together (lanePeek). */
  readonly isSheaf?: boolean;
}

const record = (serial: number, size: number): Uint8Array => new Uint8Array(size).fill(serial + 1);

/** How many states; throws when records are lost, doubled, torn or out of order. */
function run(steps: Steps, program: Program): number {
  const { capacity, start, batches, reads } = program;
  return explore((machine) => {
    const buffer = new SharedArrayBuffer(spscBytes(capacity));
    const place = { buffer, offset: 0 };
    createSpscLane(place, capacity, start);
    const api = bindSteps(steps, machine, free);
    const producer = attachProducer(place);
    const consumer = attachConsumer(place);
    const got: Uint8Array[] = [];
    const sent: Uint8Array[] = [];
    function* produce(): Thread {
      let serial = 0;
      for (const batch of batches) {
        for (const size of batch) {
          const bytes = record(serial++, size);
          let at = 0;
          // As often as the program allows; what does not fit then is not sent at all.
          for (let tries = 0; tries < 3; tries++) {
            at += (yield* call(api, "laneSend", producer, bytes, at, size)) as number;
            if (at === size) break;
            yield* call(api, "lanePublish", producer);
          }
          if (at < size) return;
          sent.push(bytes);
        }
        yield* call(api, "lanePublish", producer);
      }
    }
    function* consume(): Thread {
      for (let at = 0; at < reads; at++) {
        yield* program.isSheaf === true
          ? readSheaf(api, consumer, got)
          : readOne(api, consumer, got);
      }
    }
    return {
      threads: [produce(), consume()],
      key: () =>
        `${Buffer.from(buffer).toString("latin1")}${Buffer.concat(got).toString("latin1")}`,
      check: () => {
        machine.current = 0;
        const rest = drainAll(api, consumer, got);
        for (const _ of rest);
        assert(got.length >= sent.length, `lost: ${got.length} of ${sent.length}`);
        got.forEach((bytes, at) => {
          const isWhole = bytes.every((byte) => byte === at + 1);
          assert(isWhole, `record ${at} is torn or out of order`);
        });
        sent.forEach((bytes, at) => {
          assert(got[at]?.length === bytes.length, `size of ${at}`);
        });
      },
    };
  });
}

function* call(api: StepApi, name: string, ...given: unknown[]) {
  return yield* (api[name] as StepApi[string])(...given);
}

type Consumer = ReturnType<typeof attachConsumer>;

function* readOne(api: StepApi, consumer: Consumer, got: Uint8Array[]) {
  const isThere = yield* call(api, "laneNext", consumer);
  if (isThere !== true) return false;
  const { source, start, size } = consumer;
  yield; // the record is read after laneNext said where it lies
  assert(got.length < 9, "more records than were sent");
  got.push(Uint8Array.prototype.slice.call(source, start, start + size));
  yield* call(api, "laneDrop", consumer);
  yield* call(api, "laneFree", consumer);
  return true;
}

/**
 * Reads as the owner does: records in one piece stay where they lie until one in pieces comes, or the batch is over, and
 * must be whole until then, whatever the producer does meanwhile.
 */
function* readSheaf(api: StepApi, consumer: Consumer, got: Uint8Array[]) {
  const sheaf: Uint8Array[] = [];
  const settle = (): void => {
    for (const bytes of sheaf.splice(0)) got.push(Uint8Array.prototype.slice.call(bytes));
  };
  for (let count = 0; count < 3; count++) {
    const next = yield* call(api, "lanePeek", consumer);
    if (next === LANE_EMPTY) break;
    if (next === LANE_PIECES) settle();
    const isThere = yield* call(api, "laneNext", consumer);
    if (isThere !== true) break;
    const { source, start, size } = consumer;
    sheaf.push(source.subarray(start, start + size));
    yield* call(api, "laneDrop", consumer);
  }
  yield;
  settle();
  assert(got.length < 9, "more records than were sent");
  yield* call(api, "laneFree", consumer);
}

function* drainAll(api: StepApi, consumer: Consumer, got: Uint8Array[]) {
  while (yield* readOne(api, consumer, got));
}

const NEAR_WRAP = 0x7fff_ffff;
const programs: Record<string, Program> = {
  "one slot, four records": {
    capacity: 1,
    start: NEAR_WRAP,
    batches: [[3], [3], [3], [3]],
    reads: 4,
  },
  "one slot, a record of three pieces": { capacity: 1, start: -1, batches: [[130]], reads: 4 },
  "two slots, batches": { capacity: 2, start: NEAR_WRAP, batches: [[3, 3], [3]], reads: 3 },
  "two slots, a record that wraps": {
    capacity: 2,
    start: NEAR_WRAP,
    batches: [[3], [100], [3]],
    reads: 3,
  },
  "four slots, batches": {
    capacity: 4,
    start: NEAR_WRAP - 1,
    batches: [
      [3, 60],
      [100, 3],
    ],
    reads: 4,
  },
  "four slots, read together": {
    capacity: 4,
    start: NEAR_WRAP - 1,
    batches: [[3, 3], [100], [3]],
    reads: 2,
    isSheaf: true,
  },
  "two slots, read together, one in pieces": {
    capacity: 2,
    start: NEAR_WRAP,
    batches: [[3], [100], [3]],
    reads: 2,
    isSheaf: true,
  },
};

const broken: Record<string, ReadonlyArray<readonly [string, string]>> = {
  "the publish is missing": [
    ["Atomics.store(lane.words, SPSC_TAIL_WORD, lane.tail); // publish", "// publish"],
  ],
  "the tail is stored before the bytes are written": [
    [
      "lane.slots.set(record.subarray(at, at + size), start);",
      "Atomics.store(lane.words, SPSC_TAIL_WORD, lane.tail + 1); lane.slots.set(record.subarray(at, at + size), start);",
    ],
  ],
  "the head is freed before the record is read": [
    [
      "lane.held = used;",
      "lane.held = 0; lane.head = (head + used) | 0; Atomics.store(lane.words, SPSC_HEAD_WORD, lane.head);",
    ],
  ],
  "the full check lets one slot too many in": [
    [
      "let free = capacity - ((tail - lane.headSeen) | 0);",
      "let free = capacity + 1 - ((tail - lane.headSeen) | 0);",
    ],
    ["return Math.min(free, toEnd);", "return Math.max(1, Math.min(free, toEnd));"],
  ],
  "the producer's mask is wrong": [
    [
      "const start = ((lane.tail & (lane.capacity - 1)) << SPSC_SLOT_SHIFT) + SPSC_PIECE_BYTES;\n    lane.slots",
      "const start = ((lane.tail & (lane.capacity >> 1)) << SPSC_SLOT_SHIFT) + SPSC_PIECE_BYTES;\n    lane.slots",
    ],
  ],
  "the look ahead takes a piece for a whole record": [
    [
      "const isWhole = lane.expected === 0 && lane.slotWords[word + 1] === 0;",
      "const isWhole = true;",
    ],
  ],
  "the look ahead takes what is not published": [
    ["if (lane.head === lane.tailSeen) return LANE_EMPTY;", "lane.tailSeen = (lane.head + 1) | 0;"],
  ],
  "the consumer never looks at the tail again": [
    ["if (head === lane.tailSeen) {", "if (head === lane.tailSeen && lane.size === 0) {"],
  ],
};

describe("a lane between two threads, in every order of its steps", () => {
  const real = loadSteps(FILE);
  it.each(Object.entries(programs))("%s: nothing lost, torn or out of order", (_, program) => {
    expect(run(real, program)).toBeGreaterThan(20);
  });

  it.each(Object.entries(broken))("is caught when %s", (name, edits) => {
    const steps = loadSteps(FILE, edits);
    const looksAhead = name.includes("look ahead");
    const chosen = Object.values(programs).filter(({ isSheaf = false }) => isSheaf === looksAhead);
    const isCaught = chosen.some((program) => {
      try {
        run(steps, program);
        return false;
      } catch {
        return true;
      }
    });
    expect(isCaught).toBe(true);
  });
});
