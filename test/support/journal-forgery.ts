/**
 * Forgeries of journals: entries left out, repeated, moved or changed field by field, sealed again. What was changed least is changed next,
 * so that every kind of entry and every field has its share.
 *
 *   what programs left ─▶ names of kinds and fields, and where they are ─▶ a forgery: one to eight changes in one segment
 *                                 ▲                                              │ opened: where the journal was cut off
 *                                 └──────── counted: what replay came to ◀───────┘
 *
 *   I1  A change counts when its frame was replayed. What follows the frame that was not believed was not, and does not count.
 */
import type { Random } from "../../src/base/random.ts";
import { JOURNAL_FRAME_BYTES, JOURNAL_HEADER_BYTES } from "../../src/layout/files/journal.ts";
import { killedFiles } from "./durable-rig.ts";
import {
  bytesOfSegment,
  type Entry,
  type Field,
  type Segment,
  segmentOf,
} from "./journal-entries.ts";
import type { Left } from "./journal-program.ts";
import type { MemoryFiles } from "./memory-files.ts";

/** How often a kind of entry was left out, and a field of it changed. */
export type Counts = Map<string, number>;

export interface Forgery {
  readonly left: Left;
  readonly files: MemoryFiles;
  /** In words, for a failure's message. */
  readonly changes: readonly string[];
  /** The segment that was changed; what was changed in it, in the order of replay. */
  readonly path: string;
  readonly size: number;
  readonly marks: readonly Mark[];
  /** No frame was left out, repeated or moved. */
  readonly isInOrder: boolean;
}

/** What a change counts as, and where its frame begins. */
interface Mark {
  readonly name: string;
  readonly offset: number;
}

/** A segment that an opening reads. */
interface Source {
  readonly left: Left;
  readonly path: string;
  readonly segment: Segment;
  /** Entries by the names of what may be changed in them. */
  readonly named: ReadonlyMap<string, readonly Entry[]>;
}

export class Forger {
  readonly counts: Counts = new Map();
  readonly #random: Random;
  readonly #sources: Source[];
  readonly #holders = new Map<string, Source[]>();

  constructor(random: Random, lefts: readonly Left[]) {
    this.#random = random;
    this.#sources = lefts.flatMap(sourcesOf);
    for (const source of this.#sources) {
      for (const name of source.named.keys()) {
        this.counts.set(name, 0);
        this.#holders.set(name, [...(this.#holders.get(name) ?? []), source]);
      }
    }
  }

  /** The name that was counted least, and how often. */
  least(): readonly [name: string, count: number] {
    const name = this.#rarest(this.counts.keys());
    return [name, this.#count(name)];
  }

  /** A forgery that changes what was changed least, and, three times of four, some more. */
  next(): Forgery {
    const random = this.#random;
    const [name] = this.least();
    const source = this.#pick(this.#holders.get(name) as Source[]);
    const draft = new Draft(random, source);
    draft.change(name, true);
    for (let more = random.below(4) === 0 ? 0 : 1 + random.below(7); more > 0; more--) {
      draft.change(this.#rarest(source.named.keys(), draft.names));
    }
    if (random.below(4) === 0) draft.disorder();
    return draft.seal();
  }

  /**
   * Counts what replay came to (I1): the recovery cuts the segment off at the frame that it did not believe. Of that frame the first change
   * counts, or all of them where entries named nothing, which is found at its end. Returns false when all that is left is as it was written.
   */
  count({ files, isInOrder, path, size, marks }: Forgery, damage: readonly string[]): boolean {
    const names = files.names();
    const isCut = names.includes(`${path}.damaged`);
    const left = names.includes(path) ? files.bytesOf(path).length : 0;
    const end = isCut ? left : size;
    const isWholeFrame = damage.some((words) => words.includes("refer to missing records"));
    for (const { name, offset } of marks) {
      if (offset > end) break;
      this.counts.set(name, this.#count(name) + 1);
      if (offset === end && !isWholeFrame) break;
    }
    const first = marks[0]?.offset ?? end;
    return !isInOrder || !isCut || first < end;
  }

  /** One of those that were counted least, other than those of `but`. */
  #rarest(names: Iterable<string>, but?: ReadonlySet<string>): string {
    let least = Number.POSITIVE_INFINITY;
    let same: string[] = [];
    for (const name of names) {
      const count = this.#count(name);
      if (count > least || but?.has(name) === true) continue;
      if (count < least) same = [];
      least = count;
      same.push(name);
    }
    return this.#pick(same);
  }

  #count(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#random.below(from.length)] as T;
  }
}

/** The segments that an opening reads: those from the newest snapshot on. */
function sourcesOf(left: Left): Source[] {
  const { files } = left;
  const serialOf = (name: string): number => Number(/-(\d+)\./.exec(name)?.[1]);
  const snapshots = files.names().filter((name) => name.endsWith(".msgpack"));
  const first = Math.max(0, ...snapshots.map(serialOf));
  const paths = files.names().filter((name) => name.endsWith(".log") && serialOf(name) >= first);
  return paths.flatMap((path) => {
    const segment = segmentOf(files.bytesOf(path), serialOf(path));
    const entries = segment.frames.flat();
    const named = new Map<string, Entry[]>();
    for (const entry of entries) {
      for (const name of [`${entry.kind}`, ...namesOf(entry)]) {
        const list = named.get(name);
        if (list === undefined) named.set(name, [entry]);
        else list.push(entry);
      }
    }
    return entries.length === 0 ? [] : [{ left, path, segment, named }];
  });
}

function namesOf({ kind, fields }: Entry): readonly string[] {
  return fields.map(({ name }) => `${kind}.${name}`);
}

/** A field of one bit is mostly another one after so many tries. */
const TRIES = 16;

function isSame(words: Uint32Array, before: Uint32Array, { at, words: size }: Field): boolean {
  for (let word = at; word < at + size; word++) if (words[word] !== before[word]) return false;
  return true;
}

/** Changes to one segment, before they are sealed. */
class Draft {
  /** What was changed. */
  readonly names = new Set<string>();
  readonly #random: Random;
  readonly #source: Source;
  readonly #words: string[] = [];
  /** Entries in place of others; undefined: left out. */
  readonly #instead = new Map<Entry, Entry | undefined>();
  readonly #namesOf = new Map<Entry, string[]>();
  #order: readonly (readonly Entry[])[];

  constructor(random: Random, source: Source) {
    this.#random = random;
    this.#source = source;
    this.#order = source.segment.frames;
  }

  /**
   * Leaves out an entry of a kind, or changes a field of one: mostly a late one for the forgery's main change (`isMain`), and an early one
   * for all others. What was changed least is what is seldom believed, and cuts off what follows.
   */
  change(name: string | undefined, isMain = false): void {
    if (name === undefined) return;
    const { named } = this.#source;
    const among = named.get(name) as readonly Entry[];
    const places = [0, 1, 2].map(() => this.#random.below(among.length));
    const entry = among[isMain ? Math.max(...places) : Math.min(...places)] as Entry;
    const before = this.#instead.has(entry) ? this.#instead.get(entry) : entry;
    if (before === undefined) return; // left out already
    const at = namesOf(entry).indexOf(name);
    if (at < 0) {
      this.#instead.set(entry, undefined);
      this.#words.push(`an entry of kind ${name} left out`);
    } else {
      const field = entry.fields[at] as Field;
      const words = before.words.slice();
      for (let tries = 0; tries < TRIES && isSame(words, before.words, field); tries++) {
        const other = among[this.#random.below(among.length)] as Entry;
        changeField(words, field, this.#random, other);
      }
      this.#instead.set(entry, { ...entry, words });
      const part = (all: Uint32Array) => all.subarray(field.at, field.at + field.words).join(" ");
      this.#words.push(`${name} from ${part(before.words)} to ${part(words)}`);
    }
    this.names.add(name);
    this.#namesOf.set(entry, [...(this.#namesOf.get(entry) ?? []), name]);
  }

  /** Leaves out a whole frame, repeats it or moves it. */
  disorder(): void {
    const random = this.#random;
    const frames = [...this.#order];
    const at = random.below(frames.length);
    const frame = frames[at] as readonly Entry[];
    const way = random.below(3);
    if (way !== 1) frames.splice(at, 1);
    const to = random.below(frames.length + 1);
    if (way !== 0) frames.splice(to, 0, frame);
    const kinds = frame.map(({ kind }) => kind).join(" ");
    const said = [`left out (${kinds})`, `again at ${to}`, `moved to ${to}`][way] as string;
    this.#words.push(`frame ${at} ${said}`);
    this.#order = frames;
  }

  seal(): Forgery {
    const { left, path, segment } = this.#source;
    const frames: Entry[][] = [];
    const marks: Mark[] = [];
    let offset = JOURNAL_HEADER_BYTES;
    for (const frame of this.#order) {
      const entries: Entry[] = [];
      let size = 0;
      for (const entry of frame) {
        const instead = this.#instead.has(entry) ? this.#instead.get(entry) : entry;
        for (const name of this.#namesOf.get(entry) ?? []) marks.push({ name, offset });
        if (instead === undefined) continue;
        entries.push(instead);
        size += instead.words.length * 4;
      }
      frames.push(entries);
      if (size > 0) offset += JOURNAL_FRAME_BYTES + size;
    }
    const files = killedFiles(left.files);
    files.setBytes(path, bytesOfSegment({ ...segment, frames }));
    const isInOrder = this.#order === segment.frames;
    return { left, files, path, size: offset, changes: this.#words, marks, isInOrder };
  }
}

/** Changes a field, mostly to what is there in another entry, or near it. */
function changeField(words: Uint32Array, field: Field, random: Random, other: Entry): void {
  const { at, name, type } = field;
  const same = other.fields.find((one) => one.name === name);
  // Names and hashes of nothing are soon set aside.
  const isCopied = random.below(field.words > 1 && type === "word" ? 5 : 2) !== 0;
  if (same !== undefined && same.words === field.words && isCopied) {
    copyField(words, field, other, same);
    return;
  }
  const view = new DataView(words.buffer, words.byteOffset);
  const word = words[at] as number;
  const pick = <T>(...from: T[]): T => from[random.below(from.length)] as T;
  if (type === "bits") {
    const most = 2 ** (field.width as number) - 1;
    const shift = field.shift as number;
    const before = (word >>> shift) & most;
    const bits = pick(
      0,
      most,
      random.below(most + 1),
      before ^ 1,
      before + 1,
      pick(3, 4, 5, 36, 41),
    );
    words[at] = (word & ~(most << shift)) | ((bits & most) << shift);
  } else if (type === "double") {
    const double = view.getFloat64(at * 4, true);
    const start = pick(-1, 1) * (2 ** 52 + random.below(100));
    const odd = pick(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 53, -0);
    const near = pick(double + 1, double - 1, double + 0.5, -double, random.below(200));
    view.setFloat64(at * 4, pick(odd, near, near, start, random.below(1e9)), true);
  } else if (type === "bytes" || field.words > 1) {
    const byte = at * 4 + random.below(field.words * 4);
    view.setUint8(byte, pick(random.below(256), 0, view.getUint8(byte) ^ (1 << random.below(8))));
  } else {
    const flipped = word ^ (1 << random.below(32));
    words[at] = pick(0, 1, word + 1, word - 1, flipped, random.word(), 0xffff_ffff, 1 << 31);
  }
}

function copyField(words: Uint32Array, field: Field, other: Entry, same: Field): void {
  if (field.type !== "bits") {
    words.set(other.words.subarray(same.at, same.at + same.words), field.at);
    return;
  }
  const mask = (2 ** (field.width as number) - 1) << (field.shift as number);
  const word = words[field.at] as number;
  words[field.at] = (word & ~mask) | ((other.words[same.at] as number) & mask);
}
