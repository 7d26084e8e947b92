/** Crawlee's crawlers in several processes whose queue is one frontier on Redis. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { FrontierRequestManager, OutriderStorage } from "../../src/crawlee.ts";
import { createVirtualClock } from "../../src/index.ts";
import { openRedisFrontier } from "../../src/redis.ts";
import { openSyntheticWeb } from "../../src/testing.ts";
import { loadCrawlee } from "./crawlee-module.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { testSeed } from "../support/seed.ts";
import { skipUnless } from "../support/skip.ts";

await loadCrawlee();
const CHILD = fileURLToPath(new URL("crawl-child.mjs", import.meta.url));
const PROCESSES = 3;

async function startServer(): Promise<string> {
  const server = await startRedis();
  onTestFinished(() => server.close());
  return server.socket;
}

function exitOf(argv: string[]): Promise<number | null> {
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "ignore", "inherit"] });
  return new Promise((resolve, reject) => child.on("error", reject).on("exit", resolve));
}

it("several processes visit each page of a web once between them, and all end", async (context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
  const socket = await startServer();
  const seed = testSeed("crawlee");
  const web = await openSyntheticWeb({ mishaps: 0, traps: false, hosts: 4, pages: 120, seed });
  onTestFinished(() => web.close());
  const folder = mkdtempSync(join(tmpdir(), "outrider-crawlee-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const logs = Array.from({ length: PROCESSES }, (_, at) => join(folder, `${at}.txt`));
  const ends = logs.map((log) => exitOf([CHILD, `redis:${socket}`, web.seedWithPort, log]));
  expect(await Promise.all(ends)).toEqual(logs.map(() => 0));
  const handled = logs.map((log) => readFileSync(log, "utf8").trimEnd().split("\n"));
  const all = handled.flat();
  expect(new Set(all).size, "each page once").toBe(all.length);
  const alone = join(folder, "alone.txt");
  expect(await exitOf([CHILD, join(folder, "queue"), web.seedWithPort, alone])).toBe(0);
  expect(all.sort()).toEqual(readFileSync(alone, "utf8").trimEnd().split("\n").sort());
  for (const own of handled) expect(own.length).toBeGreaterThan(0);
});

it("a request that a process left comes back when its time is over, and its late result changes nothing", async (context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
  const redis = await startServer();
  const clock = createVirtualClock();
  const open = async (): Promise<FrontierRequestManager> => {
    const given = { redis, name: "q", partitions: 2, leaseMs: 1_000, clock };
    const frontier = await openRedisFrontier(given);
    onTestFinished(() => frontier.close());
    return new FrontierRequestManager({ frontier });
  };
  const [first, second] = [await open(), await open()];
  await first.addRequest({ url: "http://a.test/", userData: { label: "A" } });
  const lost = await first.fetchNextRequest();
  expect([await second.isEmpty(), await second.isFinished()]).toEqual([true, false]);
  expect(await second.fetchNextRequest()).toBe(null);
  clock.advance(1_000);
  const again = await second.fetchNextRequest();
  expect(again?.url).toBe("http://a.test/");
  expect(await first.markRequestHandled(lost as never)).toBe(null);
  expect(await second.isFinished()).toBe(false);
  await second.markRequestHandled(again as never);
  expect([await first.isFinished(), await second.isFinished()]).toEqual([true, true]);
  expect(await first.handledCount()).toBe(1);
});

it("a queue that was renamed is found by its new name and its id after a restart", async (context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
  const redis = await startServer();
  const ids: string[] = [];
  const inProcess = async (asked: string, name?: string): Promise<unknown> => {
    const open = ({ name: queue = "" }) =>
      openRedisFrontier({ redis, name: queue, partitions: 1, leaseMs: 1_000 });
    const storage = new OutriderStorage({ base: { datasets: () => ({}) }, open });
    onTestFinished(() => storage.close());
    const { id } = await storage.requestQueues<Collection>().getOrCreate(asked);
    ids.push(id);
    const client = storage.requestQueue<Client>(id);
    await client.addRequest({ url: `http://a.test/${asked}`, uniqueKey: asked });
    await client.update({ name });
    const seen = [
      (await client.get())?.name,
      (await client.listHead()).items.map(({ url }) => url),
    ];
    await storage.close();
    return seen;
  };
  const urls = ["news", "archive"].map((each) => `http://a.test/${each}`);
  expect(await inProcess("news", "archive")).toEqual(["archive", urls.slice(0, 1)]);
  expect(await inProcess("archive")).toEqual(["archive", urls]);
  expect(await inProcess("news")).toEqual(["news", urls.slice(0, 1)]);
  const [first, again, other] = ids as [string, string, string];
  expect([again === first, other === first]).toEqual([true, false]);
  expect(await inProcess(first)).toEqual(["archive", [...urls, `http://a.test/${first}`]]);
});

interface Collection {
  getOrCreate(name: string): Promise<{ id: string }>;
}
interface Client {
  addRequest(request: object): Promise<object>;
  update(fields: { name: string | undefined }): Promise<object>;
  get(): Promise<{ name?: string } | undefined>;
  listHead(): Promise<{ items: Array<{ url: string }> }>;
}
