/** What a table says of a row, as the unsigned words that a row's value reads as (layout/table.ts has them signed). */
import { TABLE_CLAIMED, TABLE_NEW, TABLE_SKIP } from "../layout/table.ts";

/** Inserted by this call. */
export const FOUND_NEW = TABLE_NEW >>> 0;
/** Inserted by an earlier row of the same call. */
export const FOUND_CLAIMED = TABLE_CLAIMED >>> 0;
/** Passed over; every word from here up is no value. */
export const FOUND_SKIP = TABLE_SKIP >>> 0;
