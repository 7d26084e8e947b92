/** Messages of a stream, whatever pieces they arrive in. */
import { deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FrameReader, type Unfinished } from "../../../../src/server/grpc/message-frames.ts";
import { beginFrame, createWriter, endFrame, take } from "../../../../src/server/grpc/wire.ts";
import { writeFields } from "../../../../src/server/grpc/wire.ts";

const BYTES_MAX = 400;
const room = (bytesMax = 1 << 20): Unfinished => ({ bytes: 0, bytesMax });
const PACKERS = { identity: undefined, gzip: gzipSync, deflate: deflateSync } as const;

/** A message with its head, as a client sends it. */
function frameOf(message: Uint8Array, pack: ((bytes: Uint8Array) => Buffer) | undefined): Buffer {
  const body = pack === undefined ? Buffer.from(message) : pack(message);
  const head = Buffer.alloc(5);
  head[0] = pack === undefined ? 0 : 1;
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

function takeAll(reader: FrameReader, most = Number.POSITIVE_INFINITY): string[] {
  const taken: string[] = [];
  while (taken.length < most && reader.hasMessage) {
    const { bytes, at, end } = reader.take();
    taken.push(bytes.toString("hex", at, end));
  }
  return taken;
}

const anyMessage = fc.record({
  bytes: fc.uint8Array({ maxLength: 300 }),
  isPacked: fc.boolean(),
});

describe("FrameReader", () => {
  it("gives the messages that were sent, in order, however they are cut and when they are taken", () => {
    fc.assert(
      fc.property(
        fc.array(anyMessage, { maxLength: 30 }),
        fc.constantFrom("identity", "gzip", "deflate" as const),
        fc.infiniteStream(fc.integer({ min: 1, max: 900 })),
        fc.infiniteStream(fc.nat(4)),
        (messages, encoding, sizes, counts) => {
          const pack = PACKERS[encoding as keyof typeof PACKERS];
          const sent = Buffer.concat(
            messages.map(({ bytes, isPacked }) => frameOf(bytes, isPacked ? pack : undefined)),
          );
          const reader = new FrameReader(BYTES_MAX, encoding, room());
          const taken: string[] = [];
          for (let at = 0; at < sent.length; ) {
            const size = sizes.next().value as number;
            const piece = Buffer.from(sent.subarray(at, at + size));
            reader.add(piece);
            at += size;
            taken.push(...takeAll(reader, counts.next().value as number));
          }
          taken.push(...takeAll(reader));
          expect(taken).toEqual(messages.map(({ bytes }) => Buffer.from(bytes).toString("hex")));
          expect(reader.size).toBe(0);
        },
      ),
    );
  });

  it("refuses a message above the bound as soon as its head is there, packed ones by what they hold", () => {
    const long = new Uint8Array(BYTES_MAX + 1);
    for (const [encoding, frame] of [
      ["identity", frameOf(long, undefined).subarray(0, 5)],
      ["gzip", frameOf(long, gzipSync)],
    ] as const) {
      const reader = new FrameReader(BYTES_MAX, encoding, room());
      reader.add(frame);
      expect(reader.hasMessage).toBe(true);
      expect(() => reader.take()).toThrow(expect.objectContaining({ code: 8 }));
    }
    const most = new FrameReader(BYTES_MAX, "gzip", room());
    most.add(frameOf(new Uint8Array(BYTES_MAX), gzipSync));
    expect(takeAll(most)).toEqual(["00".repeat(BYTES_MAX)]);
  });

  it("puts no more together than there is room for, and gives the room back (I3)", () => {
    const shared = room(40_000);
    const [one, two, three] = [1, 2, 3].map(() => new FrameReader(30_000, "identity", shared));
    const head = Buffer.from([0, 0, 0, 0x20, 0]); // 8,192 bytes follow
    for (const reader of [one, two]) {
      reader?.add(head);
      reader?.add(Buffer.alloc(1_000));
    }
    expect(shared.bytes).toBe(2 * 16_384);
    three?.add(head);
    expect(() => three?.add(Buffer.alloc(1_000))).toThrow("messages: no room");
    one?.add(Buffer.alloc(7_192));
    expect(one?.take().end).toBe(8_197);
    two?.drop();
    three?.drop();
    expect(shared.bytes).toBe(0);
  });

  it("refuses what is packed in no way that was named, or is no such thing", () => {
    for (const encoding of ["identity", "gzip", "deflate"]) {
      const reader = new FrameReader(BYTES_MAX, encoding, room());
      reader.add(Buffer.from([1, 0, 0, 0, 2, 7, 7]));
      expect(() => reader.take()).toThrow(expect.objectContaining({ code: 13 }));
    }
  });

  it("reads what our own writer wrote", () => {
    const writer = createWriter(8);
    const messages = [new Uint8Array(0), new Uint8Array(300).fill(7), Uint8Array.of(1)];
    for (const message of messages) {
      const start = beginFrame(writer);
      writeFields(writer, message);
      endFrame(writer, start);
    }
    const reader = new FrameReader(BYTES_MAX, "identity", room());
    reader.add(take(writer));
    expect(takeAll(reader)).toEqual(messages.map((one) => Buffer.from(one).toString("hex")));
  });
});
