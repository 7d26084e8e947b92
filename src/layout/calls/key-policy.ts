/**
 * A key policy in kernel memory, packed by `url/batch/url-batch.ts` and read by `assembly/url/dedup-key.ts`.
 *
 * Words:
 *    0  flags      POLICY_*
 *    1  keepCount  names of keepParams
 *    2  dropCount  patterns of dropParams, ASCII lower-case
 *    3  reserved, zero
 *    4  ends       u32 per name, then per pattern: end of its bytes, relative to the first byte of
 *    text
 *    4 + keepCount + dropCount   text: names, then patterns, one after the other,
 *    percent-normalised
 *
 * Offset 0 instead of a policy means the default one: no flag set, no lists.
 */
export const POLICY_FLAGS_WORD = 0;
export const POLICY_KEEP_COUNT_WORD = 1;
export const POLICY_DROP_COUNT_WORD = 2;
export const POLICY_ENDS_WORD = 4;

/** User info is dropped from the key. */
export const POLICY_DROP_USERINFO = 1;
/** The fragment stays in the key and in the visit URL. */
export const POLICY_KEEP_FRAGMENT = 2;
/** Parameters keep their order (sortQuery: false). */
export const POLICY_UNSORTED = 4;
/** The whole query is dropped (keepParams: 'none'). */
export const POLICY_DROP_QUERY = 8;
/** There is a keepParams list (it may be empty). */
export const POLICY_KEEP_PARAMS = 16;
/** There is a dropParams list. */
export const POLICY_DROP_PARAMS = 32;
/** Profile `url`: the key is the raw string, or the href where there was a base; cut at `#` unless the fragment is kept. */
export const POLICY_RAW = 64;
