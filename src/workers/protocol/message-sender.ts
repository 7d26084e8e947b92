/**
 * Message sender: writes messages into one lane. A message that fits is written in place; others are kept, in order, until there is
 * room: a full ring is back-pressure, never loss.
 *
 *   I1  No message overtakes another: while one is kept, all later ones are kept after it.
 */
import {
  laneClaim,
  laneSeal,
  laneSend,
  lanePublish,
  type LaneProducer,
} from "../../structures/threads/spsc-lane.ts";

export interface Sender {
  readonly lane: LaneProducer;
  /** Messages that did not fit; the first from byte `sent` on. */
  readonly kept: Buffer[];
  sent: number;
  /** The message being written in place. */
  readonly inPlace: Draft;
}

/** Where a message is written: `bytes` from `start`, a multiple of 8; the same as words and as doubles. */
export interface Draft {
  readonly bytes: Buffer;
  readonly words: Int32Array;
  readonly doubles: Float64Array;
  start: number;
}

export function createSender(lane: LaneProducer): Sender {
  return { lane, kept: [], sent: 0, inPlace: draftOf(lane.slots) };
}

/** Makes room for a message of `size` bytes. The caller writes it and calls `endMessage` before the next one begins. */
export function beginMessage(sender: Sender, size: number): Draft {
  if (sender.kept.length === 0) {
    const start = laneClaim(sender.lane, size);
    if (start >= 0) {
      sender.inPlace.start = start;
      return sender.inPlace;
    }
  }
  return draftOf(Buffer.allocUnsafeSlow((size + 7) & ~7));
}

export function endMessage(sender: Sender, draft: Draft, size: number): void {
  if (draft === sender.inPlace) laneSeal(sender.lane, size);
  else sender.kept.push(draft.bytes.subarray(0, size));
}

/** Sends as much of the kept messages as fits and publishes everything. Returns whether anything new became visible. */
export function flushSender(sender: Sender): boolean {
  const { kept, lane } = sender;
  while (kept.length > 0) {
    const message = kept[0] as Buffer;
    sender.sent += laneSend(lane, message, sender.sent, message.length);
    if (sender.sent < message.length) break;
    kept.shift();
    sender.sent = 0;
  }
  return lanePublish(lane);
}

function draftOf(bytes: Buffer): Draft {
  const { buffer, byteOffset, length } = bytes;
  return {
    bytes,
    words: new Int32Array(buffer, byteOffset, length >> 2),
    doubles: new Float64Array(buffer, byteOffset, length >> 3),
    start: 0,
  };
}
