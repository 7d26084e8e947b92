/**
 * Checks a message from a worker's ring before anything of it is applied. A worker's memory is shared: a handler that writes over it must
 * not end the owner's thread, nor have the frontier read lengths that are not there.
 *
 *   kind      one that goes inward (layout/threads/worker-messages.ts)
 *   lengths   head, links, text and extras fill the message, and the links fill the text
 *   sequence  a lease that ends has begun: the worker counts it before its handler sees it
 *   extras    an object; what its fields may be is checked where they are used
 *
 * Cost: one addition and one comparison for each link.
 */
import {
  MESSAGE_DONE,
  MESSAGE_FAIL,
  MESSAGE_SEND,
  RESULT_HEAD_BYTES,
} from "../../../layout/threads/worker-messages.ts";
import { RingFault } from "../../../structures/threads/ring-fault.ts";
import { unpack } from "../../protocol/message-values.ts";
import { resultId } from "../../protocol/result-message.ts";
import type { Seat } from "./worker-seat.ts";

/** Throws RingFault unless a worker may have sent this. @hot */
export function checkMessage(seat: Seat, bytes: Buffer, start: number, size: number): void {
  if (size < RESULT_HEAD_BYTES) throw new RingFault(`a message of ${size} bytes`);
  const kind = bytes.readInt32LE(start);
  if (kind < MESSAGE_DONE || kind > MESSAGE_SEND) throw new RingFault(`a message of kind ${kind}`);
  const links = bytes.readUInt32LE(start + 8);
  const textBytes = bytes.readUInt32LE(start + 12);
  const extrasBytes = bytes.readUInt32LE(start + 16);
  if (RESULT_HEAD_BYTES + links * 4 + textBytes + extrasBytes !== size) {
    throw new RingFault(`a message of ${size} bytes with other lengths`);
  }
  if (bytes.readUInt32LE(start + 20) > 1) throw new RingFault("a message in no alphabet");
  let text = 0;
  const end = start + RESULT_HEAD_BYTES + links * 4;
  for (let at = start + RESULT_HEAD_BYTES; at < end; at += 4) text += bytes.readUInt32LE(at);
  if (text !== textBytes) throw new RingFault(`links of ${text} bytes in ${textBytes}`);
  if (kind > MESSAGE_FAIL) return; // a lease that goes back need not have begun
  const entry = seat.entries.get(resultId(bytes, start));
  if (entry !== undefined && !seat.hasBegun(entry)) {
    throw new RingFault(`the end of lease ${entry.id}, which has not begun`);
  }
}

/** The extras of a message, an object. Throws RingFault for anything else. */
export function readExtras(packed: Uint8Array): object {
  let value: unknown;
  try {
    value = unpack(packed);
  } catch {
    throw new RingFault(`extras of ${packed.length} bytes that are no msgpack`);
  }
  if (typeof value !== "object" || value === null) throw new RingFault("extras that are no object");
  return value;
}
