/** The crawl as a person has it: on a pseudo-terminal, with Ctrl-C, and with the same command again. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "../../src/cli/run-command.ts";
import { createFakeIo, terminalOf } from "../support/fake-io.ts";
import { packageRoot, runNode } from "../support/package.ts";
import { skipUnless } from "../support/skip.ts";

const program = `${packageRoot}dist/cli/main.js`;
const folder = mkdtempSync(join(tmpdir(), "outrider-terminal-"));
const closers: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const COLUMNS = 72;
const CTRL_C = "\x03";
// biome-ignore-start lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const SEQUENCE = /\x1b\[\??[\d;]*[A-Za-z]|\r/g;
/** What the live view may write besides text. */
const OURS = /\x1b\[(\d+A|K|J|\?25[lh]|1m|22m)/g;
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: as above.
const hasScript = spawnSync("script", ["--version"]).status === 0;
beforeEach((context) => skipUnless(context, hasScript, "no `script` of util-linux"));

/** A site on loopback; `asked` are its paths, robots.txt apart, which is not there. */
async function openSite(answer: RequestListener): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    if (request.url === "/robots.txt") return void response.writeHead(404).end();
    asked.push(request.url ?? "");
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked };
}

const pages = (count: number): string =>
  Array.from({ length: count }, (_, n) => `<a href=/p/${n}>`).join("");

interface Terminal {
  readonly child: ChildProcess;
  /** What was written, as bytes. */
  readonly text: () => string;
  readonly code: Promise<number | null>;
  type(keys: string): void;
}

/** Starts the command line on a terminal of so many columns. */
function onTerminal(
  argv: readonly string[],
  columns: number = COLUMNS,
  tty = "/dev/null",
): Terminal {
  const command = [process.execPath, program, ...argv].join(" ");
  const line = `tty > ${tty}; stty cols ${columns} rows 24; exec ${command}`;
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    env: { ...process.env, TERM: "xterm", SHELL: "/bin/sh" },
  });
  closers.push(() => child.kill("SIGKILL"));
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  return {
    child,
    text: () => text,
    code: new Promise((resolve) => child.on("close", resolve)),
    type: (keys) => void child.stdin?.write(keys),
  };
}

const shown = (terminal: Terminal) =>
  expect.poll(() => terminalOf(terminal.text().replaceAll("\r\n", "\n")).lines.join("\n"), {
    interval: 20,
  });

describe("a crawl on a terminal", () => {
  it("Ctrl-C drains, saves and says how to go on; the same command does, and nothing is visited twice", async () => {
    const count = 60;
    let release = (): void => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    // However slow this machine is, the crawl is not over before Ctrl-C: the tenth answer waits for it.
    const site = await openSite((request, response) => {
      response.setHeader("content-type", "text/html");
      const answer = (): unknown => response.end(request.url === "/" ? pages(count) : "page");
      if (site.asked.length < 10) answer();
      else void isReleased.then(answer);
    });
    const dir = join(folder, "drained");
    const argv = ["crawl", site.url, "--allow-private", "--delay", "40", "--dir", dir];
    const terminal = onTerminal(argv);
    await shown(terminal).toMatch(/pages +[1-9]/);
    // The directory has one owner at a time.
    const io = createFakeIo(undefined);
    expect(await runCommand(argv, io)).toBe(1);
    expect(io.text.err).toMatch(/FRONTIER_LOCKED.*\nto do: another process/s);
    terminal.type(CTRL_C);
    await shown(terminal).toContain("stopping: visits under way are finished");
    release();
    expect(await terminal.code).toBe(130);
    const { lines, wraps, isCursorShown } = terminalOf(
      terminal.text().replaceAll("\r\n", "\n"),
      COLUMNS,
    );
    const screen = lines.join("\n");
    expect(isCursorShown).toBe(true);
    expect(screen).toContain("stopping: visits under way are finished");
    expect(screen).toContain("stopped before the end");
    expect(screen).not.toContain("pages/s"); // the view has gone, the report stands
    expect(terminal.text()).toContain(`to go on where it was:\r\n  outrider ${argv.join(" ")}\r\n`);
    // The command to copy is longer than the terminal is wide; nothing else is.
    expect(wraps).toBeLessThanOrEqual(2);
    const done = site.asked.length;
    expect(done).toBeLessThan(count);
    const rest = await runNode([program, ...argv.with(4, "0"), "--json"]);
    expect(rest.code).toBe(0);
    expect(JSON.parse(rest.stdout)).toMatchObject({
      reason: "finished",
      pages: count + 1 - done,
      pending: 0,
    });
    expect(site.asked).toHaveLength(count + 1);
    expect(new Set(site.asked).size).toBe(count + 1);
    const again = await runNode([program, ...argv, "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({ reason: "finished", pages: 0, pending: 0 });
    expect(site.asked).toHaveLength(count + 1);
  });

  it.each([40, 80, 200])(
    "shows long and hostile URLs on %i columns, and on fewer, without a break",
    async (columns) => {
      const hostile = [
        `/${"long/".repeat(800)}`,
        "/\u202egnp.exe",
        "/%1b[2J",
        "/\x9b2J\x9d0;x\x9c",
        "/\u4e2d\u0301\u2066",
      ];
      const site = await openSite((request, response) => {
        response.setHeader("content-type", "text/html; charset=utf-8");
        const links = hostile.map((each, at) => `<a href="${each}?${at}"><a href="${each}/${at}">`);
        if (request.url === "/") return void response.end(links.join("") + pages(5_000));
        if (request.url?.startsWith("/p/"))
          return void response.end("<title>\x1b]0;x\x07\u202e</title>");
        response.writeHead(404).end();
      });
      const tty = join(folder, `tty-${columns}`);
      const argv = ["crawl", site.url, "--allow-private", "--delay", "20"];
      const terminal = onTerminal(argv, columns, tty);
      await shown(terminal).toMatch(/failing .*404/);
      const before = terminal.text();
      const { wraps, lines } = terminalOf(before.replaceAll("\r\n", "\n"), columns);
      expect(wraps).toBe(0);
      // One view, whatever number of times it was drawn.
      expect(lines.filter((line) => line.includes("crawling"))).toHaveLength(1);
      spawnSync("stty", ["-F", readFileSync(tty, "utf8").trim(), "cols", String(columns / 2)]);
      const isNarrow = (view: string): boolean =>
        view.split("\r\n").every((line) => line.replaceAll(SEQUENCE, "").length < columns / 2);
      // The crawl learns of it between two views; the first and the last one may be under way.
      const later = (): boolean[] => {
        const views = terminal.text().slice(before.length).split("crawling");
        return views.slice(1, -1).map(isNarrow);
      };
      await expect.poll(() => later().filter(Boolean).length).toBeGreaterThan(2);
      const views = later();
      expect(views.slice(views.indexOf(true))).not.toContain(false);
      terminal.type(CTRL_C);
      expect(await terminal.code).toBe(130);
      const text = terminal.text();
      expect(text.endsWith("\n")).toBe(true);
      expect(terminalOf(text.replaceAll("\r\n", "\n")).isCursorShown).toBe(true);
      expect(text.replaceAll(OURS, "")).not.toMatch(CONTROL);
    },
  );

  it("a second Ctrl-C ends it at once, and what was flushed is there", async () => {
    const site = await openSite((request, response) => {
      response.setHeader("content-type", "text/html");
      if (request.url === "/p/0") response.write("and then nothing");
      else response.end(request.url === "/" ? pages(3) : "page");
    });
    const dir = join(folder, "left");
    const terminal = onTerminal(
      ["crawl", site.url, "--allow-private", "--delay", "0", "--dir", dir].concat("--threads", "0"),
    );
    await expect.poll(() => site.asked).toContain("/p/0");
    terminal.type(CTRL_C);
    await shown(terminal).toContain("once more to stop at once");
    terminal.type(CTRL_C);
    expect(await terminal.code).toBe(130);
    const after = terminalOf(terminal.text().replaceAll("\r\n", "\n"), COLUMNS);
    expect(after.isCursorShown).toBe(true);
    expect(after.lines.join("\n")).not.toContain("pages/s");
    const stats = createFakeIo(undefined);
    expect(await runCommand(["stats", dir, "--json"], stats)).toBe(0);
    const { pending, done } = JSON.parse(stats.text.out);
    // The page that hung is there again, at least; what was done and flushed may be fewer than what was done.
    expect(pending).toBeGreaterThanOrEqual(1);
    expect(pending + done).toBeGreaterThanOrEqual(1);
  });
});
