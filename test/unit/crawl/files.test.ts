import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createItemFile, loadModule } from "../../../src/crawl/files.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-items-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const source = { url: "http://x/", depth: 0 };

describe("createItemFile", () => {
  it("appends one line an item, and puts a full file aside under the next number", () => {
    const path = join(folder, "a/items.jsonl");
    const pipeline = createItemFile({ path, rotateBytes: 20 });
    for (let n = 0; n < 5; n++) pipeline.processors[0]?.({ n, x: "yy" }, source);
    pipeline.close?.();
    expect(readdirSync(join(folder, "a")).sort()).toEqual([
      "items-0001.jsonl",
      "items-0002.jsonl",
      "items-0003.jsonl",
      "items-0004.jsonl",
      "items.jsonl",
    ]);
    expect(readFileSync(path, "utf8")).toBe('{"n":4,"x":"yy"}\n');
  });

  it("cuts a line that a crash left half-written, however long, and goes on behind it", () => {
    const path = join(folder, "b.jsonl");
    writeFileSync(path, '{"n":0}\n');
    appendFileSync(path, `{"n":"${"x".repeat(200_000)}`);
    const pipeline = createItemFile({ path });
    pipeline.processors[0]?.({ n: 1 }, source);
    pipeline.close?.();
    expect(readFileSync(path, "utf8")).toBe('{"n":0}\n{"n":1}\n');
    writeFileSync(path, "torn");
    createItemFile({ path }).close?.();
    expect(readFileSync(path, "utf8")).toBe("");
  });

  it("cuts a torn line of CSV at the last whole one, wherever it was torn", () => {
    const path = join(folder, "torn.csv");
    const items = [{ text: "plain" }, { text: 'a "quote"\r\nand more\n' }, { text: "last" }];
    const write = (some: readonly object[]): void => {
      const pipeline = createItemFile({ path });
      for (const item of some) pipeline.processors[0]?.(item, source);
      pipeline.close?.();
    };
    write(items);
    const whole = readFileSync(path);
    const ends = [whole.indexOf("\n") + 1, whole.indexOf("plain\r\n") + 7];
    ends.push(whole.indexOf("last"), whole.length);
    for (let length = 0; length <= whole.length; length++) {
      writeFileSync(path, whole.subarray(0, length));
      const left = Math.max(0, ...ends.filter((end) => end <= length));
      write([]);
      expect(readFileSync(path, "utf8"), `${length} bytes`).toBe(whole.toString("utf8", 0, left));
      write(items.slice(Math.max(ends.indexOf(left), 0)));
      expect(readFileSync(path, "utf8"), `${length} bytes`).toBe(whole.toString());
    }
  });
});

describe("loadModule", () => {
  it("loads an ES module by path, and names the path where there is none", async () => {
    const path = join(folder, "analyzer.mjs");
    writeFileSync(path, "export const analyze = () => ({ items: [1] });");
    expect(Object.keys(await loadModule(path))).toEqual(["analyze"]);
    await expect(loadModule(join(folder, "none.mjs"))).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining("none.mjs"),
    });
  });
});
