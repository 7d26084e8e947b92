/** `--ui`: the live page over a crawl: shown while it runs, steered with the token alone, gone at its end. */
import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { serve } from "../../src/server.ts";
import { packageRoot } from "../support/package.ts";

const program = join(packageRoot, "dist/cli/main.js");

/** A site of endless pages, each of which links to the next; it ends once `isOver`. */
async function openSite(): Promise<{ url: string; end: () => void; served: () => number }> {
  let served = 0;
  let isOver = false;
  const site = createServer((request, response) => {
    served++;
    response.setHeader("content-type", "text/html");
    const next = isOver || request.url === "/robots.txt" ? "" : `<a href="/${served}">next</a>`;
    response.end(`<title>p</title>${next}`);
  });
  await new Promise<void>((resolve) => {
    site.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void site.close());
  return {
    url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/`,
    end: () => {
      isOver = true;
    },
    served: () => served,
  };
}

interface Running {
  readonly child: ChildProcess;
  /** Resolves with the first line that matches. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  readonly code: Promise<number | null>;
}

function run(args: string[]): Running {
  const child = spawn(process.execPath, [program, ...args], { cwd: packageRoot });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  const looks = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      for (const look of looks) look();
    });
  }
  return {
    child,
    code: new Promise((resolve) => child.on("close", resolve)),
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(text);
          if (found !== null) resolve(found);
        };
        child.on("close", () => reject(new Error(`no ${String(pattern)} in:\n${text}`)));
        looks.add(look);
        look();
      }),
  };
}

async function firstLook(
  origin: string,
): Promise<{ frontiers: Array<{ report: { status: string }; hosts: Array<{ score?: number }> }> }> {
  const answer = await fetch(`${origin}/api/events`);
  let text = "";
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    const event = text.split("\n\n").find((each) => each.startsWith("data: "));
    if (event !== undefined) return JSON.parse(event.slice(6));
  }
  throw new Error("no event");
}

function post(origin: string, action: string, token?: string): Promise<Response> {
  return fetch(`${origin}/api/${action}`, {
    method: "POST",
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    body: JSON.stringify({ frontier: "default" }),
  });
}

it("shows the crawl, is steered with the token alone, and ends with the crawl", async () => {
  const site = await openSite();
  const crawl = run([
    ...["crawl", site.url, "--ui-port", "0", "--delay", "5", "--depth", "1000000"],
    ...["--allow-private", "--no-progress"],
  ]);
  const [, origin = "", token = ""] = await crawl.line(/page: (http:\S+)\/#token=(\S+)/);
  const page = await fetch(`${origin}/`);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(await page.text()).not.toContain(token);
  // The page is there before the first seed has a host.
  let [look] = (await firstLook(origin)).frontiers;
  while (look?.hosts.length === 0) [look] = (await firstLook(origin)).frontiers;
  expect([look?.report.status, look?.hosts[0]?.score]).toEqual(["running", 100]);
  expect((await post(origin, "pause")).status).toBe(401);
  expect((await post(origin, "pause", token)).status).toBe(200);
  expect((await firstLook(origin)).frontiers[0]?.report.status).toBe("paused");
  const before = site.served();
  expect((await post(origin, "resume", token)).status).toBe(200);
  while (site.served() <= before + 1) await firstLook(origin);
  site.end();
  expect(await crawl.code).toBe(0);
  await expect(fetch(`${origin}/healthz`)).rejects.toThrow();
});

it("names a port that was asked for and is not free, and crawls", async () => {
  await using taken = await serve({ port: false, httpPort: 0 });
  expect(taken.port).toBe(0);
  const site = await openSite();
  const rest = ["--delay", "5", "--allow-private", "--no-progress", "--max-pages", "3"];
  const crawl = run(["crawl", site.url, "--ui-port", String(taken.httpPort), ...rest]);
  await crawl.line(/page: httpPort: 127\.0\.0\.1:\d+ \(expected: a free port\)/);
  expect(await crawl.code).toBe(0);
});
