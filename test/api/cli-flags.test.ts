/** The flags of `outrider crawl` that scripts rely on, each seen at work by the site that is crawled. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "../../src/cli/run-command.ts";
import { openSyntheticWeb } from "../../src/testing.ts";
import { createFakeIo } from "../support/fake-io.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-flags-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Site extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** `host/path` of every page that was asked for. */
  readonly asked: string[];
  /** The most that were asked for and not answered yet. */
  most(): number;
}

/** So long whoever asks for more than they may has time to be seen. */
const SEEN_MS = 40;

/** A site that answers its pages only when so many are asked for `together`, and a moment later; its first page at once. */
async function openSite(links: readonly string[], together = 1): Promise<Site> {
  const asked: string[] = [];
  const open: ServerResponse[] = [];
  let most = 0;
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    if (path === "/robots.txt") return void response.writeHead(404).end();
    asked.push(`${request.headers.host?.split(":")[0]}${path}`);
    response.setHeader("content-type", "text/html");
    if (path === "/") return void response.end(links.map((link) => `<a href="${link}">`).join(""));
    open.push(response);
    most = Math.max(most, open.length);
    if (open.length !== together) return;
    setTimeout(() => {
      for (const each of open.splice(0)) each.end("page");
    }, SEEN_MS);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/`,
    asked,
    most: () => most,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const paths = (count: number): string[] => Array.from({ length: count }, (_, at) => `/${at}`);

/** Runs a crawl on a terminal that nobody sees; its summary. */
async function summaryOf(url: string, ...flags: string[]): Promise<Record<string, unknown>> {
  const io = createFakeIo(undefined);
  const base = ["--allow-private", "--delay", "0", "--json"];
  expect([await runCommand(["crawl", url, ...base, ...flags], io), io.exits]).toEqual([0, []]);
  return JSON.parse(io.text.out);
}

describe("a flag of outrider crawl, as the site sees it", () => {
  it("--per-host: so many visits of one host at once, and one where it is not given", async () => {
    await using three = await openSite(paths(9), 3);
    expect(await summaryOf(three.url, "--per-host", "3")).toMatchObject({ pages: 10 });
    expect(three.most()).toBe(3);
    await using one = await openSite(paths(4));
    expect(await summaryOf(one.url)).toMatchObject({ pages: 5 });
    expect(one.most()).toBe(1);
  });

  it("--concurrency: so many visits at once in all, however many a host would bear", async () => {
    await using site = await openSite(paths(8), 2);
    const flags = ["--per-host", "100", "--concurrency", "2"];
    expect(await summaryOf(site.url, ...flags)).toMatchObject({ pages: 9 });
    expect(site.most()).toBe(2);
  });

  it("--ramp: one visit at first, where all could go", async () => {
    await using site = await openSite(paths(6));
    // An hour: whatever this machine does, nobody is allowed to be the second within this test.
    const flags = ["--per-host", "100", "--concurrency", "8", "--ramp", "3600000"];
    expect(await summaryOf(site.url, ...flags)).toMatchObject({ pages: 7 });
    expect(site.most()).toBe(1);
  });

  it("--delay: as the web's own log has it", async () => {
    await using web = await openSyntheticWeb({ seed: 4, hosts: 1, pages: 8, traps: false });
    await summaryOf(`http://127.0.0.1:${web.port}/`, "--delay", "40");
    expect(web.log.entries.length).toBeGreaterThan(8);
    expect(web.log.violations(40)).toEqual([]);
    expect(web.log.parallelMax()).toBe(1);
  });

  it("--scope: the seed's own domain, those that are named, or any", async () => {
    await using site = await openSite([]);
    const other = `http://localhost:${site.port}/other`;
    await using seed = await openSite(["/own", other]);
    expect(await summaryOf(seed.url)).toMatchObject({ pages: 2, rejected: { "no-rule": 1 } });
    expect(site.asked).toEqual([]);
    for (const scope of [["127.0.0.1", "localhost"], ["any"]]) {
      const summary = await summaryOf(seed.url, "--scope", ...scope);
      expect([scope, summary.pages, summary.rejected]).toEqual([scope, 3, {}]);
    }
    expect(site.asked).toEqual(["localhost/other", "localhost/other"]);
    const io = createFakeIo(undefined);
    const without = ["crawl", "--scope", "127.0.0.1", seed.url, "--dry-run", "--json"];
    expect(await runCommand(without, io)).toBe(0);
    // A word with a scheme ends the list.
    expect(JSON.parse(io.text.out)).toMatchObject({ scope: ["127.0.0.1"], seeds: [{}] });
  });

  it("--allow-private: without it nothing is asked, and what to do is said", async () => {
    await using site = await openSite([]);
    const io = createFakeIo(undefined);
    expect(await runCommand(["crawl", site.url, "--delay", "0", "--json"], io)).toBe(3);
    expect(JSON.parse(io.text.out)).toMatchObject({ pages: 0, pending: 0 });
    expect(io.text.err).toContain("--allow-private permits them");
    expect(site.asked).toEqual([]);
  });

  it.each([0, 2])(
    "--allow-private is named by what failed without it (%i threads)",
    async (count) => {
      await using site = await openSite([]);
      const directory = join(folder, `private-${count}`);
      const io = createFakeIo(undefined);
      const argv = ["crawl", site.url, "--dir", directory, "--delay", "0", "--threads", `${count}`];
      expect(await runCommand(argv, io)).toBe(3);
      expect(io.text.out).toMatch(
        /^failed +1 page: 1 private address, refused without --allow-private$/m,
      );
      const told = createFakeIo(undefined);
      expect(await runCommand(["failed", directory], told)).toBe(0);
      expect(told.text.out).toMatch(/^private address, refused without --allow-private {2}http/);
      const again = createFakeIo(undefined);
      const requeue = ["requeue", directory, "--reason", "address", "--json"];
      expect(await runCommand(requeue, again)).toBe(0);
      expect(JSON.parse(again.text.out)).toEqual({ requeued: 1 });
    },
  );

  it("--rules: what a rule says of depth holds, and what no rule takes is left", async () => {
    await using site = await openSite(["/in/1", "/in/2", "/out/1"]);
    const path = join(folder, "rules.json");
    const rules = [
      { id: "first", match: { pattern: "/$" } },
      { id: "in", match: { pattern: "/in/" } },
    ];
    writeFileSync(path, JSON.stringify({ version: 1, rules }));
    const summary = await summaryOf(site.url, "--rules", path);
    expect(summary).toMatchObject({ pages: 3, rejected: { "no-rule": 1 } });
    expect(site.asked.toSorted()).toEqual(["127.0.0.1/", "127.0.0.1/in/1", "127.0.0.1/in/2"]);
  });

  it("--scope and --rules: what both take", async () => {
    await using site = await openSite([]);
    const other = `http://localhost:${site.port}/in/other`;
    await using seed = await openSite(["/in/1", "/out/1", other]);
    const path = join(folder, "both.json");
    writeFileSync(path, JSON.stringify([{ id: "all", match: { pattern: "/(in/.*)?$" } }]));
    const summary = await summaryOf(seed.url, "--rules", path, "--scope", "127.0.0.1");
    expect(summary).toMatchObject({ pages: 2, rejected: { "no-rule": 2 } });
    expect(site.asked).toEqual([]);
  });

  it("--dir with another seed: what was pending stays in scope, and that is said", async () => {
    await using site = await openSite(["/1"]);
    await using first = await openSite(["/1", "/2"]);
    const dir = join(folder, "joined");
    expect(await summaryOf(first.url, "--dir", dir, "--max-pages", "1")).toMatchObject({
      pages: 1,
    });
    const io = createFakeIo(undefined);
    const url = `http://localhost:${site.port}/`;
    const line = ["crawl", url, "--dir", dir, "--allow-private", "--delay", "0", "--json"];
    expect(await runCommand([...line, "--dry-run"], io)).toBe(0);
    const plan = JSON.parse(io.text.out);
    expect(plan).toMatchObject({ scope: ["127.0.0.1", "localhost"], seeds: [{ rule: "scope" }] });
    expect([first.asked.length, site.asked]).toEqual([1, []]);
    expect(await runCommand(line, io)).toBe(0);
    expect(io.text.err).toContain("scope: localhost beside 127.0.0.1\n");
    expect([first.asked.length, site.asked.length]).toEqual([3, 2]);
  });

  it("--max-bytes and --timeout: a page is cut, and one that does not end is given up", async () => {
    await using site = await openSite(["/1"], 2);
    const summary = await summaryOf(site.url, "--max-bytes", "5");
    expect(summary).toMatchObject({ pages: 1, truncated: 1, pending: 0, failed: 0 });
    await using slow = await openSite(["/1"], 9);
    const cut = await summaryOf(slow.url, "--timeout", "3000");
    expect(cut).toMatchObject({ pages: 1, failures: { timeout: 1 } });
    expect(slow.asked.filter((path) => path.endsWith("/1"))).toHaveLength(3);
    expect(await refusalOf(slow.url, "--timeout", "0")).toContain("--timeout: 0 (expected:");
  });

  it("--report that can not be written at the end is an error, and the summary is still printed", async () => {
    await using site = await openSite(paths(3), 1);
    const away = mkdtempSync(join(folder, "away-"));
    const path = join(away, "report.html");
    const io = createFakeIo(undefined);
    const out = io.err;
    io.err = (text) => {
      out(text);
      rmSync(away, { recursive: true, force: true });
    };
    const flags = ["--allow-private", "--delay", "0", "--json", "--report", path];
    expect(await runCommand(["crawl", site.url, ...flags], io)).toBe(1);
    expect(io.text.err).toContain(`--report: ${path}: ENOENT`);
    expect(JSON.parse(io.text.out)).toMatchObject({ pages: 4 });
  });

  it("--report writes its page; --no-progress writes plain lines on a terminal too", async () => {
    await using site = await openSite(paths(3));
    const path = join(folder, "report.html");
    await summaryOf(site.url, "--report", path);
    expect(readFileSync(path, "utf8")).toMatch(/^<!doctype html>.*4<\/dd>.*<\/html>\n$/s);
    const io = createFakeIo({ columns: 80, hasColor: true });
    const flags = ["--allow-private", "--delay", "0", "--no-progress"];
    expect(await runCommand(["crawl", site.url, ...flags], io)).toBe(0);
    expect(io.text.err).toMatch(/pages \d/);
    expect(io.text.err + io.text.out).not.toContain("\x1b");
  });

  it.each([
    [["--same-host"], /^scope +a\.test alone$/m],
    [["--path-prefix"], /^scope +https:\/\/a\.test\/docs\/$/m],
    [["--scope", "any"], /^scope +the whole web$/m],
    [["--include", "/docs/**"], /^links +those like \/docs\/\*\* alone$/m],
    [["--exclude", "*.pdf", "--exclude", "*.zip"], /^links +none like \*\.pdf \*\.zip$/m],
  ])("--dry-run says what %j means", async (flags, row) => {
    const io = createFakeIo(undefined);
    expect(await runCommand(["crawl", "https://a.test/docs/x", ...flags, "--dry-run"], io)).toBe(0);
    expect(io.text.out).toMatch(row);
  });

  it("--dry-run with a directory makes none", async () => {
    await using site = await openSite([]);
    const dir = join(folder, "dry");
    const io = createFakeIo(undefined);
    const items = join(folder, "dry.jsonl");
    const line = ["crawl", site.url, "--dir", dir, "--items", items, "--dry-run"];
    expect(await runCommand(line, io)).toBe(0);
    expect([existsSync(dir), existsSync(items), site.asked]).toEqual([false, false, []]);
  });
});

/** A command line that is refused: its code and what it says. */
async function refusalOf(...argv: string[]): Promise<string> {
  const io = createFakeIo(undefined);
  expect([argv, await runCommand(["crawl", ...argv], io), io.text.out]).toEqual([argv, 2, ""]);
  return io.text.err;
}

describe("what is typed wrong at outrider crawl", () => {
  it("is refused before anything is made or asked, with the word and what to do", async () => {
    const file = join(folder, "a-file");
    writeFileSync(file, "mine");
    const url = "http://127.0.0.1:1/";
    for (const word of ["mailto:x@y.test", "/etc/passwd", "", "ht!tp://x", "#top"])
      expect(await refusalOf(word)).toContain(`${word}: not an http or https URL\n`);
    for (const path of [file, join(file, "below")]) {
      expect(await refusalOf(url, "--dir", path)).toContain(`${file} is not a directory`);
      expect(await refusalOf(url, "--items", join(path, "x"))).toContain(
        `${file} is not a directory`,
      );
    }
    expect(readFileSync(file, "utf8")).toBe("mine");
    const nowhere = join(folder, "nowhere");
    expect(await refusalOf("--dir", nowhere)).toContain(`${nowhere}: no frontier to continue`);
    expect(existsSync(nowhere)).toBe(false);
    expect(await refusalOf(url, "--proxy", "127.0.0.1")).toContain('--proxy: "127.0.0.1"');
    expect(await refusalOf(url, "--threads", "65")).toContain("--threads: 65 (expected: a whole");
    expect(await refusalOf(url, "--user-agent", " ")).toContain("--user-agent:");
    expect(await refusalOf(url, "--ramp", "0")).toContain("--ramp: 0 (expected: a whole number");
  });

  it("is printed where pending pages end with the process", async () => {
    await using site = await openSite(paths(3));
    const io = createFakeIo(undefined);
    const flags = ["--allow-private", "--delay", "0", "--max-pages", "2"];
    expect(await runCommand(["crawl", site.url, ...flags], io)).toBe(0);
    expect(io.text.out).toMatch(/^pages +2 in/m);
    expect(io.text.out).toMatch(/ends with this process: --dir <path> keeps it\n$/);
  });

  it("says that no page could be read, and that a dry run's address would be refused", async () => {
    const url = "http://127.0.0.1:1/";
    const io = createFakeIo(undefined);
    expect(await runCommand(["crawl", url, "--no-robots", "--delay", "0"], io)).toBe(3);
    expect(io.text.out).toMatch(/^finished, and no page could be read\n/);
    const dry = createFakeIo(undefined);
    const argv = ["crawl", url, "http://a.test/", "--scope", "127.0.0.1", "--dry-run"];
    expect(await runCommand(argv, dry)).toBe(0);
    expect(dry.text.out).toContain("its address is private: --allow-private permits it");
    expect(dry.text.out).toContain("http://a.test/: rejected, outside the scope");
    const explained = createFakeIo(undefined);
    expect(await runCommand(["explain", "mailto:x"], explained)).toBe(0);
    expect(explained.text.out).toMatch(/^verdict +rejected: scheme\nwhy +not http or https\n/m);
  });
});
