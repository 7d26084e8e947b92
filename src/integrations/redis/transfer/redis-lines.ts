/** Records, hosts and identities of a frontier on Redis as lines of its export, and back (docs/formats/export.md). */
import type { RequestInput } from "../../../engine/types/frontier-types.ts";
import type { Line } from "../../../persistence/transfer/export-lines.ts";
import { decode, encode } from "../../../persistence/transfer/tagged-json.ts";
import { type Found, unitOf } from "../frontier/record-views.ts";
import { readRecord } from "../requests/record-bytes.ts";
import { printOf, recordOf, type RequestReader, type Row } from "../requests/request-reader.ts";
import { type Packable, packed, type Unpacked, unpacked } from "../server/packing.ts";

/** States of records, by the script's letters and by their numbers in its bytes. */
const STATES: Readonly<Record<string, string>> = {
  ...{ p: "pending", l: "pending", w: "waiting", f: "failed", z: "resting", k: "kept" },
};
const NUMBERS: Readonly<Record<string, number>> = {
  ...{ pending: 0, waiting: 1, failed: 3, resting: 4, kept: 5 },
};
const CAME_AGAIN = 16_384;
const HAS_PRIORITY = 1;
const HAS_FAMILY = 2;
const HAS_TERMS = 4;

/** Names that stand as numbers in records. */
export interface LineNames {
  readonly ids: readonly string[];
  /** Epochs by the numbers of their families. */
  readonly epochs: ReadonlyMap<number, string>;
}

export function recordLine(found: Found, { ids, epochs }: LineNames): Line {
  const record = readRecord(found.bytes);
  const { d, e, r, ...texts } = record.extras;
  const names = { m: "method", b: "body", h: "headers", n: "handler", k: "key", u: "hostKey" };
  const line: Line = { url: record.url };
  for (const [short, name] of Object.entries(names)) {
    const value = texts[short as keyof typeof texts];
    if (value !== undefined) line[name] = encode(value);
  }
  if (d !== undefined) line.data = encode(d);
  if (r !== undefined) line.redirects = r;
  if (e !== undefined) line.namedEpoch = e;
  if (record.maxAttempts > 0) line.maxAttempts = record.maxAttempts;
  line.state = STATES[found.letter];
  line.priority = encode(record.priority);
  line.depth = record.depth;
  line.attempt = record.attempt;
  line.deliveries = record.deliveries + (found.lease.length === 0 ? 0 : 1);
  if (found.dueMs !== undefined) line.dueMs = found.dueMs;
  line.rule = ids[record.rule] ?? "";
  line.host = unitOf(record);
  line.order = found.member.readUIntBE(0, 6);
  const epoch = epochs.get(record.family);
  if (epoch !== undefined) line.epoch = epoch;
  if (record.parent !== undefined) line.parent = record.parent.toString("hex");
  if (found.failure.length > 0) {
    const [reason, atMs, status, order] = unpacked(found.failure) as [
      Buffer,
      number,
      number,
      number,
    ];
    line.failure = { reason: String(reason), atMs, ...(status === 0 ? {} : { status }), order };
  }
  if (hasComeAgain(found.bytes)) line.again = true;
  if (record.isStart) line.start = true;
  if (!record.hasIdentity) line.dedup = "skip";
  return line;
}

function hasComeAgain(bytes: Buffer): boolean {
  const flags = bytes[14] as number;
  if ((flags & HAS_TERMS) === 0) return false;
  const at = 15 + ((flags & HAS_PRIORITY) === 0 ? 0 : 8) + ((flags & HAS_FAMILY) === 0 ? 0 : 2);
  return (bytes.readUInt16BE(at) & CAME_AGAIN) !== 0;
}

/** The row of a record's line, with what the script needs of it; a number: no rule takes it. */
export function restoredRecord(
  line: Line,
  reader: RequestReader,
  nowMs: number,
): { partition: number; packed: Packable } | number {
  const get = <T>(name: string): T | undefined => decode(line[name]) as T | undefined;
  const fields = ["method", "body", "headers", "handler", "key", "hostKey", "data", "maxAttempts"];
  const request: Record<string, unknown> = { url: line.url, start: line.start === true };
  for (const name of fields) if (line[name] !== undefined) request[name] = get(name);
  if (line.namedEpoch !== undefined) request.epoch = line.namedEpoch;
  const parent = line.parent === undefined ? undefined : Buffer.from(String(line.parent), "hex");
  const rule = reader.set.list.specs.find(({ id }) => id === line.rule);
  const origin = {
    ...{ nowMs, depth: Number(line.depth), parent, record: { rule } },
    redirects: line.redirects as number | undefined,
  };
  const [row] = reader.read([request as unknown as RequestInput], origin) as [Row | number];
  if (typeof row === "number") return row;
  const {
    reason,
    atMs,
    status = 0,
    order,
  } = (line.failure ?? {}) as Record<string, number | string>;
  const failure =
    line.failure === undefined ? "" : packed([reason, atMs, status, order] as Packable);
  return {
    partition: row.partition,
    packed: [
      ...[printOf(row), String(line.epoch ?? ""), NUMBERS[String(line.state)] ?? 0],
      ...[Number(line.attempt), Number(line.deliveries), Number(line.dueMs ?? 0), failure],
      ...[String(line.host), row.rule, Number(get("priority")), row.isStart ? 1 : 0, row.depth],
      ...[recordOf(row), line.again === true, line.dedup === "skip"],
    ],
  };
}

/** A host as `dump` returns it. */
export function hostLine(bytes: Buffer): Line {
  const [name, turn, ...rest] = unpacked(bytes) as Unpacked[];
  if ((name as Buffer)[0] === 0xfe) return { fresh: (name as Buffer).toString("hex"), at: turn };
  const [joined, readyAt, blockUntil, held, steered, kept, decided, settings] = rest;
  return {
    host: String(name),
    ...{ turn, joined, readyAt, blockUntil, held, steered, kept, decided },
    ...(settings instanceof Map ? { settings: plainOf(settings) } : {}),
  };
}

function plainOf(settings: ReadonlyMap<string, Unpacked>): Record<string, unknown> {
  return Object.fromEntries(
    [...settings].map(([name, value]) => [name, Buffer.isBuffer(value) ? String(value) : value]),
  );
}

export function restoredHost(line: Line): Packable {
  if (line.fresh !== undefined) return [Buffer.from(String(line.fresh), "hex"), Number(line.at)];
  const { host, turn, joined, readyAt, blockUntil, held, steered, kept, decided, settings } = line;
  const fields = [host, turn, joined, readyAt, blockUntil, held, steered, kept, decided];
  return [...(fields as Packable[]), (settings as Packable | undefined) ?? false];
}

const ENTRY_BYTES = 24;
const KINDS = ["live", "done", "removed"];

/** Finished identities of a bucket; live ones are their records'. */
export function* seenLines(field: Buffer, bucket: Buffer, { epochs }: LineNames): Generator<Line> {
  const epoch = epochs.get(field.readUInt16BE(0));
  for (let at = 0; at < bucket.length; at += ENTRY_BYTES) {
    const kind = bucket[at + 16] as number;
    if (kind === 0) continue;
    yield {
      seen: bucket.toString("hex", at, at + 16),
      state: KINDS[kind],
      ...{ depth: bucket.readUInt16BE(at + 18), attempts: bucket.readUInt16BE(at + 20) },
      ...(epoch === undefined ? {} : { epoch }),
    };
  }
}

export function restoredSeen({ seen, state, depth, attempts, epoch }: Line): Packable {
  const print = Buffer.from(String(seen), "hex");
  return [
    print,
    String(epoch ?? ""),
    KINDS.indexOf(String(state)),
    Number(depth),
    Number(attempts),
  ];
}
