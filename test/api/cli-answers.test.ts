/** Questions to the command line: which URLs failed, what was visited, why a URL is not crawled; and the flags of everyday use. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../src/cli/run-command.ts";
import { createFakeIo } from "../support/fake-io.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-cli-answers-"));
const PAGES: Record<string, string> = {
  "/robots.txt": "User-agent: *\nDisallow: /private\n",
  "/": '<a href="/docs/">d</a><a href="/gone">g</a><a href="/private/a">p</a><a href="/a.pdf">f</a>',
  "/docs/": '<title>Docs</title><a href="/docs/a">a</a>',
  "/docs/a": "",
  "/a.pdf": "pdf",
};
const seen: Array<{ url: string; headers: Record<string, unknown> }> = [];
const server = createServer(({ url = "", headers }, response) => {
  seen.push({ url, headers });
  const page = PAGES[url];
  response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/html" });
  response.end(page ?? "");
});
let home = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  home = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const QUICK = ["--allow-private", "--delay", "0"];

async function outrider(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = createFakeIo(undefined);
  const code = await runCommand(argv, io);
  return { code, out: io.text.out, err: io.text.err };
}

describe("outrider answers", () => {
  const directory = join(folder, "crawl");
  const log = join(folder, "log.jsonl");

  it("crawls with its flags, and shows failures in its report", async () => {
    const report = join(folder, "report.html");
    const flags = ["--header", "X-Team: spiders", "--auth", "me:secret", "--exclude", "*.pdf"];
    const files = ["--log", log, "--report", report, "--output", join(folder, "items.csv")];
    const argv = ["crawl", `${home}/`, "--dir", directory, ...QUICK, ...flags, ...files, "--json"];
    const { code, out } = await outrider(...argv);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      pages: 3,
      rejected: { excluded: 1 },
      failures: { robots: 1, "status 404": 1 },
    });
    const page = seen.find(({ url }) => url === "/docs/")?.headers;
    const basic = `Basic ${Buffer.from("me:secret").toString("base64")}`;
    expect(page).toMatchObject({ "x-team": "spiders", authorization: basic });
    expect(seen.some(({ url }) => url === "/a.pdf")).toBe(false);
    const html = readFileSync(report, "utf8");
    expect(html).toContain(`${home}/gone`);
    expect(html).toContain("--exclude");
    expect(html).not.toContain("secret");
    expect(html).not.toContain("Busiest hosts"); // there is one
    const [head, ...rows] = readFileSync(join(folder, "items.csv"), "utf8").trimEnd().split("\r\n");
    expect(head).toBe("url,status,depth,contentType,bytes,title,textLength,links");
    expect(rows).toHaveLength(3);
  });

  it("failed: which URLs, why, and where they were found", async () => {
    const { code, out } = await outrider("failed", "--dir", directory);
    expect(code).toBe(0);
    expect(out).toContain(`404 not found  ${home}/gone\n`);
    expect(out).toContain(`forbidden by robots.txt  ${home}/private/a\n`);
    expect(out).toContain(`found on ${home}/\n`);
    const json = await outrider("failed", directory, "--json", "--reason", "status 404");
    expect(JSON.parse(json.out)).toMatchObject({
      url: `${home}/gone`,
      reason: "status 404",
      status: 404,
      foundOn: `${home}/`,
    });
    const csv = await outrider("failed", directory, "--csv", "--max", "1");
    expect(csv.out.split("\n")[0]).toBe("url,reason,status,at,foundOn,attempts,depth");
    expect(csv.out.trimEnd().split("\n")).toHaveLength(2);
    expect((await outrider("failed", directory, "--csv", "--json")).code).toBe(2);
  });

  it("failed lists all of them, where the summary holds the last hundred and says so", async () => {
    PAGES["/many/"] = Array.from({ length: 150 }, (_, at) => `<a href="/many/${at}">x</a>`).join(
      "",
    );
    const [dir, report] = [join(folder, "many"), join(folder, "many.html")];
    const argv = [
      "crawl",
      `${home}/many/`,
      "--path-prefix",
      "--dir",
      dir,
      "--per-host",
      "8",
      ...QUICK,
    ];
    const { out } = await outrider(...argv, "--report", report, "--json");
    const summary = JSON.parse(out) as { failed: number; failing: unknown[] };
    expect([summary.failed, summary.failing.length]).toEqual([150, 100]);
    expect(readFileSync(report, "utf8")).toContain("URLs that failed, the last 100 of 150");
    const lines = (await outrider("failed", dir, "--json")).out.trimEnd().split("\n");
    expect(new Set(lines.map((line) => (JSON.parse(line) as { url: string }).url)).size).toBe(150);
  });

  it("visited: from the log, and from full records; else it says what to do", async () => {
    const { out } = await outrider("visited", "--log", log);
    const lines = out.trimEnd().split("\n");
    expect(lines.filter((line) => line.includes("done  200"))).toHaveLength(3);
    expect(lines.some((line) => line.endsWith(`failed  404  0 B  ${home}/gone`))).toBe(true);
    const json = await outrider("visited", "--log", log, "--json", "--max", "1");
    expect(JSON.parse(json.out)).toMatchObject({ url: `${home}/`, outcome: "done", status: 200 });
    expect((await outrider("visited", directory)).out).toBe(out); // it finds the log by itself
    // The page that it was found on, by its fingerprint.
    const csv = (await outrider("visited", "--log", log, "--csv")).out.split("\n");
    expect(csv[0]).toBe("url,outcome,reason,status,bytes,latencyMs,at,depth,parent");
    const explained = await outrider("explain", `${home}/`, "--json");
    const { fingerprint } = JSON.parse(explained.out) as { fingerprint: string };
    expect(csv.filter((line) => line.endsWith(`,1,${fingerprint}`))).toHaveLength(csv.length - 4);
    const bare = join(folder, "bare");
    await outrider("crawl", `${home}/docs/a`, "--dir", bare, ...QUICK, "-q");
    const refused = await outrider("visited", bare);
    expect([refused.code, refused.err.includes("--log <file.jsonl>")]).toEqual([2, true]);
  });

  it("explain: rule, verdict, line of robots.txt, pattern, budget, reason", async () => {
    const about = async (path: string) =>
      (await outrider("explain", `${home}${path}`, "--dir", directory)).out;
    expect(await about("/private/a")).toMatch(
      /robots.txt +forbidden by the line "Disallow: \/priv/,
    );
    expect(await about("/a.pdf")).toMatch(/left out +links to it are not followed: exclude \*.pdf/);
    const gone = await about("/gone");
    expect(gone).toMatch(/rule +scope\n/);
    expect(gone).toMatch(/verdict +duplicate\n/);
    expect(gone).toMatch(/failed +404 not found, \d{4}-/);
    expect(gone).toMatch(/budget +5 of 100,000 URLs/);
    const json = await outrider("explain", "http://else.test/", "--dir", directory, "--json");
    expect(JSON.parse(json.out)).toMatchObject({
      verdict: { reason: "no-rule" },
      robots: "unknown",
    });
    const elsewhere = await outrider("explain", "http://else.test/", "--dir", directory);
    expect(elsewhere.out).toMatch(/scope +127.0.0.1\n/);
  });

  it("every command about a directory takes it as --dir too, and one alone", async () => {
    for (const name of ["stats", "peek", "failed", "visited", "requeue", "verify", "compact"]) {
      const word = await outrider(name, directory, "--json");
      const flag = await outrider(name, "--dir", directory, "--json");
      expect([name, flag.code, flag.err]).toEqual([name, 0, word.err]);
      const both = await outrider(name, directory, "--dir", directory);
      expect([both.code, both.err]).toEqual([2, expect.stringContaining("one directory too many")]);
    }
    const file = join(folder, "export.jsonl");
    expect((await outrider("export", "--dir", directory, "--out", file)).code).toBe(0);
    expect(readFileSync(file, "utf8")).toContain(`${home}/gone`);
  });

  it("peek says why it shows one of many", async () => {
    const list = join(folder, "urls.txt");
    writeFileSync(list, ["# a list", "", "/1", "/2", "/3"].map((each) => home + each).join("\n"));
    const dir = join(folder, "peek");
    const argv = ["crawl", `${home}/`, "--dir", dir, "--allow-private", "--delay", "60000"];
    await outrider(...argv, "--no-robots", "--max-pages", "1", "-q");
    const { out, err } = await outrider("peek", dir, "--max", "5");
    expect(out.split("\n").length).toBeLessThan(3);
    expect(err).toMatch(/^[01] of 4: only these may be visited now; the others wait for .* 1 host/);
    const held = await outrider("explain", `${home}/docs/`, "--dir", dir);
    expect(held.out).toMatch(/state +pending\n/);
  });
});

describe("flags of everyday use", () => {
  it("--seeds reads a file, and the scope is made from it", async () => {
    const list = join(folder, "seeds.txt");
    writeFileSync(list, `# a list\n\n${home}/docs/\n`);
    const { out } = await outrider("crawl", "--seeds", list, ...QUICK, "--dry-run", "--json");
    expect(JSON.parse(out)).toMatchObject({
      scope: ["127.0.0.1"],
      seeds: [{ url: `${home}/docs/` }],
    });
    expect((await outrider("crawl", "--seeds", "/no/such")).err).toContain("no such file");
  });

  it("a directory whose scope nobody chose is refused with what to say", async () => {
    const list = join(folder, "import.txt");
    const dir = join(folder, "imported");
    writeFileSync(list, `${home}/docs/\n`);
    await outrider("import", dir, list);
    const { code, err } = await outrider("crawl", "--dir", dir, ...QUICK);
    expect(code).toBe(2);
    expect(err).toContain("--scope: missing (expected: domains, or 'any'");
    // Scopes that are made of URLs are of none here.
    for (const flag of ["--same-host", "--same-domain", "--path-prefix"]) {
      const refused = await outrider("crawl", "--dir", dir, ...QUICK, flag);
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(`${flag}: no URL`)]);
    }
    const named = await outrider("crawl", "--dir", dir, ...QUICK, "--scope", "127.0.0.1", "--json");
    expect(JSON.parse(named.out)).toMatchObject({ pages: 2 });
  });

  it("--config has the names of flags; those of the line go first", async () => {
    const path = join(folder, "config.json");
    const config = {
      urls: [`${home}/`],
      "allow-private": true,
      delay: 0,
      depth: 0,
      exclude: ["*.pdf"],
    };
    writeFileSync(path, JSON.stringify(config));
    const one = await outrider("crawl", "--config", path, "--json");
    expect(JSON.parse(one.out)).toMatchObject({ pages: 1 });
    const more = await outrider("crawl", "--config", path, "--depth", "1", "--json");
    expect(JSON.parse(more.out)).toMatchObject({ pages: 2 });
    writeFileSync(path, '{"depht": 1}');
    const bad = await outrider("crawl", `${home}/`, "--config", path);
    expect([bad.code, bad.err.includes("--depht (did you mean --depth?)")]).toEqual([2, true]);
  });

  it.each([
    [["--delay", "-5"], "--delay: -5 (expected: 0 or more)"],
    [["--delay=-5"], "--delay: -5 (expected: 0 or more)"],
    [["--traversal", "deep"], "--traversal: deep (expected: breadth-first, depth-first)"],
    [["--max-time", "soon"], "--max-time: soon (expected: a time such as 90s"],
    [["--header", "nothing"], "--header: nothing (expected: <name: value>)"],
    [["--auth", "nobody"], "--auth: … (expected: <name:password>)"],
    [["--same-host", "--scope", "x.test"], "one scope too many"],
    [["--fail-on", "warnings"], "--fail-on: warnings (expected: errors, failed)"],
    [["--log-format", "xml"], "--log-format: xml (expected: json, text)"],
    [["--exclude", "regex:("], "OPTION_INVALID: --exclude[0]"],
  ])("%j is refused with what is expected", async (flags, why) => {
    const { code, err } = await outrider("crawl", "http://x.test/", ...flags);
    expect([code, err]).toEqual([2, expect.stringContaining(why)]);
  });

  it("exits with 3 where no page could be read, and where --fail-on says so", async () => {
    expect((await outrider("crawl", `${home}/gone`, ...QUICK, "-q")).code).toBe(3);
    const argv = ["crawl", `${home}/`, ...QUICK, "-q"];
    expect((await outrider(...argv)).code).toBe(0);
    expect((await outrider(...argv, "--fail-on", "errors")).code).toBe(0);
    expect((await outrider(...argv, "--fail-on", "failed")).code).toBe(3);
    expect((await outrider(...argv, "--fail-on", "failed", "--exclude", "/gone")).code).toBe(0);
  });

  it("-q writes nothing, -v a line a visit, --log-format json objects alone", async () => {
    const argv = ["crawl", `${home}/docs/`, ...QUICK];
    expect(await outrider(...argv, "-q")).toEqual({ code: 0, out: "", err: "" });
    expect((await outrider(...argv, "-v")).err).toContain(`done  200  42 B  ${home}/docs/\n`);
    const { err } = await outrider(...argv, "-v", "--log-format", "json");
    const events = err
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(["progress", "visit"]));
    expect(events.find(({ event }) => event === "visit")).toMatchObject({ status: 200, depth: 0 });
  });

  it("--traversal goes deep first, or level by level", async () => {
    const orderOf = async (traversal: string): Promise<string[]> => {
      seen.length = 0;
      const flags = [...QUICK, "-q", "--no-robots", "--concurrency", "1", "--exclude", "*.pdf"];
      await outrider("crawl", `${home}/`, ...flags, "--traversal", traversal);
      return seen.map(({ url }) => url);
    };
    expect(await orderOf("breadth-first")).toEqual([
      "/",
      "/docs/",
      "/gone",
      "/private/a",
      "/docs/a",
    ]);
    const deep = await orderOf("depth-first");
    expect(deep.indexOf("/docs/a")).toBe(deep.indexOf("/docs/") + 1);
  });

  it("says at once that plain HTTP is spoken where https was asked for", async () => {
    const url = home.replace("http:", "https:");
    const { code, err, out } = await outrider("crawl", url, ...QUICK);
    expect(code).toBe(3);
    expect(err).toContain("plain HTTP is spoken on this port");
    expect(err).not.toContain("certificate");
    expect(out).toContain("robots.txt asked 1 time");
  });
});
