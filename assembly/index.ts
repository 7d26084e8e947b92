// The kernel ABI: an export list, nothing else. `src/kernel/kernel.ts` declares the same list.
export { admitBatch, settleBatch } from "./batch";
export { writeAdmitted } from "./journal/admitted-entries";
export { keyBatch, keyOne } from "./url/dedup-key";
export { parseBatch, parseOne } from "./url/parse-url";
export { keepMatch, matchBatch } from "./records/match-hosts";
export { listNextLones } from "./records/lone-records";
export { listHosts, makeHosts } from "./records/make-hosts";
export { makeBatch, makeRecords } from "./records/make-records";
export { listUnplaced, placeRecords } from "./records/place-records";
export {
  restoreColumns,
  restoreEntries,
  restoreQueues,
  restoreRows,
} from "./records/restore-records";
export { surveyRows } from "./records/survey-rows";
export { snapshotRows } from "./records/snapshot-columns";
export { leaseLones, listLones } from "./records/lease-lones";
export { endRecords, leaseRecords, leaseShared } from "./records/lease-records";
export { copyBatch, gatherUrls, touchRecords, touchRules } from "./records/copy-records";
export { kernelVersion } from "./version";
export {
  bloomProbeBatch,
  bloomInsertBatch,
  bloomProbe,
  bloomInsert,
  bloomCountBits,
} from "./seen/bloom";
export { fingerprint128, hashBatch, hashOne } from "./seen/fingerprint";
export { tableFindOne, tableInsertOne } from "./seen/table";
export { tableDemand, tableFindBatch, tableInsertBatch } from "./seen/table-batch";
export { tableEach, tableGrow, tableOpen, tableRemove, tableUpper } from "./seen/table-growth";
