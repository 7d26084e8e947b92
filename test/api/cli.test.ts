/** The command line as scripts use it: help, exit codes, the shape of --json, signals. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "../../src/cli/run-command.ts";
import { VERSION } from "../../src/cli/version.ts";
import { openSyntheticWeb } from "../../src/testing.ts";
import { openFrontier, presets } from "../../src/index.ts";
import { createFakeIo, screenOf } from "../support/fake-io.ts";
import { packageRoot, readText, runNode } from "../support/package.ts";
import { skipUnless } from "../support/skip.ts";

const program = `${packageRoot}dist/cli/main.js`;
/** The built program in this process: what starts threads needs files that Node reads by itself. */
const { runCommand: runBuilt } = (await import(`${packageRoot}build/plain/cli/run-command.js`)) as {
  runCommand: typeof runCommand;
};
const folder = mkdtempSync(join(tmpdir(), "outrider-cli-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function command(
  argv: string[],
  run = runCommand,
): Promise<{ code: number; out: string; err: string }> {
  const io = createFakeIo(undefined);
  const code = await run(argv, io);
  return { code, out: io.text.out, err: io.text.err };
}

/** Keys of a value, as deep as objects go; numbers under free names are one. */
const keysOf = (value: object): string[] => Object.keys(value).sort();

describe("help", () => {
  it("the overview names every command and every exit code", async () => {
    const { code, out } = await command(["--help"]);
    expect(code).toBe(0);
    expect(out).toMatchInlineSnapshot(`
      "outrider 0.1.0: a crawl frontier, and a crawler on top of it

        crawl <url…>                crawl from these URLs, politely
        demo                        crawl a synthetic web on loopback, without internet
        explain <url…>              why a URL is crawled or not: rule, verdict, robots.txt, clocks
        identity <what> <file>      new: a key that signs requests; directory: what publishes it
        stats <dir>                 the report of a frontier in a directory, or on Redis
        peek <dir>                  what would be visited next
        failed <dir>                which URLs failed, why, and where they were found
        visited <dir>               what was visited, when, and how it ended
        export <dir>                all of it, or some of its records, as JSON lines
        import <dir> <file>         what was exported, or URLs and JSON lines to push
        requeue <dir>               failed ones again
        verify <dir>                read all of it and check every sum
        compact <dir>               write a snapshot now
        serve                       a frontier for crawlers in other languages, by URLFrontier's protocol
        bench                       how fast a frontier in memory is on this machine
        completion <bash|zsh|fish>  a script that completes commands and flags

      outrider <command> --help     the flags of a command
      outrider --version            0.1.0

      exit codes: 0 done, 1 broke off, 2 not understood, 3 no page could be read, 130 ended by Ctrl-C
      "
    `);
  });

  it.each(["crawl", "demo"])("the flags of %s that scripts rely on are there", async (name) => {
    const { code, out } = await command([name, "--help"]);
    expect(code).toBe(0);
    const flags = [...out.matchAll(/^ {2}--([a-z-]+)/gm)].map((match) => match[1]);
    const relied =
      name === "crawl"
        ? "dir threads concurrency depth max-pages delay per-host rules scope allow-private report json no-progress dry-run"
        : "hosts pages seed threads json no-progress";
    expect(flags).toEqual(expect.arrayContaining(relied.split(" ")));
    for (const line of out.split("\n")) expect(line.length).toBeLessThan(100);
  });

  it("tells the version of package.json", async () => {
    expect(VERSION).toBe(JSON.parse(readText("package.json")).version);
    expect((await command(["--version"])).out).toBe(`${VERSION}\n`);
  });
});

describe("exit codes", () => {
  it.each([
    [[], "crawl"],
    [["fetch"], "unknown command: fetch\n\noutrider 0.1.0"],
    [["crwal"], "unknown command: crwal (did you mean crawl?)\nsee: outrider --help\n"],
    [["help", "verfy"], "unknown command: verfy (did you mean verify?)"],
    [["crawl", "http://x.test", "--depht", "9"], "unknown flag: --depht (did you mean --depth?)"],
    [["crawl", "http://x.test", "--json-lines"], "unknown flag: --json-lines\n"],
    [["bench", "--urls", "0"], "--urls: 0 (expected: a whole number of at least 1)"],
    [["stats", "package.json"], "package.json: not a directory"],
    [["crawl"], "no URL"],
    [["crawl", "not a host"], "not an http or https URL"],
    [["crawl", "https://example.org/", "ftp://example.org/"], "not an http or https URL"],
    [["crawl", "http://x.test", "--speed", "9"], "unknown flag: --speed"],
    [["crawl", "http://x.test", "--depth", "deep"], "--depth: deep (expected: a whole number)"],
    [["crawl", "http://x.test", "--depth"], "--depth: needs <n>"],
    [["crawl", "http://x.test", "--json=yes"], "--json: takes no value"],
    [["crawl", "http://x.test", "--concurrency", "0"], "OPTION_INVALID: --concurrency: 0"],
    [["crawl", "http://x.test", "--rules", "/no/such.json"], "/no/such.json"],
    [["crawl", "http://x.test", "--analyzer", "/no/such.mjs"], "/no/such.mjs"],
    [["demo", "--hosts", "0"], "OPTION_INVALID: --hosts: 0"],
    [["serve", "--max-crawls", "0"], "ARGUMENT_INVALID: --max-crawls: 0"],
    [["serve", "--http", "99999"], "ARGUMENT_INVALID: --http: 99999"],
    [["crawl", "http://x.test", "--report", "/proc/no/such.html"], "--report: /proc/no/such.html"],
    [["explain"], "no URL"],
    [["export", "crawl-data", "all.jsonl"], "all.jsonl: unexpected argument (expected: <dir>)"],
    [
      ["import", "crawl-data", "a.txt", "b.txt"],
      "b.txt: unexpected argument (expected: <dir> <file>)",
    ],
    [["stats", "crawl-data", "peek"], "peek: unexpected argument"],
    [["demo", "http://x.test"], "http://x.test: unexpected argument (expected: flags only)"],
    [["completion", "cmd"], "shell: cmd (expected: bash|zsh|fish)"],
  ])("2, and a word why, for %j", async (argv, why) => {
    const { code, out, err } = await command(argv);
    expect(code).toBe(2);
    expect(err + out).toContain(why);
  });

  it("2 for a file of rules that is not one, with its name", async () => {
    const path = join(folder, "bad.json");
    for (const text of ["{", "7", '{"rules":{}}']) {
      writeFileSync(path, text);
      const { code, err } = await command(["crawl", "http://x.test", "--rules", path]);
      expect([code, err.includes(path)]).toEqual([2, true]);
    }
  });
});

describe("outrider crawl", () => {
  it("crawls, and its last line is the summary as JSON", async () => {
    await using web = await openSyntheticWeb({
      seed: 4,
      hosts: 1,
      pages: 30,
      traps: false,
      mishaps: 0,
    });
    const url = `http://127.0.0.1:${web.port}/`;
    const argv = ["crawl", url, "--allow-private", "--delay", "0", "--json"];
    const outcome = await runNode([program, ...argv]);
    expect(outcome.code).toBe(0);
    const lines = outcome.stdout.trimEnd().split("\n");
    const summary = JSON.parse(lines.at(-1) as string);
    expect(lines).toHaveLength(1);
    expect(summary).toMatchObject({ status: "stopped", reason: "finished", pages: 30, pending: 0 });
    expect(keysOf(summary)).toMatchInlineSnapshot(`
      [
        "busiest",
        "bytes",
        "depths",
        "disallowed",
        "duplicate",
        "elapsedMs",
        "errors",
        "failed",
        "failing",
        "failures",
        "hostPages",
        "hosts",
        "items",
        "latencies",
        "latencyMs",
        "memory",
        "modules",
        "notModified",
        "pages",
        "pagesPerSecond",
        "pending",
        "policies",
        "reason",
        "redirects",
        "rejected",
        "renewed",
        "retried",
        "robotsFetched",
        "sickest",
        "sitemaps",
        "slowest",
        "slowestHosts",
        "status",
        "statusDepths",
        "statuses",
        "trapped",
        "traps",
        "truncated",
      ]
    `);
    expect(keysOf(summary.latencyMs)).toEqual(["max", "p50", "p90", "p99", "p999"]);
    expect(outcome.stderr).not.toContain("\x1b");
    expect(outcome.stderr).toMatch(/pages \d/);
  });

  it("keeps to depth, pages and scope as the flags say", async () => {
    await using web = await openSyntheticWeb({
      seed: 4,
      hosts: 3,
      pages: 200,
      traps: false,
      mishaps: 0,
    });
    const url = `http://127.0.0.1:${web.port}/`;
    const base = ["crawl", url, "--allow-private", "--delay", "0", "--json"];
    const summaryOf = async (...more: string[]) =>
      JSON.parse((await command([...base, ...more])).out);
    expect(await summaryOf("--depth", "1")).toMatchObject({ depths: [1, expect.any(Number)] });
    expect(await summaryOf("--max-pages", "5")).toMatchObject({ pages: 5, reason: "max-pages" });
    expect(await summaryOf("--scope", "else.test", "other.test")).toMatchObject({ pages: 0 });
  });

  it("on worker threads visits the same pages, keeps the page budget, and writes items by thread", async () => {
    await using web = await openSyntheticWeb({
      seed: 4,
      hosts: 1,
      pages: 60,
      traps: false,
      mishaps: 0,
    });
    const url = `http://127.0.0.1:${web.port}/`;
    const items = join(folder, "threads", "items.jsonl");
    const base = ["crawl", url, "--allow-private", "--delay", "0", "--json", "--threads", "2"];
    const all = await command([...base, "--items", items], runBuilt);
    expect(JSON.parse(all.out)).toMatchObject({
      pages: 60,
      items: 60,
      pending: 0,
      disallowed: 1,
      failed: 1,
    });
    const lines = readdirSync(join(folder, "threads")).flatMap((name) =>
      readFileSync(join(folder, "threads", name), "utf8")
        .trimEnd()
        .split("\n"),
    );
    expect(new Set(lines.map((line) => JSON.parse(line).url)).size).toBe(60);
    const before = web.log.entries.filter(({ status }) => status === 200).length;
    const some = await command([...base, "--max-pages", "7"], runBuilt);
    expect(JSON.parse(some.out)).toMatchObject({ pages: 7, reason: "max-pages" });
    const after = web.log.entries.filter(({ status }) => status === 200).length;
    expect(after - before).toBe(8); // and robots.txt
  });

  it("--dry-run prints what it would do and sends no request", async () => {
    await using web = await openSyntheticWeb({ seed: 4, hosts: 1, pages: 1 });
    const url = `http://127.0.0.1:${web.port}/`;
    const { code, out } = await command(["crawl", url, "mailto://x", "--dry-run", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      dryRun: true,
      seeds: [
        { url, canonical: url, domain: "127.0.0.1", rule: "scope", verdict: "accepted" },
        { url: "mailto://x", verdict: "rejected", reason: "scheme" },
      ],
      scope: ["127.0.0.1"],
      delayMs: 1000,
      perHost: 1,
      robots: true,
      allowPrivate: false,
    });
    expect((await command(["crawl", url, "--dry-run"])).out).toContain("nothing was visited\n");
    expect(web.log.entries).toEqual([]);
  });

  it("runs analyzers and pipelines of the user's, and appends items as JSON lines", async () => {
    await using web = await openSyntheticWeb({
      seed: 4,
      hosts: 1,
      pages: 9,
      traps: false,
      mishaps: 0,
    });
    const analyzer = join(folder, "analyzer.mjs");
    writeFileSync(
      analyzer,
      `export async function analyze(page) {
        const { title } = await page.extract();
        return { items: [{ title }, { drop: true }] };
      }`,
    );
    const pipeline = join(folder, "pipeline.mjs");
    writeFileSync(
      pipeline,
      "export const process = (item) => (item.drop ? null : { ...item, seen: 1 });",
    );
    const items = join(folder, "items.jsonl");
    const url = `http://127.0.0.1:${web.port}/`;
    const flags = ["--allow-private", "--delay", "0", "--items", items];
    const argv = ["crawl", url, ...flags, "--analyzer", analyzer, "--pipeline", pipeline, "--json"];
    const { code, out } = await command(argv);
    expect([code, JSON.parse(out).pages]).toEqual([0, 9]);
    const lines = readFileSync(items, "utf8").trimEnd().split("\n");
    const titles = lines.map((line) => JSON.parse(line).title);
    expect(new Set(titles).size).toBe(9);
    expect(JSON.parse(lines[0] as string)).toEqual({
      title: expect.stringMatching(/^Page \d/),
      seen: 1,
    });
  });

  it("Ctrl-C lets visits end and answers 130; a second one ends at once", async () => {
    await using web = await openSyntheticWeb({ seed: 4, hosts: 1, pages: 3_000, traps: false });
    const url = `http://127.0.0.1:${web.port}/`;
    const argv = [program, "crawl", url, "--allow-private", "--delay", "50", "--json"];
    const child = spawn(process.execPath, argv, { cwd: packageRoot });
    let out = "";
    let err = "";
    let told = false;
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      err += chunk;
      if (told || !/pages [1-9]/.test(err)) return;
      told = true;
      child.kill("SIGINT");
    });
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect(code).toBe(130);
    expect(JSON.parse(out)).toMatchObject({ reason: "stopped", status: "stopped" });
    expect(err).toContain("stopping: visits under way are finished");

    const io = createFakeIo(undefined);
    const second = runCommand(["crawl", url, "--allow-private", "--delay", "50"], io);
    await expect.poll(() => io.text.err).toMatch(/pages [1-9]/);
    io.interrupt();
    io.interrupt();
    expect(io.exits).toEqual([130]);
    expect(await second).toBe(130);
  });
});

describe("rules from a file", () => {
  it("N17: are in force when the file changes; a bad change is reported and changes nothing", async () => {
    await using web = await openSyntheticWeb({ seed: 4, hosts: 1, pages: 3_000, traps: false });
    const path = join(folder, "rules.json");
    const rules = (id: string): string => JSON.stringify([{ id, match: { hosts: ["127.0.0.1"] } }]);
    writeFileSync(path, rules("first"));
    const io = createFakeIo(undefined);
    const url = `http://127.0.0.1:${web.port}/`;
    const flags = ["--allow-private", "--delay", "50", "--rules", path, "--json"];
    const ended = runCommand(["crawl", url, ...flags], io);
    await expect.poll(() => io.text.err).toMatch(/pages [1-9]/);
    writeFileSync(path, "[{");
    await expect.poll(() => io.text.err).toContain("the old ones stay");
    writeFileSync(path, rules("second"));
    await expect.poll(() => io.text.err).toContain("1 from");
    io.interrupt();
    expect(await ended).toBe(130);
    expect(io.text.err).toContain("are in force");
  });
});

describe("a crawl on disk", () => {
  it("goes on where it was, and its directory can be asked", async () => {
    await using web = await openSyntheticWeb({
      seed: 4,
      hosts: 1,
      pages: 40,
      traps: false,
      mishaps: 0,
    });
    const dir = join(folder, "frontier");
    const url = `http://127.0.0.1:${web.port}/`;
    const argv = ["crawl", url, "--allow-private", "--delay", "0", "--dir", dir];
    const first = await command([...argv, "--max-pages", "10"]);
    expect([first.code, first.out.includes(`\n  outrider crawl ${url}`)]).toEqual([0, true]);
    const jsonOf = async (...line: string[]) => {
      const { code, out } = await command([...line, "--json"]);
      expect([line[0], code]).toEqual([line[0], 0]);
      return JSON.parse(out.trimEnd().split("\n").at(-1) as string);
    };
    const { pending } = await jsonOf("stats", dir);
    expect(pending).toBeGreaterThan(0);
    // One at a time of its only host.
    expect((await jsonOf("peek", dir, "--max", "2")).next).toHaveLength(1);
    expect(await jsonOf("export", dir, "--state", "pending")).toEqual({ exported: pending });
    expect(await jsonOf("verify", dir)).toMatchObject({ isWhole: true, damage: [] });
    expect(await jsonOf("compact", dir)).toMatchObject({ records: expect.any(Number) });
    const list = join(folder, "list.txt");
    writeFileSync(list, `${url}\n{"url":"${url}p/1?more"}\n\n`);
    expect(await jsonOf("import", dir, list)).toMatchObject({ size: 2, accepted: 1, duplicate: 1 });
    const rest = JSON.parse((await command([...argv, "--json"])).out);
    expect(rest).toMatchObject({ pages: 30, pending: 0, reason: "finished" });
    expect(await jsonOf("requeue", dir)).toEqual({ requeued: rest.failed });
    expect((await command(["stats", join(folder, "nowhere")])).code).toBe(2);
    const answers = web.log.entries.filter(({ status }) => status === 200);
    expect(new Set(answers.map(({ path }) => path)).size).toBe(41); // and robots.txt
    expect(answers.filter(({ path }) => path !== "/robots.txt")).toHaveLength(40);
  });
});

describe("a directory that a program made", () => {
  it("is opened as its program opened it; another key policy is refused", async () => {
    const directory = join(folder, "preset");
    const frontier = await openFrontier({ ...presets.scrapy(), directory });
    frontier.push("http://a.test/?b=1&a=2");
    await frontier.close();
    const without = await command(["stats", directory, "--json"]);
    expect(JSON.parse(without.out)).toMatchObject({ pending: 1 });
    const wrong = await command(["stats", directory, "--preset", "gopcp"]);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringMatching(/PROFILE.*omit --preset/s)]);
    const given = await command(["stats", directory, "--preset", "scrapy", "--json"]);
    expect(JSON.parse(given.out)).toMatchObject({ pending: 1 });
    const other = await command(["stats", directory, "--preset", "heritrix"]);
    expect([other.code, other.err]).toEqual([2, expect.stringContaining("--preset: heritrix")]);
  });

  it("takes URLs from a packed file and from standard input, and tells of a damaged one", async () => {
    const directory = join(folder, "packed");
    const list = join(folder, "list.gz");
    writeFileSync(list, gzipSync("http://a.test/1\nhttp://a.test/2\n"));
    expect((await command(["import", directory, list])).out).toBe("2 of 2 are new\n");
    writeFileSync(list, "http://a.test/3\n");
    expect((await command(["import", directory, list])).code).toBe(1);
    const { status, stdout } = spawnSync(process.execPath, [program, "import", directory, "-"], {
      input: "http://a.test/2\nhttp://a.test/4\n",
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([0, "1 of 2 are new\n"]);
  });
});

describe("outrider explain", () => {
  it("shows canonical form, fingerprint, rule and verdict", async () => {
    const { code, out } = await command([
      "explain",
      "HTTP://Example.org:80/a/../b?y=2&x=1#f",
      "--json",
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      url: "HTTP://Example.org:80/a/../b?y=2&x=1#f",
      canonical: "http://example.org/b?x=1&y=2",
      fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
      host: "example.org",
      domain: "example.org",
      rule: "default",
      verdict: { status: "accepted", admitted: true },
    });
    const bad = await command(["explain", "mailto:x"]);
    expect(bad.out).toMatch(/^verdict +rejected: scheme$/m);
  });
});

describe("outrider bench", () => {
  it("measures a frontier in memory", async () => {
    const { code, out } = await command(["bench", "--urls", "5000", "--json"]);
    expect(code).toBe(0);
    expect(keysOf(JSON.parse(out))).toEqual([
      "node",
      "offHeapBytesPerUrl",
      "pollDonePerSecond",
      "pushPerSecond",
      "urls",
    ]);
  });
});

describe("outrider demo", () => {
  const small = ["demo", "--hosts", "12", "--pages", "60", "--seed", "9", "--no-traps"];

  it("on a pseudo-terminal redraws in place and leaves the report alone; the same crawl without threads", async (context) => {
    const factsOf = (summary: string): unknown => {
      const { pages, redirects, failed, disallowed, web } = JSON.parse(summary);
      return { pages, redirects, failed, disallowed, web };
    };
    const plain = await command([...small, "--threads", "0", "--json"], runBuilt);
    const facts = factsOf(plain.out);
    expect(plain.code).toBe(0);
    expect(facts).toMatchObject({
      web: { hosts: 12, pages: 60, violations: 0, parallelMax: 1 },
    });
    skipUnless(
      context,
      spawnSync("script", ["--version"]).status === 0,
      "no `script` of util-linux",
    );
    const line = [process.execPath, program, ...small, "--json"].join(" ");
    const env = { ...process.env, TERM: "xterm", COLUMNS: "80" };
    const { stdout, status } = spawnSync("script", ["-qec", line, "/dev/null"], {
      env,
      encoding: "utf8",
    });
    expect(status).toBe(0);
    expect(stdout).toContain("\x1b[?25l");
    expect(stdout.lastIndexOf("\x1b[?25h")).toBeGreaterThan(stdout.lastIndexOf("\x1b[?25l"));
    const screen = screenOf(stdout.replaceAll("\r\n", "\n"));
    expect(screen.join("\n")).not.toContain("pages/s");
    expect(factsOf(screen.findLast((each) => each.startsWith("{")) ?? "")).toEqual(facts);
  });
});
