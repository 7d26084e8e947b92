/** Out of a frontier on Redis into lines, and into an equal one. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { runCommand } from "../../../../../src/cli/run-command.ts";
import { createVirtualClock, openFrontier, type Rule } from "../../../../../src/index.ts";
import {
  exportRedisFrontier,
  importRedisFrontier,
  openRedisFrontier,
  type RedisFrontier,
  type RedisFrontierOptions,
} from "../../../../../src/redis.ts";
import { exportFrontier, importFrontier } from "../../../../../src/tools.ts";
import { createFakeIo } from "../../../../support/fake-io.ts";
import { startRedis, WITHOUT_REDIS } from "../../../../support/redis-server.ts";
import { skipUnless } from "../../../../support/skip.ts";

let socket = "";
beforeEach(async (context) => {
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
  const redis = await startRedis();
  onTestFinished(() => redis.close());
  ({ socket } = redis);
});

async function open(
  name: string,
  more: Partial<RedisFrontierOptions> = {},
): Promise<RedisFrontier> {
  const frontier = await openRedisFrontier({ redis: socket, name, ...more });
  onTestFinished(() => frontier.close());
  return frontier;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "outrider-redis-transfer-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function all(lines: AsyncIterable<string>): Promise<string[]> {
  const list: string[] = [];
  for await (const line of lines) list.push(line);
  return list;
}

async function outrider(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = createFakeIo(undefined);
  const code = await runCommand(argv, io);
  return { code, ...io.text };
}

const RULES: Rule[] = [
  { id: "news", match: { domains: ["news.test"] }, share: { weight: 100 }, order: "lifo" },
  { id: "daily", match: { domains: ["daily.test"] }, epoch: { calendar: "day" } },
  { id: "again", match: { domains: ["again.test"] }, epoch: { every: 1_000_000 } },
  { id: "rest", politeness: { delayMs: 7, perHost: 2 } },
];
const START = 1_800_000_000_000;

/** Something of every kind. */
async function fill(frontier: RedisFrontier, advance: (ms: number) => void): Promise<void> {
  const urls = ["news", "daily", "again", "a", "b", "c"].flatMap((site) =>
    Array.from({ length: 12 }, (_, at) => `http://${site}.test/${at}`),
  );
  await frontier.pushMany(
    urls.map((url, at) => ({ url, priority: at % 3, data: { at, big: 7n } })),
  );
  const body = Buffer.from("q=1");
  await frontier.push({ url: "http://a.test/post", method: "POST", body, headers: { "x-a": "b" } });
  await frontier.push({ url: "http://a.test/later", notBefore: START + 500_000 });
  await frontier.push({ url: "http://a.test/skip", dedup: "skip", handler: "h", start: true });
  await frontier.push({ url: "http://a.test/key", key: "own", hostKey: "Other", maxAttempts: 9 });
  await frontier.push({ url: "http://a.test/0", epoch: "mine" });
  await frontier.put("http://b.test/put", { data: "kept" });
  for (let round = 0; round < 8; round++) {
    advance(10);
    for (const [at, lease] of (await frontier.pollMany(6)).entries()) {
      if (at % 5 === 0)
        await lease.done({ found: [`${lease.url}/child`], outcome: { status: 200 } });
      else if (at % 5 === 1) await lease.fail("status 404", { status: 404 });
      else if (at % 5 === 2) await lease.retry({ delayMs: 1_000_000, reason: "busy" });
      else if (at % 5 === 3) await lease.retry();
      else await lease.release();
    }
  }
  await frontier.host("c.test").set({ delayMs: 55, limit: 3 });
  await frontier.host("b.test").blockUntil(START + 300_000);
  await frontier.remove({ pattern: "/11$" });
  await frontier.setState({ note: new Date(5) });
}

/** All that a frontier hands out from now on, and how it reports on the way. */
async function rest(frontier: RedisFrontier, advance: (ms: number) => void): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (let round = 0; round < 40; round++) {
    advance(100_000);
    for (const lease of await frontier.pollMany(50)) {
      const { url, priority, depth, attempt, deliveries, rule, data, parent, handler } = lease;
      seen.push({ url, priority, depth, attempt, deliveries, rule, data, parent, handler });
      await lease.done();
    }
  }
  return seen;
}

const FACTS = ["accepted", "deferred", "pending", "waiting", "leased", "done", "failed"] as const;

async function factsOf(frontier: RedisFrontier): Promise<Record<string, unknown>> {
  const report = await frontier.report();
  const { pushed, duplicate, retried, forgotten, removed, hosts, seen, depths } = report;
  const facts = Object.fromEntries(FACTS.map((name) => [name, report[name]]));
  return { ...facts, pushed, duplicate, retried, forgotten, removed, hosts, seen, depths };
}

describe("a frontier on Redis", () => {
  it.each([1, 3])(
    "comes out of its export as an equal one, with %i partitions: records, places, identities, hosts, rules, counts",
    async (partitions) => {
      const clock = createVirtualClock(START);
      const more = { clock, partitions };
      const source = await open("source", { ...more, rules: RULES, maxDeliveries: 6 });
      await fill(source, (ms) => clock.advance(ms));
      const lines = await all(exportRedisFrontier({ redis: socket, name: "source" }));
      const result = await importRedisFrontier({ redis: socket, name: "copy" }, lines);
      expect(result).toMatchObject({ kind: "frontier", rejected: 0, passed: 0 });
      const copy = await open("copy", { clock });
      expect(await factsOf(copy)).toEqual(await factsOf(source));
      expect(await copy.rules()).toEqual(await source.rules());
      expect(await copy.state()).toEqual({ note: new Date(5) });
      const host = await source.host("c.test").view();
      expect(await copy.host("c.test").view()).toEqual(host);
      const again = await all(exportRedisFrontier({ redis: socket, name: "copy" }));
      const plain = (list: string[]): string[] =>
        list
          .map((line) => line.replace(/,"order":\d+/g, "").replace(/"hosts":\[[^\]]*\]/g, ""))
          .sort();
      expect(plain(again.slice(1))).toEqual(plain(lines.slice(1)));
      // What is known stays known, and what is handed out comes in the same order.
      for (const url of ["http://news.test/0", "http://a.test/11", "http://daily.test/3"]) {
        expect(await copy.push(url)).toEqual(await source.push(url));
        expect(await copy.record(url)).toEqual(await source.record(url));
      }
      // Both from the same moment. Which partition is asked first depends on messages that come by themselves.
      const handedOut: unknown[][] = [];
      for (const frontier of [source, copy]) {
        await frontier.close();
        const later = createVirtualClock(clock.now());
        const opened = await open(frontier.name, { clock: later });
        const list = await rest(opened, (ms) => later.advance(ms));
        handedOut.push(partitions === 1 ? list : list.map((one) => inspect(one)).sort());
      }
      const [first, second] = handedOut;
      expect(first?.length).toBeGreaterThan(50);
      expect(second).toEqual(first);
    },
  );

  it("goes out and in by the command line, whole, in part and as URLs", async () => {
    const source = await open("site", { partitions: 1 });
    await source.pushMany(["http://a.test/1", "http://a.test/2", "http://b.test/1"]);
    await (await source.poll())?.done();
    await (await source.poll())?.fail("broken");
    const path = join(folder(), "site.jsonl.gz");
    const on = ["--redis", socket, "--name"];
    const out = await outrider("export", ...on, "site", "--out", path, "--drain", "--json");
    expect(JSON.parse(out.out)).toEqual({ exported: 2 });
    expect((await outrider("import", path, ...on, "copy")).out).toBe(
      "a whole frontier: 2 live records\n",
    );
    expect(await (await open("copy")).report()).toMatchObject({ pending: 1, failed: 1, done: 1 });
    expect(
      (await outrider("export", ...on, "copy", "--format", "urls", "--state", "failed")).out,
    ).toMatch(/^http:\/\/[ab]\.test\/[12]\n$/);
    const part = await outrider("export", ...on, "copy", "--state", "pending");
    expect(JSON.parse(part.out)).toMatchObject({ state: "pending" });
    // Into a frontier that is there its requests are pushed.
    const more = await outrider("import", path, ...on, "copy");
    expect(more).toMatchObject({ code: 0, out: "0 of 2 are new\n" });
    const list = join(folder(), "urls.txt");
    writeFileSync(list, "http://a.test/1\nhttp://c.test/\nmailto:x\n");
    expect((await outrider("import", list, ...on, "copy")).out).toBe("1 of 3 are new\n");
    expect((await open("copy")).name).toBe("copy");
  });

  it("carries records alone into a directory and out of one, and refuses by name what cannot be carried", async () => {
    const source = await open("site", { partitions: 2 });
    await source.pushMany(["http://a.test/1", "http://b.test/1", "http://c.test/1"]);
    await (await source.poll())?.done();
    const whole = await all(exportRedisFrontier({ redis: socket, name: "site" }));
    const some: string[] = [];
    const only = { state: "pending" } as const;
    for await (const line of exportRedisFrontier({ redis: socket, name: "site", only }))
      some.push(line);
    const directory = join(folder(), "data");
    const intoDirectory = importFrontier(directory, whole);
    await expect(intoDirectory).rejects.toMatchObject({ code: "FORMAT_UNSUPPORTED" });
    expect(await importFrontier(directory, some)).toMatchObject({ size: 2, accepted: 2 });
    const back = await all(exportFrontier(directory));
    const none = importRedisFrontier({ redis: socket, name: "none" }, back);
    await expect(none).rejects.toMatchObject({ code: "FORMAT_UNSUPPORTED" });
    expect(await importRedisFrontier({ redis: socket, name: "site" }, back)).toMatchObject({
      ...{ kind: "requests", accepted: 0, duplicate: 2 },
    });
    const digest = importRedisFrontier({ redis: socket, name: "none" }, ["ab".repeat(20)]);
    await expect(digest).rejects.toMatchObject({ code: "UNSUPPORTED" });
    const parts = importRedisFrontier({ redis: socket, name: "none", partitions: 3 }, whole);
    await expect(parts).rejects.toThrow("options.partitions");
    for (const cut of [whole.slice(0, -1), whole.toSpliced(2, 1), whole.with(3, "{}")]) {
      const wrong = importRedisFrontier({ redis: socket, name: "none" }, cut);
      await expect(wrong).rejects.toMatchObject({ code: "SNAPSHOT_CORRUPT" });
    }
    await expect(open("none", { mustExist: true } as never)).rejects.toThrow(
      "a frontier that is there",
    );
  });

  it("keeps the priorities of records, from which their depth is subtracted already", async () => {
    const rules: Rule[] = [{ id: "deep", depthPriority: 10 }];
    const from = folder();
    const first = await openFrontier({ directory: from, rules });
    first.pushMany([
      { url: "http://a.test/rule", depth: 3 },
      { url: "http://a.test/own", depth: 2, priority: 40 },
    ]);
    await first.close();
    const to = await open("to", { rules });
    await importRedisFrontier({ redis: socket, name: "to" }, exportFrontier(from));
    expect(await to.record("http://a.test/rule")).toMatchObject({ priority: -30 });
    expect(await to.record("http://a.test/own")).toMatchObject({ priority: 20 });
  });

  it("refuses to call an export whole while others work, unless it drains", async () => {
    const source = await open("site", { partitions: 1 });
    await source.pushMany(Array.from({ length: 300 }, (_, at) => `http://a.test/${at}`));
    const lines = exportRedisFrontier({ redis: socket, name: "site" });
    await lines.next();
    await source.push("http://late.test/");
    await expect(all(lines)).rejects.toMatchObject({ code: "STATE_INVALID" });
    const drained = exportRedisFrontier({ redis: socket, name: "site", drain: true });
    await drained.next();
    expect(await source.poll()).toBeUndefined();
    await all(drained);
    await expect.poll(() => source.poll()).toBeDefined();
  });

  it("takes lines that were visited elsewhere as known and not pending", async () => {
    const list = join(folder(), "x.urls.txt");
    writeFileSync(list, "http://a.test/1\nhttp://a.test/2\nhttp://a.test/3\n");
    writeFileSync(list.replace("urls", "cursor"), "2\n");
    expect(readFileSync(list, "utf8")).toContain("a.test/3");
    const { out } = await outrider("import", list, "--redis", socket, "--name", "web");
    expect(out).toBe("1 of 3 are new\n");
    const frontier = await open("web");
    expect(await frontier.push("http://a.test/1")).toMatchObject({ status: "duplicate" });
    expect((await frontier.poll())?.url).toBe("http://a.test/3");
  });
});

it("a directory's own export is unchanged by that", async () => {
  const directory = join(folder(), "data");
  const frontier = await openFrontier({ directory });
  await frontier.pushMany(["http://a.test/1"]);
  await frontier.close();
  const copy = join(folder(), "copy");
  expect(await importFrontier(copy, exportFrontier(directory))).toMatchObject({ kind: "frontier" });
});
