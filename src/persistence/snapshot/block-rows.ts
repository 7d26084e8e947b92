/**
 * A block of hosts as columns of hosts and of records: how a frontier reads it that cannot have its hosts on disk, or has one of them already.
 *
 *   block ─▶ hosts, in the columns of a section `hosts` ─▶ their records, and those that were added, in the columns of a section `records`
 */
import { HOST_HASH_LO_WORD, HOST_TURN_WORD } from "../../layout/records/host.ts";
import { ITEM_KEY_WORD } from "../../layout/ordering/item.ts";
import {
  RECORD_DEPTH_WORD,
  RECORD_FLAG_BLOB,
  RECORD_FLAG_PARENT,
  RECORD_HASH_LO_WORD,
  RECORD_PRIORITY_WORD,
  RECORD_QUEUE_WORD,
  RECORD_STATE_MASK,
  RECORD_STATE_WORD,
  RECORD_TEXT_BYTES_WORD,
  RECORD_AGAIN,
} from "../../layout/records/record.ts";
import {
  ADDED_HOST_HI_WORD,
  ADDED_HOST_LO_WORD,
  SPILL_ENTRY_HEAD_WORDS,
  SPILL_HOST_FLAGS_WORD,
  SPILL_HOST_HEAD_WORDS,
  SPILL_HOST_NAME_WORD,
  SPILL_HOST_PLAIN,
  SPILL_HOST_RECORDS_WORD,
  SPILL_HOST_RULE_WORD,
  SPILL_HOST_WORDS_WORD,
  SPILL_PARENT_WORDS,
  SPILL_RECORD_WORDS_WORD,
} from "../../layout/records/spill-block.ts";
import { SNAPSHOT_KEPT_FLAGS } from "../../structures/records/snapshot-batch.ts";
import { firstRecordAt, hostHashAt } from "../../structures/spill/host-codec.ts";
import type { BlockImage } from "../../structures/spill/host-images.ts";
import { entryFlags, entryWords } from "../../structures/spill/record-codec.ts";
import { ruleBits } from "../journal/entry-fields.ts";
import { doubleAt } from "./check-block.ts";
import type { HostChunk, RecordChunk } from "./snapshot-format.ts";

/** Doubles of a plain host from its blockUntil on: blockUntil, delayMs, adaptiveMs, bytes. */
const PLAIN = [0, -1, -1, 0];
const CLOCK_WORDS = HOST_HASH_LO_WORD - HOST_TURN_WORD;
const PLAIN_CLOCK_WORDS = CLOCK_WORDS - PLAIN.length * 2;

export function blockRows(image: BlockImage): { hosts: HostChunk; records: RecordChunk } {
  const { words, added } = image;
  const hosts = new HostRows();
  const records = new RecordRows();
  for (let at = 0; at < words.length; at += words[at + SPILL_HOST_WORDS_WORD] as number) {
    hosts.add(words, at);
    const hash = hostHashAt(words, at);
    const host = [words[hash] as number, words[hash + 1] as number];
    const rule = words[at + SPILL_HOST_RULE_WORD] as number;
    let next = firstRecordAt(words, at);
    for (let left = words[at + SPILL_HOST_RECORDS_WORD] as number; left > 0; left--) {
      records.add(words, next, host, rule);
      next += entryWords(words, next);
    }
  }
  for (let at = 0; at < added.length; at += entryWords(added, at)) {
    const start = at + SPILL_ENTRY_HEAD_WORDS;
    const lo = added[start + ADDED_HOST_LO_WORD] as number;
    const host = [lo, added[start + ADDED_HOST_HI_WORD] as number];
    records.add(added, at, host, added[start + RECORD_QUEUE_WORD] as number);
  }
  return { hosts: hosts.chunk(), records: records.chunk() };
}

class HostRows {
  readonly #hashes: number[] = [];
  readonly #doubles: number[] = [];
  readonly #words: number[] = [];
  readonly #lengths: number[] = [];
  readonly #names: Uint8Array[] = [];

  add(words: Uint32Array, at: number): void {
    const nameWord = words[at + SPILL_HOST_NAME_WORD] as number;
    const isPlain = nameWord >= SPILL_HOST_PLAIN;
    const first = at + SPILL_HOST_HEAD_WORDS;
    const clocks = isPlain ? PLAIN_CLOCK_WORDS : CLOCK_WORDS;
    for (let word = 0; word < clocks; word += 2) this.#doubles.push(doubleAt(words, first + word));
    if (isPlain) this.#doubles.push(...PLAIN);
    const hash = first + clocks;
    this.#hashes.push(words[hash] as number, words[hash + 1] as number);
    // limit, failures, admitted
    const rest = isPlain ? [0, 0, 0] : words.subarray(hash + 2, hash + 5);
    this.#words.push(...rest, words[at + SPILL_HOST_FLAGS_WORD] as number);
    const length = isPlain ? nameWord - SPILL_HOST_PLAIN : nameWord;
    this.#lengths.push(length);
    const name = hash + (isPlain ? 2 : 5);
    this.#names.push(bytesOf(words.subarray(name, name + ((length + 3) >>> 2))));
  }

  chunk(): HostChunk {
    return {
      ...{ t: "hosts", n: this.#lengths.length, hashes: wordBytes(this.#hashes) },
      ...{ doubles: doubleBytes(this.#doubles), words: wordBytes(this.#words) },
      ...{ lengths: wordBytes(this.#lengths), names: Buffer.concat(this.#names) },
    };
  }
}

class RecordRows {
  readonly #hashes: number[] = [];
  readonly #doubles: number[] = [];
  readonly #words: number[] = [];
  readonly #texts: Uint8Array[] = [];
  readonly #parents: number[] = [];
  readonly #prints: Uint8Array[] = [];
  readonly #blobs: number[] = [];
  readonly #blob: Uint8Array[] = [];
  #count = 0;

  add(words: Uint32Array, at: number, host: readonly number[], rule: number): void {
    const row = this.#count++;
    const start = at + SPILL_ENTRY_HEAD_WORDS;
    const end = start + (words[at + SPILL_RECORD_WORDS_WORD] as number);
    const hash = start + RECORD_HASH_LO_WORD;
    this.#hashes.push(words[hash] as number, words[hash + 1] as number, ...host);
    const key = doubleAt(words, start + ITEM_KEY_WORD);
    this.#doubles.push(key, doubleAt(words, start + RECORD_PRIORITY_WORD), 0);
    const stateWord = words[start + RECORD_STATE_WORD] as number;
    const depths = words[start + RECORD_DEPTH_WORD] as number;
    const length = words[start + RECORD_TEXT_BYTES_WORD] as number;
    const state = stateWord & (RECORD_STATE_MASK | RECORD_AGAIN);
    const flags = entryFlags(words, at);
    this.#words.push((state | ((flags & SNAPSHOT_KEPT_FLAGS) << 8) | ruleBits(rule)) >>> 0);
    this.#words.push(((stateWord >>> 16) | (depths & 0xffff0000)) >>> 0, depths & 0xffff, length);
    this.#texts.push(bytesOf(words.subarray(end - ((length + 3) >>> 2), end)));
    let rest = end;
    if ((flags & RECORD_FLAG_PARENT) !== 0) {
      this.#parents.push(row, this.#prints.length);
      this.#prints.push(bytesOf(words.subarray(rest, rest + SPILL_PARENT_WORDS)));
      rest += SPILL_PARENT_WORDS;
    }
    if ((flags & RECORD_FLAG_BLOB) === 0) return;
    const bytes = words[rest] as number;
    this.#blobs.push(row, words[rest + 1] as number, bytes);
    this.#blob.push(bytesOf(words.subarray(rest + 2)).subarray(0, bytes));
  }

  chunk(): RecordChunk {
    const parents = { parents: wordBytes(this.#parents), prints: Buffer.concat(this.#prints) };
    const blobs = { blobs: wordBytes(this.#blobs), blob: Buffer.concat(this.#blob) };
    return {
      ...{ t: "records", n: this.#count, hashes: wordBytes(this.#hashes) },
      ...{ doubles: doubleBytes(this.#doubles), words: wordBytes(this.#words) },
      text: Buffer.concat(this.#texts),
      ...(this.#parents.length > 0 ? parents : {}),
      ...(this.#blobs.length > 0 ? blobs : {}),
    };
  }
}

/** The bytes of words. Those of a text's last word that are not the text's are never looked at. */
function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

function wordBytes(words: readonly number[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(words).buffer);
}

function doubleBytes(doubles: readonly number[]): Uint8Array {
  return new Uint8Array(Float64Array.from(doubles).buffer);
}
