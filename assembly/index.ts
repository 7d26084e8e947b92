// The kernel ABI: an export list, nothing else. `src/kernel/kernel.ts` declares the same list.
export { admitBatch, settleBatch } from "./batch";
export { keyBatch, keyOne } from "./key";
export { parseBatch, parseOne } from "./parse";
export { keepMatch, matchBatch } from "./match";
export { listHosts, makeHosts } from "./hosts";
export { makeRecords, planRecords, sizeRecords } from "./make";
export { plantRecords } from "./plant";
export { reviveColumns, reviveEntries, reviveQueues, reviveRows } from "./revive";
export { sightRows } from "./sight";
export { snapshotRows } from "./snapshot";
export { endRecords, leaseRecords, leaseShared } from "./lease";
export { copyBatch, gatherUrls, touchRecords, touchRules } from "./record";
export { kernelVersion } from "./version";
export {
  bloomProbeBatch,
  bloomInsertBatch,
  bloomProbe,
  bloomInsert,
  bloomCountBits,
} from "./bloom";
export { fingerprint128, hashBatch, hashOne } from "./fingerprint";
export { tableFindOne, tableInsertOne } from "./table";
export { tableDemand, tableFindBatch, tableInsertBatch } from "./table-batch";
export { tableEach, tableGrow, tableOpen, tableRemove, tableUpper } from "./table-grow";
