/** The folders of test/ that hold tests. */
export const QUICK_SUITES: readonly string[];
/** Parts of the quick suites that `npm test` leaves out. */
export const LONG_TESTS: readonly { readonly what: string; readonly files: readonly string[] }[];
