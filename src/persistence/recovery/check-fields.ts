/**
 * Checks of the fields of a journal. A checksum proves that a file is as it was written, not who wrote it. Each check returns its value,
 * or throws an error that recovery treats as damage: the frame and all later ones are set aside (recover.ts, R4).
 *
 *   key        a whole number, at most 2⁵³ from zero            turn       at most 2⁵²; a positive one may have a fraction
 *   priority   a safe integer                                   delays     −1 (not set), or at least 0 and finite
 *   due        a number that is not −∞                          counts     at least 0 and finite
 */
import { isUtf8 } from "node:buffer";
import { packr } from "../msgpack.ts";
import { InvariantError } from "../../base/errors.ts";
import {
  RECORD_FAILED,
  RECORD_FLAG_VOLATILE,
  RECORD_LEASED,
  RECORD_PENDING,
  RECORD_RESTING,
  RECORD_WAITING,
} from "../../layout/records/record.ts";
import {
  LOG_ADMITTED,
  LOG_CHANGED,
  LOG_EXPIRED,
  LOG_FAILED,
  LOG_RELEASED,
  LOG_REQUEUED,
  LOG_RESTED,
  LOG_RETRIED,
  LOG_WOKEN,
} from "../../frontier/records/transition-log.ts";

/** No sequence is greater; those that count from the other end begin at −2⁵². */
const KEY_MAX = 2 ** 53;
const TRIES_MAX = 65_535;
/** Turns to come are greater. */
const TURN_MAX = 2 ** 52;

/** States that a record can be in after an entry of a kind; of those that are not named, any. */
const STATES_AFTER: Readonly<Record<number, readonly number[]>> = Object.freeze({
  [LOG_ADMITTED]: [RECORD_PENDING, RECORD_WAITING],
  [LOG_RELEASED]: [RECORD_PENDING],
  [LOG_EXPIRED]: [RECORD_PENDING],
  [LOG_RETRIED]: [RECORD_PENDING, RECORD_WAITING],
  [LOG_FAILED]: [RECORD_FAILED],
  [LOG_WOKEN]: [RECORD_PENDING],
  [LOG_CHANGED]: [RECORD_PENDING, RECORD_WAITING, RECORD_LEASED, RECORD_FAILED, RECORD_RESTING],
  [LOG_REQUEUED]: [RECORD_PENDING, RECORD_WAITING],
  [LOG_RESTED]: [RECORD_RESTING],
});

/** Where a record stands: a sequence, or one less than another by 2⁵². */
export function checkKey(key: number): number {
  if (!(Math.abs(key) <= KEY_MAX && Number.isInteger(key))) throw wrong(`a place ${key}`);
  return key;
}

/** A host's turn: where it stands among hosts, or the place that it had before its first lease (fresh-hosts.ts). */
export function checkTurn(turn: number): number {
  checkKey(turn > 0 ? Math.floor(turn) : turn);
  if (turn > TURN_MAX) throw wrong(`a turn ${turn}`);
  return turn;
}

export function checkPriority(priority: number): number {
  if (!Number.isSafeInteger(priority)) throw wrong(`a priority ${priority}`);
  return priority;
}

/** A time at which something is due. */
export function checkDue(dueMs: number): number {
  if (!(dueMs > Number.NEGATIVE_INFINITY)) throw wrong(`a time ${dueMs}`);
  return dueMs;
}

/** The state in a head of an entry or of a row. */
function checkState(state: number): number {
  if (state < RECORD_PENDING || state > RECORD_RESTING) throw wrong(`a record in state ${state}`);
  return state;
}

/** The state after an entry of a kind. */
export function checkStateAfter(kind: number, state: number): number {
  const states = STATES_AFTER[kind];
  if (states !== undefined && !states.includes(state)) {
    throw wrong(`an entry of kind ${kind} that leaves a record in state ${state}`);
  }
  return checkState(state);
}

/** Flags that are a record's own. */
export function checkFlags(flags: number): number {
  if (flags >= RECORD_FLAG_VOLATILE) throw wrong(`flags ${flags}`);
  return flags;
}

export function checkDeliveries(deliveries: number): number {
  if (deliveries > TRIES_MAX) throw wrong(`${deliveries} deliveries`);
  return deliveries;
}

/** The clocks of a host, in the order of files: turn, readyAt, blockUntil, delayMs, adaptiveMs, bytes. */
export function checkHostDoubles(doubles: readonly number[]): void {
  const [turn = 0, readyAt = 0, blockUntil = 0, delayMs = 0, adaptiveMs = 0, bytes = 0] = doubles;
  checkTurn(turn);
  checkClock(readyAt);
  checkClock(blockUntil);
  for (const ms of [delayMs, adaptiveMs]) {
    if (!(ms === -1 || (ms >= 0 && ms < Number.POSITIVE_INFINITY))) throw wrong(`a delay ${ms}`);
  }
  if (!(bytes >= 0 && bytes < Number.POSITIVE_INFINITY)) throw wrong(`${bytes} bytes`);
}

/** A time before which something may not go. */
export function checkClock(atMs: number): number {
  if (!Number.isFinite(atMs)) throw wrong(`a clock ${atMs}`);
  return atMs;
}

const TEXTS = ["m", "n", "k", "u"];

/**
 * Checks the optional part of a request, which is read next when the record is handed out. Throws when a blob is not what the engine packs
 * (engine/intake/request-extras.ts). An empty one holds a period alone.
 */
export function checkBlob(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return bytes;
  const extras = mapOf(packr.unpack(bytes));
  for (const name of TEXTS) {
    if (extras[name] !== undefined && typeof extras[name] !== "string")
      throw wrong(`a text ${name}`);
  }
  if (extras.b !== undefined && !(extras.b instanceof Uint8Array)) throw wrong("a body");
  if (extras.r !== undefined && typeof extras.r !== "number") throw wrong("a count of redirects");
  const headers = extras.h === undefined ? [] : Object.values(mapOf(extras.h));
  if (!headers.every((value) => typeof value === "string")) throw wrong("a header");
  return bytes;
}

function mapOf(value: unknown): Record<string, unknown> {
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isMap) throw wrong("an optional part that is no map");
  return value as Record<string, unknown>;
}

/** A name in UTF-8 that is not empty. */
export function checkName(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0 || !isUtf8(bytes)) throw wrong("a name that is no text");
  return bytes;
}

export function wrong(what: string): InvariantError {
  return new InvariantError(`journal: ${what}`);
}
