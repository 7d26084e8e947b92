import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createItemFile } from "../../../../src/crawl/files.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-csv-"));
afterAll(() => rmSync(folder, { recursive: true }));
const source = { url: "http://x.test/", depth: 0 };

describe("items as CSV", () => {
  it("columns are those of the first item; a file that is appended to keeps its head", () => {
    const path = join(folder, "a.csv");
    for (const name of ['a"b', "c,d"]) {
      const file = createItemFile({ path });
      file.processors[0]?.({ name, size: 1, tags: ["x"], gone: null }, source);
      file.processors[0]?.({ name: "second\nline" }, source);
      file.close?.();
    }
    expect(readFileSync(path, "utf8")).toBe(
      [
        "name,size,tags,gone",
        '"a""b",1,"[""x""]",',
        '"second\nline",,,',
        '"c,d",1,"[""x""]",',
        '"second\nline",,,',
        "",
      ].join("\r\n"),
    );
  });

  it("an item with another field begins a new file, and nothing of it is lost", () => {
    const path = join(folder, "b.csv");
    const file = createItemFile({ path });
    for (const item of [{ a: 1 }, { a: 2, b: 3 }, { a: 4 }, "plain"])
      file.processors[0]?.(item, source);
    file.close?.();
    const texts = readdirSync(folder)
      .filter((name) => name.startsWith("b"))
      .sort()
      .map((name) => readFileSync(join(folder, name), "utf8"));
    expect(texts).toEqual(["a\r\n1\r\n", "a,b\r\n2,3\r\n4,\r\n", "a,b,value\r\n,,plain\r\n"]);
  });
});
