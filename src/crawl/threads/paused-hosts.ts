/**
 * PausedHosts: until when hosts have asked for a pause, for all threads of a crawl to read and to write. What goes through the frontier's rings
 * takes a while, in which another thread could still send a request to the same host.
 *
 *   answer 429, Retry-After ─▶ headers are there ─▶ pause(host) ─────────────────▶ word
 *   another visit of the host ─▶ connection is there ─▶ untilOf(host) ◀────────────┘ ─▶ paused: goes back to its place, nothing is sent
 *
 *   word   field   written by    read by      meaning
 *      n   tag     any thread    any thread   upper 32 bits: hash of the host's key, never 0
 *          until   with the tag               lower 32 bits: end of the pause in milliseconds since 1970, wrapped
 *
 *   I1  A word is written whole (atomic RMW: compareExchange), and never shortens a pause of the same host.
 *   I2  Hosts with the same word overwrite each other's pauses. The frontier's block still holds for leases that begin.
 *   I3  A pause is kept here for HOLD_MS_MAX at most: by then it is in the frontier. A clock that goes back ends it.
 *
 * Crash: nothing here survives the process; a pause that matters is in the frontier.
 */

const WORDS = 4096;
const WORD_BYTES = 8;
/** Longer than a lease waits for its connection, and an answer for the rest of its body. */
const HOLD_MS_MAX = 60_000;

export type PausedHosts = ReturnType<typeof createPausedHosts>;

export function createPausedHosts(given?: SharedArrayBuffer) {
  const memory = given ?? new SharedArrayBuffer(WORDS * WORD_BYTES);
  const words = new BigUint64Array(memory);
  /** How long the pause in a word still is; 0 where there is none, or another host's. */
  const leftMs = (word: bigint, host: number, nowMs: number): number => {
    if (Number(word >> 32n) !== host) return 0;
    const left = (Number(word & 0xffffffffn) - wrapped(nowMs)) | 0;
    return left > HOLD_MS_MAX ? 0 : left;
  };
  return {
    /** Sent to the threads. */
    memory,
    pause(host: number, waitMs: number, nowMs: number): void {
      const at = host & (WORDS - 1);
      const forMs = Math.ceil(Math.min(waitMs, HOLD_MS_MAX));
      const word = (BigInt(host) << 32n) | BigInt(wrapped(nowMs + forMs));
      for (;;) {
        const seen = Atomics.load(words, at); // pairs with the exchange below
        if (leftMs(seen, host, nowMs) >= forMs) return;
        if (Atomics.compareExchange(words, at, seen, word) === seen) return; // pairs with the loads
      }
    },
    isPaused: (host: number, nowMs: number): boolean => {
      const word = Atomics.load(words, host & (WORDS - 1)); // pairs with the exchange in pause
      return leftMs(word, host, nowMs) > 0;
    },
  };
}

/** A moment in whole milliseconds, in 32 bits. */
function wrapped(ms: number): number {
  return Math.trunc(ms) >>> 0;
}

const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** The number of a host: a hash of its key (FNV-1a, 32 bits), never 0. */
export function hostNumber(key: string): number {
  let hash = FNV_BASIS;
  for (let at = 0; at < key.length; at++) {
    hash = Math.imul(hash ^ key.charCodeAt(at), FNV_PRIME);
  }
  // The low bits choose the word, and FNV's are its weakest.
  return (hash ^ (hash >>> 15)) >>> 0 || 1;
}
