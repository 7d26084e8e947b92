/**
 * Room `src/persistence/transfer`: a frontier as lines of JSON and back, and digests of other programs. Decides the
 * export format (docs/formats/export.md).
 */

/**
 * Export: sections of a snapshot as lines of JSON, one item a line, without any loss (docs/formats/export.md).
 *
 *   head    ─▶ {"outrider":"frontier","version":1, …}     hosts   ─▶ {"host": name, …} each
 *   groups  ─▶ {"group": hash, …} each                    epoch   ─▶ {"epoch": name, "members": […]}
 *   bloom   ─▶ {"bloom": […]}   bits ─▶ {"bits": …}       seen    ─▶ {"seen": hash, …} each
 *   records ─▶ {"url": …} each                            end     ─▶ {"end": {…}}
 *
 *   X1  import-sections.ts turns the lines into a frontier that behaves like the exported one.
 */
import {
  RECORD_FAILED,
  RECORD_FLAG_HTTPS,
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_START,
  RECORD_FLAG_WHOLE,
  RECORD_LEASED,
  RECORD_PENDING,
  RECORD_RESTING,
  RECORD_WAITING,
} from "../../structures/records/record.ts";
import { HOST_HELD, HOST_KEPT, HOST_STEERED } from "../../structures/hosts/host-table.ts";
import { finishedView, isFinishedValue } from "../../frontier/records/finished-word.ts";
import { flagsIn, ruleIn } from "../journal/entry-fields.ts";
import { type Failure, failedName, failureOfValue } from "../journal/failure-note.ts";
import { VISITED_NOTE } from "./digest-file.ts";
import { packr } from "../msgpack.ts";
import { AGAIN } from "../snapshot/snapshot-columns.ts";
import {
  doublesOf,
  type EpochChunk,
  type GroupChunk,
  type HostChunk,
  type RecordChunk,
  type Section,
  type SeenChunk,
  type SnapshotHead,
  type SnapshotRule,
  pairsOf,
  wordsOf,
} from "../snapshot/snapshot-format.ts";
import { decode, encode, jsonOfPacked } from "./tagged-json.ts";

const HOST_FLAGS = HOST_HELD | HOST_STEERED | HOST_KEPT;

export const EXPORT_VERSION = 1;
export const EXPORT_NAME = "frontier";

/** Two hex digits of each byte. */
const BYTE_TEXTS: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  return byte.toString(16).padStart(2, "0");
});

export type Line = Record<string, unknown>;

/** Names that lines use where sections use numbers. */
export interface ExportNames {
  readonly hosts: Map<string, string>;
  ruleIds: readonly string[];
  /** Why records failed, by their ids. */
  readonly failures: Map<string, Failure>;
}

export const STATE_NAMES: Readonly<Record<number, string>> = {
  [RECORD_PENDING]: "pending",
  [RECORD_WAITING]: "waiting",
  [RECORD_LEASED]: "leased",
  [RECORD_FAILED]: "failed",
  [RECORD_RESTING]: "resting",
};

/** Names of a request's fields beside its URL, by their packed names. */
export const EXTRA_NAMES: Readonly<Record<string, string>> = {
  ...{ m: "method", b: "body", h: "headers", n: "handler", k: "key", u: "hostKey", d: "data" },
  r: "redirects",
};

export function createExportNames(): ExportNames {
  return { hosts: new Map(), ruleIds: [], failures: new Map() };
}

/** The lines of a section. The head and the hosts must come before the sections that refer to them. */
export function* linesOf(section: Section, names: ExportNames): Generator<Line> {
  switch (section.t) {
    case "head":
      names.ruleIds = section.rules.map(({ id }) => id);
      learnFailures(section, names);
      yield headLine(section);
      return;
    case "hosts":
      return yield* hostLines(section, names);
    case "groups":
      return yield* groupLines(section);
    case "epoch":
      yield epochLine(section);
      return;
    case "bloom":
      yield { bloom: Array.from(wordsOf(section.layers)) };
      return;
    case "bits":
      yield { bits: base64(section.bits), layer: section.layer, from: section.from };
      return;
    case "seen":
      return yield* seenLines(section);
    case "records":
      return yield* recordLines(section, names);
    case "end": {
      const { hosts, seen, records } = section;
      yield { end: { hosts, seen, records } };
      return;
    }
    default:
      throw new TypeError("the snapshot changes while it is read");
  }
}

function headLine(head: SnapshotHead): Line {
  const { algorithm, profile, savedAt, sequence, leaseSequence, joined, volatileLive } = head;
  const rules = rulesById(head);
  const notes = Object.entries(head.notes)
    .filter(([name]) => name !== VISITED_NOTE) // its file is exported as lines
    .map(([name, value]) => {
      return [name, name === "ruleIds" ? rules.map(({ id }) => id) : jsonOfPacked(value)];
    });
  return {
    ...{ outrider: EXPORT_NAME, version: EXPORT_VERSION, algorithm },
    secret: Buffer.from(head.secret).toString("hex"),
    ...{ profile, savedAt, sequence, leaseSequence, joined, volatileLive },
    ...{ counters: head.counters, depths: head.depths, rejected: head.rejected },
    rules: rules.map((rule) => ({ ...rule, pass: encode(rule.pass) })),
    notes: Object.fromEntries(notes),
  };
}

/** Reads from the notes why records failed: the lines of failed records show it. */
function learnFailures({ notes }: SnapshotHead, { failures }: ExportNames): void {
  for (const [title, packed] of Object.entries(notes)) {
    const id = failedName(title);
    if (id !== undefined) failures.set(id, failureOfValue(packr.unpack(packed)));
  }
}

/** Rules by id: one that existed before and after a change of rules has two rows, which a reader adds up. */
function rulesById({ rules }: SnapshotHead): SnapshotRule[] {
  const byId = new Map<string, SnapshotRule>();
  for (const rule of rules) {
    const { id, served, done, pass } = rule;
    const same = byId.get(id) ?? { id, served: 0, done: 0, pass };
    const most = Math.max(same.pass, pass);
    byId.set(id, { id, served: same.served + served, done: same.done + done, pass: most });
  }
  return [...byId.values()];
}

function* hostLines(chunk: HostChunk, names: ExportNames): Generator<Line> {
  const hashes = wordsOf(chunk.hashes);
  const doubles = doublesOf(chunk.doubles);
  const words = wordsOf(chunk.words);
  const lengths = wordsOf(chunk.lengths);
  const addresses = new Map<number, number>();
  const pairs = chunk.addresses === undefined ? [] : wordsOf(chunk.addresses);
  for (let at = 0; at < pairs.length; at += 2) {
    addresses.set(pairs[at] as number, pairs[at + 1] as number);
  }
  let at = 0;
  let addressAt = 0;
  for (let row = 0; row < chunk.n; row++) {
    const length = lengths[row] as number;
    const hash = hashText(hashes[row * 2] as number, hashes[row * 2 + 1] as number);
    const name = Buffer.from(chunk.names.subarray(at, at + length)).toString("utf8");
    names.hosts.set(hash, name);
    at += (length + 3) & ~3;
    const [turn, readyAt, blockUntil, delayMs, adaptiveMs, bytes] = Array.from(
      doubles.subarray(row * 6, row * 6 + 6),
      encode,
    );
    const [limit, failures, admitted, own = 0] = words.subarray(row * 4, row * 4 + 4);
    const flags = own & HOST_FLAGS; // flags about its place are not exported
    const line: Line = { host: name, hash, turn, readyAt, blockUntil, delayMs, adaptiveMs, bytes };
    Object.assign(line, { limit, failures, admitted, flags });
    const address = addresses.get(row);
    if (address !== undefined && chunk.address !== undefined) {
      const text = chunk.address.subarray(addressAt, addressAt + address);
      line.address = Buffer.from(text).toString("utf8");
      addressAt += (address + 3) & ~3;
    }
    yield line;
  }
}

function* groupLines(chunk: GroupChunk): Generator<Line> {
  const hashes = wordsOf(chunk.hashes);
  const clocks = doublesOf(chunk.clocks);
  for (let row = 0; row < chunk.n; row++) {
    const group = hashText(hashes[row * 2] as number, hashes[row * 2 + 1] as number);
    yield { group, readyAt: encode(clocks[row]) };
  }
}

function epochLine({ name, hashes }: EpochChunk): Line {
  const words = wordsOf(hashes);
  const members = Array.from({ length: words.length / 2 }, (_, at) =>
    hashText(words[at * 2] as number, words[at * 2 + 1] as number),
  );
  return { epoch: name, members };
}

function* seenLines(chunk: SeenChunk): Generator<Line> {
  const hashes = wordsOf(chunk.hashes);
  const values = wordsOf(chunk.values);
  for (let row = 0; row < chunk.n; row++) {
    const lo = hashes[row * 2] as number;
    yield seenLine(lo, hashes[row * 2 + 1] as number, values[row] as number);
  }
}

/** A finished identity, by its last word. */
export function seenLine(lo: number, hi: number, value: number): Line {
  const seen = hashText(lo, hi);
  if (!isFinishedValue(value)) return { seen, state: "unseen" };
  const { isRemoved, depth, attempts } = finishedView(value);
  return { seen, state: isRemoved ? "removed" : "done", depth, attempts };
}

function* recordLines(chunk: RecordChunk, names: ExportNames): Generator<Line> {
  const hashes = wordsOf(chunk.hashes);
  const doubles = doublesOf(chunk.doubles);
  const words = wordsOf(chunk.words);
  const parents = pairsOf(chunk.parents, 2);
  const blobs = pairsOf(chunk.blobs, 3);
  const { buffer, byteOffset, byteLength } = chunk.text;
  const texts = Buffer.from(buffer, byteOffset, byteLength);
  let textAt = 0;
  let blobAt = 0;
  for (let row = 0; row < chunk.n; row++) {
    // One by one: taking four out of a view at once costs as much as all the rest.
    const head = words[row * 4] as number;
    const tries = words[row * 4 + 1] as number;
    const depth = words[row * 4 + 2] as number;
    const length = words[row * 4 + 3] as number;
    const order = doubles[row * 3] as number;
    const priority = doubles[row * 3 + 1] as number;
    const due = doubles[row * 3 + 2] as number;
    const text = texts.latin1Slice(textAt, textAt + length);
    textAt += (length + 3) & ~3;
    const id = hashText(hashes[row * 4] as number, hashes[row * 4 + 1] as number);
    const hostHash = hashText(hashes[row * 4 + 2] as number, hashes[row * 4 + 3] as number);
    const host = names.hosts.get(hostHash) ?? "";
    const flags = flagsIn(head);
    const line: Line = { url: urlOf(text, flags, host) };
    const blob = blobs?.get(row);
    if (blob !== undefined) {
      const [tried = 0, bytes = 0] = blob;
      const packed = chunk.blob?.subarray(blobAt, blobAt + bytes) ?? new Uint8Array(0);
      blobAt += bytes;
      addExtras(line, packed, tried);
    }
    line.state = STATE_NAMES[head & 127] ?? String(head & 127);
    line.priority = encode(priority);
    line.depth = depth;
    line.attempt = tries & 65_535;
    line.deliveries = tries >>> 16;
    if (due !== 0) line.dueMs = encode(due);
    line.rule = names.ruleIds[ruleIn(head)] ?? "";
    line.host = host;
    line.id = id;
    line.order = encode(order);
    const parent = parents?.get(row);
    if (parent !== undefined && chunk.prints !== undefined) {
      const from = (parent[0] as number) * 16;
      line.parent = Buffer.from(chunk.prints.subarray(from, from + 16)).toString("hex");
    }
    const failure = names.failures.get(id);
    if (failure !== undefined) line.failure = failure;
    if ((head & AGAIN) !== 0) line.again = true;
    if ((flags & RECORD_FLAG_START) !== 0) line.start = true;
    if ((flags & RECORD_FLAG_NO_IDENTITY) !== 0) line.dedup = "skip";
    if ((flags & RECORD_FLAG_WHOLE) !== 0) line.text = (flags & RECORD_FLAG_HTTPS) + 2;
    yield line;
  }
}

function urlOf(text: string, flags: number, host: string): string {
  if ((flags & RECORD_FLAG_WHOLE) !== 0) return text;
  return `${(flags & RECORD_FLAG_HTTPS) !== 0 ? "https" : "http"}://${host}${text}`;
}

/** Adds the content of a record's blob: the fields of its request, in the order in which they were packed. */
function addExtras(line: Line, packed: Uint8Array, tried: number): void {
  line.maxAttempts = tried & 65_535;
  if (tried >>> 16 !== 0) line.period = tried >>> 16;
  if (packed.length === 0) return;
  // Bytes of a Buffer are unpacked unchanged; those of another array would get another type.
  const source = Buffer.from(packed.buffer, packed.byteOffset, packed.length);
  const extras = packr.unpack(source) as Line;
  const back: Line = {};
  for (const [short, value] of Object.entries(extras)) {
    const name = EXTRA_NAMES[short];
    if (name === undefined) break;
    line[name] = short === "b" ? bodyOf(value as Uint8Array) : encode(value);
    back[short] = value;
  }
  const again = Object.fromEntries(
    Object.entries(back).map(([short, value]) => [short, decode(encode(value))]),
  );
  if (Buffer.compare(packr.pack(again), packed) !== 0) line.packed = base64(packed);
}

/** Text where the bytes are valid UTF-8. */
function bodyOf(body: Uint8Array): unknown {
  const text = Buffer.from(body).toString("utf8");
  return Buffer.compare(Buffer.from(text, "utf8"), body) === 0 ? text : encode(body);
}

/** 16 hex digits, the high word first. */
function hashText(lo: number, hi: number): string {
  return wordText(hi) + wordText(lo);
}

function wordText(word: number): string {
  return (
    (BYTE_TEXTS[word >>> 24] as string) +
    (BYTE_TEXTS[(word >>> 16) & 255] as string) +
    (BYTE_TEXTS[(word >>> 8) & 255] as string) +
    (BYTE_TEXTS[word & 255] as string)
  );
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
