/** The API reference in docs/api: complete, current, and every link in it leads somewhere. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
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
    const names = Object.keys(manifest.exports).filter((key) => !/\.(json|proto)$/.test(key));
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

/** Names that examples use without making them. */
const GIVEN = [
  "declare const frontier: Frontier, lease: Lease, url: string, urls: string[], hrefs: string[];",
  "declare const answer: { status: number, headers: { location: string } };",
  "declare const found: string[], body: Buffer, workerData: FrontierHandle;",
  "declare function visit(url: string): Promise<string[]>;",
  "declare function linksOf(html: string): string[];",
  "declare const pool: WorkerPool;",
  'declare const response: import("node:http").ServerResponse;',
  "declare const cert: string, key: string, ca: string;",
  "declare const manager: FrontierRequestManager, storage: OutriderStorage;",
  "declare const backend: OutriderStorageBackend;",
  "declare const request: CrawleeRequest;",
  // Crawlee's own.
  "declare class CheerioCrawler { constructor(options: object, configuration?: object); run(urls?: string[]): Promise<void>; }",
  "declare class Configuration { constructor(options: object); static getGlobalConfig(): Configuration; useStorageClient(client: object): void; }",
  "declare const serviceLocator: { setStorageBackend(backend: object): void };",
  "declare function requestHandler(): Promise<void>;",
];

describe("the examples of the reference", () => {
  it("hold for the types of the package: each compiles, with what its entry exports", () => {
    const found = entries.flatMap(({ name, symbols }) =>
      symbols
        .filter(({ origin }) => origin === name)
        .flatMap((symbol) => [
          ...symbol.doc.examples.map((code) => ({ at: `${name} ${symbol.name}`, code })),
          ...symbol.methods.flatMap(({ name: method, doc }) =>
            doc.examples.map((code) => ({ at: `${name} ${symbol.name}.${method}`, code })),
          ),
        ]),
    );
    expect(found.length).toBeGreaterThan(40);
    expect(problemsIn(found.map(({ at, code }) => ({ at, code: plainCode(code) })))).toEqual([]);
  });

  it("that do not hold are found", () => {
    const code =
      'frontier.pushManny(["https://example.org/"]);\nawait openFrontier({ delayMs: 1 });';
    const problems = problemsIn([{ at: "some", code }]);
    expect(problems).toEqual([
      expect.stringMatching(/^some: .*pushManny/),
      expect.stringMatching(/^some: .*delayMs/),
    ]);
  });
});

function plainCode(example: string): string {
  return example.replaceAll(/^```.*$/gm, "");
}

/** What the compiler finds wrong in pieces of code that may use every public name. */
function problemsIn(pieces: readonly { at: string; code: string }[]): string[] {
  const names = new Map(
    entries.flatMap(({ name, symbols }) =>
      symbols.map((symbol) => [symbol.name, sourceOf(name)] as const),
    ),
  );
  const imports = [...names].map(([name, from]) => `import { ${name} } from "${from}";`);
  const files = new Map(
    pieces.map(({ at, code }, index) => {
      // In a block of its own: what an example makes hides the name that it could have used.
      const text = [...imports, ...GIVEN, "{", code, "}"].join("\n");
      return [join(packageRoot, `test/api/example-${index}.ts`), { at, text }] as const;
    }),
  );
  const options: ts.CompilerOptions = {
    ...{ target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, strict: true },
    ...{ lib: ["lib.es2024.d.ts", "lib.esnext.disposable.d.ts"], types: ["node"], noEmit: true },
    ...{ skipLibCheck: true, allowImportingTsExtensions: true, noImplicitAny: false },
  };
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (name) => files.get(name)?.text ?? readFile(name);
  host.fileExists = (name) => files.has(name) || fileExists(name);
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files].flatMap(([name, { at }]) => {
    const source = program.getSourceFile(name);
    const found = [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ];
    return found.map(({ messageText }) => {
      return `${at}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
    });
  });
}

/** Where an entry's names come from. */
function sourceOf(entry: string): string {
  const name = entry === "outrider" ? "index" : entry.slice("outrider/".length);
  return join(packageRoot, `src/${name}.ts`);
}

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
  const shown = { text: "Said.", examples: ["Some();"] };
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
  const inMs = { text: "In milliseconds.", examples: [] };
  const field = { name: "delayMs", type: "number", isOptional: true, isGiven: true, doc: inMs };

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
    expect(problemsOf([entryOf({ doc: shown, properties: [field] })])).toEqual(missing);
    const told = { ...field, isGiven: false };
    expect(problemsOf([entryOf({ properties: [told] })])).toEqual([]);
    const whole = { ...field, doc: { ...inMs, defaultValue: "0" } };
    expect(problemsOf([entryOf({ doc: shown, properties: [whole] })])).toEqual([]);
  });

  it("is an example of a function, and of what a caller fills in", () => {
    const whole = { ...field, doc: { ...inMs, defaultValue: "0" } };
    const missing = ["outrider Some: no example"];
    expect(problemsOf([entryOf({ properties: [whole] })])).toEqual(missing);
    const call = { kind: "function", code: "function Some(): void;" };
    expect(problemsOf([entryOf(call)])).toEqual(missing);
    expect(problemsOf([entryOf({ ...call, doc: shown })])).toEqual([]);
    expect(problemsOf([entryOf({ ...call, origin: "outrider" })])).toEqual(missing);
  });

  it("is a unit, of milliseconds, times and bytes", () => {
    const named = (name: string, text: string) =>
      problemsOf([
        entryOf({
          properties: [{ ...field, name, isGiven: false, doc: { text, examples: [] } }],
        }),
      ]);
    expect(named("totalMs", "The whole of it.")).toEqual(["outrider Some.totalMs: no unit"]);
    expect(named("dueAt", "When it may go.")).toEqual(["outrider Some.dueAt: no unit"]);
    expect(named("maxBytes", "Most of it.")).toEqual(["outrider Some.maxBytes: no unit"]);
    expect(named("totalMs", "The whole of it in milliseconds.")).toEqual([]);
    expect(named("maxBytes", "Most KiB of it.")).toEqual([]);
  });

  it("is the cost of a long call and of a frontier's method, and what either answers when it fails", () => {
    const long = { kind: "function", code: "function Some(list: string[]): void;", doc: shown };
    expect(problemsOf([entryOf(long)])).toEqual([
      "outrider Some: no cost",
      "outrider Some: no failure value",
    ]);
    const text = "Said. Costs a copy. Throws `ARGUMENT_INVALID`.";
    expect(problemsOf([entryOf({ ...long, doc: { text, examples: ["Some();"] } })])).toEqual([]);
    const method = { name: "do", signatures: ["do(url: string): void"], doc, options: [] };
    expect(problemsOf([entryOf({ name: "Frontier", methods: [method] })])).toEqual([
      "outrider Frontier.do(): no cost",
      "outrider Frontier.do(): no failure value",
    ]);
  });
});
