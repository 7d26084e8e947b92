/** Out of a directory into a file and the other way round: what is whole gets its name, what is refused leaves nothing. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "../../src/cli/run-command.ts";
import { openFrontier } from "../../src/index.ts";
import { createFakeIo } from "../support/fake-io.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-transfer-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function command(argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = createFakeIo(undefined);
  const code = await runCommand(argv, io);
  return { code, ...io.text };
}

describe("an import that is refused", () => {
  it.each<[string, string, string[]]>([
    ["a wrong line behind good ones", "http://a.test/1\nhttp://a.test/2\n{no JSON\n", []],
    [
      "no fingerprint among fingerprints",
      `${"ab".repeat(20)}\nxyz\n${"cd".repeat(20)}\n`,
      ["--preset", "scrapy"],
    ],
    ["no fingerprints of ours", `${"ab".repeat(20)}\n`, []],
  ])("leaves no directory behind: %s", async (_, text, flags) => {
    const list = join(folder, "refused.txt");
    writeFileSync(list, text);
    const directory = join(folder, "refused", "data");
    const { code, err } = await command(["import", directory, list, ...flags]);
    expect([code > 0, err]).toEqual([true, expect.stringContaining("outrider: ")]);
    expect(existsSync(directory)).toBe(false);
  });

  it("leaves no directory behind: an export, or a packed file, that was cut off, and a list of WebMagic's", async () => {
    const source = join(folder, "cut-source");
    const frontier = await openFrontier({ directory: source });
    frontier.pushMany(Array.from({ length: 5_000 }, (_, at) => `http://a.test/${at}`));
    await frontier.close();
    const packed = join(folder, "cut.jsonl.gz");
    expect((await command(["export", source, "--out", packed])).code).toBe(0);
    const lines = gunzipSync(readFileSync(packed)).toString("utf8").split("\n");
    const directory = join(folder, "cut");
    const refused = async (path: string, bytes: string | Uint8Array): Promise<void> => {
      writeFileSync(path, bytes);
      expect((await command(["import", directory, path])).code).toBe(1);
      expect(existsSync(directory)).toBe(false);
    };
    await refused(join(folder, "cut.jsonl"), lines.slice(0, -2).join("\n"));
    const urls = gzipSync(
      Array.from({ length: 50_000 }, (_, at) => `http://a.test/${at * 7919}`).join("\n"),
    );
    await refused(join(folder, "urls.gz"), urls.subarray(0, urls.length >> 1));
    const list = join(folder, "wm.urls.txt");
    writeFileSync(join(folder, "wm.cursor.txt"), "1\n");
    writeFileSync(list, "http://a.test/1\nhttp://a.test/2\n{no JSON\n");
    expect((await command(["import", directory, list])).code).toBe(2);
    expect(existsSync(directory)).toBe(false);
    writeFileSync(list, "http://a.test/1\nhttp://a.test/2\nhttp://a.test/3\n");
    expect((await command(["import", directory, list])).out).toBe("2 of 3 are new\n");
    expect((await command(["peek", directory])).out).toContain("http://a.test/2");
  });

  it("changes nothing but by the lines before it where a frontier is", async () => {
    const directory = join(folder, "refused-late");
    const list = join(folder, "refused-late.txt");
    writeFileSync(list, "http://a.test/1\n");
    expect((await command(["import", directory, list])).out).toBe("1 of 1 are new\n");
    writeFileSync(list, "http://a.test/2\n{no JSON\n");
    expect((await command(["import", directory, list])).code).toBe(2);
    const { out } = await command(["stats", directory, "--json"]);
    expect(JSON.parse(out)).toMatchObject({ pending: 2 });
  });

  it("tells how many lines were refused, and why", async () => {
    const directory = join(folder, "told");
    const list = join(folder, "told.txt");
    writeFileSync(list, `http://a.test/1\nhttp://a.test/${"x".repeat(40_000)}\nftp://a.test/\n:\n`);
    const capacity = join(folder, "capacity.json");
    writeFileSync(capacity, '{"capacity":2}');
    const { code, out, err } = await command(["import", directory, list]);
    expect([code, out]).toEqual([0, "1 of 4 are new\n"]);
    expect(err).toBe("3 were refused: too-long 1, scheme 1, invalid-url 1\n");
    writeFileSync(list, "http://a.test/1\nhttp://a.test/2\nhttp://a.test/3\n");
    const full = await command(["import", directory, list, "--options", capacity, "--json"]);
    expect(JSON.parse(full.out)).toMatchObject({
      accepted: 1,
      duplicate: 1,
      full: 1,
      reasons: { full: 1 },
    });
  });
});

describe("an export to a file", () => {
  it("has its name only when it is whole; one that breaks off leaves what stood there", async () => {
    const directory = join(folder, "export-whole");
    const frontier = await openFrontier({ directory });
    frontier.pushMany(Array.from({ length: 20_000 }, (_, at) => `http://a.test/${at}`));
    await frontier.snapshot();
    await frontier.close();
    const outs = join(folder, "outs");
    mkdirSync(outs);
    const warnings: string[] = [];
    const hear = (warning: Error): void => void warnings.push(warning.name);
    process.on("warning", hear);
    for (const name of ["out.jsonl", "out.jsonl.gz"]) {
      const out = join(outs, name);
      writeFileSync(out, "before");
      const io = createFakeIo({ columns: 80 });
      const broken: typeof io = {
        ...io,
        draw: (parts) => {
          io.draw(parts);
          if (parts.some((part) => String(part).includes("lines"))) throw new Error("broken off");
        },
      };
      expect(await runCommand(["export", directory, "--out", out], broken)).toBe(1);
      expect(readFileSync(out, "utf8")).toBe("before");
      const left = createFakeIo({ columns: 80 });
      const leaving: typeof left = {
        ...left,
        draw: (parts) => {
          left.draw(parts);
          const isProgress = parts.some((part) => String(part).includes("lines"));
          if (left.exits.length === 0 && isProgress) left.interrupt();
        },
      };
      await runCommand(["export", directory, "--out", out], leaving);
      expect(left.exits).toEqual([130]);
      expect(readFileSync(out, "utf8")).toBe("before");
      expect(readdirSync(outs)).toEqual([name]);
      expect((await command(["export", directory, "--out", out])).code).toBe(0);
      expect(readFileSync(out).length).toBeGreaterThan(1_000);
      expect(readdirSync(outs)).toEqual([name]);
      rmSync(out);
    }
    process.off("warning", hear);
    expect(warnings).toEqual([]);
  });

  it("says by the name that was given why it can not be written, and leaves nothing beside it", async () => {
    const directory = join(folder, "export-nowhere");
    const frontier = await openFrontier({ directory });
    frontier.push("http://a.test/1");
    await frontier.close();
    for (const path of [join(folder, "nowhere", "x"), folder]) {
      const { code, err } = await command(["export", directory, "--out", path]);
      expect([code, err]).toEqual([1, expect.stringContaining(`outrider: ${path}: E`)]);
      expect(err).not.toContain(".tmp");
    }
  });

  it("takes away what a killed export left beside the same name, and nothing of one that may live", async () => {
    const directory = join(folder, "export-after");
    const frontier = await openFrontier({ directory });
    frontier.push("http://a.test/1");
    await frontier.close();
    const outs = join(folder, "after");
    mkdirSync(outs);
    const out = join(outs, "out.jsonl");
    // No process has so great a number; this one lives.
    const names = ["out.jsonl.4194999.tmp", "out.jsonl.4194998.tmp", "out.jsonl.x.tmp", "b.1.tmp"];
    const mine = `out.jsonl.${process.ppid}.tmp`;
    for (const name of [...names, mine]) {
      writeFileSync(join(outs, name), "half");
      // Long ago; the second of them is being written right now, perhaps by another machine.
      if (name !== names[1]) utimesSync(join(outs, name), 1, 1);
    }
    expect((await command(["export", directory, "--out", out])).code).toBe(0);
    expect(readdirSync(outs).sort()).toEqual([...names.slice(1), mine, "out.jsonl"].sort());
  });
});
