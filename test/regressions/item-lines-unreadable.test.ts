/**
 * No program could read some files of items. JSON lines held `undefined` for an item that JSON cannot express. After a full disk, and after
 * a kill, half a line stood before the next one. A CSV file got rows with more cells than its head.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createBodyFolder, createItemFile } from "../../src/crawl/files.ts";
import { packageRoot } from "../support/package.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-lines-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const plainFiles = `${packageRoot}build/plain/crawl/files.js`;
const source = { url: "http://x.test/", depth: 0 };

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;
let deep: unknown = 1;
for (let depth = 0; depth < 200_000; depth++) deep = [deep];
const revoked = Proxy.revocable({}, {});
revoked.revoke();

describe("items as JSON lines", () => {
  it.each<[what: string, item: unknown]>([
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["a toJSON without an answer", { toJSON: () => undefined }],
    ["a BigInt", { n: 10n }],
    ["a cycle", cyclic],
    ["200,000 levels", deep],
    ["a revoked proxy", revoked.proxy],
    [
      "a getter that throws",
      Object.defineProperty({}, "x", {
        enumerable: true,
        get: () => {
          throw new Error("no");
        },
      }),
    ],
  ])("%s is an error of its item, and leaves no line", (what, item) => {
    const path = join(folder, `${what}.jsonl`);
    const file = createItemFile({ path });
    expect(() => file.processors[0]?.(item, source)).toThrow();
    file.processors[0]?.({ n: 1 }, source);
    file.close?.();
    expect(readFileSync(path, "utf8")).toBe('{"n":1}\n');
  });

  it("what a page may hold is one line each, and read back as it was", () => {
    const path = join(folder, "odd.jsonl");
    const items = [
      { text: "\u2028\u2029\0\r\n\x1b[2J", "\u2028": "" },
      { lone: "\ud800", other: "a\udc00" },
      JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'),
      { long: "x".repeat(10 * 1024 * 1024) },
      null,
      "text",
    ];
    const file = createItemFile({ path });
    for (const item of items) file.processors[0]?.(item, source);
    file.close?.();
    const lines = readFileSync(path, "utf8").split("\n");
    expect(lines.pop()).toBe("");
    expect(lines.map((line) => JSON.parse(line))).toEqual(items);
    expect(lines[2]).toContain('"__proto__":{"polluted":true}');
  });

  it("half a line that the disk refused is taken back", () => {
    const path = join(folder, "refused.jsonl");
    const program = `import { createItemFile } from ${JSON.stringify(`${packageRoot}dist/crawl.js`)};
      const file = createItemFile({ path: ${JSON.stringify(path)} });
      const write = (text) => { try { file.processors[0](text, {}); return "written"; } catch ({ code }) { return code; } };
      console.log(JSON.stringify([write("a"), write("b".repeat(5000)), write("c")]));`;
    const limited = `trap '' XFSZ; ulimit -f 4; exec "$0" --input-type=module -e "$1"`;
    const child = spawnSync("sh", ["-c", limited, process.execPath, program], {
      encoding: "utf8",
    });
    expect([JSON.parse(child.stdout), child.stderr]).toEqual([["written", "EFBIG", "written"], ""]);
    expect(readFileSync(path, "utf8")).toBe('"a"\n"c"\n');
  });

  it("half a line that the disk refused is taken back from notes and the index of bodies, too", () => {
    const path = join(folder, "refused");
    const program = `import { createBodyFolder, openLineFile } from ${JSON.stringify(plainFiles)};
      const path = ${JSON.stringify(path)};
      const file = openLineFile(path + ".notes");
      const folder = createBodyFolder(path, true);
      const save = (url) => folder.save({ url, status: 200, body: Buffer.from("x"), bytes: 1 });
      const tell = (write) => { try { write(); return "written"; } catch ({ code }) { return code; } };
      const long = "b".repeat(5000);
      console.log(JSON.stringify([
        ["a", long, "c"].map((text) => tell(() => file.append([text]))),
        ["a", long, "c"].map((text) => tell(() => save("http://x.test/" + text))),
      ]));`;
    const limited = `trap '' XFSZ; ulimit -f 4; exec "$0" --input-type=module -e "$1"`;
    const child = spawnSync("sh", ["-c", limited, process.execPath, program], {
      encoding: "utf8",
    });
    const answers = ["written", "EFBIG", "written"];
    expect([JSON.parse(child.stdout), child.stderr]).toEqual([[answers, answers], ""]);
    expect(readFileSync(`${path}.notes`, "utf8")).toBe("a\nc\n");
    const lines = readFileSync(join(path, "index.jsonl"), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).url.slice(-1))).toEqual(["a", "c"]);
  });

  it("a whole line at the end of a file stays, with or without its line break", () => {
    const path = join(folder, "unbroken.jsonl");
    writeFileSync(path, '{"n":1}\n{"n":2,"wide":"ü"}');
    const file = createItemFile({ path });
    file.processors[0]?.({ n: 3 }, source);
    file.close?.();
    expect(readFileSync(path, "utf8")).toBe('{"n":1}\n{"n":2,"wide":"ü"}\n{"n":3}\n');
  });

  it("half a line of the index of bodies is cut", () => {
    const path = join(folder, "bodies");
    mkdirSync(path);
    writeFileSync(join(path, "index.jsonl"), '{"url":"a"}\n{"url":');
    createBodyFolder(path, true).save({
      ...{ url: "http://x.test/", status: 200, body: Buffer.from("x"), bytes: 1 },
      ...{ contentType: "text/html", isTruncated: false },
    } as never);
    const lines = readFileSync(join(path, "index.jsonl"), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).url)).toEqual(["a", "http://x.test/"]);
  });
});

it("an item that cannot be written brings no column of CSV", () => {
  const path = join(folder, "items.csv");
  const file = createItemFile({ path });
  file.processors[0]?.({ a: 1 }, source);
  expect(() => file.processors[0]?.({ a: 2, b: cyclic }, source)).toThrow();
  file.processors[0]?.({ a: 3 }, source);
  file.close?.();
  expect(readFileSync(path, "utf8")).toBe("a\r\n1\r\n3\r\n");
});
