/** `outrider crawl --redis`: processes that crawl together, one of which is killed, and one that is stopped. */
import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { runCommand } from "../../src/cli/run-command.ts";
import { crawl } from "../../src/crawl.ts";
import { openRedisFrontier, type RedisFrontier } from "../../src/redis.ts";
import { createFakeIo } from "../support/fake-io.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
/** Four visits at once of each of three processes. */
const HOSTS = 12;
const PAGES = 8;

beforeEach((context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
});

interface Asked {
  readonly url: string;
  /** The process that asked. */
  readonly by: string;
}

interface Web {
  readonly seeds: string[];
  readonly urls: string[];
  /** Requests for pages, in their order. */
  readonly asked: Asked[];
  /** Those that wait for an answer. */
  readonly held: Map<Asked, ServerResponse>;
  /** From now on pages are answered by `answer` alone. */
  isHolding: boolean;
  /** Answers what is held of these processes. */
  answer(by: readonly string[]): void;
}

/** Hosts on loopback; each page links to the next ones of its host, and to one of the next host. */
async function startWeb(): Promise<Web> {
  const asked: Asked[] = [];
  const held = new Map<Asked, ServerResponse>();
  const web = { asked, held, isHolding: false };
  const page = (host: number, at: number): string => {
    const next = [2 * at + 1, 2 * at + 2].filter((one) => one < PAGES).map((one) => `/${one}`);
    const other = `http://127.0.0.${((host + 1) % HOSTS) + 1}:${port}/${at}`;
    return [...next, other].map((href) => `<a href="${href}">x</a>`).join("");
  };
  const send = ({ url }: Asked, response: ServerResponse): void => {
    const { hostname, pathname } = new URL(url);
    response.setHeader("content-type", "text/html");
    response.end(page(Number(hostname.split(".").at(-1)) - 1, Number(pathname.slice(1))));
  };
  const server = createServer((request, response) => {
    if (request.url === "/robots.txt") {
      response.statusCode = 404;
      response.end();
      return;
    }
    const one = {
      url: `http://${request.headers.host}${request.url}`,
      by: String(request.headers["x-by"]),
    };
    asked.push(one);
    if (web.isHolding) held.set(one, response);
    else send(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const seeds = Array.from({ length: HOSTS }, (_, at) => `http://127.0.0.${at + 1}:${port}/0`);
  return Object.assign(web, {
    seeds,
    urls: seeds.flatMap((seed) =>
      Array.from({ length: PAGES }, (_, at) => new URL(`/${at}`, seed).href),
    ),
    answer(by: readonly string[]) {
      for (const [one, response] of held) {
        if (!by.includes(one.by)) continue;
        held.delete(one);
        send(one, response);
      }
    },
  });
}

interface Process {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; out: string; err: string }>;
}

function start(by: string, flags: readonly string[]): Process {
  const own = ["--allow-private", "--delay", "0", "--concurrency", "4", "--json", "--no-progress"];
  const line = ["crawl", ...flags, ...own, "--header", `x-by: ${by}`];
  const child = spawn(process.execPath, [PROGRAM, ...line], { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, out, err }));
  });
  return { child, ended };
}

const WAIT = { interval: 20 };

describe("outrider crawl --redis", () => {
  async function begin(): Promise<{
    web: Web;
    flags: string[];
    look: () => Promise<RedisFrontier>;
  }> {
    const redis = await startRedis();
    onTestFinished(() => redis.close());
    const look = async (): Promise<RedisFrontier> => {
      const frontier = await openRedisFrontier({
        redis: redis.socket,
        name: "site",
        mustExist: true,
      });
      onTestFinished(() => frontier.close());
      return frontier;
    };
    const web = await startWeb();
    const flags = [
      "--redis",
      redis.socket,
      "--name",
      "site",
      "--partitions",
      "2",
      "--lease",
      "15s",
    ];
    return { web, flags, look };
  }

  it("visits each page once with three processes, but for those that a killed one held", async () => {
    const { web, flags, look } = await begin();
    const names = ["a", "b", "c"];
    web.isHolding = true;
    const processes = names.map((by) => start(by, [...web.seeds, ...flags]));
    await expect.poll(() => web.held.size, WAIT).toBe(HOSTS);
    web.isHolding = false;
    web.answer(names);
    await expect.poll(() => web.asked.length, WAIT).toBeGreaterThan(HOSTS * 3);
    web.isHolding = true;
    const frontier = await look();
    // Now every lease that is out is a request that waits.
    await expect
      .poll(async () => {
        const { leased } = await frontier.report();
        const isAll = [...web.held.keys()].some(({ by }) => by === "a");
        if (!isAll) {
          web.isHolding = false;
          web.answer(names);
          web.isHolding = true;
        }
        return isAll && leased === web.held.size;
      }, WAIT)
      .toBe(true);
    const lost = [...web.held.keys()].filter(({ by }) => by === "a").map(({ url }) => url);
    const [dying, ...others] = processes as [Process, Process, Process];
    dying.child.kill("SIGKILL");
    await dying.ended;
    web.isHolding = false;
    web.answer(["b", "c"]);
    const ends = await Promise.all(others.map(({ ended }) => ended));
    for (const { code, err } of ends) expect({ code, err }).toMatchObject({ code: 0 });
    const counts = new Map<string, number>();
    for (const { url } of web.asked) counts.set(url, (counts.get(url) ?? 0) + 1);
    expect([...counts.keys()].sort()).toEqual([...web.urls].sort());
    const twice = [...counts].filter(([, count]) => count > 1);
    expect(twice.map(([url]) => url).sort()).toEqual(lost.sort());
    expect(twice.every(([, count]) => count === 2)).toBe(true);
    expect(await frontier.report()).toMatchObject({ done: web.urls.length, leased: 0, pending: 0 });
    const summaries = ends.map(({ out }) => JSON.parse(out.trim().split("\n").at(-1) ?? ""));
    for (const summary of summaries)
      expect(summary).toMatchObject({ reason: "finished", pending: 0 });
    const pages = summaries.reduce((sum, { pages }) => sum + pages, 0);
    const byKilled = web.asked.filter(({ by }) => by === "a").length - lost.length;
    expect(pages + byKilled).toBe(web.urls.length);
  });

  it("saves and returns its leases at Ctrl-C, and goes on without a URL", async () => {
    const { web, flags, look } = await begin();
    web.isHolding = true;
    const first = start("a", [...web.seeds, ...flags]);
    await expect.poll(() => web.held.size, WAIT).toBe(4);
    first.child.kill("SIGINT");
    const frontier = await look();
    web.isHolding = false;
    web.answer(["a"]);
    const { code, err } = await first.ended;
    expect(code).toBe(130);
    expect(err).toContain("to go on where it was");
    const { done, leased, pending } = await frontier.report();
    expect({ done, leased }).toEqual({ done: 4, leased: 0 });
    expect(pending).toBeGreaterThan(0);
    const second = await start("b", flags).ended;
    expect(second.code).toBe(0);
    expect(web.asked.map(({ url }) => url).sort()).toEqual([...web.urls].sort());
  });

  it("refuses what needs the frontier in its own process, and a frontier that is not there", async () => {
    const { web, flags } = await begin();
    const refused = async (...more: string[]): Promise<string> => {
      const io = createFakeIo(undefined);
      expect(await runCommand(["crawl", ...web.seeds, ...flags, ...more], io)).toBe(2);
      return io.text.err;
    };
    expect(await refused("--dir", "x")).toContain("--dir: not with --redis");
    expect(await refused("--threads", "2")).toContain("--threads: not with --redis");
    expect(await refused("--traps")).toContain("--traps: not with --redis");
    expect(await refused("--lease", "soon")).toContain("--lease: soon (expected: a time");
    const io = createFakeIo(undefined);
    expect(await runCommand(["crawl", ...web.seeds, "--lease", "5s"], io)).toBe(2);
    expect(io.text.err).toContain("--lease: only with --redis");
    const none = createFakeIo(undefined);
    expect(await runCommand(["crawl", ...flags], none)).not.toBe(0);
    expect(none.text.err).toContain("a frontier that is there");
  });
});

describe("crawl() over a frontier that is elsewhere", () => {
  it("takes no scope away from another crawl that begins at the same time", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.close());
    const web = await startWeb();
    const runs = web.seeds.map((seed) =>
      crawl({
        ...{ seeds: seed, allowPrivate: true, delayMs: 0, robots: false },
        open: (options) =>
          openRedisFrontier({ ...options, redis: redis.socket, name: "many", partitions: 2 }),
      }),
    );
    const summaries = await Promise.all(runs.map(({ finished }) => finished));
    expect(new Set(web.asked.map(({ url }) => url))).toEqual(new Set(web.urls));
    expect(web.asked).toHaveLength(web.urls.length);
    expect(summaries.map(({ failed }) => failed)).toEqual(summaries.map(() => 0));
  });

  it("refuses threads and what looks at each link", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.close());
    const failed = async (more: object): Promise<string> => {
      const open = (options: object): Promise<RedisFrontier> =>
        openRedisFrontier({ ...options, redis: redis.socket });
      return String(
        await crawl({ seeds: "http://127.0.0.1/", open, ...more }).finished.catch((cause) => cause),
      );
    };
    expect(await failed({ threads: 2 })).toContain("options.threads: 2 (expected: 0 over");
    expect(await failed({ traps: true })).toContain("options.traps");
    expect(await failed({ maxQueryUrls: 3 })).toContain("options.maxQueryUrls");
  });
});
