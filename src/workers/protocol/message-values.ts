/** Values in messages: what is neither URL nor number goes between threads as msgpack, packed as in the engine's records. */
import { addExtension, Packr } from "msgpackr/pack";
import { PACKED_PLAINLY, withZeros, ZERO_EXTENSION } from "../../base/serializable.ts";

addExtension(ZERO_EXTENSION);

const packr = new Packr({ ...PACKED_PLAINLY, useToJSON: false });

/** Bytes of their own: the caller may keep them. */
export function pack(value: unknown): Uint8Array {
  return packr.pack(withZeros(value));
}

/** Reads from shared memory by a copy: what comes out never changes under its reader. */
export function unpack(bytes: Uint8Array): unknown {
  return packr.unpack(Buffer.from(bytes));
}
