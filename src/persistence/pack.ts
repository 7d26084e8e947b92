/** Pack: the one way in which persistence writes msgpack. Plain data; bytes and big integers stay what they are, and so does −0. */
import { addExtension, Packr } from "msgpackr";
import { withZeros, ZERO_EXTENSION } from "../base/serializable.ts";

addExtension(ZERO_EXTENSION);

export const packr = new Packr({
  useRecords: false,
  structuredClone: false,
  moreTypes: true,
  int64AsType: "bigint",
  useToJSON: false,
});

/** Packs a user's value, in which any number may be −0. */
export function packValue(value: unknown): Buffer {
  return packr.pack(withZeros(value));
}
