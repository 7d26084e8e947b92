// The kernel ABI: an export list, nothing else. `src/kernel/kernel.ts` declares the same list.
export { keyBatch, keyOne } from "./key";
export { parseBatch, parseOne } from "./parse";
export { kernelVersion } from "./version";
