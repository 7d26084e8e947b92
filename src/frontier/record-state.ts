/** The states of a record as users name them (DESIGN §2); `removed`: taken out by hand, its identity kept. */
export type RecordState = "waiting" | "pending" | "leased" | "failed" | "done" | "removed";
