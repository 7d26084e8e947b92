// The kernel ABI: an export list, nothing else. `src/kernel/kernel.ts` declares the same list.
export { keyBatch, keyOne } from "./key";
export { parseBatch, parseOne } from "./parse";
export { kernelVersion } from "./version";
export { fingerprint128, hashBatch, hashOne } from "./fingerprint";
export {
  tableDemand,
  tableFindBatch,
  tableFindOne,
  tableInsertBatch,
  tableInsertOne,
} from "./table";
export { tableEach, tableGrow, tableOpen, tableRemove } from "./table-grow";
export { tableFindShared } from "./table-shared";
