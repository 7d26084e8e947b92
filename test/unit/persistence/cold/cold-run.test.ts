import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import { coldFilterPath } from "../../../../src/persistence/cold/cold-filter.ts";
import type { ColdTier } from "../../../../src/structures/storage-tiers.ts";
import { testRandom } from "../../../support/seed.ts";
import {
  COLD_IDENTITY,
  addToCold,
  coldBatchFrom,
  findCold,
  openColdTier,
} from "../../../support/cold-model.ts";
import { type MemoryFiles, createMemoryFiles } from "../../../support/memory-files.ts";

describe("damaged files of cold runs", () => {
  function filled(): { files: MemoryFiles; tier: ColdTier; run: string } {
    const files = createMemoryFiles();
    const tier = openColdTier(files);
    addToCold(tier, coldBatchFrom(createRandom(5), 1500, 100_000));
    tier.close();
    const run = files.names().find((name) => name.endsWith(".cold")) as string;
    return { files, tier, run };
  }

  /** Opens the tier and looks up everything. */
  function readAll(files: MemoryFiles): void {
    const tier = openColdTier(files);
    try {
      for (const { lo, hi } of coldBatchFrom(createRandom(5), 1500, 100_000).values())
        findCold(tier, lo, hi);
    } finally {
      tier.close();
    }
  }

  it.each(["when it is read", "without a filter file, when it loads"])(
    "a damaged byte in any block is reported with the run's name, %s",
    (when) => {
      const random = testRandom("cold damage");
      const { files, run } = filled();
      const hasFilter = when === "when it is read";
      if (!hasFilter) files.remove(coldFilterPath(run));
      const read = hasFilter ? readAll : openColdTier;
      const good = files.bytesOf(run);
      expect(good.length).toBe(4096 * 6);
      for (let at = 0; at < good.length; at += 1 + random.below(200)) {
        const bad = good.slice();
        bad[at] = (bad[at] as number) ^ (1 << random.below(8));
        files.setBytes(run, bad);
        const named = expect.objectContaining({
          code: "SNAPSHOT_CORRUPT",
          message: expect.stringMatching(/run-00000001.cold/),
        });
        expect(() => read(files)).toThrow(named);
      }
      files.setBytes(run, good);
      readAll(files);
      expect(files.openCount()).toBe(0);
    },
  );

  it("a file cut at, before or after any block, or too long, is reported with the run's name", () => {
    const { files, run } = filled();
    const good = files.bytesOf(run);
    for (let block = 0; block <= 6; block++) {
      for (const size of [block * 4096 - 1, block * 4096, block * 4096 + 1]) {
        if (size < 0 || size === good.length) continue;
        const bad = new Uint8Array(size);
        bad.set(good.subarray(0, size));
        files.setBytes(run, bad);
        expect(() => openColdTier(files)).toThrow(
          expect.objectContaining({ code: "SNAPSHOT_CORRUPT" }),
        );
      }
    }
  });

  it("two blocks that changed places are refused, though both checksums are right", () => {
    const { files, run } = filled();
    const good = files.bytesOf(run);
    const bad = good.slice();
    bad.set(good.subarray(4096, 8192), 8192);
    bad.set(good.subarray(8192, 12288), 4096);
    files.setBytes(run, bad);
    expect(() => readAll(files)).toThrow(/another place/);
  });

  it("damage that occurs while the tier is open is detected by the lookup", () => {
    const { files, run } = filled();
    const tier = openColdTier(files);
    const { lo, hi } = [...coldBatchFrom(createRandom(5), 1500, 100_000).values()][0] as {
      lo: number;
      hi: number;
    };
    const bytes = files.bytesOf(run);
    for (let block = 1; block < 6; block++)
      bytes[block * 4096 + 99] = (bytes[block * 4096 + 99] as number) ^ 1;
    expect(() => findCold(tier, lo, hi)).toThrow(/run-00000001.cold, block \d: wrong checksum/);
    tier.close();
  });

  it("a missing run, a missing manifest and a damaged one are reported by name", () => {
    const { files, run } = filled();
    const manifest = files.bytesOf("/cold/cold.manifest");
    for (let at = 0; at < manifest.length; at++) {
      const bad = manifest.slice();
      bad[at] = (bad[at] as number) ^ 4;
      files.setBytes("/cold/cold.manifest", bad);
      expect(() => openColdTier(files)).toThrow(/cold.manifest/);
    }
    files.setBytes("/cold/cold.manifest", manifest);
    const bytes = files.bytesOf(run);
    files.remove(run);
    expect(() => openColdTier(files)).toThrow(/run-00000001.cold, block 0: the manifest lists it/);
    files.remove("/cold/cold.manifest");
    files.close(files.open(run, "w"));
    files.setBytes(run, bytes);
    expect(() => openColdTier(files)).toThrow(/a run without a manifest/);
  });

  it("files of another secret or algorithm are refused", () => {
    const { files } = filled();
    const mismatch = expect.objectContaining({ code: "PROFILE_MISMATCH" });
    expect(() =>
      openColdTier(files, { algorithm: 2, secretCheck: COLD_IDENTITY.secretCheck } as never),
    ).toThrow(mismatch);
    expect(() => openColdTier(files, { algorithm: 1, secretCheck: [1, 2] } as never)).toThrow(
      mismatch,
    );
  });
});
