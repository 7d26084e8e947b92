/** The only encoder of msgpack in persistence. Packs plain data; bytes, big integers and −0 keep their type. */
import { addExtension, Packr } from "msgpackr/pack";
import { PACKED_PLAINLY, withZeros, ZERO_EXTENSION } from "../base/serializable.ts";

addExtension(ZERO_EXTENSION);

export const packr = new Packr({ ...PACKED_PLAINLY, useToJSON: false });
const statePackr = new Packr(PACKED_PLAINLY);

/** Packs a user's value that was checked to be plain data (base/serializable.ts); any number in it may be −0. */
export function packValue(value: unknown): Buffer {
  return packr.pack(withZeros(value));
}

/** Packs a user's state, which was not checked. An object with `toJSON` is packed as the value that it returns. */
export function packState(value: unknown): Buffer {
  return statePackr.pack(withZeros(value));
}
