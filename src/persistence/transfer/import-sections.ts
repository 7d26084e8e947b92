/**
 * Import: lines of an export as sections of a standalone file (export-lines.ts, docs/formats/export.md).
 *
 *   line ─▶ checked, field by field ─▶ columns ── a thousand rows, or another type ─▶ section
 *
 *   M1  A line that differs from an export's form is refused with its number and field: SNAPSHOT_CORRUPT. Nothing is guessed.
 *   M2  A file without its end, or with an end that counts other lines, is refused: it was cut off or edited.
 */
import { FrontierError } from "../../base/errors.ts";
import {
  RECORD_FLAG_HTTPS,
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_START,
  RECORD_FLAG_WHOLE,
} from "../../structures/records/record.ts";
import { finishedValue } from "../../frontier/records/finished-word.ts";
import { JOURNAL_HEADER_BYTES } from "../../layout/files/journal.ts";
import { COLD_REMOVED } from "../../structures/storage-tiers.ts";
import {
  EXPORT_NAME,
  EXPORT_VERSION,
  EXTRA_NAMES,
  type Line,
  STATE_NAMES,
} from "./export-lines.ts";
import { ruleBits } from "../journal/entry-fields.ts";
import { packr } from "../msgpack.ts";
import { STANDALONE_SERIAL } from "../snapshot/standalone-snapshot.ts";
import { AGAIN, CHUNK_ROWS } from "../snapshot/snapshot-columns.ts";
import type { Section, SnapshotHead, SnapshotRule } from "../snapshot/snapshot-format.ts";
import { decode, packedOfJson } from "./tagged-json.ts";

const STATE_NUMBERS = new Map(Object.entries(STATE_NAMES).map(([at, name]) => [name, Number(at)]));
const EXTRA_SHORTS = new Map(Object.entries(EXTRA_NAMES).map(([short, name]) => [name, short]));

/** Rows of one type that wait for their section. */
interface Rows {
  sort: "" | "host" | "group" | "seen" | "url";
  count: number;
  readonly hashes: number[];
  readonly doubles: number[];
  readonly words: number[];
  readonly lengths: number[];
  readonly texts: Uint8Array[];
  readonly sparse: number[];
  readonly bytes: Uint8Array[];
  readonly parents: number[];
  readonly prints: string[];
}

/** Names the export of a frontier on Redis in its first line. */
export const REDIS_EXPORT_NAME = "redis-frontier";

/** Whether this line is the first one of an export. */
export function isExportHead(line: Line): boolean {
  return line.outrider === EXPORT_NAME;
}

export function createSectionMaker() {
  const rows = createRows();
  const hosts = new Map<string, readonly [number, number]>();
  const counts = { hosts: 0, seen: 0, records: 0 };
  const digests: Uint8Array[] = [];
  const rules = new Map<string, number>();
  let number = 0;
  let isOver = false;
  const make = (line: Line): Section[] => {
    const done: Section[] = [];
    const sort = sortOf(line);
    if (rows.sort !== sort || rows.count >= CHUNK_ROWS) done.push(...takeRows(rows));
    const read = new Reader(line);
    if (number === 1) {
      const head = headOf(read);
      // Of two with one id, the first.
      for (const [at, { id }] of head.rules.entries()) if (!rules.has(id)) rules.set(id, at);
      return [head];
    }
    rows.sort = sort;
    if (sort !== "") rows.count++;
    if (sort === "host") {
      counts.hosts++;
      hosts.set(String(line.host), addHost(rows, read));
    } else if (sort === "group") addGroup(rows, read);
    else if (sort === "seen") {
      counts.seen++;
      addSeen(rows, read);
    } else if (sort === "url") {
      counts.records++;
      addRecord(rows, read, { hosts, rules });
    } else if ("sha1" in line) {
      for (const digest of read.list("sha1")) digests.push(digestOf(digest));
    } else if ("end" in line) {
      checkEnd(line.end, { ...counts, sha1: digests.length });
      isOver = true;
      const place = { segment: STANDALONE_SERIAL, offset: JOURNAL_HEADER_BYTES };
      done.push({ t: "end", ...counts, ...place });
    } else done.push(otherOf(read));
    return done;
  };
  return {
    /** Digests of another program's requests, in pieces: no section holds them. */
    digests,
    /** Returns the sections that a line completes. */
    line(line: Line): readonly Section[] {
      number++;
      try {
        if (isOver) throw wrong("end", "something behind it", "the last line");
        return make(line);
      } catch (error) {
        throw atLine(error, number);
      }
    },
    /** Returns the rest after the last line. Throws when the end is missing (M2). */
    end(): readonly Section[] {
      if (isOver) return [];
      throw atLine(wrong("end", undefined, "a last line that counts the others"), number + 1);
    },
  };
}

function sortOf(line: Line): Rows["sort"] {
  for (const sort of ["url", "seen", "host", "group"] as const) if (sort in line) return sort;
  return "";
}

function headOf(read: Reader): SnapshotHead {
  const { line } = read;
  if (!isExportHead(line)) throw wrong("outrider", line.outrider, `"${EXPORT_NAME}"`);
  if (line.version !== EXPORT_VERSION) {
    const expected = `version ${EXPORT_VERSION}; use the version that wrote it`;
    throw new FrontierError(
      "FORMAT_UNSUPPORTED",
      `version: ${line.version} (expected: ${expected})`,
    );
  }
  const notes = Object.entries(read.object("notes")).map(([name, json]) => [
    name,
    packedOfJson(json),
  ]);
  return {
    ...{ t: "head", serial: STANDALONE_SERIAL, algorithm: read.number("algorithm") },
    secret: new Uint8Array(Buffer.from(read.hex("secret", 32), "hex")),
    ...{ profile: read.text("profile"), savedAt: read.number("savedAt") },
    ...{ sequence: read.number("sequence"), leaseSequence: read.number("leaseSequence") },
    ...{ joined: read.number("joined"), volatileLive: read.number("volatileLive") },
    counters: read.object("counters") as Record<string, number>,
    depths: read.list("depths") as number[],
    rejected: read.object("rejected") as Record<string, number>,
    rules: read.list("rules").map((rule) => decode(rule) as SnapshotRule),
    notes: Object.fromEntries(notes),
    alone: true,
  };
}

function otherOf(read: Reader): Section {
  const { line } = read;
  if ("epoch" in line) {
    const hashes = read.list("members").flatMap((member) => pairOf(member, "members"));
    const { bytes } = wordsBytes(hashes);
    return { t: "epoch", n: hashes.length / 2, name: read.text("epoch"), hashes: bytes };
  }
  if ("bloom" in line) {
    return { t: "bloom", layers: wordsBytes(read.list("bloom") as number[]).bytes };
  }
  if ("bits" in line) {
    const bits = new Uint8Array(Buffer.from(read.text("bits"), "base64"));
    return { t: "bits", layer: read.number("layer"), from: read.number("from"), bits };
  }
  throw wrong(Object.keys(line)[0] ?? "line", undefined, "a line of an export");
}

function addHost(rows: Rows, read: Reader): readonly [number, number] {
  const hash = read.hash("hash");
  rows.hashes.push(...hash);
  for (const name of ["turn", "readyAt", "blockUntil", "delayMs", "adaptiveMs", "bytes"]) {
    rows.doubles.push(read.number(name));
  }
  for (const name of ["limit", "failures", "admitted", "flags"]) {
    rows.words.push(read.number(name));
  }
  const name = Buffer.from(read.text("host"), "utf8");
  rows.lengths.push(name.length);
  rows.texts.push(padded(name));
  if (read.line.address !== undefined) {
    const address = Buffer.from(read.text("address"), "utf8");
    rows.sparse.push(rows.count - 1, address.length);
    rows.bytes.push(padded(address));
  }
  return hash;
}

function addGroup(rows: Rows, read: Reader): void {
  rows.hashes.push(...read.hash("group"));
  rows.doubles.push(read.number("readyAt"));
}

function addSeen(rows: Rows, read: Reader): void {
  rows.hashes.push(...read.hash("seen"));
  const state = read.text("state");
  if (state === "unseen") rows.words.push(COLD_REMOVED);
  else if (state === "done" || state === "removed") {
    const isRemoved = state === "removed";
    rows.words.push(finishedValue(read.number("depth"), read.number("attempts"), isRemoved));
  } else throw wrong("state", state, "done, removed or unseen");
}

interface Known {
  readonly hosts: ReadonlyMap<string, readonly [number, number]>;
  readonly rules: ReadonlyMap<string, number>;
}

function addRecord(rows: Rows, read: Reader, { hosts, rules }: Known): void {
  const { line } = read;
  const host = hosts.get(read.text("host"));
  if (host === undefined) throw wrong("host", line.host, "one that a line before it names");
  rows.hashes.push(...read.hash("id"), ...host);
  const due = line.dueMs === undefined ? 0 : read.number("dueMs");
  rows.doubles.push(read.number("order"), read.number("priority"), due);
  const state = STATE_NUMBERS.get(read.text("state"));
  if (state === undefined) throw wrong("state", line.state, [...STATE_NUMBERS.keys()].join(", "));
  const { flags, text } = textOf(read);
  const rule = rules.get(read.text("rule"));
  if (rule === undefined) throw wrong("rule", line.rule, "a rule that the first line names");
  const again = line.again === true ? AGAIN : 0;
  rows.words.push((state | again | (flags << 8) | ruleBits(rule)) >>> 0);
  const attempt = read.number("attempt") & 65_535;
  rows.words.push((attempt | (read.number("deliveries") << 16)) >>> 0);
  rows.words.push(read.number("depth"), text.length);
  rows.texts.push(padded(text));
  if (line.parent !== undefined) addParent(rows, read.hex("parent", 32));
  if (line.maxAttempts === undefined) return;
  const extras = extrasOf(read);
  const period = line.period === undefined ? 0 : read.number("period");
  const tried = (read.number("maxAttempts") | (period << 16)) >>> 0;
  rows.sparse.push(rows.count - 1, tried, extras.length);
  rows.bytes.push(extras);
}

/** The record's text: its URL, or the part of it after scheme and host. */
function textOf(read: Reader): { flags: number; text: Uint8Array } {
  const { line } = read;
  const url = read.text("url");
  let flags = line.start === true ? RECORD_FLAG_START : 0;
  if (line.dedup === "skip") flags |= RECORD_FLAG_NO_IDENTITY;
  if (line.text !== undefined) {
    const form = read.number("text") & (RECORD_FLAG_HTTPS | RECORD_FLAG_WHOLE);
    return { flags: flags | form, text: Buffer.from(url, "latin1") };
  }
  for (const [scheme, flag] of [
    ["https", RECORD_FLAG_HTTPS],
    ["http", 0],
  ] as const) {
    const prefix = `${scheme}://${String(line.host)}`;
    if (!url.startsWith(prefix)) continue;
    return { flags: flags | flag, text: Buffer.from(url.slice(prefix.length), "latin1") };
  }
  throw wrong("url", url, "one of its host");
}

function addParent(rows: Rows, print: string): void {
  // Siblings usually follow each other: one print serves a run of them.
  if (rows.prints.at(-1) !== print) rows.prints.push(print);
  rows.parents.push(rows.count - 1, rows.prints.length - 1);
}

function extrasOf(read: Reader): Uint8Array {
  const { line } = read;
  if (line.packed !== undefined) return Buffer.from(read.text("packed"), "base64");
  const extras: Line = {};
  for (const [name, value] of Object.entries(line)) {
    const short = EXTRA_SHORTS.get(name);
    if (short === undefined) continue;
    const isText = short === "b" && typeof value === "string";
    extras[short] = isText ? Buffer.from(value, "utf8") : decode(value);
  }
  if (Object.keys(extras).length === 0) return new Uint8Array(0);
  return Uint8Array.from(packr.pack(extras));
}

function checkEnd(end: unknown, counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) {
    // An end without a count of digests had none before it.
    const given = (end as Record<string, unknown> | null)?.[name] ?? (name === "sha1" ? 0 : null);
    if (given !== count) throw wrong(`end.${name}`, given, `${count}, as there were lines`);
  }
}

function createRows(): Rows {
  return {
    ...{ sort: "", count: 0, hashes: [], doubles: [], words: [], lengths: [], texts: [] },
    ...{ sparse: [], bytes: [], parents: [], prints: [] },
  };
}

/** The section of the waiting rows, if there are any. */
function takeRows(rows: Rows): Section[] {
  const { sort, count: n } = rows;
  if (n === 0) return [];
  const hashes = wordsBytes(rows.hashes).bytes;
  const doubles = new Uint8Array(Float64Array.from(rows.doubles).buffer);
  const words = wordsBytes(rows.words).bytes;
  const text = new Uint8Array(Buffer.concat(rows.texts));
  const sparse = wordsBytes(rows.sparse).bytes;
  const bytes = new Uint8Array(Buffer.concat(rows.bytes));
  const hasSparse = rows.sparse.length > 0;
  let section: Section;
  if (sort === "host") {
    const lengths = wordsBytes(rows.lengths).bytes;
    const addresses = hasSparse ? { addresses: sparse, address: bytes } : {};
    section = { t: "hosts", n, hashes, doubles, words, lengths, names: text, ...addresses };
  } else if (sort === "group") section = { t: "groups", n, hashes, clocks: doubles };
  else if (sort === "seen") section = { t: "seen", n, hashes, values: words };
  else {
    const prints = new Uint8Array(Buffer.from(rows.prints.join(""), "hex"));
    const parents =
      rows.parents.length === 0 ? {} : { parents: wordsBytes(rows.parents).bytes, prints };
    const blobs = hasSparse ? { blobs: sparse, blob: bytes } : {};
    section = { t: "records", n, hashes, doubles, words, text, ...parents, ...blobs };
  }
  rows.count = 0;
  for (const list of Object.values(rows)) if (Array.isArray(list)) list.length = 0;
  return [section];
}

/** Reads a line's fields and checks the type of each. */
class Reader {
  readonly line: Line;

  constructor(line: Line) {
    this.line = line;
  }

  text(name: string): string {
    const value = this.line[name];
    if (typeof value === "string") return value;
    throw wrong(name, value, "a string");
  }

  number(name: string): number {
    const value = decode(this.line[name]);
    if (typeof value === "number") return value;
    throw wrong(name, value, "a number");
  }

  object(name: string): Record<string, unknown> {
    const value = this.line[name];
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
    throw wrong(name, value, "an object");
  }

  list(name: string): unknown[] {
    const value = this.line[name];
    if (Array.isArray(value)) return value;
    throw wrong(name, value, "a list");
  }

  hex(name: string, digits: number): string {
    const value = this.text(name);
    if (value.length === digits && /^[0-9a-f]*$/.test(value)) return value;
    throw wrong(name, value, `${digits} hex digits`);
  }

  /** lo and hi of a hash. */
  hash(name: string): [number, number] {
    return pairOf(this.line[name], name);
  }
}

function pairOf(value: unknown, name: string): [number, number] {
  if (typeof value !== "string" || !/^[0-9a-f]{16}$/.test(value)) {
    throw wrong(name, value, "16 hex digits");
  }
  return [Number.parseInt(value.slice(8), 16), Number.parseInt(value.slice(0, 8), 16)];
}

function digestOf(value: unknown): Uint8Array {
  if (typeof value === "string" && /^[0-9a-f]{40}$/.test(value)) return Buffer.from(value, "hex");
  throw wrong("sha1", value, "40 hex digits each");
}

function wordsBytes(words: readonly number[]): { bytes: Uint8Array } {
  return { bytes: new Uint8Array(Uint32Array.from(words).buffer) };
}

function padded(bytes: Uint8Array): Uint8Array {
  return bytes.length % 4 === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
}

function wrong(name: string, value: unknown, expected: string): FrontierError {
  const shown = JSON.stringify(value)?.slice(0, 100) ?? "nothing";
  return new FrontierError("SNAPSHOT_CORRUPT", `${name}: ${shown} (expected: ${expected})`);
}

/** The same error, preceded by the line's number. */
function atLine(error: unknown, line: number): unknown {
  if (!(error instanceof Error)) return error;
  const code = error instanceof FrontierError ? error.code : "SNAPSHOT_CORRUPT";
  const known = code === "FORMAT_UNSUPPORTED" ? code : "SNAPSHOT_CORRUPT";
  return new FrontierError(known, `line ${line}: ${error.message}`, { line, cause: error });
}
