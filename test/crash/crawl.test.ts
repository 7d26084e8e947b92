import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openSyntheticWeb } from "../../src/crawl/web-server.ts";
import { packageRoot } from "../support/package.ts";
import { testSeed } from "../support/seed.ts";
import { walkWeb } from "../support/web-walk.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-crawl-crash-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What was finished so long before the kill has been flushed: group commit is every 100 ms, and the disk has its time. */
const FLUSHED_MS = 1_500;

describe("a crawl that is killed", () => {
  it.each(["0", "2"])(
    "with %s threads visits every page at the end, and nothing again that was flushed as done",
    async (threads) => {
      const seed = testSeed("crawl crash");
      await using web = await openSyntheticWeb({
        seed,
        hosts: 1,
        pages: 400,
        traps: false,
        mishaps: 0,
      });
      const program = `${packageRoot}dist/cli/main.js`;
      const dir = join(folder, threads);
      const flags = [
        "--allow-private",
        "--delay",
        "8",
        "--dir",
        dir,
        "--json",
        "--threads",
        threads,
      ];
      const argv = [program, "crawl", `http://127.0.0.1:${web.port}/`, ...flags];
      const killedAt: number[] = [];
      const run = (killAfter: number): Promise<{ code: number | null; out: string }> =>
        new Promise((resolve) => {
          const child = spawn(process.execPath, argv);
          let out = "";
          const from = web.log.entries.length;
          child.stdout.on("data", (chunk) => {
            out += chunk;
          });
          const watch = setInterval(() => {
            if (web.log.entries.length - from < killAfter) return;
            clearInterval(watch);
            killedAt.push(web.log.entries.at(-1)?.beginMs ?? 0);
            child.kill("SIGKILL");
          }, 2);
          child.on("close", (code) => {
            clearInterval(watch);
            resolve({ code, out });
          });
        });
      for (let round = 0; round < 3; round++) await run(60 + (seed % 40));
      const last = await run(Number.POSITIVE_INFINITY);
      expect(last.code).toBe(0);
      expect(JSON.parse(last.out)).toMatchObject({ reason: "finished", pending: 0 });
      const pages = new Map<string, number[]>();
      for (const { path, status, beginMs } of web.log.entries) {
        if (path === "/robots.txt" || status !== 200) continue;
        pages.set(path, [...(pages.get(path) ?? []), beginMs]);
      }
      // A web of one host, asked by its address: what its plan says, under another name.
      const planned = [...walkWeb(web.plan).pages].map((url) => new URL(url).pathname);
      const visited = [...pages.keys()].filter((path) => !path.startsWith("/sitemap"));
      expect(visited.sort()).toEqual(planned.sort());
      const again = [...pages].filter(([, times]) => {
        return times
          .slice(0, -1)
          .some((atMs) => !killedAt.some((end) => atMs <= end && end - atMs < FLUSHED_MS));
      });
      expect(again).toEqual([]);
    },
  );

  it.each(["0", "2"])(
    "with %s threads while another host is asked for its robots.txt asks again, and visits every page",
    async (threads) => {
      let robots = "";
      let onAsked = (): void => {};
      const elsewhere = await listen((path, response) => {
        if (path === "/page") return void response.end("there");
        onAsked();
        if (robots !== "") response.end(robots);
      });
      const links = ["/1", "/no/2", `${elsewhere.url}/page`].map((path) => `<a href="${path}">`);
      const site = await listen((path, response) => {
        if (path !== "/robots.txt") response.end(path === "/" ? links.join("") : "here");
        else response.writeHead(301, { location: `${elsewhere.url}/robots.txt` }).end();
      });
      const dir = join(folder, `elsewhere-${threads}`);
      const flags = ["--allow-private", "--delay", "20", "--json", "--threads", threads];
      const argv = ["crawl", `${site.url}/`, "--dir", dir, ...flags];
      const start = (): ReturnType<typeof spawn> =>
        spawn(process.execPath, [`${packageRoot}dist/cli/main.js`, ...argv]);
      const asked = new Promise<void>((resolve) => {
        onAsked = resolve;
      });
      const killed = start();
      await asked;
      killed.kill("SIGKILL");
      await new Promise((resolve) => killed.on("close", resolve));
      // Nothing is visited before the rules are known.
      expect([site.asked, elsewhere.asked]).toEqual([["/robots.txt"], ["/robots.txt"]]);
      robots = "User-agent: *\nDisallow: /no/\n";
      const child = start();
      let out = "";
      child.stdout?.on("data", (chunk) => {
        out += chunk;
      });
      expect(await new Promise((resolve) => child.on("close", resolve))).toBe(0);
      expect(JSON.parse(out)).toMatchObject({ pages: 3, disallowed: 1, pending: 0 });
      expect(site.asked).toEqual(["/robots.txt", "/robots.txt", "/", "/1"]);
      // For the site, and for its own page.
      const own = ["/robots.txt", "/robots.txt", "/robots.txt", "/page"];
      expect(elsewhere.asked).toEqual(own);
      for (const each of [site, elsewhere]) each.close();
    },
  );
});

type Answer = (path: string, response: ServerResponse) => void;

/** A host of loopback, by its port; `asked` are its paths. */
async function listen(
  answer: Answer,
): Promise<{ url: string; asked: string[]; close: () => void }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.setHeader("content-type", "text/html");
    answer(request.url ?? "", response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked, close };
}
