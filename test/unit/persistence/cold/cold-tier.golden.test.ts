/** Golden files of every version of the cold tier and of the spill files. `GOLDEN=write` writes missing ones. */
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openSpillTier } from "../../../../src/persistence/spill/spill-files.ts";
import { findCold, openColdTier } from "../../../support/cold-model.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../support/memory-files.ts";

const GOLDEN = fileURLToPath(new URL("../../../golden/", import.meta.url));

function read(name: string, under: string): MemoryFiles {
  const files = createMemoryFiles();
  for (const file of readdirSync(join(GOLDEN, name))) {
    files.close(files.open(`${under}/${file}`, "w"));
    files.setBytes(`${under}/${file}`, new Uint8Array(readFileSync(join(GOLDEN, name, file))));
  }
  return files;
}

/** Expects that the files written have the bytes of the golden files. */
function expectGolden(name: string, files: MemoryFiles, under: string): void {
  const folder = join(GOLDEN, name);
  const names = files.names().filter((path) => path.startsWith(`${under}/`));
  if (process.env.GOLDEN === "write" && !existsSync(folder)) {
    mkdirSync(folder);
    for (const path of names)
      writeFileSync(join(GOLDEN, name, path.slice(under.length + 1)), files.bytesOf(path));
  }
  expect(names.map((path) => path.slice(under.length + 1)).sort()).toEqual(
    readdirSync(folder).sort(),
  );
  for (const path of names) {
    const golden = readFileSync(join(folder, path.slice(under.length + 1)));
    expect(Buffer.compare(Buffer.from(files.bytesOf(path)), golden), path).toBe(0);
  }
}

/** A done identity, a removed one, a done one that was forgotten, and the place of a spilled record. */
const DONE = 0x8000_0005;
const REMOVED = 0xc000_0001;
const FORGOTTEN = 0x7fff_fffc;
const PLACE = 0x4000_0000 + 9 * 64 + 3;

describe("golden files of the cold tier", () => {
  it("version 2 is still written byte by byte", () => {
    const files = createMemoryFiles();
    const tier = openColdTier(files);
    const add = (entries: ReadonlyArray<readonly [number, number, number]>): void => {
      const hashes = new Uint32Array(entries.flatMap((entry) => entry.slice(0, 2)));
      tier.add(hashes, new Uint32Array(entries.map(([, , value]) => value)), entries.length);
    };
    add([
      [1, 2, DONE],
      [3, 2, REMOVED],
      [7, 9, DONE],
    ]);
    add([
      [7, 9, FORGOTTEN],
      [0xffff_ffff, 0xffff_ffff, PLACE],
    ]);
    tier.close();
    expectGolden("cold-2", files, "/cold");
  });

  it.each(["cold-1", "cold-2"])("%s opens to its content", (name) => {
    const tier = openColdTier(read(name, "/cold"));
    expect(findCold(tier, 1, 2)).toBe(DONE);
    expect(findCold(tier, 3, 2)).toBe(REMOVED);
    expect(findCold(tier, 7, 9)).toBe(0);
    expect(findCold(tier, 0xffff_ffff, 0xffff_ffff)).toBe(name === "cold-1" ? DONE : 0);
    tier.close();
  });
});

describe("golden file of the spill tier", () => {
  it("version 1 is still written byte by byte", () => {
    const files = createMemoryFiles();
    const tier = openSpillTier({ directory: "/spill", files });
    expect(tier.write(Uint8Array.from({ length: 40 }, (_, at) => at))).toBe(0);
    expect(tier.write(Uint8Array.from({ length: 12 }, (_, at) => 255 - at))).toBe(1);
    expectGolden("spill-1", files, "/spill");
    tier.close();
  });
});
