/** Where a record stands. `removed`: taken out by `remove`, its identity kept. */
export type RecordState = "waiting" | "pending" | "leased" | "failed" | "done" | "removed";
