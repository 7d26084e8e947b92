// The kernel ABI: an export list, nothing else. `src/kernel/kernel.ts` declares the same list.
export { kernelVersion } from "./version";
export {
  bloomProbeBatch,
  bloomInsertBatch,
  bloomProbe,
  bloomInsert,
  bloomCountBits,
} from "./bloom";
