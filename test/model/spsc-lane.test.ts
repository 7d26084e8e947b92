/** The lane against a list: any mix of sends, claims, reads and frees on rings of 1, 2, 4 … slots near the wrap of cursors. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import {
  attachConsumer,
  attachProducer,
  createSpscLane,
  laneClaim,
  laneDrop,
  laneFree,
  laneIsEmpty,
  laneNext,
  lanePublish,
  laneSeal,
  laneSend,
  spscBytes,
  verifySpscLane,
} from "../../src/structures/threads/spsc-lane.ts";
import { testSeed } from "../support/seed.ts";

const SEED = testSeed("spsc-lane");
const LONGEST = 700;

function recordOf(serial: number, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, at) => (serial * 31 + at * 7) & 255);
}

/** Canaries on both sides of the lane stay as they are. */
function laneBetweenCanaries(capacity: number, start: number) {
  const size = spscBytes(capacity);
  const buffer = new SharedArrayBuffer(size + 256);
  const bytes = new Uint8Array(buffer).fill(0xa5);
  bytes.fill(0, 128, 128 + size);
  const place = { buffer, offset: 128 };
  createSpscLane(place, capacity, start);
  const areWhole = (): boolean =>
    bytes.subarray(0, 128).every((byte) => byte === 0xa5) &&
    bytes.subarray(128 + size).every((byte) => byte === 0xa5);
  return { place, areWhole };
}

describe.each([1, 2, 4, 8, 64])("a lane of %i slots", (capacity) => {
  it.each([0, 0x7fff_fffe, -3])("carries what a list would, from cursor %i", (start) => {
    const random = createRandom(SEED + capacity * 7 + start);
    const { place, areWhole } = laneBetweenCanaries(capacity, start);
    const producer = attachProducer(place);
    const consumer = attachConsumer(place);
    const sent: Uint8Array[] = [];
    let under: { bytes: Uint8Array; at: number } | undefined;
    let got = 0;
    for (let round = 0; round < 3_000; round++) {
      const choice = random.below(10);
      if (choice < 5) {
        under ??= { bytes: recordOf(sent.length, random.below(LONGEST)), at: 0 };
        const { bytes } = under;
        const place = under.at === 0 && choice < 2 ? laneClaim(producer, bytes.length) : -1;
        if (place >= 0) {
          producer.slots.set(bytes, place);
          laneSeal(producer, bytes.length);
          under.at = bytes.length;
        } else {
          const before = producer.tail;
          under.at += laneSend(producer, bytes, under.at, bytes.length);
          if (producer.tail === before) continue;
        }
        if (under.at === bytes.length) {
          sent.push(bytes);
          under = undefined;
        }
      } else if (choice < 7) lanePublish(producer);
      else if (choice < 9) {
        if (laneNext(consumer)) {
          const { source, start: from, size } = consumer;
          expect(new Uint8Array(source.subarray(from, from + size))).toEqual(sent[got]);
          got++;
          laneDrop(consumer);
        }
      } else laneFree(consumer);
      if (round % 64 === 0) verifySpscLane(attachConsumerAt(consumer));
    }
    expect(got).toBeGreaterThan(20);
    expect(areWhole()).toBe(true);
  });

  it("passes a record a thousand times its size, and one of no bytes", () => {
    const { place } = laneBetweenCanaries(capacity, -1);
    const producer = attachProducer(place);
    const consumer = attachConsumer(place);
    const bytes = recordOf(1, capacity * 64 * 1_000);
    for (let at = 0; at < bytes.length; ) {
      at += laneSend(producer, bytes, at, bytes.length);
      lanePublish(producer);
      if (at < bytes.length) expect(laneNext(consumer)).toBe(false);
    }
    expect(laneNext(consumer)).toBe(true);
    expect(Buffer.compare(consumer.source, bytes)).toBe(0);
    laneDrop(consumer);
    expect(laneSend(producer, bytes, 0, 0)).toBe(0);
    lanePublish(producer);
    expect(laneNext(consumer)).toBe(true);
    expect(consumer.size).toBe(0);
    laneDrop(consumer);
    laneFree(consumer);
    expect(laneIsEmpty(consumer)).toBe(true);
  });

  it("accepts nothing when it is full, and loses nothing (I1)", () => {
    const { place } = laneBetweenCanaries(capacity, 0x7fff_ffff);
    const producer = attachProducer(place);
    const consumer = attachConsumer(place);
    for (let slot = 0; slot < capacity; slot++) {
      expect(laneSend(producer, Uint8Array.of(slot), 0, 1)).toBe(1);
    }
    expect(laneSend(producer, Uint8Array.of(99), 0, 1)).toBe(0);
    expect(laneClaim(producer, 1)).toBe(-1);
    expect(laneNext(consumer)).toBe(false); // nothing is published yet
    lanePublish(producer);
    for (let slot = 0; slot < capacity; slot++) {
      expect(laneNext(consumer)).toBe(true);
      expect(consumer.source[consumer.start]).toBe(slot);
      laneDrop(consumer);
    }
    expect(laneSend(producer, Uint8Array.of(99), 0, 1)).toBe(0); // not freed yet
    laneFree(consumer);
    expect(laneSend(producer, Uint8Array.of(99), 0, 1)).toBe(1);
  });
});

/** A consumer for the check alone: where the real one stands, without moving it. */
function attachConsumerAt(consumer: ReturnType<typeof attachConsumer>) {
  return { ...consumer, head: consumer.head + consumer.held };
}
