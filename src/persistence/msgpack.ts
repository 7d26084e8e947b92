/** The one way in which persistence writes msgpack. Plain data; bytes and big integers stay what they are, and so does −0. */
import { addExtension, Packr } from "msgpackr/pack";
import { PACKED_PLAINLY, withZeros, ZERO_EXTENSION } from "../base/serializable.ts";

addExtension(ZERO_EXTENSION);

export const packr = new Packr({ ...PACKED_PLAINLY, useToJSON: false });
const statePackr = new Packr(PACKED_PLAINLY);

/** Packs a user's value that was found to be plain data (base/serializable.ts), in which any number may be −0. */
export function packValue(value: unknown): Buffer {
  return packr.pack(withZeros(value));
}

/** Packs a user's state, which nobody has looked through: what says by `toJSON` what it is in plain data is written so. */
export function packState(value: unknown): Buffer {
  return statePackr.pack(withZeros(value));
}
