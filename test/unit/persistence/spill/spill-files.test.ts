import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSpillTier } from "../../../../src/persistence/spill/spill-files.ts";
import type { SpillTier } from "../../../../src/structures/storage-tiers.ts";
import { testRandom } from "../../../support/seed.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";

const SEGMENT = 4096;

function bytesOf(seed: number, words: number): Uint8Array {
  const block = new Uint32Array(words);
  for (let at = 0; at < words; at++) block[at] = Math.imul(seed + at, 0x9e3779b1);
  return new Uint8Array(block.buffer);
}

function readBack(tier: SpillTier, place: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  tier.read(place, bytes);
  return bytes;
}

describe("spill tier on files", () => {
  it("returns every block unchanged, and its files stay within twice the live bytes", () => {
    const random = testRandom("spill files");
    const files = createMemoryFiles();
    const tier = openSpillTier({ directory: "/spill", files, segmentBytes: SEGMENT });
    const model = new Map<number, Uint8Array>();
    for (let turn = 0; turn < 6000; turn++) {
      const isGrowing = Math.floor(turn / 1500) % 2 === 0;
      if (random.below(10) < (isGrowing ? 7 : 3)) {
        const bytes = bytesOf(turn, 1 + random.below(60));
        const place = tier.write(bytes);
        expect(model.has(place)).toBe(false);
        model.set(place, bytes);
      } else if (model.size > 0) {
        const [place, bytes] = [...model][random.below(model.size)] as [number, Uint8Array];
        expect(readBack(tier, place, bytes.length)).toEqual(bytes);
        tier.free(place);
        model.delete(place);
      }
      const { fileBytes, liveBytes, blocks } = tier.stats();
      expect(blocks).toBe(model.size);
      const lengths = [...model.values()].reduce((sum, { length }) => sum + length + 16, 0);
      expect(liveBytes).toBe(lengths);
      tier.step(1024);
      expect(tier.stats().fileBytes).toBeLessThanOrEqual(2 * liveBytes + 3 * SEGMENT);
      expect(fileBytes).toBeGreaterThanOrEqual(liveBytes);
    }
    for (const [place, bytes] of model) expect(readBack(tier, place, bytes.length)).toEqual(bytes);
    expect(files.openCount()).toBeLessThanOrEqual(17);
    tier.close();
    expect(files.names().filter((name) => name.endsWith(".seg"))).toEqual([]);
    expect(files.openCount()).toBe(0);
  });

  it("loses nothing when the disk is full, throws DISK_FULL, and continues when there is space", () => {
    const files = createMemoryFiles();
    const tier = openSpillTier({ directory: "/spill", files, segmentBytes: SEGMENT });
    const kept: Array<[number, Uint8Array]> = [];
    for (let turn = 0; turn < 20; turn++) {
      const bytes = bytesOf(turn, 40);
      kept.push([tier.write(bytes), bytes]);
    }
    const before = tier.stats();
    files.capacity = before.fileBytes + 50;
    for (let turn = 0; turn < 60; turn++)
      expect(() => tier.write(bytesOf(turn, 40))).toThrowError(
        expect.objectContaining({ code: "DISK_FULL" }),
      );
    expect(tier.stats()).toEqual(before);
    files.capacity = Number.POSITIVE_INFINITY;
    kept.push([tier.write(bytesOf(7, 1)), bytesOf(7, 1)]);
    for (const [place, bytes] of kept) expect(readBack(tier, place, bytes.length)).toEqual(bytes);
  });

  it("refuses a block with any byte changed, with the file's name", () => {
    const files = createMemoryFiles();
    const tier = openSpillTier({ directory: "/spill", files, segmentBytes: SEGMENT });
    const place = tier.write(bytesOf(3, 5));
    const path = files.names().find((name) => name.endsWith(".seg")) as string;
    const whole = files.bytesOf(path).slice();
    for (let at = 16; at < whole.length; at++) {
      const bytes = whole.slice();
      bytes[at] = (bytes[at] as number) ^ 0x10;
      files.setBytes(path, bytes);
      expect(() => readBack(tier, place, 20)).toThrowError(
        expect.objectContaining({
          code: "SNAPSHOT_CORRUPT",
          message: expect.stringContaining(path),
        }),
      );
    }
    files.setBytes(path, whole.slice(0, whole.length - 1));
    expect(() => readBack(tier, place, 20)).toThrowError("too short");
    files.setBytes(path, whole);
    expect(readBack(tier, place, 20)).toEqual(bytesOf(3, 5));
  });

  it("removes the files of an earlier process, and nothing else", () => {
    const directory = mkdtempSync(join(tmpdir(), "spill-"));
    writeFileSync(join(directory, "spill-0000002a.seg"), "left behind");
    writeFileSync(join(directory, "other"), "");
    const tier = openSpillTier({ directory });
    const place = tier.write(bytesOf(1, 1000));
    expect(readdirSync(directory).sort()).toEqual(["other", "spill-00000001.seg"]);
    expect(readBack(tier, place, 4000)).toEqual(bytesOf(1, 1000));
    tier.close();
    expect(readdirSync(directory)).toEqual(["other"]);
    rmSync(directory, { recursive: true });
  });
});
