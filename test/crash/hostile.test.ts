/**
 * A directory with changed files: flipped, cut, lengthened, swapped, relabelled as another version, or rewritten with right checksums. An
 * opening continues with the whole part, or reports the file and the offset that it cannot accept. It never hangs and never allocates
 * memory for a forged length, and verification reports the same damage as the opening.
 *
 *   written by a frontier ─▶ one or two changes ─▶ inspected ─▶ opened: a consistent frontier | FrontierError { path }
 */
import { crc32 } from "node:zlib";
import { expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { FrontierError, InvariantError } from "../../src/base/errors.ts";
import type { Random } from "../../src/base/random.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { crcAt } from "../../src/persistence/checksum.ts";
import { inspectPlace } from "../../src/persistence/inspection/inspect-directory.ts";
import { packr } from "../../src/persistence/msgpack.ts";
import { sealFrame } from "../../src/persistence/journal/segment-format.ts";
import { act, broadOptionsOf, optionsOf } from "../support/durable-program.ts";
import { killedFiles, openRig, turn } from "../support/durable-rig.ts";
import type { MemoryFiles } from "../support/memory-files.ts";
import { createMemoryFiles } from "../support/memory-files.ts";
import { progress, stressRounds, stressTimeoutMs, testRandom } from "../support/seed.ts";

const ROUNDS = stressRounds(30, 2);
const DIRECTORY = "/dir/default";
/** Largest single read allowed: all files of this test are small. */
const READ_MAX = 4 * 1024 * 1024;
const CODES = ["SNAPSHOT_CORRUPT", "FORMAT_UNSUPPORTED", "PROFILE_MISMATCH"];

test(
  "with any changes in its files, an opening continues or reports the file",
  async () => {
    const random = testRandom("hostile");
    const told = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round++) {
      const { files: whole, options } = await written(random);
      for (let times = 0; times < 12; times++) {
        const files = killedFiles(whole);
        const changes = Array.from({ length: 1 + random.below(2) }, () => change(files, random));
        const isForged = changes.some((words) => words.startsWith(rewritten.name));
        const answer = await opened(files, options, isForged).catch((error: unknown) => {
          throw new Error(`${changes.join(", ")}: ${(error as Error).message}`, { cause: error });
        });
        told.set(answer, (told.get(answer) ?? 0) + 1);
      }
      progress(`${round + 1} rounds ${JSON.stringify(Object.fromEntries(told))}`);
    }
    console.log(JSON.stringify(Object.fromEntries(told)));
  },
  stressTimeoutMs(1_200_000),
);

type Options = ReturnType<typeof optionsOf>;

/** Files of every kind, as a killed process leaves them: two generations, segments, cold runs. */
async function written(random: Random): Promise<{ files: MemoryFiles; options: Options }> {
  const isBroad = random.below(2) === 0; // then snapshots have blocks of hosts
  const some = isBroad ? broadOptionsOf(random) : optionsOf(random);
  const options = { ...some, snapshots: { keep: 1 + random.below(2) } };
  const files = createMemoryFiles();
  const rig = await openRig(files, createVirtualClock(1_000), options, true);
  const held: Parameters<typeof act>[2] = [];
  for (let steps = 20 + random.below(150); steps > 0; steps--) {
    act(rig, random, held, isBroad ? 24 : undefined);
    if (random.below(40) === 0) await rig.frontier.snapshot();
    if (random.below(3) === 0) await turn();
  }
  await rig.frontier.flush();
  return { files: killedFiles(files), options };
}

/**
 * The result of the opening: "whole", "damage told", or a code. A forged entry may name the wrong record: then it is enough that counts
 * which do not add up are detected.
 */
async function opened(files: MemoryFiles, options: Options, isForged: boolean): Promise<string> {
  const inspected: string[] = [];
  const place = { files: killedFiles(files), directory: DIRECTORY };
  for await (const { path, state } of inspectPlace(place, async () => {})) {
    if (state === "damaged") inspected.push(path);
  }
  try {
    const rig = await openRig(files, createVirtualClock(0), options, true);
    let damage: readonly string[] = [];
    rig.frontier.on("resumed", (resumed) => {
      damage = resumed.damage;
    });
    await turn();
    if (!isForged) verifyFrontier(rig.frontier);
    rig.frontier.done(rig.frontier.pollMany(50));
    await rig.frontier.close();
    // Every file that an opening sets aside, an inspection reports too. It reports more: in generations that the opening did not need.
    const unsaid = damage.filter((words) => !inspected.some((path) => words.includes(path)));
    expect(unsaid.filter((words) => !/content|missing|name what is not/.test(words))).toEqual([]);
    return damage.length > 0 ? "damage told" : "whole";
  } catch (error) {
    if (isForged && error instanceof InvariantError) return "noticed";
    if (!(error instanceof FrontierError)) throw error;
    expect(CODES, error.message).toContain(error.code);
    expect((error.details as { path: string }).path).toContain(DIRECTORY);
    return error.code;
  } finally {
    const most = Math.max(0, ...files.reads.map(([length]) => length));
    expect(most).toBeLessThan(READ_MAX);
  }
}

/** Makes one change to one file; returns its description. */
function change(files: MemoryFiles, random: Random): string {
  const names = files.names().filter((name) => !name.endsWith("/lock"));
  const path = names[random.below(names.length)] as string;
  const bytes = files.bytesOf(path).slice();
  const what = CHANGES[random.below(CHANGES.length)] as Change;
  const changed = what(bytes, random, { path, files });
  files.setBytes(path, changed ?? bytes);
  return `${what.name} of ${path}`;
}

interface Where {
  readonly path: string;
  readonly files: MemoryFiles;
}
type Change = (bytes: Uint8Array, random: Random, where: Where) => Uint8Array | undefined;

const CHANGES: readonly Change[] = [
  function flip(bytes, random) {
    if (bytes.length > 0) {
      const at = random.below(bytes.length);
      bytes[at] = (bytes[at] as number) ^ (1 << random.below(8));
    }
    return bytes;
  },
  function cut(bytes, random) {
    return bytes.slice(0, random.below(bytes.length + 1));
  },
  function lengthen(bytes, random) {
    const more = Uint8Array.from({ length: 1 + random.below(200) }, () => random.below(256));
    return Buffer.concat([bytes, more]);
  },
  function swapFiles(_, random, { path, files }) {
    const names = files.names().filter((name) => name !== path);
    if (names.length === 0) return undefined;
    return files.bytesOf(names[random.below(names.length)] as string).slice();
  },
  function hugeWord(bytes, random) {
    const at = random.below(Math.max(1, bytes.length >> 2)) * 4;
    if (at + 4 > bytes.length) return bytes;
    const huge = [0xffff_ffff, 0x7fff_ffff, 0x8000_0000, 1 << 20, 0][random.below(5)] as number;
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(at, huge, true);
    return bytes;
  },
  function otherVersion(bytes, random) {
    const at = 1 + random.below(2); // the word that holds it in each kind of file
    if (bytes.length < 64) return bytes;
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, 16);
    words[at] = 3 + random.below(1000);
    if (words[0] === 0x4c4a_524f) words[2] = crc32(bytes.subarray(12, 64));
    return bytes;
  },
  rewritten,
  rewritten,
  rewritten,
];

/** A change with a recomputed checksum: a word of a frame, a byte of a section, a field of a section. */
function rewritten(bytes: Uint8Array, random: Random, { path }: Where): Uint8Array {
  const serial = Number(/(\d+)\.(?:log|msgpack)$/.exec(path)?.[1] ?? 0);
  if (path.endsWith(".log")) return rewrittenJournal(bytes, serial, random);
  if (path.endsWith(".msgpack")) return rewrittenSnapshot(bytes, serial, random);
  if (!path.endsWith(".manifest") || bytes.length < 12) return bytes;
  const at = 4 + random.below(bytes.length - 4);
  bytes[at] = random.below(256);
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, crc32(bytes.subarray(4)), true);
  return bytes;
}

function rewrittenJournal(bytes: Uint8Array, serial: number, random: Random): Uint8Array {
  const words = new Uint32Array(bytes.buffer, 0, bytes.length >> 2);
  const frames: number[] = [];
  for (let at = 64; at + 12 < bytes.length && (words[at >> 2] as number) > 0; ) {
    frames.push(at);
    at += 12 + (words[at >> 2] as number);
  }
  if (frames.length === 0) return bytes;
  const at = frames[random.below(frames.length)] as number;
  const end = at + 12 + (words[at >> 2] as number);
  if (end > bytes.length) return bytes;
  const word = (at >> 2) + 3 + random.below((end - at - 12) >> 2);
  words[word] =
    random.below(2) === 0
      ? (words[word] as number) ^ (1 << random.below(32))
      : ([0xffff_ffff, 0x7ff8_0000, 41, 255, 0, 1 << 30][random.below(6)] as number);
  sealFrame(bytes.subarray(at, end), serial, at, words[(at >> 2) + 2] as number);
  return bytes;
}

function rewrittenSnapshot(bytes: Uint8Array, serial: number, random: Random): Uint8Array {
  const sections: Uint8Array[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  for (let at = 16; at + 8 <= bytes.length; ) {
    const end = at + 8 + view.getUint32(at, true);
    if (end > bytes.length) break;
    sections.push(bytes.subarray(at + 8, end));
    at = end;
  }
  if (sections.length === 0) return bytes;
  const which = random.below(sections.length);
  sections[which] = otherSection(sections[which] as Uint8Array, random);
  const parts = [bytes.subarray(0, 16)];
  let offset = 16;
  for (const section of sections) {
    const head = Uint32Array.of(section.length, crcAt(section, serial, offset));
    parts.push(new Uint8Array(head.buffer), section);
    offset += 8 + section.length;
  }
  return Uint8Array.from(Buffer.concat(parts));
}

const STRANGE = [undefined, null, -1, 2 ** 31, 2 ** 53, Number.NaN, 0.5, "x", [], {}, 1e308, true];

/** A byte of its msgpack, a field of another type, a column of another length or of other bytes. */
function otherSection(body: Uint8Array, random: Random): Uint8Array {
  let section: Record<string, unknown>;
  try {
    section = packr.unpack(body) as Record<string, unknown>;
  } catch {
    return body; // changed before
  }
  if (typeof section !== "object" || section === null) return body;
  const names = Object.keys(section);
  if (names.length === 0 || body.length === 0) return body;
  const name = names[random.below(names.length)] as string;
  const value = section[name];
  if (random.below(4) === 0) {
    const copy = body.slice();
    copy[random.below(copy.length)] = random.below(256);
    return copy;
  }
  if (value instanceof Uint8Array && random.below(3) > 0) {
    const column = value.slice();
    for (let left = 1 + random.below(4); left > 0 && column.length > 0; left--) {
      column[random.below(column.length)] = random.below(256);
    }
    section[name] = random.below(3) > 0 ? column : column.slice(0, random.below(column.length + 1));
  } else section[name] = STRANGE[random.below(STRANGE.length)];
  return Uint8Array.from(packr.pack(section));
}
