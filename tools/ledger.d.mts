/** Rows of a ledger's source: name, states before, state after, total, entry, event. */
export function rowsOf(source: string): string[][];
/** The table. */
export function tableOf(source: string): string;
/** The page with its table made anew. */
export function withLedger(page: string, source: string): string;
