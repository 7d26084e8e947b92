/**
 * Lease messages, owner to worker: leases in blocks, the names of rules, leases that have run out (layout/message.ts).
 * The owner writes numbers and text where they will be read; the worker makes an object when it begins with a lease.
 */
import {
  LEASE_ROW_BYTES,
  LEASES_HEAD_BYTES,
  MESSAGE_CANCEL,
  MESSAGE_LEASES,
  MESSAGE_RULE,
} from "../../layout/message.ts";
import { beginMessage, endMessage, type Sender } from "./sender.ts";

/** What a lease is, apart from what it can do. */
export interface LeaseFields {
  readonly id: number;
  readonly url: string;
  readonly priority: number;
  readonly depth: number;
  readonly attempt: number;
  readonly deliveries: number;
  readonly deadlineMs: number;
  /** Number under which the rule's name was sent. */
  readonly rule: number;
  /** Fingerprint of the page it was found on, 32 hex digits. */
  readonly parent: string | undefined;
  /** Packed LeaseExtras, where there are any. */
  readonly extras: Uint8Array | undefined;
}

/** What few requests have. */
export interface LeaseExtras {
  readonly m?: string;
  readonly b?: Uint8Array;
  readonly h?: Record<string, string>;
  readonly n?: string;
  readonly d?: unknown;
  /** The fingerprint, where a worker could not make it. */
  readonly f?: string;
}

/** Leases of a block that is being read; the bytes are the lane's until the block is dropped. */
export interface LeaseBlock {
  readonly bytes: Buffer;
  readonly start: number;
  readonly count: number;
  /** Rows handed on. */
  next: number;
  /** Where the text and the extras of the next row begin. */
  textAt: number;
  extrasAt: number;
}

export function writeLeases(sender: Sender, leases: readonly LeaseFields[]): void {
  let size = LEASES_HEAD_BYTES + leases.length * LEASE_ROW_BYTES;
  let text = "";
  for (const { url, extras } of leases) {
    text += url;
    size += extras === undefined ? 0 : extras.length;
  }
  size += text.length;
  const draft = beginMessage(sender, size);
  const { bytes, start } = draft;
  bytes.writeInt32LE(MESSAGE_LEASES, start);
  bytes.writeInt32LE(leases.length, start + 4);
  let row = start + LEASES_HEAD_BYTES;
  for (const lease of leases) {
    writeRow(bytes, row, lease);
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

export function writeCancel(sender: Sender, id: number): void {
  const draft = beginMessage(sender, LEASES_HEAD_BYTES);
  draft.bytes.writeInt32LE(MESSAGE_CANCEL, draft.start);
  draft.bytes.writeInt32LE(id, draft.start + 4);
  endMessage(sender, draft, LEASES_HEAD_BYTES);
}

/** Opens a block for reading row by row. */
export function openBlock(bytes: Buffer, start: number): LeaseBlock {
  const count = bytes.readInt32LE(start + 4);
  const textAt = start + LEASES_HEAD_BYTES + count * LEASE_ROW_BYTES;
  let extrasAt = textAt;
  for (let row = 0; row < count; row++) {
    extrasAt += bytes.readUInt32LE(start + LEASES_HEAD_BYTES + row * LEASE_ROW_BYTES + 32);
  }
  return { bytes, start, count, next: 0, textAt, extrasAt };
}

/** The next row of a block; what it says is copied out. */
export function readLease(block: LeaseBlock): LeaseFields {
  const { bytes } = block;
  const row = block.start + LEASES_HEAD_BYTES + block.next * LEASE_ROW_BYTES;
  const urlBytes = bytes.readUInt32LE(row + 32);
  const extrasBytes = bytes.readUInt32LE(row + 36);
  const { textAt, extrasAt } = block;
  block.next++;
  block.textAt += urlBytes;
  block.extrasAt += extrasBytes;
  return {
    id: bytes.readUInt32LE(row),
    attempt: bytes.readUInt32LE(row + 4),
    deliveries: bytes.readUInt32LE(row + 8),
    depth: bytes.readUInt32LE(row + 12),
    priority: bytes.readDoubleLE(row + 16),
    deadlineMs: bytes.readDoubleLE(row + 24),
    url: bytes.latin1Slice(textAt, textAt + urlBytes),
    rule: bytes.readUInt32LE(row + 40),
    parent: bytes[row + 44] === 0 ? undefined : bytes.hexSlice(row + 48, row + 64),
    extras:
      extrasBytes === 0 ? undefined : Buffer.from(bytes.subarray(extrasAt, extrasAt + extrasBytes)),
  };
}

function writeRow(bytes: Buffer, row: number, lease: LeaseFields): void {
  bytes.writeUInt32LE(lease.id, row);
  bytes.writeUInt32LE(lease.attempt, row + 4);
  bytes.writeUInt32LE(lease.deliveries, row + 8);
  bytes.writeUInt32LE(lease.depth, row + 12);
  bytes.writeDoubleLE(lease.priority, row + 16);
  bytes.writeDoubleLE(lease.deadlineMs, row + 24);
  bytes.writeUInt32LE(lease.url.length, row + 32);
  bytes.writeUInt32LE(lease.extras?.length ?? 0, row + 36);
  bytes.writeUInt32LE(lease.rule, row + 40);
  bytes.writeUInt32LE(lease.parent === undefined ? 0 : 1, row + 44);
  if (lease.parent !== undefined) bytes.hexWrite(lease.parent, row + 48, 16);
}
