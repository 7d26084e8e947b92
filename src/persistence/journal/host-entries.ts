/** Writes entries about hosts and group clocks to the frame buffer, straight from the region's words (layout/files/journal.ts). */
import { LOG_HOST_CLOCK } from "../../frontier/records/transition-log.ts";
import { hostHashWord, loneNameBytes } from "../../structures/hosts/lone-host.ts";
import { recordKey, recordTextOffset } from "../../structures/records/record.ts";
import {
  JOURNAL_GROUP_CLOCK,
  JOURNAL_GROUP_CLOCK_WORDS,
  JOURNAL_HOST_ADDRESS,
  JOURNAL_HOST_ADDRESS_WORDS,
  JOURNAL_HOST_ALL,
  JOURNAL_HOST_ALL_WORDS,
  JOURNAL_HOST_CLOCK,
  JOURNAL_HOST_CLOCK_WORDS,
  JOURNAL_HOST_MADE,
  JOURNAL_HOST_MADE_WORDS,
} from "../../layout/files/journal.ts";
import {
  GROUP_HASH_HI_WORD,
  GROUP_HASH_LO_WORD,
  GROUP_READY_AT_WORD,
  memberAddress,
} from "../../structures/hosts/group-table.ts";
import {
  HOST_ADAPTIVE_WORD,
  HOST_ADMITTED_WORD,
  HOST_BLOCK_UNTIL_WORD,
  HOST_BYTES_WORD,
  HOST_DELAY_WORD,
  HOST_FAILURES_WORD,
  HOST_FLAGS_WORD,
  HOST_HASH_HI_WORD,
  HOST_HASH_LO_WORD,
  HOST_LIMIT_WORD,
  HOST_NAME_BYTES_WORD,
  HOST_NAME_WORD,
  HOST_READY_AT_WORD,
  HOST_TURN_WORD,
} from "../../structures/hosts/host-table.ts";
import { float, type Store, word } from "../../structures/store.ts";
import { wordsOf } from "./entry-fields.ts";
import { type FrameBuffer, writeBytesPadded, writeDouble, frameRoom } from "./frame-buffer.ts";

/** Writes a host's turn and clock, or all of its fields (`fields`: LOG_HOST_CLOCK, LOG_HOST_ALL). @hot */
export function writeHost(store: Store, frames: FrameBuffer, host: number, fields: number): void {
  const at = frameRoom(frames, JOURNAL_HOST_ALL_WORDS);
  const { u32 } = frames;
  u32[at] = fields === LOG_HOST_CLOCK ? JOURNAL_HOST_CLOCK : JOURNAL_HOST_ALL;
  u32[at + 1] = word(store, host, HOST_HASH_LO_WORD);
  u32[at + 2] = word(store, host, HOST_HASH_HI_WORD);
  writeDouble(frames, at + 3, float(store, host, HOST_TURN_WORD));
  writeDouble(frames, at + 5, float(store, host, HOST_READY_AT_WORD));
  frames.end = at + JOURNAL_HOST_CLOCK_WORDS;
  if (fields === LOG_HOST_CLOCK) return;
  writeDouble(frames, at + 7, float(store, host, HOST_BLOCK_UNTIL_WORD));
  writeDouble(frames, at + 9, float(store, host, HOST_DELAY_WORD));
  writeDouble(frames, at + 11, float(store, host, HOST_ADAPTIVE_WORD));
  writeDouble(frames, at + 13, float(store, host, HOST_BYTES_WORD));
  u32[at + 15] = word(store, host, HOST_LIMIT_WORD);
  u32[at + 16] = word(store, host, HOST_FAILURES_WORD);
  u32[at + 17] = word(store, host, HOST_ADMITTED_WORD);
  u32[at + 18] = word(store, host, HOST_FLAGS_WORD);
  frames.end = at + JOURNAL_HOST_ALL_WORDS;
}

/** Writes a host's name, before the first entry that names the host by its hash. @hot */
export function writeHostMade(store: Store, frames: FrameBuffer, host: number): void {
  const bytes = word(store, host, HOST_NAME_BYTES_WORD);
  const at = frameRoom(frames, JOURNAL_HOST_MADE_WORDS + wordsOf(bytes));
  writeDouble(frames, at + 4, float(store, host, HOST_TURN_WORD));
  writeMade(store, frames, host * 2 + HOST_HASH_LO_WORD, bytes);
  writeName(store, frames, word(store, host, HOST_NAME_WORD) * 8, bytes);
}

/** Writes the host that a lone record stands for. @hot */
export function writeLoneHost(store: Store, frames: FrameBuffer, record: number): void {
  const bytes = loneNameBytes(store, record);
  const at = frameRoom(frames, JOURNAL_HOST_MADE_WORDS + wordsOf(bytes));
  writeDouble(frames, at + 4, recordKey(store, record));
  writeMade(store, frames, hostHashWord(store, record), bytes);
  writeName(store, frames, recordTextOffset(store, record) - bytes, bytes);
}

/** All but the turn, for which there is room; the hash stands in the region at a word and the next. */
function writeMade(store: Store, frames: FrameBuffer, hash: number, bytes: number): void {
  const { u32, end } = frames;
  u32[end] = JOURNAL_HOST_MADE;
  u32[end + 1] = store.region.views.u32[hash] as number;
  u32[end + 2] = store.region.views.u32[hash + 1] as number;
  u32[end + 3] = bytes;
  frames.end = end + JOURNAL_HOST_MADE_WORDS;
}

/** Names of up to this many bytes are copied byte by byte, which is cheaper than a view. */
const SHORT_NAME_BYTES = 64;

/** A name that stands in the region, padded with zeros to a whole word; there is room for it. */
function writeName(store: Store, frames: FrameBuffer, offset: number, bytes: number): void {
  const source = store.region.views.u8;
  if (bytes > SHORT_NAME_BYTES) {
    writeBytesPadded(frames, source.subarray(offset, offset + bytes));
    return;
  }
  const { u8, u32, end } = frames;
  const words = wordsOf(bytes);
  if (words > 0) u32[end + words - 1] = 0;
  for (let i = 0; i < bytes; i++) u8[end * 4 + i] = source[offset + i] as number;
  frames.end = end + words;
}

/** Writes a host's address; an empty one when it is no longer known. */
export function writeAddress(store: Store, frames: FrameBuffer, host: number): void {
  const address = Buffer.from(memberAddress(store, host) ?? "", "utf8");
  const at = frameRoom(frames, JOURNAL_HOST_ADDRESS_WORDS + wordsOf(address.length));
  const { u32 } = frames;
  u32[at] = JOURNAL_HOST_ADDRESS;
  u32[at + 1] = word(store, host, HOST_HASH_LO_WORD);
  u32[at + 2] = word(store, host, HOST_HASH_HI_WORD);
  u32[at + 3] = address.length;
  frames.end = at + JOURNAL_HOST_ADDRESS_WORDS;
  writeBytesPadded(frames, address);
}

/** Writes a group's clock. @hot */
export function writeGroupClock(store: Store, frames: FrameBuffer, group: number): void {
  const at = frameRoom(frames, JOURNAL_GROUP_CLOCK_WORDS);
  const { u32 } = frames;
  u32[at] = JOURNAL_GROUP_CLOCK;
  u32[at + 1] = word(store, group, GROUP_HASH_LO_WORD);
  u32[at + 2] = word(store, group, GROUP_HASH_HI_WORD);
  writeDouble(frames, at + 3, float(store, group, GROUP_READY_AT_WORD));
  frames.end = at + JOURNAL_GROUP_CLOCK_WORDS;
}
