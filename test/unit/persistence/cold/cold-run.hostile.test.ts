/**
 * Hand-written cold files with right checksums. Each broken rule of the format is refused with the file's name, whatever it would do to
 * memory, and the files opened on the way are closed again.
 */
import { describe, expect, it } from "vitest";
import { FrontierError } from "../../../../src/base/errors.ts";
import { createRandom } from "../../../../src/base/random.ts";
import {
  COLD_BLOCKS_WORD,
  COLD_BLOCK_ENTRIES_MAX,
  COLD_BLOCK_ENTRIES_WORD,
  COLD_BLOCK_HASHES_WORD,
  COLD_BLOCK_INDEX_WORD,
  COLD_BLOCK_SERIAL_WORD,
  COLD_BLOCK_VALUES_WORD,
  COLD_BLOCK_WORDS,
  COLD_COUNT_WORD,
  COLD_LEVEL_WORD,
  COLD_MAGIC_WORD,
  COLD_MANIFEST_RUNS_WORD,
  COLD_MANIFEST_SERIAL_WORD,
  COLD_MANIFEST_WORDS,
  COLD_SERIAL_WORD,
} from "../../../../src/layout/files/cold-run.ts";
import { sealColdBlock } from "../../../../src/persistence/cold/cold-run.ts";
import {
  addToCold,
  coldBatchFrom,
  coldKernel,
  expectColdModel,
  openColdTier,
} from "../../../support/cold-model.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";
import { stressRounds, testRandom } from "../../../support/seed.ts";

const MANIFEST = "/cold/cold.manifest";
const POOL = 3000;
const ENTRIES = 700;
const LAST = 3; // block of the last 20 entries

/** A tier of one run of three blocks, and a function to open it with changed words in its files. */
function tier() {
  const files = createMemoryFiles();
  const good = openColdTier(files);
  const model = coldBatchFrom(createRandom(9), ENTRIES, POOL);
  addToCold(good, model);
  good.close();
  const run = files.names().find((name) => name.endsWith(".cold")) as string;
  const bytes = { run: files.bytesOf(run).slice(), manifest: files.bytesOf(MANIFEST).slice() };
  const wordsOf = (path: string): Uint32Array =>
    new Uint32Array(files.bytesOf(path).slice().buffer);
  const store = (path: string, words: Uint32Array): void =>
    files.setBytes(path, new Uint8Array(words.buffer));
  return {
    files,
    model,
    /** Changes block `index` of the run (0: its header) and seals it. */
    block(index: number, change: (words: Uint32Array) => void): void {
      const words = wordsOf(run);
      const block = words.subarray(index * COLD_BLOCK_WORDS, (index + 1) * COLD_BLOCK_WORDS);
      change(block);
      sealColdBlock(block);
      store(run, words);
    },
    manifest(change: (words: Uint32Array) => Uint32Array | undefined): void {
      const words = wordsOf(MANIFEST);
      const changed = change(words) ?? words;
      sealColdBlock(changed);
      store(MANIFEST, changed);
    },
    restore(): void {
      files.setBytes(run, bytes.run);
      files.setBytes(MANIFEST, bytes.manifest);
    },
  };
}

type Files = ReturnType<typeof tier>;

/** The code that opening throws; the files are closed and the kernel's pages returned. */
function refusal({ files }: Files): string {
  const pages = coldKernel.region.pagesUsed;
  // Without a filter file the whole run is read.
  for (const name of files.names()) if (name.endsWith(".filter")) files.remove(name);
  try {
    openColdTier(files).close();
  } catch (error) {
    expect(error).toBeInstanceOf(FrontierError);
    expect(files.openCount()).toBe(0);
    expect(coldKernel.region.pagesUsed).toBe(pages);
    return (error as FrontierError).code;
  }
  return "opened";
}

const at = COLD_BLOCK_HASHES_WORD;
const value = COLD_BLOCK_VALUES_WORD;
const count = COLD_MANIFEST_WORDS + 2;

function lastHashAgain(files: Files): void {
  let last = new Uint32Array(0);
  files.block(1, (w) => {
    last = w.slice(at + 2 * COLD_BLOCK_ENTRIES_MAX - 2, at + 2 * COLD_BLOCK_ENTRIES_MAX);
  });
  files.block(2, (w) => w.set(last, at));
}

const BROKEN: ReadonlyArray<readonly [rule: string, breakIt: (files: Files) => void]> = [
  ["two hashes out of order", (f) => f.block(1, (w) => w.set(w.slice(at + 4, at + 6), at + 8))],
  ["a hash twice", (f) => f.block(1, (w) => w.set(w.slice(at + 4, at + 6), at + 6))],
  ["a block below the one before", (f) => f.block(2, (w) => w.fill(0, at, at + 2))],
  ["a block that begins with the last hash before", lastHashAgain],
  ["value 0", (f) => f.block(2, (w) => w.set([0], value + 7))],
  ["the handle of a live record", (f) => f.block(1, (w) => w.set([1], value))],
  ["the largest handle", (f) => f.block(LAST, (w) => w.set([0x3fff_ffff], value + 3))],
  ["the answer skip", (f) => f.block(1, (w) => w.set([0x7fff_fffd], value))],
  ["the answer claimed", (f) => f.block(1, (w) => w.set([0x7fff_fffe], value))],
  ["the answer new", (f) => f.block(1, (w) => w.set([0x7fff_ffff], value))],
  ["fewer entries than there are", (f) => f.block(1, (w) => w.set([339], COLD_BLOCK_ENTRIES_WORD))],
  ["more entries than fit", (f) => f.block(1, (w) => w.set([341], COLD_BLOCK_ENTRIES_WORD))],
  ["2³² − 1 entries", (f) => f.block(LAST, (w) => w.fill(0xffff_ffff, 3, 4))],
  ["no entries", (f) => f.block(LAST, (w) => w.set([0], COLD_BLOCK_ENTRIES_WORD))],
  ["something behind the last entry", (f) => f.block(LAST, (w) => w.set([1], at + 678))],
  ["a value behind the last entry", (f) => f.block(LAST, (w) => w.set([1], value + 339))],
  ["another run's block", (f) => f.block(2, (w) => w.set([9], COLD_BLOCK_SERIAL_WORD))],
  ["another block's index", (f) => f.block(2, (w) => w.set([3], COLD_BLOCK_INDEX_WORD))],
  ["a header of another serial", (f) => f.block(0, (w) => w.set([2], COLD_SERIAL_WORD))],
  ["a header of another level", (f) => f.block(0, (w) => w.set([5], COLD_LEVEL_WORD))],
  ["a header of another count", (f) => f.block(0, (w) => w.set([ENTRIES + 1], COLD_COUNT_WORD))],
  ["a header of other blocks", (f) => f.block(0, (w) => w.set([4], COLD_BLOCKS_WORD))],
  ["a header with a reserved word", (f) => f.block(0, (w) => w.set([1], 500))],
  ["a header that is none", (f) => f.block(0, (w) => w.set([0], COLD_MAGIC_WORD))],
  ["more runs than are listed", (f) => f.manifest((w) => void w.set([2], COLD_MANIFEST_RUNS_WORD))],
  ["2³² − 1 runs", (f) => f.manifest((w) => void w.fill(0xffff_ffff, COLD_MANIFEST_RUNS_WORD, 8))],
  ["a run twice", (f) => f.manifest(twice)],
  [
    "the serial of a run to come",
    (f) => f.manifest((w) => void w.set([1], COLD_MANIFEST_SERIAL_WORD)),
  ],
  ["serial 0", (f) => f.manifest((w) => void w.set([0], COLD_MANIFEST_WORDS))],
  ["a count of 0", (f) => f.manifest((w) => void w.set([0], count))],
  ["a count of 2⁴⁰", (f) => f.manifest((w) => void w.set([0, 256], count))],
  ["a count of 2⁶³", (f) => f.manifest((w) => void w.set([0, 0x8000_0000], count))],
  [
    "a count whose blocks wrap round",
    (f) => setCount(f, COLD_BLOCK_ENTRIES_MAX * 2 ** 32 + ENTRIES),
  ],
  ["a count of 2⁵³ everywhere", (f) => setCount(f, 2 ** 53)],
];

function twice(words: Uint32Array): Uint32Array {
  const more = new Uint32Array(words.length + 4);
  more.set(words);
  more.set(words.subarray(COLD_MANIFEST_WORDS), words.length);
  more[COLD_MANIFEST_RUNS_WORD] = 2;
  return more;
}

/** Sets the count in manifest and header alike. */
function setCount(files: Files, entries: number): void {
  const words = [entries >>> 0, Math.floor(entries / 2 ** 32)];
  files.manifest((manifest) => void manifest.set(words, count));
  files.block(0, (header) => {
    header.set(words, COLD_COUNT_WORD);
    header[COLD_BLOCKS_WORD] = Math.ceil(entries / COLD_BLOCK_ENTRIES_MAX);
  });
}

describe("cold files with right checksums are refused in the place of the broken rule", () => {
  const files = tier();
  it.each(BROKEN)("%s", (_, breakIt) => {
    breakIt(files);
    expect(refusal(files)).toBe("SNAPSHOT_CORRUPT");
    files.restore();
    const good = openColdTier(files.files);
    expectColdModel(good, new Map(), 0);
    good.close();
  });

  it("with any one word changed, files are refused or answer as before", () => {
    const random = testRandom("cold hostile");
    const named = ["SNAPSHOT_CORRUPT", "FORMAT_UNSUPPORTED", "PROFILE_MISMATCH", "opened"];
    for (let round = 0; round < stressRounds(300, 100); round++) {
      const word = random.below(5) === 0 ? random.below(16) : random.below(COLD_BLOCK_WORDS);
      const given = [0, 1, 2, 0x7fff_ffff, 0xffff_ffff, random.word()][random.below(6)] as number;
      if (random.below(4) === 0) {
        files.manifest((words) => void words.fill(given, 1 + (word % 11), 2 + (word % 11)));
      } else files.block(random.below(LAST + 1), (words) => words.fill(given, word, word + 1));
      expect(named).toContain(refusal(files));
      files.restore();
    }
    const good = openColdTier(files.files);
    good.close();
  });
});
