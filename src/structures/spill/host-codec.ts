/**
 * Hosts as bytes of a spill block, and back (layout/records/spill-block.ts draws an entry). Owner: the frontier's thread.
 *
 *   I1  unpack(pack(host)) is the host but for its handle, its lists and its counts: those follow from its records.
 */
import {
  HOST_ADAPTIVE_WORD,
  HOST_ADMITTED_WORD,
  HOST_BLOCK_UNTIL_WORD,
  HOST_BYTES_WORD,
  HOST_CLOCKED,
  HOST_DELAY_WORD,
  HOST_FAILURES_WORD,
  HOST_FLAGS_WORD,
  HOST_HASH_HI_WORD,
  HOST_HASH_LO_WORD,
  HOST_LIMIT_WORD,
  HOST_NAME_BYTES_WORD,
  HOST_NAME_WORD,
  HOST_SIZE_BYTES,
  HOST_TURN_WORD,
} from "../../layout/records/host.ts";
import {
  SPILL_HOST_FLAGS_WORD,
  SPILL_HOST_HEAD_WORDS,
  SPILL_HOST_NAME_BYTES_MAX,
  SPILL_HOST_NAME_WORD,
  SPILL_HOST_PLAIN,
} from "../../layout/records/spill-block.ts";
import { arenaGive, arenaTake } from "../../memory/arena.ts";
import { float, setFloat, setWord, type Store, word } from "../store.ts";

/** Words from the turn on: of a plain host turn and clock, of any other all that follow. */
const PLAIN_WORDS = HOST_BLOCK_UNTIL_WORD - HOST_TURN_WORD;
const CLOCK_WORDS = HOST_HASH_LO_WORD - HOST_TURN_WORD;
/** The hash, followed by the other fields of a host that is not plain. */
const HASH_WORDS = 2;
const REST = [HOST_LIMIT_WORD, HOST_FAILURES_WORD, HOST_ADMITTED_WORD];

/** Words that a host takes in a block, its records apart. */
export function hostWords(store: Store, host: number): number {
  const own = isPlain(store, host) ? PLAIN_WORDS : CLOCK_WORDS + REST.length;
  return SPILL_HOST_HEAD_WORDS + own + HASH_WORDS + nameWords(store, host);
}

/** Whether a host's name fits its entry. */
export function hasShortName(store: Store, host: number): boolean {
  return word(store, host, HOST_NAME_BYTES_WORD) <= SPILL_HOST_NAME_BYTES_MAX;
}

/** Writes a host behind the head of the entry at word `at`, which the caller completes; returns the word after it. */
export function packHost(store: Store, host: number, target: Uint32Array, at: number): number {
  const plain = isPlain(store, host);
  const bytes = word(store, host, HOST_NAME_BYTES_WORD);
  target[at + SPILL_HOST_NAME_WORD] = bytes + (plain ? SPILL_HOST_PLAIN : 0);
  target[at + SPILL_HOST_FLAGS_WORD] = word(store, host, HOST_FLAGS_WORD) & ~HOST_CLOCKED;
  let next = at + SPILL_HOST_HEAD_WORDS;
  const words = plain ? PLAIN_WORDS : CLOCK_WORDS;
  for (let index = 0; index < words; index++) {
    target[next++] = word(store, host, HOST_TURN_WORD + index);
  }
  target[next++] = word(store, host, HOST_HASH_LO_WORD);
  target[next++] = word(store, host, HOST_HASH_HI_WORD);
  if (!plain) for (const each of REST) target[next++] = word(store, host, each);
  const name = word(store, host, HOST_NAME_WORD) * 2;
  const { u32 } = store.region.views;
  const end = next + nameWords(store, host);
  for (let from = name; next < end; ) target[next++] = u32[from++] as number;
  return end;
}

/** Makes the host of the entry at word `at`, on no list and without queues; 0 when memory is exhausted, with nothing taken. */
export function unpackHost(store: Store, source: Uint32Array, at: number): number {
  const nameWord = source[at + SPILL_HOST_NAME_WORD] as number;
  const plain = nameWord >= SPILL_HOST_PLAIN;
  const bytes = plain ? nameWord - SPILL_HOST_PLAIN : nameWord;
  const name = arenaTake(store.arena, Math.max(bytes, 1));
  if (name === 0) return 0;
  const host = arenaTake(store.arena, HOST_SIZE_BYTES);
  if (host === 0) {
    arenaGive(store.arena, name, Math.max(bytes, 1));
    return 0;
  }
  const { u32, u8 } = store.region.views;
  u32.fill(0, host * 2, host * 2 + HOST_SIZE_BYTES / 4);
  setFloat(store, host, HOST_DELAY_WORD, -1);
  setFloat(store, host, HOST_ADAPTIVE_WORD, -1);
  setWord(store, host, HOST_FLAGS_WORD, source[at + SPILL_HOST_FLAGS_WORD] as number);
  let from = at + SPILL_HOST_HEAD_WORDS;
  const words = plain ? PLAIN_WORDS : CLOCK_WORDS;
  for (let index = 0; index < words; index++) {
    setWord(store, host, HOST_TURN_WORD + index, source[from++] as number);
  }
  setWord(store, host, HOST_HASH_LO_WORD, source[from++] as number);
  setWord(store, host, HOST_HASH_HI_WORD, source[from++] as number);
  if (!plain) for (const each of REST) setWord(store, host, each, source[from++] as number);
  setWord(store, host, HOST_NAME_WORD, name);
  setWord(store, host, HOST_NAME_BYTES_WORD, bytes);
  u8.set(new Uint8Array(source.buffer, source.byteOffset + from * 4, bytes), name * 8);
  return host;
}

/** Where the records of an entry begin. */
export function firstRecordAt(source: Uint32Array, at: number): number {
  const nameWord = source[at + SPILL_HOST_NAME_WORD] as number;
  const plain = nameWord >= SPILL_HOST_PLAIN;
  const bytes = plain ? nameWord - SPILL_HOST_PLAIN : nameWord;
  const own = plain ? PLAIN_WORDS : CLOCK_WORDS + REST.length;
  return at + SPILL_HOST_HEAD_WORDS + own + HASH_WORDS + ((bytes + 3) >>> 2);
}

/** Where the hash of an entry's host is. */
export function hostHashAt(source: Uint32Array, at: number): number {
  const isPlainHost = (source[at + SPILL_HOST_NAME_WORD] as number) >= SPILL_HOST_PLAIN;
  return at + SPILL_HOST_HEAD_WORDS + (isPlainHost ? PLAIN_WORDS : CLOCK_WORDS);
}

/** Whether nothing of a host but turn, clock and flags differs from a new one's. */
function isPlain(store: Store, host: number): boolean {
  return (
    float(store, host, HOST_BLOCK_UNTIL_WORD) === 0 &&
    float(store, host, HOST_DELAY_WORD) === -1 &&
    float(store, host, HOST_ADAPTIVE_WORD) === -1 &&
    float(store, host, HOST_BYTES_WORD) === 0 &&
    REST.every((at) => word(store, host, at) === 0)
  );
}

function nameWords(store: Store, host: number): number {
  return (word(store, host, HOST_NAME_BYTES_WORD) + 3) >>> 2;
}
