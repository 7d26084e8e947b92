import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
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
});
