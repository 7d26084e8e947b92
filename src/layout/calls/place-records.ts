/**
 * How a recovery divides records before it places them (assembly/records/place-records.ts): those of a queue are in one part, and what the queues
 * of a part need of memory, beside the records, fits in a cache. The part of a record is the upper bits of its queue's handle × an odd factor.
 */
export const PART_COUNT = 1024;
export const PART_SHIFT = 22;
export const PART_FACTOR = 0x1e3779b1;
