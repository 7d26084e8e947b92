/**
 * Room `src/layout/calls`: the byte layout of every call into the kernel: what the owner writes, what the kernel
 * answers. Decides offsets only; imports nothing. Both compilers read it.
 */

/**
 * One batch of URLs in kernel memory. The owner thread writes `in` fields, the kernel writes `out` fields.
 * All offsets are absolute byte offsets into the region, except those named "start", which are relative to the named text.
 *
 * Header, words:
 *    0  count            in   rows in use
 *    1  capacity         in   rows there is room for
 *    2  inputOffset      in   raw bytes of all URLs, one after the other
 *    3  inputEndsOffset  in   u32 per row: end of its raw bytes, relative to inputOffset
 *    4  rowsOffset       in   BATCH_ROW_BYTES per row
 *    5  textOffset       in   room for bytes the kernel had to write (transformed hrefs and keys)
 *    6  textCapacity     in   its size; the last BATCH_SCRATCH_BYTES of it are the kernel's scratch
 *    7  textUsed         both bytes used; reset to 0 by the owner before parse
 *    8  hashesOffset     in   u64 per row: keyed hash of the identity bytes
 *    9  hostHashesOffset in   u64 per row: keyed hash of the host bytes
 *   10  valuesOffset     in   u32 per row: table result (layout/seen/table.ts)
 *   11  slotsOffset      in   u32 per row: where the table keeps that row's value word
 *   12  secretOffset     in   16 bytes: SipHash key of this frontier
 *   13  maxUrlBytes      in   longer raw or canonical URLs are BATCH_TOO_LONG
 *   14  baseRow          in   absolute offset of a parsed row that relative links resolve against, or 0
 *   15  policyOffset     in   key policy (layout/calls/key-policy.ts), or 0 for the default
 *   16  inputIsUtf8      in   1: raw bytes are UTF-8; 0: they are latin1
 *   17  changedOffset    in   u32 per row: numbers, rising, of the rows whose key is not the whole of their raw bytes, or that have none
 *   18  changedCount     out  how many there are; BATCH_CHANGED_UNKNOWN from parse to the next keyBatch
 *   19-31 reserved, zero
 *
 * Row, words (all out):
 *    0  status           BATCH_*: 0 = fine so far
 *    1  hrefOffset       the WHATWG serialisation (fragment included until the key policy cuts it)
 *    2  hrefLength
 *    3  hostStart        of `host` (with a port if it is not the default one) within href
 *    4  hostLength
 *    5  pathStart        within href; pathStart = hostStart + hostLength
 *    6  queryStart       within href, of the '?'; = fragmentStart when there is no query
 *    7  fragmentStart    within href, of the '#'; = hrefLength when there is none
 *    8  keyOffset        canonical bytes under the key policy; may point into href
 *    9  keyLength
 *   10  visitLength      of the href a lease carries: without its fragment unless the policy keeps it
 *   11  flags            BATCH_FLAG_*
 *   12  portStart        within href, of the ':' before the port; = pathStart when there is none
 *   13  domainStart      the host's registrable domain within href; 0 until computed (url/matching/row-domain.ts)
 *   14  domainLength
 *   15  reserved, zero
 */
export const BATCH_HEADER_BYTES = 128;
export const BATCH_COUNT_WORD = 0;
export const BATCH_CAPACITY_WORD = 1;
export const BATCH_INPUT_OFFSET_WORD = 2;
export const BATCH_INPUT_ENDS_OFFSET_WORD = 3;
export const BATCH_ROWS_OFFSET_WORD = 4;
export const BATCH_TEXT_OFFSET_WORD = 5;
export const BATCH_TEXT_CAPACITY_WORD = 6;
export const BATCH_TEXT_USED_WORD = 7;
export const BATCH_HASHES_OFFSET_WORD = 8;
export const BATCH_HOST_HASHES_OFFSET_WORD = 9;
export const BATCH_VALUES_OFFSET_WORD = 10;
export const BATCH_SLOTS_OFFSET_WORD = 11;
export const BATCH_SECRET_OFFSET_WORD = 12;
export const BATCH_MAX_URL_BYTES_WORD = 13;
export const BATCH_BASE_ROW_WORD = 14;
export const BATCH_POLICY_OFFSET_WORD = 15;
export const BATCH_INPUT_IS_UTF8_WORD = 16;
export const BATCH_CHANGED_OFFSET_WORD = 17;
export const BATCH_CHANGED_COUNT_WORD = 18;
export const BATCH_CHANGED_UNKNOWN = 0x7fff_ffff;

export const BATCH_ROW_BYTES = 64;
export const BATCH_ROW_WORDS = 16;
export const ROW_STATUS_WORD = 0;
export const ROW_HREF_OFFSET_WORD = 1;
export const ROW_HREF_LENGTH_WORD = 2;
export const ROW_HOST_START_WORD = 3;
export const ROW_HOST_LENGTH_WORD = 4;
export const ROW_PATH_START_WORD = 5;
export const ROW_QUERY_START_WORD = 6;
export const ROW_FRAGMENT_START_WORD = 7;
export const ROW_KEY_OFFSET_WORD = 8;
export const ROW_KEY_LENGTH_WORD = 9;
export const ROW_VISIT_LENGTH_WORD = 10;
export const ROW_FLAGS_WORD = 11;
export const ROW_PORT_START_WORD = 12;
export const ROW_DOMAIN_START_WORD = 13;
export const ROW_DOMAIN_LENGTH_WORD = 14;

/** Row status. */
export const BATCH_OK = 0;
/** The kernel defers to the full parser, which alone can decide (IDNA, odd slashes, IPv4 shorthand, no room left in text). */
export const BATCH_NEEDS_PARSER = 1;
/** The kernel defers the key: too many parameters, or no room left in text. */
export const BATCH_NEEDS_KEY = 2;
export const BATCH_INVALID = 3;
export const BATCH_SCHEME = 4;
export const BATCH_TOO_LONG = 5;
/** The owner took this row out; every kernel call skips it. */
export const BATCH_SKIPPED = 6;
/** The owner found no rule for this row. */
export const BATCH_NO_RULE = 7;
/** The rule of this row does not reach this depth. */
export const BATCH_TOO_DEEP = 8;

/** Row flags. */
export const BATCH_FLAG_HTTPS = 1;
export const BATCH_FLAG_USERINFO = 2;
/** href differs from the raw bytes. */
export const BATCH_FLAG_HREF_WRITTEN = 4;
/** The key differs from the href without its fragment. */
export const BATCH_FLAG_KEY_WRITTEN = 8;
/** The host is an IPv4 or IPv6 address. */
export const BATCH_FLAG_ADDRESS = 16;
/** Hints for the key: a `%` (or a `&`) may follow the host; clear = there is certainly none. */
export const BATCH_FLAG_PERCENT = 32;
export const BATCH_FLAG_AMPERSAND = 64;
/** The key holds bytes over 0x7F (profile `url` only): it is UTF-8 text, not ASCII. */
export const BATCH_FLAG_KEY_UTF8 = 128;

/** Query parameters the kernel sorts; a query with more is BATCH_NEEDS_KEY. */
export const BATCH_PARAMETER_COUNT_MAX = 64;
/** Scratch: [start, nameEnd, end, rank] per parameter, words, absolute offsets. */
export const BATCH_PARAMETER_BYTES = 16;
export const BATCH_SCRATCH_BYTES = 1024;
/** Bytes after the input that the kernel may read but never uses: it reads 16 bytes at a time. */
export const BATCH_SLACK_BYTES = 16;
/** After the input alone, where the check of path and query reads 64 bytes at a time. */
export const BATCH_AHEAD_BYTES = 64;
