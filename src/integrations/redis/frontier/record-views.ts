/** Views of records, as plain data: what scripts return of them (lua/find-16.lua, lua/scan-16.lua). */
import type { FailureView, RecordView, RequestView } from "../../../engine/types/frontier-types.ts";
import type { RecordState } from "../../../engine/types/frontier-types.ts";
import { hostOfUrl } from "../../../url/parsing/host-of-url.ts";
import { readHead, type RecordFields, readRecord } from "../requests/record-bytes.ts";
import type { RuleSet } from "../requests/rule-set.ts";
import { unpacked } from "../server/packing.ts";

/** States by the letters of the scripts. */
const STATES: Record<string, RecordState> = {
  ...{ p: "pending", w: "waiting", l: "leased", f: "failed" },
  ...{ z: "done", k: "done", d: "done", r: "removed" },
};

const LETTERS = ["p", "w", "p", "f", "z", "k"];

/** One identity as `find` returns it. */
export interface Found {
  readonly letter: string;
  readonly member: Buffer;
  readonly bytes: Buffer;
  readonly lease: Buffer;
  readonly dueMs: number | undefined;
  readonly failure: Buffer;
  readonly attempts: number;
  readonly depth: number;
}

export function readFound(answer: unknown): Found | undefined {
  if (!Array.isArray(answer)) return undefined;
  const [letter, member, bytes, lease, due, failure, attempts, depth] = answer as unknown[];
  return {
    ...{ letter: String(letter), member: asBytes(member), bytes: asBytes(bytes) },
    ...{ lease: asBytes(lease), failure: asBytes(failure) },
    dueMs: String(due) === "" ? undefined : Number(due),
    ...{ attempts: Number(attempts), depth: Number(depth) },
  };
}

function asBytes(value: unknown): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(String(value ?? ""));
}

/** A record as `scan` returns it. */
export function readScanned(bytes: Buffer): Found {
  const leaseLength = bytes.readUInt16BE(6);
  let at = 8 + leaseLength;
  const due = bytes.readDoubleBE(at);
  const failureLength = bytes.readUInt16BE(at + 8);
  at += 10 + failureLength;
  const record = bytes.subarray(at);
  const { state, attempt } = readHead(record);
  const letter = leaseLength > 0 ? "l" : (LETTERS[state] ?? "p");
  return {
    ...{ letter, member: bytes.subarray(0, 6), bytes: record },
    lease: bytes.subarray(8, 8 + leaseLength),
    dueMs: due === 0 ? undefined : due,
    failure: bytes.subarray(at - failureLength, at),
    ...{ attempts: attempt, depth: record.readUInt16BE(6) },
  };
}

export function stateOf({ letter }: Found): RecordState {
  return STATES[letter] as RecordState;
}

/** The key of a record's politeness unit. */
export function unitOf(record: RecordFields): string {
  return record.extras.u ?? record.ownHost ?? hostOfUrl(record.url);
}

export function recordViewOf(found: Found, rules: RuleSet): RecordView {
  const state = stateOf(found);
  if (found.bytes.length === 0) {
    return { state, attempts: found.attempts, depth: found.depth };
  }
  const record = readRecord(found.bytes);
  const { extras, parent } = record;
  const isAhead = state === "pending" || state === "waiting";
  const deadline = found.lease.length === 0 ? undefined : found.lease.readDoubleBE(8);
  const untilMs = state === "leased" ? deadline : found.dueMs;
  const deliveries = state === "leased" ? record.deliveries + 1 : record.deliveries;
  return {
    state,
    attempts: isAhead ? record.attempt - 1 : record.attempt,
    depth: record.depth,
    url: record.url,
    host: hostOfUrl(record.url),
    rule: rules.ids[record.rule] ?? "",
    priority: record.priority,
    deliveries,
    ...(extras.u === undefined ? {} : { hostKey: extras.u }),
    ...(extras.d === undefined ? {} : { data: extras.d }),
    ...(untilMs === undefined ? {} : { untilMs }),
    ...(parent === undefined ? {} : { parent: parent.toString("hex") }),
    ...(found.failure.length === 0 ? {} : { failure: failureOf(found.failure) }),
  };
}

export function failureOf(bytes: Buffer): FailureView {
  const [reason, atMs, status] = unpacked(bytes) as [Buffer, number, number];
  return { reason: String(reason), atMs, ...(status === 0 ? {} : { status }) };
}

/** Its place among all failures. */
export function failureOrder(bytes: Buffer): number {
  return (unpacked(bytes) as [Buffer, number, number, number])[3];
}

export function requestViewOf(record: RecordFields, rule: string): RequestView {
  const { extras, parent } = record;
  return {
    url: record.url,
    method: extras.m ?? "GET",
    host: hostOfUrl(record.url),
    rule,
    priority: record.priority,
    depth: record.depth,
    attempt: record.attempt,
    deliveries: record.deliveries,
    ...(extras.n === undefined ? {} : { handler: extras.n }),
    ...(extras.u === undefined ? {} : { hostKey: extras.u }),
    ...(extras.d === undefined ? {} : { data: extras.d }),
    ...(parent === undefined ? {} : { parent: parent.toString("hex") }),
  };
}
