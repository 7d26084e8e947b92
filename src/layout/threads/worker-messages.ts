/**
 * Messages between the owner and a worker: records of a lane (layout/threads/spsc-lane.ts). Words are little-endian; values
 * longer than a word are at multiples of 8.
 *
 * Outward:
 *   MESSAGE_LEASES  word 0 kind · 1 count · then count rows of LEASE_ROW_BYTES · URLs (ASCII) · extras (msgpack)
 *     row, words: 0 id · 1 attempt · 2 deliveries · 3 depth · 4–5 priority f64 · 6–7 deadline f64 · 8 bytes of the
 *     URL · 9 bytes of the extras · 10 number of the rule · 11 1: a parent · 12–15 the parent's fingerprint
 *   MESSAGE_RULE    word 0 kind · 1 number · then its name (UTF-8)
 *   MESSAGE_CANCEL  word 0 kind · 1 id · 2 class · 3 its number among the leases of its class: this lease has expired
 *   MESSAGE_LINK_FACTS    word 0 kind · 1 generation of the facts · then the facts (msgpack, workers/protocol/link-facts-message.ts)
 *
 * Inward, all with the same head (RESULT_HEAD_BYTES), then `links` lengths of a word each, the links' text, the extras:
 *   words: 0 kind · 1 id of the lease, 0 for MESSAGE_PUSH · 2 links · 3 bytes of text · 4 bytes of extras · 5 1: the
 *   text is UTF-8, 0: latin1 · 6 duplicates dropped · 7 invalid · 8 of another scheme · 9 too long · 10 too deep ·
 *   11 no rule · 12 of a page whose links are not followed · 13 unused
 */
export const MESSAGE_LEASES = 1;
export const MESSAGE_RULE = 2;
export const MESSAGE_CANCEL = 3;
export const MESSAGE_LINK_FACTS = 4;
export const LEASES_HEAD_BYTES = 8;
export const CANCEL_BYTES = 16;
export const LEASE_ROW_BYTES = 64;

export const MESSAGE_DONE = 16;
export const MESSAGE_RETRY = 17;
export const MESSAGE_FAIL = 18;
export const MESSAGE_RELEASE = 19;
export const MESSAGE_REDIRECT = 20;
export const MESSAGE_EXTEND = 21;
export const MESSAGE_PUSH = 22;
/** Extras: { kind, stage, message }: an error to report; it ends no lease. */
export const MESSAGE_FAULT = 23;
/** Extras: { value }: for the pool's listeners. */
export const MESSAGE_SEND = 24;
export const RESULT_HEAD_BYTES = 56;
export const RESULT_DUPLICATE_WORD = 6;
/** How many kinds of refusal follow the duplicates: invalid, scheme, too long, too deep, no rule, no follow. */
export const RESULT_REFUSALS = 6;
