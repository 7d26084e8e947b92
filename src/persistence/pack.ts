/** Pack: the one way in which persistence writes msgpack. Plain data; bytes and big integers stay what they are. */
import { Packr } from "msgpackr";

export const packr = new Packr({
  useRecords: false,
  structuredClone: false,
  moreTypes: true,
  int64AsType: "bigint",
});
