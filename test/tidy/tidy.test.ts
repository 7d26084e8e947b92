import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { checkFiles, RULES, type TidyFile, WARNINGS } from "../../tools/tidy/check.mjs";
import { readTree, walk } from "../../tools/tidy/source.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const fixtures = fileURLToPath(new URL("fixtures/tidy/", import.meta.url));

const statements = (count: number): string => "  total += 1;\n".repeat(count);
const oneFunction = (lines: number): string =>
  `export function sum(): number {\n  let total = 0;\n${statements(lines - 4)}  return total;\n}\n`;
const constants = (lines: number): string =>
  Array.from({ length: lines }, (_, index) => `export const VALUE_${index} = ${index};\n`).join("");

/** A folder of so many files, the first of which begins with the folder's comment. */
const folderOf = (count: number): TidyFile[] =>
  Array.from({ length: count }, (_, index) => ({
    path: `src/base/part-${index}.ts`,
    text: `${index === 0 ? "/**\n * Room `src/base`: what is decided there.\n */\n" : ""}export const VALUE = ${index};\n`,
  }));

/** Bad trees whose only fault is their length. */
const longTrees: Record<string, TidyFile[]> = {
  "file-lines": [{ path: "src/base/bits.ts", text: constants(501) }],
  "file-lines-warning": [{ path: "src/base/bits.ts", text: constants(301) }],
  "folder-files": folderOf(16),
  "function-lines": [{ path: "src/base/bits.ts", text: oneFunction(71) }],
};

/** How often a rule must speak in its tree, where that is not once. */
const counts: Record<string, number> = {
  english: 3,
  "fence-chance": 3,
  "fence-clock": 2,
  "fence-files": 2,
  "fence-shared": 2,
  "fence-terminal": 5,
  "fence-waiting": 2,
  layout: 9,
  ledger: 9,
  room: 2,
};

function badTree(rule: string): TidyFile[] {
  const long = longTrees[rule];
  if (long !== undefined) return long;
  const folder = `${fixtures}${rule}`;
  return walk(folder, "").map((path) => ({
    path,
    text: readFileSync(`${folder}/${path}`, "utf8"),
  }));
}

describe("tidy", () => {
  it("every rule has a bad tree and every bad tree has a rule", () => {
    const trees = [...readdirSync(fixtures), ...Object.keys(longTrees)];
    expect(trees.sort()).toEqual([...RULES].sort());
  });

  it.each(RULES)("the bad tree of %s is caught, by that rule and no other", (rule) => {
    const broken = checkFiles(badTree(rule)).map((finding) => finding.rule);
    expect(broken).toEqual(Array(counts[rule] ?? 1).fill(rule));
  });

  it("a file and a function at their limits pass", () => {
    const files = [
      { path: "src/base/bits.ts", text: constants(300) },
      { path: "test/support/bits.ts", text: constants(500) },
      { path: "src/base/ids.ts", text: oneFunction(70) },
    ];
    expect(checkFiles(files)).toEqual([]);
  });

  it("a folder at its limit passes with one comment, and not with two or with another's", () => {
    expect(checkFiles(folderOf(15))).toEqual([]);
    const text = folderOf(1)[0]?.text ?? "";
    const second = { path: "src/base/second.ts", text };
    const rulesOf = (files: TidyFile[]): string[] => checkFiles(files).map(({ rule }) => rule);
    expect(rulesOf([...folderOf(3), second])).toEqual(["folder-comment"]);
    expect(rulesOf([{ path: "src/memory/arena.ts", text }])).toEqual(["folder-comment"]);
  });

  it("what a room or a file may do is not a finding there", () => {
    const files = [
      { path: "src/base/clock.ts", text: "export const now = (): number => Date.now();\n" },
      {
        path: "src/memory/order.ts",
        text: "export const load = (words: Int32Array): number => Atomics.load(words, 0);\n",
      },
      { path: "src/persistence/files.ts", text: 'export { fsyncSync } from "node:fs";\nvoid 0;\n' },
      {
        path: "src/url/hot.ts",
        text: "/** @hot */\nexport function mix(a: number, b: number, c: number, d: number, e: number) {\n  return a ^ b ^ c ^ d ^ e;\n}\n",
      },
      {
        path: "src/url/parsing/tr46.d.ts",
        text: 'declare module "tr46" {\n  const tr46: { toASCII(host: string): string };\n  export default tr46;\n}\n',
      },
      {
        path: "src/memory/buffer.d.ts",
        text: "declare global {\n  interface Buffer {\n    latin1Slice(): string;\n  }\n}\nexport {};\n",
      },
      {
        path: "src/engine/types/frontier-types.ts",
        text: "export interface Shared {\n  readonly bytes: SharedArrayBuffer;\n  at: Date;\n}\n",
      },
    ];
    expect(checkFiles(files)).toEqual([]);
  });

  it("plain English is required of comments in src and assembly alone", () => {
    const text = "/** Tells the owner. */\nexport const VALUE = 1;\n";
    const linesOf = (path: string, content: string): string[] =>
      checkFiles([{ path, text: content }]).map(({ rule, line, message }) => {
        return `${rule} ${line} ${message.split(":")[0]}`;
      });
    expect(linesOf("src/workers/pool/ring.ts", text)).toEqual(['english 1 "Tells"']);
    expect(linesOf("test/unit/workers/pool/ring.ts", text)).toEqual([]);
    const split = "/**\n * A slot that the writer lets\n * go of.\n */\nexport const VALUE = 1;\n";
    expect(linesOf("src/layout/memory/ring.ts", split)).toEqual(['english 2 "lets go"']);
    const fine = '// `tell` looks the host up\nexport const tells = (): string => "nobody";\n';
    expect(linesOf("src/persistence/ring.ts", fine)).toEqual([]);
  });

  it("this repository breaks no rule", () => {
    const faults = checkFiles(readTree(root)).filter((each) => !WARNINGS.includes(each.rule));
    expect(faults).toEqual([]);
  });
});
