/** The worked example of docs/formats/journal.md, and the golden files, are what the journal writes, byte for byte. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { LocalFrontier } from "../../../../src/engine/api/local-frontier.ts";
import { normalizeOptions } from "../../../../src/engine/options/normalize-options.ts";
import * as log from "../../../../src/frontier/records/transition-log.ts";
import * as layout from "../../../../src/layout/files/journal.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../support/memory-files.ts";

const ROOT = new URL("../../../../", import.meta.url);
const numbersOf = (pattern: RegExp): number[] =>
  Object.entries(layout).flatMap(([name, value]) => (pattern.test(name) ? [value] : []));
/** Kinds of entries that concern no record, and the bits of an admission's `has`. */
const KINDS = [
  layout.JOURNAL_PARENT,
  ...numbersOf(/^JOURNAL_(HOST|GROUP)_(MADE|CLOCK|ALL|FORGOTTEN|ADDRESS)$/),
  ...numbersOf(/^JOURNAL_(FORGOTTEN|UNSEEN|DISOWNED|NOTE|CLEARED|VOLATILE|EPOCH|MEMBER)$/),
];
const HAS = numbersOf(/^JOURNAL_HAS_/);

/** Opens a frontier of known secret, time and seed on files in memory. */
async function open(files: MemoryFiles): Promise<LocalFrontier> {
  const clock = createVirtualClock(0);
  const settings = normalizeOptions({ directory: "/dir", clock, seed: 1 });
  const secret = Uint32Array.of(1, 2, 3, 4);
  return LocalFrontier.open({ ...settings, files, secret, pageCountMax: 1024 });
}

function hex(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.subarray(at, at + 16);
    const words = Buffer.from(row)
      .toString("hex")
      .replace(/(.{8})(?=.)/g, "$1 ");
    const text = Array.from(row, (byte) =>
      byte > 32 && byte < 127 ? String.fromCharCode(byte) : "·",
    ).join("");
    lines.push(`${at.toString(16).padStart(4, "0")}  ${words.padEnd(35)}  ${text}`);
  }
  return lines.join("\n");
}

describe("the journal's document", () => {
  it("names every kind of entry, and every field that an admission may have", () => {
    const page = readFileSync(new URL("docs/formats/journal.md", ROOT), "utf8");
    const kinds = new Set<number>();
    for (const [, from, to] of page.matchAll(/^\| (\d+)(?:[–,] ?(\d+))? \|/gm)) {
      for (let kind = Number(from); kind <= Number(to ?? from); kind++) kinds.add(kind);
    }
    const ofRecords = Object.values(log).filter((value) => typeof value === "number");
    for (const kind of [...ofRecords, ...KINDS])
      expect([kind, kinds.has(kind)]).toEqual([kind, true]);
    const row = page.split("\n").find((line) => line.startsWith("| 1 |")) ?? "";
    for (const bit of HAS) expect(row).toMatch(new RegExp(`[ :]${bit} ?(\\w|:)`));
  });

  it("shows the bytes that a first push writes", async () => {
    const files = createMemoryFiles();
    const frontier = await open(files);
    frontier.push("https://a.example/x");
    await frontier.close();
    const shown = hex(files.bytesOf("/dir/default/journal-00000001.log"));
    const page = readFileSync(new URL("docs/formats/journal.md", ROOT), "utf8");
    if (!page.includes(shown)) console.log(shown);
    expect(page).toContain(shown);
  });
});
