/**
 * docs/guides/a-site-step-by-step.md as typed, on nginx and the Python documentation; and a whole crawl of it, killed twice, beside
 * `wget --mirror`. Numbers and times of the page are those of one machine: the tests compare everything else.
 */
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { codeBlocks } from "../support/markdown.ts";
import { packageRoot, readText } from "../support/package.ts";
import { skipUnless } from "../support/skip.ts";

const PAGE = readText("docs/guides/a-site-step-by-step.md");
const DOCUMENTATION = "/usr/share/doc/python3-doc/html/index.html";
const PLACE = "127.0.0.1:8080";
const folder = mkdtempSync(join(tmpdir(), "outrider-site-"));
const path = `${join(folder, "bin")}:${process.env.PATH}:/usr/sbin:/usr/bin`;
const program = `${packageRoot}dist/cli/main.js`;
const nginx = ["-p", folder, "-c", "nginx.conf", "-e", "error.log"];
let place = "";

/** Whether a program is there. */
function hasProgram(name: string): boolean {
  return path.split(":").some((each) => existsSync(join(each, name)));
}

const isPossible = hasProgram("nginx") && existsSync(DOCUMENTATION);

beforeAll(async () => {
  place = `127.0.0.1:${await freePort()}`;
  mkdirSync(join(folder, "bin"));
  const lines = ["#!/bin/sh", `exec "${process.execPath}" "${program}" "$@"`, ""];
  writeFileSync(join(folder, "bin/outrider"), lines.join("\n"));
  chmodSync(join(folder, "bin/outrider"), 0o755);
  const conf = codeBlocks(PAGE, ["nginx"])[0]?.code ?? "";
  // Workers of a server that root started could not read a private folder.
  const user = process.getuid?.() === 0 ? "user root;\n" : "";
  writeFileSync(join(folder, "nginx.conf"), user + conf.replaceAll(PLACE, place));
});
afterAll(() => {
  stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Ends the server, if one runs, and waits until it has. */
function stop(): void {
  if (!existsSync(join(folder, "nginx.pid"))) return;
  // The guide ends it too: it may be on its way.
  run("sh", "-c", `nginx ${nginx.join(" ")} -s stop || true`);
  run("sh", "-c", "while [ -e nginx.pid ]; do sleep 0.05; done");
}

function run(name: string, ...words: string[]): string {
  const env = { ...process.env, PATH: path };
  return execFileSync(name, words, { cwd: folder, env, encoding: "utf8", stdio: "pipe" });
}

/** Without what differs between two runs and two machines. */
function plain(text: string): string {
  return text
    .replaceAll(place, PLACE)
    .replace(/fingerprint .*/g, "fingerprint #")
    .replace(/(?<=found on .*)[^/]+\.html/g, "#") // two pages link to it: the first one counts
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, "#")
    .replace(/\b[\d.,]+ (ms|s|min|B|KiB|MiB|GiB)\b/g, "#")
    .replace(/(?<=\s|^)\d[\d.,]*(?=\s|$)/gm, "#");
}

describe("a site, step by step", () => {
  it("every block runs in turn, and prints what stands on the page", (context) => {
    skipUnless(context, isPossible, "no nginx with python3-doc");
    const blocks = codeBlocks(PAGE, ["sh"]);
    expect(blocks.length).toBeGreaterThan(8);
    for (const { code, prints } of blocks) {
      const out = run("sh", "-ec", code.replaceAll(PLACE, place));
      if (prints === undefined) continue;
      const [expected, isPart] = [plain(prints).replace(/…\n$/, ""), prints.endsWith("…\n")];
      expect(isPart ? plain(out).slice(0, expected.length) : plain(out), code).toBe(expected);
    }
    // The header went with every request, robots.txt too.
    const asked = readFileSync(join(folder, "access.log"), "utf8").trimEnd().split("\n");
    expect(asked.length).toBeGreaterThan(100);
    expect(asked.filter((line) => !/^\d+ docs /.test(line))).toEqual([]);
  });

  it("killed twice on its way, a crawl finds the same pages as wget --mirror", async (context) => {
    skipUnless(context, isPossible, "no nginx with python3-doc");
    skipUnless(context, hasProgram("wget"), "no wget on the PATH");
    stop();
    rmSync(join(folder, "access.log"), { force: true });
    // The guide puts the missing page there.
    rmSync(join(folder, "mended"), { recursive: true, force: true });
    run("nginx", ...nginx);
    const mirror = ["--mirror", "--quiet", "-e", "robots=off", "--header", "X-Team: wget"];
    // It ends with 8 where a page is missing, and one is.
    run("sh", "-c", `wget ${mirror.map((word) => `'${word}'`).join(" ")} http://${place}/ || true`);
    for (const pages of [100, 250]) await crawl(pages);
    await crawl(undefined);
    const asked = readFileSync(join(folder, "access.log"), "utf8").trimEnd().split("\n");
    const pagesOf = (who: string): string[] => {
      const paths = asked.flatMap((line) => {
        const [, status, team, page = ""] = /^(\d+) (\S+) (\S+)$/.exec(line) ?? [];
        if (status !== "200" || team !== who || !/(\/|\.html)$/.test(page)) return [];
        // wget keeps both in one file, and asks for one.
        return [page.replace(/\/index\.html$/, "/")];
      });
      return [...new Set(paths)].sort();
    };
    expect(pagesOf("wget").length).toBeGreaterThan(400);
    expect(pagesOf("outrider")).toEqual(pagesOf("wget"));
    const failed = run("outrider", "failed", "mirror", "--json").trimEnd().split("\n");
    expect(failed).toHaveLength(1);
    expect((JSON.parse(failed[0] ?? "") as { foundOn?: string }).foundOn).toContain("/whatsnew/");
  });
});

/** Crawls, and is killed after so many pages. */
function crawl(pages: number | undefined): Promise<void> {
  const flags = ["--dir", "mirror", "--allow-private", "--delay", "0", "--per-host", "8", "-v"];
  const words = [program, "crawl", `http://${place}/`, "--header", "X-Team: outrider", ...flags];
  const child = spawn(process.execPath, words, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let count = 0;
  const onLines = (chunk: Buffer): void => {
    count += chunk.toString().split("200").length - 1;
    if (pages !== undefined && count >= pages) child.kill("SIGKILL");
  };
  child.stdout.on("data", onLines);
  child.stderr.on("data", onLines);
  return new Promise((resolve) => void child.on("close", () => resolve()));
}
