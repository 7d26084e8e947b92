/** The API reference in docs/api: complete, current, and every link in it leads somewhere. */
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Entry, problemsOf, readEntries } from "../../tools/api/read.mjs";
import { pagesOf } from "../../tools/api/write.mjs";
import { manifest, readText } from "../support/package.ts";
import { packageRoot } from "../support/package.ts";

const entries = readEntries();
const pages = pagesOf(entries);

describe("the API reference", () => {
  it("describes every public name, and the default of every field that may be left out", () => {
    expect(problemsOf(entries)).toEqual([]);
  });

  it("has every entry of the package, and none without names", () => {
    const names = Object.keys(manifest.exports).filter((key) => !key.endsWith("json"));
    expect(entries.map(({ name }) => name.replace("outrider", "."))).toEqual(names);
    for (const { name, symbols } of entries) expect(symbols.length, name).toBeGreaterThan(0);
  });

  it("is committed as it is generated", () => {
    const files = readdirSync(`${packageRoot}docs/api`).sort();
    expect(files).toEqual([...pages.keys()].sort());
    for (const [name, text] of pages)
      expect(text, `npm run docs:api (${name})`).toBe(readText(`docs/api/${name}`));
  });

  it("links to names that there are", () => {
    const anchors = new Set([...pages].flatMap(([file, text]) => anchorsOf(file, text)));
    const links = [...pages.values()].flatMap((text) => [
      ...[...text.matchAll(/<a href="([^"]+)">/g)].map(([, target]) => target),
      ...[...text.matchAll(/\]\(([\w-]+\.md#[^)]+)\)/g)].map(([, target]) => target),
    ]);
    expect(links.length).toBeGreaterThan(100);
    expect(links.filter((target) => !anchors.has(target as string))).toEqual([]);
  });
});

/** As renderers give them: a title that comes again has a number. */
function anchorsOf(file: string, text: string): string[] {
  const titles = [...text.matchAll(/^#{2,4} (.+)$/gm)].map(([, title = ""]) => title.toLowerCase());
  return titles.map((title, at) => {
    const before = titles.slice(0, at).filter((each) => each === title).length;
    return `${file}#${title}${before === 0 ? "" : `-${before}`}`;
  });
}

describe("what is missing in a reference", () => {
  const doc = { text: "Said.", examples: [] };
  const none = { text: "", examples: [] };
  const entryOf = (symbol: Partial<Entry["symbols"][number]>): Entry => ({
    name: "outrider",
    doc: "",
    symbols: [
      {
        ...{ name: "Some", kind: "interface", code: undefined, doc, bases: [], origin: "outrider" },
        ...{ properties: [], methods: [] },
        ...symbol,
      },
    ],
  });
  const field = { name: "delayMs", type: "number", isOptional: true, isGiven: true, doc };

  it("is a summary, of a name, a field or a method", () => {
    expect(problemsOf([entryOf({})])).toEqual([]);
    expect(problemsOf([entryOf({ doc: none })])).toEqual(["outrider Some: no summary"]);
    const silent = { ...field, isGiven: false, doc: none };
    expect(problemsOf([entryOf({ properties: [silent] })])).toEqual([
      "outrider Some.delayMs: no summary",
    ]);
    const method = { name: "do", signatures: ["do(): void"], doc: none, options: [] };
    expect(problemsOf([entryOf({ methods: [method] })])).toEqual([
      "outrider Some.do(): no summary",
    ]);
  });

  it("is a default, of a field that a caller may leave out", () => {
    const missing = ["outrider Some.delayMs: no default"];
    expect(problemsOf([entryOf({ properties: [field] })])).toEqual(missing);
    const told = { ...field, isGiven: false };
    expect(problemsOf([entryOf({ properties: [told] })])).toEqual([]);
    const whole = { ...field, doc: { ...doc, defaultValue: "0" } };
    expect(problemsOf([entryOf({ properties: [whole] })])).toEqual([]);
  });
});
