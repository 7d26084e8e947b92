import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { tally } from "../../bench/cases/peers/run.ts";
import { readWorkload, writeWorkload, type WorkloadFoot } from "../../bench/workload/format.ts";
import { openSource, type Recipe } from "../../bench/workload/generate.ts";
import { canonicalizeMany } from "../../src/engine/api/url-functions.ts";

const folder = mkdtempSync(join(tmpdir(), "workload-"));
const path = join(folder, "workload.txt");
const GOLDEN = fileURLToPath(new URL("../golden/workload-1.txt", import.meta.url));
const CRAWL: Recipe = { kind: "crawl", urls: 20_000, hosts: 100, menu: 8 };
const RECIPES: Recipe[] = [
  { kind: "uniform", urls: 5_000, hosts: 50 },
  { kind: "zipf", urls: 5_000, hosts: 50 },
  CRAWL,
];

afterAll(() => rmSync(folder, { recursive: true }));

/** All URLs of a file, taken in calls of `max`, and what its last line says. */
function readAll(file: string, max = 777): { urls: string[]; foot: WorkloadFoot } {
  const reader = readWorkload(file);
  const urls: string[] = [];
  try {
    for (let some = reader.next(max); some.length > 0; some = reader.next(max)) urls.push(...some);
    return { urls, foot: reader.foot() };
  } finally {
    reader.close();
  }
}

describe("a workload file", () => {
  it("gives back every URL, and says truly how many are different", () => {
    for (const recipe of RECIPES) {
      const foot = writeWorkload(path, recipe, openSource(recipe));
      const read = readAll(path);
      expect(read.foot).toEqual(foot);
      expect(read.urls).toHaveLength(recipe.urls);
      expect(new Set(read.urls).size).toBe(foot.distinct);
      expect(read.urls.reduce((sum, { length }) => sum + length, 0)).toBe(foot.bytes);
      expect(canonicalizeMany(read.urls)).toEqual(read.urls);
    }
  });

  it("is the golden one for its recipe, byte for byte", () => {
    const recipe: Recipe = { kind: "uniform", urls: 3, hosts: 2 };
    writeWorkload(path, recipe, openSource(recipe));
    expect(readFileSync(path, "utf8")).toBe(readFileSync(GOLDEN, "utf8"));
    expect(readAll(GOLDEN).urls).toHaveLength(3);
  });

  it("is refused when a byte of it differs, or its end is missing", () => {
    const recipe: Recipe = { kind: "uniform", urls: 500, hosts: 7 };
    writeWorkload(path, recipe, openSource(recipe));
    const whole = readFileSync(path);
    const broken = (change: (bytes: Buffer) => Buffer): void => {
      writeFileSync(path, change(Buffer.from(whole)));
    };
    for (const at of [0, 60, 200, whole.length - 100]) {
      broken((bytes) => {
        bytes[at] = (bytes[at] as number) ^ 1;
        return bytes;
      });
      expect(() => readAll(path), `byte ${at}`).toThrow();
    }
    for (const size of [whole.length - 80, whole.length >> 1]) {
      broken((bytes) => bytes.subarray(0, size));
      expect(() => readAll(path), `${size} bytes`).toThrow();
    }
  });

  it("of a crawl repeats 60 to 90 of 100 links", () => {
    for (const menu of [0, 8, 16]) {
      const source = openSource({ ...CRAWL, menu });
      expect(source.next(CRAWL.urls)).toHaveLength(CRAWL.urls);
      const share = 1 - source.distinct() / CRAWL.urls;
      expect(share).toBeGreaterThan(0.6);
      expect(share).toBeLessThan(0.9);
    }
  });
});

describe("a peer's tally", () => {
  it("counts what never came, what came twice and what nobody pushed", () => {
    const wanted = new Set(["a", "b", "c"]);
    expect(tally(wanted, ["a", "b", "c"])).toEqual({ lost: 0, doubled: 0, foreign: 0 });
    expect(tally(wanted, ["a", "a", "x"])).toEqual({ lost: 2, doubled: 1, foreign: 1 });
  });
});
