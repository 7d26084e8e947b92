/**
 * Reserved metadata: fields that the protocol lacks are sent in the metadata of a URL, under keys of ours.
 *
 *   key                    in            means
 *   outrider.priority      discovered    any safe integer; within a queue the highest goes first
 *   outrider.not-before    discovered    milliseconds since 1970 before which it is not handed out
 *   outrider.refetch-at    known         milliseconds since 1970, in place of the date in seconds
 *   outrider.failure       known         why it failed for good, in place of finished; with a date: nothing
 *   outrider.fenced        discovered    each hand-out adds `outrider.lease`
 *   outrider.lease         known         which hand-out it ends: SKIPPED where that one is over, and nothing changes
 *
 * A client that uses none of them pays one search for "outrider." in the bytes of its metadata.
 */
import { metadataFields, metadataOf } from "../grpc/messages.ts";
import type { KnownUrl, StoredUrl } from "./crawl.ts";
import { SECONDS_MAX } from "./stored-url.ts";

export interface Reserved {
  readonly priority: number | undefined;
  readonly notBefore: number | undefined;
  readonly refetchAt: number | undefined;
  readonly failure: string | undefined;
  readonly isFenced: boolean;
  readonly lease: string | undefined;
  /** A value that should be a number is not: the URL is refused. */
  readonly isWrong: boolean;
}

const PREFIX = "outrider.";
/** Its first letters. */
const [O, U, T] = Buffer.from(PREFIX);
const LEASE = `${PREFIX}lease`;
const WORD_LETTERS_MAX = 200;

const NOTHING: Reserved = Object.freeze({
  priority: undefined,
  notBefore: undefined,
  refetchAt: undefined,
  failure: undefined,
  isFenced: false,
  lease: undefined,
  isWrong: false,
});

/** The reserved fields of the metadata. */
export function reservedOf(metadata: Uint8Array | undefined): Reserved {
  if (metadata === undefined || !hasReserved(metadata)) return NOTHING;
  const found = metadataOf(metadata);
  const word = (name: string): string | undefined => found.get(PREFIX + name)?.[0];
  const numbers = ["priority", "not-before", "refetch-at"].map((name) => numberOf(word(name)));
  const [priority, ...times] = numbers;
  // Beyond that no frontier takes a time: the push of all that came with the URL would fail.
  const [notBefore, refetchAt] = times.map((ms) => ms && Math.min(ms, SECONDS_MAX * 1_000));
  return {
    ...{ priority, notBefore, refetchAt },
    failure: word("failure")?.slice(0, WORD_LETTERS_MAX),
    isFenced: word("fenced") !== undefined,
    lease: word("lease"),
    isWrong:
      numbers.some((value) => value !== undefined && !Number.isSafeInteger(value)) ||
      times.some((ms) => ms !== undefined && ms < 0),
  };
}

function hasReserved(metadata: Uint8Array): boolean {
  // Metadata are short: to compare three bytes here is faster than a call of `includes`.
  for (let at = metadata.length - PREFIX.length; at >= 0; at--) {
    if (metadata[at] === O && metadata[at + 1] === U && metadata[at + 2] === T) {
      const { buffer, byteOffset, byteLength } = metadata;
      return Buffer.from(buffer, byteOffset, byteLength).includes(PREFIX, 0, "latin1");
    }
  }
  return false;
}

/** A number as text; NaN for any other text. */
function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
}

/** Metadata with the name of a hand-out, which counts where they have an older one. */
function withLease(metadata: Uint8Array, lease: string): Uint8Array {
  const added = metadataFields([[LEASE, [lease]]]);
  const all = new Uint8Array(metadata.length + added.length);
  all.set(metadata);
  all.set(added, metadata.length);
  return all;
}

/** Names of hand-outs of one crawl: no other process, and no other hand-out, has the same. */
export interface LeaseNames {
  /** The name of a lease's hand-out, made when it is first asked for. */
  of(lease: object): string;
}

export function createLeaseNames(nowMs: number): LeaseNames {
  const names = new WeakMap<object, string>();
  const begun = nowMs.toString(36);
  let count = 0;
  return {
    of(lease) {
      let name = names.get(lease);
      if (name === undefined) {
        name = `${begun}-${++count}`;
        names.set(lease, name);
      }
      return name;
    },
  };
}

/** Whether a client reports on a hand-out that is over. */
export function isOver(
  { lease: reported }: Reserved,
  lease: object | undefined,
  names: LeaseNames,
): boolean {
  return reported !== undefined && (lease === undefined || names.of(lease) !== reported);
}

/** A URL as it is handed out: with the name of the hand-out, where its metadata ask for one. */
export function named(stored: StoredUrl, lease: object, names: LeaseNames): StoredUrl {
  const { metadata } = stored;
  if (metadata === undefined || !reservedOf(metadata).isFenced) return stored;
  return { ...stored, metadata: withLease(metadata, names.of(lease)) };
}

/** When a known URL is due again: in whole seconds, as the protocol shows it, and in milliseconds; 0 and undefined: never. */
export function dueOf(
  { refetchAt }: KnownUrl,
  reserved: Reserved,
): { due: number; dueAt: number | undefined } {
  const due = Math.min(refetchAt, SECONDS_MAX);
  const dueAt = reserved.refetchAt;
  if (dueAt !== undefined) {
    return { due: Math.max(Math.ceil(dueAt / 1_000), 1), dueAt };
  }
  return { due, dueAt: due === 0 ? undefined : due * 1_000 };
}
