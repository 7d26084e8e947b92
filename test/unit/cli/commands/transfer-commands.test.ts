/** export and import on the command line: files by their names, and nothing lost on the way. */
import { hash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { runCommand } from "../../../../src/cli/run-command.ts";
import { openFrontier, presets } from "../../../../src/index.ts";
import { createFakeIo } from "../../../support/fake-io.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "outrider-transfer-"));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

async function command(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  return commandOn(undefined, argv);
}

async function commandOn(
  terminal: { columns: number } | undefined,
  argv: readonly string[],
): Promise<{ code: number; out: string; err: string }> {
  const io = createFakeIo(terminal);
  const code = await runCommand(argv, io);
  return { code, out: io.text.out, err: io.text.err };
}

const untimed = (text: string): string => text.replace(/"savedAt":\d+/, "");

it("a packed export makes an equal frontier, opened as its own program opened it", async () => {
  const source = join(folder, "source");
  const frontier = await openFrontier({ ...presets.scrapy(), directory: source });
  frontier.pushMany(["https://x.test/1", "https://x.test/2", "https://y.test/3"]);
  frontier.poll()?.done();
  frontier.poll()?.fail("no");
  await frontier.close();
  const file = join(folder, "all.jsonl.gz");
  const copy = join(folder, "copy");
  expect((await command("export", source, "--out", file, "--json")).out).toBe('{"exported":2}\n');
  const { out } = await command("export", source);
  expect(untimed(gunzipSync(readFileSync(file)).toString())).toBe(untimed(out));
  expect((await command("import", copy, file)).out).toBe("a whole frontier: 2 live records\n");
  expect(untimed((await command("export", copy)).out)).toBe(untimed(out));
  const again = await command("import", copy, file, "--json");
  expect(JSON.parse(again.out)).toMatchObject({ kind: "requests", size: 2, duplicate: 2 });
  const list = join(folder, "list.txt");
  expect((await command("export", source, "--out", list, "--state", "failed")).code).toBe(0);
  expect(readFileSync(list, "utf8")).toMatch(/^https:\/\/\w\.test\/\d\n$/);
});

it("WebMagic's lines before the cursor are seen, the others pending in their order", async () => {
  const list = join(folder, "w.urls.txt");
  writeFileSync(list, "http://a.test/1\nhttp://a.test/2\nhttp://a.test/3\nhttp://a.test/4\n");
  writeFileSync(join(folder, "w.cursor.txt"), "1\n2\n");
  const directory = join(folder, "webmagic");
  const { code, out } = await command("import", directory, list, "--preset", "webmagic", "--json");
  expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ size: 4, accepted: 2 })]);
  expect((await command("peek", directory)).out).toBe(
    "0\t0\thttp://a.test/3\n0\t0\thttp://a.test/4\n",
  );
  const frontier = await openFrontier({ ...presets.webmagic(), directory });
  expect(frontier.push("http://a.test/1").status).toBe("duplicate");
  await frontier.close();
});

it("Scrapy's fingerprints count as seen under its preset, and are refused under another key", async () => {
  const seen = join(folder, "requests.seen");
  // Of http://a.test/1, as the fingerprinter of 2.6 makes it.
  writeFileSync(seen, `${hash("sha1", "GEThttp://a.test/1")}\n${"0".repeat(40)}\n`);
  const directory = join(folder, "scrapy");
  const refused = await command("import", directory, seen);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("PROFILE_MISMATCH")]);
  const { code, out } = await command("import", directory, seen, "--preset", "scrapy");
  expect([code, out]).toEqual([0, "2 of 2 fingerprints are new\n"]);
  expect((await command("stats", directory, "--json")).out).toContain('"imported":2');
  const urls = join(folder, "urls.txt");
  writeFileSync(urls, "http://a.test/1\nhttp://a.test/2\n");
  expect((await command("import", directory, urls)).out).toBe("1 of 2 are new\n");
  expect((await command("export", folder)).code).toBe(2);
});

it("standard input and output carry a frontier, and progress is shown on terminals alone", async () => {
  const source = join(folder, "source");
  const frontier = await openFrontier({ directory: source });
  frontier.pushMany(["https://x.test/1", "https://y.test/2"]);
  frontier.poll()?.done();
  await frontier.close();
  const silent = await command("export", source, "--out", "-");
  expect(silent).toEqual({ code: 0, err: "", out: expect.stringMatching(/^\{"outrider".*\n/) });
  const shown = await commandOn({ columns: 80 }, ["export", source, "--out", "-"]);
  expect(untimed(shown.out)).toBe(untimed(silent.out));
  expect(shown.err).toContain("lines");
  const copy = join(folder, "copy");
  vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from([silent.out]) as never);
  const taken = await command("import", copy, "-");
  expect(taken).toEqual({ code: 0, err: "", out: "a whole frontier: 1 live records\n" });
  expect(untimed((await command("export", copy)).out)).toBe(untimed(silent.out));
});

it("lists of URLs go in and out, packed and not", async () => {
  const urls = "https://x.test/1\nhttps://y.test/2\nhttps://x.test/3\n";
  const packed = join(folder, "in.txt.gz");
  writeFileSync(packed, gzipSync(urls));
  const directory = join(folder, "crawl");
  expect((await command("import", directory, packed)).out).toBe("3 of 3 are new\n");
  expect((await command("export", directory, "--format", "urls")).out).toBe(urls);
  const out = join(folder, "out.txt.gz");
  expect((await command("export", directory, "--out", out)).code).toBe(0);
  expect(gunzipSync(readFileSync(out)).toString()).toBe(urls);
  const plain = join(folder, "in.txt");
  writeFileSync(plain, `${urls}\nhttps://z.test/4\n`);
  expect((await command("import", directory, plain)).out).toBe("1 of 4 are new\n");
});

it("--options opens a directory by a file: its rules count, and another key policy is refused by name", async () => {
  const directory = join(folder, "crawl");
  const list = join(folder, "urls.txt");
  writeFileSync(list, "https://a.example/1\nhttps://a.example/2\nhttps://b.example/3\n");
  const file = (name: string, options: unknown): string => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(options));
    return path;
  };
  const rules = [{ id: "news", match: { domains: ["a.example"] }, priority: 5 }];
  const own = file("own.json", { defaults: { key: { sortQuery: false } }, rules });
  const { code, out } = await command("import", directory, list, "--options", own);
  expect([code, out]).toEqual([0, "2 of 3 are new\n"]);
  for (const argv of [[], ["--options", own]]) {
    const peeked = await command("peek", directory, ...argv);
    expect(peeked.out).toMatch(/^5\t0\thttps:\/\/a\.example\/1\n5\t0\thttps:\/\/a\.example\/2\n$/);
  }
  const other = file("other.json", { defaults: { key: { sortQuery: true } } });
  const refused = await command("peek", directory, "--options", other);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("PROFILE_MISMATCH")]);
  const unknown = await command("peek", directory, "--options", file("no.json", { nonsense: 1 }));
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("nonsense")]);
  const missing = await command("peek", directory, "--options", join(folder, "none.json"));
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining("none.json")]);
});
