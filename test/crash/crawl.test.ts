import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openSyntheticWeb } from "../../src/testing.ts";
import { openFrontier } from "../../src/index.ts";
import { storedOptions } from "../../src/tools.ts";
import { packageRoot, runNode } from "../support/package.ts";
import { testSeed } from "../support/seed.ts";
import { walkWeb } from "../support/web-walk.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-crawl-crash-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe("a crawl that is killed", () => {
  it.each(["0", "2"])(
    "with %s threads visits every page in the end, and none again that was flushed as done",
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
      const origin = `http://127.0.0.1:${web.port}`;
      // A web of one host, addressed by IP: the paths of its plan, under another name.
      const planned = [...walkWeb(web.plan).pages].map((url) => new URL(url).pathname);
      const doneNow = async (): Promise<string[]> => {
        const stored = storedOptions(dir);
        if (stored === undefined) return [];
        await using copy = await openFrontier({
          ...stored.options,
          directory: dir,
          readOnly: true,
        });
        return planned.filter((path) => copy.record(origin + path)?.state === "done");
      };
      /** The URLs that were done at each kill, and how many requests had been made by then. */
      const kills: Array<{ done: string[]; asked: number }> = [];
      /** Kills the crawl once it has made this many requests and more is on disk than at the last kill. */
      const kill = async (killAfter: number): Promise<void> => {
        const child = spawn(process.execPath, argv, { stdio: "ignore" });
        const ended = new Promise((resolve) => child.on("close", resolve));
        const isOver = (): boolean => child.exitCode !== null;
        const from = web.log.entries.length;
        const least = kills.at(-1)?.done.length ?? 0;
        while (!isOver() && web.log.entries.length - from < killAfter) await pause();
        const doneSoFar = (): Promise<string[]> => doneNow().catch(() => []); // it is at work there
        while (!isOver() && (await doneSoFar()).length <= least) await pause();
        child.kill("SIGKILL");
        await ended;
        kills.push({ done: await doneNow(), asked: web.log.entries.length });
      };
      for (let round = 0; round < 3; round++) await kill(60 + (seed % 40));
      const last = await runNode(argv);
      expect(last.code).toBe(0);
      expect(JSON.parse(last.stdout)).toMatchObject({ reason: "finished", pending: 0 });
      const answers = web.log.entries.map(({ path, status }) => (status === 200 ? path : ""));
      const isPage = (path: string): boolean => /^\/(?!robots.txt$|sitemap)/.test(path);
      expect([...new Set(answers.filter(isPage))].sort()).toEqual(planned.sort());
      expect(kills[0]?.done.length).toBeGreaterThan(0);
      const again = kills.flatMap(({ done, asked }) => {
        const later = new Set(answers.slice(asked));
        return done.filter((path) => later.has(path));
      });
      expect(again).toEqual([]);
      // URLs done at one kill are done at the next one.
      for (const [at, { done }] of kills.entries()) {
        expect(kills[at + 1]?.done ?? planned).toEqual(expect.arrayContaining(done));
      }
    },
  );

  it.each(["0", "2"])(
    "with %s threads, killed during another host's robots.txt, requests it again and visits every page",
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
      // No page is visited before the rules are known.
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
      // For the site, and for the host's own page.
      const own = ["/robots.txt", "/robots.txt", "/robots.txt", "/page"];
      expect(elsewhere.asked).toEqual(own);
      for (const each of [site, elsewhere]) each.close();
    },
  );
});

type Answer = (path: string, response: ServerResponse) => void;

/** A server on loopback, identified by its port; `asked` holds the requested paths. */
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
