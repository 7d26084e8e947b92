/**
 * Lease messages, owner to worker: leases in blocks, names of rules, expired leases (layout/threads/worker-messages.ts).
 * The owner writes numbers and text in place; the worker makes an object when it begins a lease.
 */
import {
  CANCEL_BYTES,
  LEASE_ROW_BYTES,
  LEASES_HEAD_BYTES,
  MESSAGE_CANCEL,
  MESSAGE_LEASES,
  MESSAGE_RULE,
} from "../../layout/threads/worker-messages.ts";
import { beginMessage, type Draft, endMessage, type Sender } from "./message-sender.ts";

/** The data of a lease that the owner writes. */
export interface LeaseFields {
  readonly id: number;
  /** Number under which the rule's name was sent. */
  readonly ruleNumber: number;
  /** Packed LeaseExtras, where there are any. */
  readonly extras: Uint8Array | undefined;
  readonly lease: {
    readonly url: string;
    readonly priority: number;
    readonly depth: number;
    readonly attempt: number;
    readonly deliveries: number;
    readonly deadlineMs: number;
    /** Whether it was found on a page, and that page's fingerprint in four words. */
    readonly hasParent: boolean;
    readonly parent0: number;
    readonly parent1: number;
    readonly parent2: number;
    readonly parent3: number;
  };
}

/** Target into which a worker reads a lease. */
export interface LeaseRow {
  id: number;
  url: string;
  priority: number;
  depth: number;
  attempt: number;
  deliveries: number;
  deadlineMs: number;
  ruleNumber: number;
  /** Offset of the parent's fingerprint in `block`, 0: none. */
  parentAt: number;
  block: Buffer | undefined;
  packed: Uint8Array | undefined;
}

/** Fields that few requests have. */
export interface LeaseExtras {
  readonly m?: string;
  readonly b?: Uint8Array;
  readonly h?: Record<string, string>;
  readonly n?: string;
  readonly u?: string;
  readonly d?: unknown;
  readonly r?: number;
  /** The fingerprint, where a worker cannot make it. */
  readonly f?: string;
}

/** Leases of a block that is being read: a copy of the lane's bytes. */
export interface LeaseBlock {
  readonly bytes: Buffer;
  readonly start: number;
  readonly count: number;
  /** URLs of all rows: each lease has its part of this string. */
  readonly text: string;
  /** Rows read. */
  next: number;
  /** Where the text and the extras of the next row begin; `textAt` within `text`. */
  textAt: number;
  extrasAt: number;
}

export function writeLeases(sender: Sender, leases: readonly LeaseFields[]): void {
  let size = LEASES_HEAD_BYTES + leases.length * LEASE_ROW_BYTES;
  let text = "";
  for (const { lease, extras } of leases) {
    text += lease.url;
    size += extras === undefined ? 0 : extras.length;
  }
  size += text.length;
  const draft = beginMessage(sender, size);
  const { bytes, words, start } = draft;
  words[start >> 2] = MESSAGE_LEASES;
  words[(start >> 2) + 1] = leases.length;
  let row = start + LEASES_HEAD_BYTES;
  for (const lease of leases) {
    writeRow(draft, row, lease);
    row += LEASE_ROW_BYTES;
  }
  bytes.latin1Write(text, row, text.length);
  let at = row + text.length;
  for (const { extras } of leases) {
    if (extras === undefined) continue;
    bytes.set(extras, at);
    at += extras.length;
  }
  endMessage(sender, draft, size);
}

export function writeRule(sender: Sender, number: number, name: string): void {
  const size = LEASES_HEAD_BYTES + Buffer.byteLength(name);
  const draft = beginMessage(sender, size);
  draft.bytes.writeInt32LE(MESSAGE_RULE, draft.start);
  draft.bytes.writeInt32LE(number, draft.start + 4);
  draft.bytes.utf8Write(name, draft.start + LEASES_HEAD_BYTES, size - LEASES_HEAD_BYTES);
  endMessage(sender, draft, size);
}

/** An expired lease, and its place: from that the worker derives whether it has begun. */
export interface CancelFields {
  readonly id: number;
  readonly priorityClass: number;
  /** Its number among the leases of its class, modulo 2³². */
  readonly order: number;
}

export function writeCancel(sender: Sender, { id, priorityClass, order }: CancelFields): void {
  const draft = beginMessage(sender, CANCEL_BYTES);
  const { bytes, start } = draft;
  bytes.writeInt32LE(MESSAGE_CANCEL, start);
  bytes.writeInt32LE(id, start + 4);
  bytes.writeInt32LE(priorityClass, start + 8);
  bytes.writeInt32LE(order, start + 12);
  endMessage(sender, draft, CANCEL_BYTES);
}

export function readCancel(bytes: Buffer, start: number): CancelFields {
  return {
    id: bytes.readUInt32LE(start + 4),
    priorityClass: bytes.readInt32LE(start + 8),
    order: bytes.readInt32LE(start + 12),
  };
}

/** Opens a block for reading row by row. */
export function openBlock(bytes: Buffer, start: number): LeaseBlock {
  const count = bytes.readInt32LE(start + 4);
  const textAt = start + LEASES_HEAD_BYTES + count * LEASE_ROW_BYTES;
  let extrasAt = textAt;
  for (let row = 0; row < count; row++) {
    extrasAt += bytes.readUInt32LE(start + LEASES_HEAD_BYTES + row * LEASE_ROW_BYTES + 32);
  }
  const text = bytes.latin1Slice(textAt, extrasAt);
  return { bytes, start, count, text, next: 0, textAt: 0, extrasAt };
}

/** The id of the next row. @hot */
export function nextId({ bytes, start, next }: LeaseBlock): number {
  return bytes.readUInt32LE(start + LEASES_HEAD_BYTES + next * LEASE_ROW_BYTES);
}

/** Skips the next row. @hot */
export function skipLease(block: LeaseBlock): void {
  const { bytes } = block;
  const row = block.start + LEASES_HEAD_BYTES + block.next * LEASE_ROW_BYTES;
  block.textAt += bytes.readUInt32LE(row + 32);
  block.extrasAt += bytes.readUInt32LE(row + 36);
  block.next++;
}

/** Reads the next row of a block; its values are copied out. @hot */
export function readLease(block: LeaseBlock, out: LeaseRow): void {
  const { bytes } = block;
  const row = block.start + LEASES_HEAD_BYTES + block.next * LEASE_ROW_BYTES;
  const urlBytes = bytes.readUInt32LE(row + 32);
  const extrasBytes = bytes.readUInt32LE(row + 36);
  const { textAt, extrasAt } = block;
  skipLease(block);
  out.id = bytes.readUInt32LE(row);
  out.attempt = bytes.readUInt32LE(row + 4);
  out.deliveries = bytes.readUInt32LE(row + 8);
  out.depth = bytes.readUInt32LE(row + 12);
  out.priority = bytes.readDoubleLE(row + 16);
  out.deadlineMs = bytes.readDoubleLE(row + 24);
  out.url = block.text.substring(textAt, textAt + urlBytes);
  out.ruleNumber = bytes.readUInt32LE(row + 40);
  out.parentAt = bytes[row + 44] === 0 ? 0 : row + 48;
  out.block = bytes;
  if (extrasBytes !== 0) {
    out.packed = Buffer.from(bytes.subarray(extrasAt, extrasAt + extrasBytes));
  }
}

/** @hot */
function writeRow(
  { words, doubles }: Draft,
  row: number,
  { id, ruleNumber, extras, lease }: LeaseFields,
): void {
  const word = row >> 2;
  words[word] = id;
  words[word + 1] = lease.attempt;
  words[word + 2] = lease.deliveries;
  words[word + 3] = lease.depth;
  doubles[(word + 4) >> 1] = lease.priority;
  doubles[(word + 6) >> 1] = lease.deadlineMs;
  words[word + 8] = lease.url.length;
  words[word + 9] = extras === undefined ? 0 : extras.length;
  words[word + 10] = ruleNumber;
  words[word + 11] = lease.hasParent ? 1 : 0;
  if (!lease.hasParent) return;
  words[word + 12] = lease.parent0;
  words[word + 13] = lease.parent1;
  words[word + 14] = lease.parent2;
  words[word + 15] = lease.parent3;
}
