/** Values in messages: anything but URLs and numbers is sent between threads as msgpack, packed as in the engine's records. */
import { addExtension, Packr } from "msgpackr/pack";
import { PACKED_PLAINLY, withZeros, ZERO_EXTENSION } from "../../base/serializable.ts";

addExtension(ZERO_EXTENSION);

const packr = new Packr({ ...PACKED_PLAINLY, useToJSON: false });

/** Returns bytes in memory of their own: the caller may keep them. */
export function pack(value: unknown): Uint8Array {
  return packr.pack(withZeros(value));
}

/** Copies the bytes before it unpacks them: values from shared memory never change under their reader. */
export function unpack(bytes: Uint8Array): unknown {
  return packr.unpack(Buffer.from(bytes));
}
