/** More of everyday use by the command line: scope words, standard input, time limit, bodies, secrets, what failed, workers, a running owner. */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../src/cli/run-command.ts";
import { openFrontier } from "../../src/index.ts";
import { createFakeIo } from "../support/fake-io.ts";
import { packageRoot, runNode } from "../support/package.ts";

const program = `${packageRoot}dist/cli/main.js`;
const folder = mkdtempSync(join(tmpdir(), "outrider-cli-everyday-"));
const PAGES: Record<string, string> = {
  "/": '<a href="/docs/">d</a><a href="/gone">g</a><a href="/a.pdf">f</a>',
  "/docs/": '<a href="/docs/a">a</a><a href="/docs/b">b</a><a href="/">home</a>',
  "/docs/a": "<title>A</title>",
  "/docs/b": "<title>B</title>",
  "/a.pdf": "pdf",
};
const seen: string[] = [];
const heads: [url: string, own: Record<string, unknown>][] = [];
const server = createServer(({ url = "", headers }, response) => {
  const own = ["x-team", "x-job", "authorization"].filter((name) => headers[name] !== undefined);
  heads.push([url, Object.fromEntries(own.map((name) => [name, headers[name]]))]);
  if (url !== "/robots.txt") seen.push(`${headers.host?.split(":")[0]}${url}`);
  const page = PAGES[url];
  response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/html" });
  response.end(page ?? "");
});
let port = 0;
let home = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  home = `http://127.0.0.1:${port}`;
  PAGES["/"] += `<a href="http://localhost:${port}/docs/a">other</a>`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const QUICK = ["--allow-private", "--delay", "0"];

interface Answer {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

async function outrider(...argv: string[]): Promise<Answer> {
  const io = createFakeIo(undefined);
  const code = await runCommand(argv, io);
  return { code, out: io.text.out, err: io.text.err };
}

/** The same in a process of its own, with something on its standard input. */
function outriderReading(input: string, ...argv: string[]): Promise<Answer> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, ...argv]);
    let [out, err] = ["", ""];
    child.stdout.on("data", (part) => {
      out += part;
    });
    child.stderr.on("data", (part) => {
      err += part;
    });
    child.on("close", (code) => resolve({ code, out, err }));
    child.stdin.end(input);
  });
}

/** Pages that a crawl asks for, in the order of their names. */
async function asked(...argv: string[]): Promise<string[]> {
  seen.length = 0;
  const { code } = await outrider("crawl", ...argv, ...QUICK, "-q");
  expect(code).toBe(0);
  return seen.toSorted();
}

describe("where a crawl goes", () => {
  it("--same-host, --same-domain and --path-prefix are the hosts, domains and folders of the URLs", async () => {
    const here = ["/", "/a.pdf", "/docs/", "/docs/a", "/docs/b", "/gone"];
    const all = here.map((path) => `127.0.0.1${path}`);
    expect(await asked(`${home}/`, "--same-host")).toEqual(all);
    expect(await asked(`${home}/`, "--same-domain")).toEqual(all);
    expect(await asked(`${home}/`, "--scope", "127.0.0.1", "localhost")).toEqual(
      [...all, "localhost/docs/a"].toSorted(),
    );
    const docs = ["127.0.0.1/docs/", "127.0.0.1/docs/a", "127.0.0.1/docs/b"];
    expect(await asked(`${home}/docs/`, "--path-prefix")).toEqual(docs);
    expect(await asked(`${home}/docs/`, "--scope", `${home}/docs/`)).toEqual(docs);
  });

  it("--seeds - reads standard input, and makes the scope from it", async () => {
    const list = `# two pages\n\n${home}/docs/a\n${home}/docs/b\n`;
    const flags = [...QUICK, "--json", "--depth", "0"];
    const { code, out } = await outriderReading(list, "crawl", "--seeds", "-", ...flags);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ pages: 2, reason: "finished" });
    const none = await outriderReading("", "crawl", "--seeds", "-", ...QUICK);
    expect([none.code, none.err]).toEqual([2, expect.stringContaining("crawl: no URL")]);
  });

  it("--max-time ends a crawl; what is left stays pending, and the report names the limit", async () => {
    // Long enough for the first page, however busy the machine is.
    const slow = ["--allow-private", "--delay", "60000", "--no-robots"];
    const dir = join(folder, "time");
    const { code, out } = await outrider(
      ...["crawl", `${home}/`, "--dir", dir, ...slow, "--max-time", "4s"],
    );
    expect(code).toBe(0);
    expect(out).toMatch(/^ended at the time limit\n/);
    expect(out).toMatch(/^pages +1 in/m);
    expect(out).toMatch(/^pending +3$/m);
    expect(out).toContain(`to go on where it was:\n  outrider crawl ${home}/`);
  });

  it("--save-bodies writes the bytes that came, and one line for each", async () => {
    const dir = join(folder, "bodies");
    await outrider("crawl", `${home}/docs/`, "--path-prefix", ...QUICK, "-q", "--save-bodies", dir);
    const index = linesOf(join(dir, "index.jsonl"));
    expect(index.map(({ url }) => url).toSorted()).toEqual(
      ["/docs/", "/docs/a", "/docs/b"].map((path) => home + path),
    );
    for (const { url, file } of index) {
      const path = new URL(String(url)).pathname;
      expect(readFileSync(join(dir, String(file)), "utf8")).toBe(PAGES[path]);
    }
  });

  it("--include, --exclude, --log and --save-bodies hold on worker threads too", async () => {
    const at = (name: string): string => join(folder, `threads-${name}`);
    const files = ["--log", at("log.jsonl"), "--save-bodies", at("bodies")];
    const patterns = ["--include", "/docs/**", "--exclude", "/docs/b"];
    const argv = ["crawl", `${home}/`, "--threads", "2", ...QUICK, ...files, ...patterns, "--json"];
    seen.length = 0;
    const { code, stdout } = await runNode([program, ...argv]);
    expect(code).toBe(0);
    const paths = ["/", "/docs/", "/docs/a"];
    expect(seen.toSorted()).toEqual(paths.map((path) => `127.0.0.1${path}`));
    expect(JSON.parse(stdout)).toMatchObject({ pages: 3, rejected: { excluded: 4 } });
    expect(linesOf(at("log.jsonl")).map(({ url }) => url)).toEqual(
      paths.map((path) => home + path),
    );
    const bodies = readdirSync(at("bodies")).filter((name) => name.startsWith("index"));
    const saved = bodies.flatMap((name) => linesOf(join(at("bodies"), name)));
    expect(saved.map(({ url }) => url).toSorted()).toEqual(paths.map((path) => home + path));
  });
});

describe("on worker threads", () => {
  const threads = ["--threads", "2", ...QUICK];

  it("a file of flags holds: scope, header, password, order, items, report, a line a visit", async () => {
    const at = (name: string): string => join(folder, `config-${name}`);
    const flags = {
      ...{ urls: [`${home}/`], threads: 2, "allow-private": true, delay: 0, "same-host": true },
      ...{ header: ["X-Team: spiders", "X-Job: 7"], auth: "me:secret", traversal: "depth-first" },
      ...{ output: at("items.csv"), report: at("report.html"), exclude: ["*.pdf"] },
      ...{ verbose: true, "no-progress": true },
    };
    writeFileSync(at("flags.json"), JSON.stringify(flags));
    heads.length = 0;
    const { code, stderr } = await runNode([program, "crawl", "--config", at("flags.json")]);
    expect(code).toBe(0);
    const pages = ["/", "/docs/", "/docs/a", "/docs/b"];
    expect(stderr.match(/^(done {2}200|failed {2}404) .*$/gm)).toHaveLength(5);
    const authorization = `Basic ${Buffer.from("me:secret").toString("base64")}`;
    expect(heads).toHaveLength(6);
    for (const [path, head] of heads) {
      // Of robots.txt a name and a password are none of the pages'.
      const own = path === "/robots.txt" ? {} : { authorization };
      expect([path, head]).toEqual([path, { "x-team": "spiders", "x-job": "7", ...own }]);
    }
    const files = readdirSync(folder).filter((name) => /^config-items-t\d+\.csv$/.test(name));
    const rows = files.flatMap((name) => {
      const [head, ...lines] = readFileSync(join(folder, name), "utf8").trimEnd().split("\n");
      expect(head).toMatch(/^url,status,depth,/);
      return lines.map((line) => line.split(",")[0]);
    });
    expect(rows.toSorted()).toEqual(pages.map((path) => home + path));
    expect(readFileSync(at("report.html"), "utf8")).toContain("404 not found");
  });

  it("--sitemap-only visits what the sitemap lists; --max-time ends it; --fail-on has its exit code", async () => {
    PAGES["/sitemap.xml"] = `<urlset><url><loc>${home}/docs/a</loc></url></urlset>`;
    seen.length = 0;
    const listed = await runNode([
      program,
      "crawl",
      `${home}/`,
      ...threads,
      "--sitemap-only",
      "-q",
    ]);
    expect([listed.code, seen.toSorted()]).toEqual([
      0,
      ["127.0.0.1/docs/a", "127.0.0.1/sitemap.xml"],
    ]);
    const timed = ["--delay", "60000", "--max-time", "1s", "--log-format", "json", "--json"];
    const ended = await runNode([program, "crawl", `${home}/`, ...threads, ...timed]);
    expect([ended.code, JSON.parse(ended.stdout)]).toEqual([
      0,
      expect.objectContaining({ reason: "max-time" }),
    ]);
    for (const line of ended.stderr.trimEnd().split("\n"))
      expect(JSON.parse(line)).toBeTypeOf("object");
    const failing = await runNode([
      program,
      "crawl",
      `${home}/`,
      ...threads,
      "--fail-on",
      "failed",
      "-q",
    ]);
    expect([failing.code, failing.stdout]).toEqual([3, ""]);
  });
});

describe("secrets", () => {
  it("stand in no line that is printed; such a line is refused until they are put back", async () => {
    const dir = join(folder, "hidden");
    const secrets = ["--auth", "me:secret1", "--header", "Cookie: id=secret2"];
    const more = [
      "--header=Authorization: Bearer secret3",
      "--proxy",
      "http://u:secret4@127.0.0.1:1",
    ];
    const argv = ["crawl", `${home}/`, "--dir", dir, ...QUICK, "--max-pages", "1"];
    const { code, out, err } = await outrider(...argv, ...secrets);
    expect(code).toBe(0);
    expect(out + err).not.toContain("secret");
    expect(out).toContain("to go on where it was (put what is hidden in place of …):\n");
    expect(out).toMatch(/--auth 'me:…' --header 'Cookie:…'/);
    const proxied = await outrider(...argv, ...more);
    expect(proxied.out + proxied.err).not.toContain("secret");
    for (const flags of [
      ["--auth", "me:…"],
      ["--header", "Cookie:…"],
    ]) {
      const refused = await outrider(...argv, ...flags);
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("what was hidden")]);
    }
  });
});

describe("what failed", () => {
  it("a first crawl in vain names how to see why and how to try again; that works", async () => {
    const dir = join(folder, "vain");
    const argv = ["crawl", `${home}/later`, "--dir", dir, ...QUICK];
    const { code, out } = await outrider(...argv);
    expect([code, out.split("\n")[0]]).toEqual([3, "finished, and no page could be read"]);
    expect(out).toContain(`\n  outrider failed ${dir}\n  outrider requeue ${dir}\n`);
    PAGES["/later"] = "<title>Later</title>";
    expect((await outrider("requeue", dir)).out).toContain("1");
    const again = await outrider(...argv);
    expect(again.code).toBe(0);
    expect(again.out).toMatch(/^finished: nothing is left\n/);
    expect(again.out).not.toContain("outrider requeue");
  });

  it("a run that goes on and finds only 404s is not in vain: pages were read before", async () => {
    const dir = join(folder, "rest");
    const argv = ["crawl", `${home}/`, "--dir", dir, ...QUICK];
    const first = ["--max-pages", "1", "--exclude", "/docs/**", "--exclude", "*.pdf", "-q"];
    expect((await outrider(...argv, ...first)).code).toBe(0);
    const { code, out } = await outrider(...argv);
    expect([code, out.split("\n")[0]]).toEqual([0, "finished: nothing is left"]);
    expect(out).toMatch(/^pages +0 in/m);
    expect(out).toMatch(/^failed +1 page: 1 404 not found$/m);
  });

  it("an export carries why, when and where; an import has it", async () => {
    const [dir, copy] = [join(folder, "exported"), join(folder, "imported")];
    const file = join(folder, "all.jsonl");
    await outrider("crawl", `${home}/`, "--dir", dir, ...QUICK, "-q");
    expect((await outrider("export", dir, "--out", file)).code).toBe(0);
    expect(readFileSync(file, "utf8")).toContain("status 404");
    await outrider("import", copy, file);
    const [before, after] = await Promise.all(
      [dir, copy].map(async (each) => (await outrider("failed", each, "--json")).out),
    );
    expect(after).toBe(before);
    expect(JSON.parse(after as string)).toMatchObject({
      ...{ url: `${home}/gone`, reason: "status 404", status: 404, foundOn: `${home}/` },
    });
    const part = await outrider("export", dir, "--state", "failed", "--format", "urls");
    expect(part.out).toBe(`${home}/gone\n`);
  });
});

describe("outrider visited", () => {
  it("lists a directory of full records beside the process that owns it, and takes no lock", async () => {
    const dir = join(folder, "full");
    const frontier = await openFrontier({ directory: dir, records: "full" });
    frontier.pushMany(["http://a.test/1", "http://a.test/2", "http://b.test/3"]);
    for (const lease of frontier.pollMany(2)) lease.done();
    await frontier.flush();
    const { code, stdout, stderr } = await runNode([program, "visited", dir, "--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.map(({ url, outcome }) => `${outcome} ${url}`).toSorted()).toEqual([
      "done http://a.test/1",
      "done http://a.test/2",
    ]);
    for (const { at } of rows) expect(at).toMatch(/^\d{4}-/);
    // The owner goes on, and the next answer has what it did.
    frontier.poll()?.done();
    await frontier.flush();
    const again = await runNode([program, "visited", dir, "--host", "b.test"]);
    expect(again.stdout).toMatch(/^\d{4}-.* done {2}- {2}http:\/\/b\.test\/3\n$/);
    await frontier.close();
    const copy = await openFrontier({ directory: dir, records: "full", readOnly: true });
    expect([...copy.records({ state: "done" })]).toHaveLength(3);
    copy.push("http://c.test/");
    copy.poll()?.done();
    expect(copy.record("http://c.test/")?.trail).toHaveLength(3);
    await copy.close();
    expect((await outrider("visited", dir, "--csv")).out.split("\n")).toHaveLength(5);
  });

  it("lists what failed in a directory of full records, with status and reason, as a log would", async () => {
    const dir = join(folder, "full-failed");
    const frontier = await openFrontier({ directory: dir, records: "full" });
    frontier.pushMany(["http://a.test/1", "http://a.test/2"]);
    frontier.poll()?.done();
    frontier.poll()?.fail("status 404", { status: 404 });
    await frontier.close();
    const { out } = await outrider("visited", dir);
    const time = "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC";
    const rows = `^${time} {2}done {2}- {2}http://a.test/1\n${time} {2}failed {2}404 {2}http://a.test/2\n$`;
    expect(out).toMatch(new RegExp(rows));
  });
});

function linesOf(path: string): Array<Record<string, unknown>> {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}
