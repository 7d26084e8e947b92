/**
 * S: what Scrapy keeps in a job directory, and what it loses there, row by row. Real directories where the row is about files; where
 * it is about a kill, files in memory, of which a kill is a copy.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom } from "../../src/base/random.ts";
import { runCommand } from "../../src/cli/run-command.ts";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import { presets } from "../../src/engine/options/presets.ts";
import type {
  Frontier,
  FrontierEvents,
  FrontierFault,
  Lease,
} from "../../src/engine/types/frontier-types.ts";
import { fingerprint } from "../../src/engine/api/url-functions.ts";
import { WorkerPool } from "../../src/workers/pool/worker-pool.ts";
import { createFakeIo } from "../support/fake-io.ts";
import { killedFiles, openRig, withoutLock } from "../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles, PowerCut } from "../support/memory-files.ts";
import { HANDLERS } from "../support/pool.ts";

const A = "http://a.com/a";
const B = "http://a.com/b";
const LIFO = { defaults: { order: "lifo" as const } };
const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "scrapy-"));
  directories.push(directory);
  return directory;
}

const urls = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, at) => `http://a.com/${from + at}`);

const rigOf = (files: MemoryFiles, options = {}) =>
  openRig(files, createVirtualClock(0), presets.scrapy(options));

/** All that is pending, in the order in which it goes, however few may be out at once. */
function drained(frontier: Frontier): Lease[] {
  const leases: Lease[] = [];
  for (;;) {
    const some = frontier.pollMany(1_000);
    if (some.length === 0) return leases;
    leases.push(...some);
    frontier.done(some);
  }
}

const urlsOf = (leases: readonly Lease[]): string[] => leases.map(({ url }) => url);

async function resumedOf(frontier: Frontier): Promise<FrontierEvents["resumed"] | undefined> {
  let told: FrontierEvents["resumed"] | undefined;
  frontier.on("resumed", (resumed) => {
    told = resumed;
  });
  await Promise.resolve();
  return told;
}

describe("Scrapy's job directory", () => {
  it("S11: one order over what is in memory and what is on disk, in whatever order it came", async () => {
    const options = { ...LIFO, directory: temporary(), memoryBytes: 200_000 };
    const frontier = await openFrontier({ ...options, durability: "none" });
    const pushed: Array<{ url: string; priority: number }> = [];
    const left = new Set<string>();
    for (let round = 0; round < 24; round++) {
      const batch = urls(250, round * 250).map((url, at) => ({
        url,
        priority: ((at * 7 + round * 3) % 5) - 2,
      }));
      pushed.push(...batch);
      for (const { url } of batch) left.add(url);
      frontier.pushMany(batch);
      // A few leave between: what goes is the best of all, wherever it is.
      const best = orderOf(pushed.filter(({ url }) => left.has(url))).slice(0, 20);
      const leases = frontier.pollMany(20);
      expect(urlsOf(leases)).toEqual(best);
      for (const url of best) left.delete(url);
      frontier.done(leases);
    }
    expect(frontier.report().memory.spilledBytes).toBeGreaterThan(50_000);
    const rest = pushed.filter(({ url }) => left.has(url));
    expect(urlsOf(drained(frontier))).toEqual(orderOf(rest));
    await frontier.close();
  });

  it("S18: what went to disk and what came back from it are counted apart from what stayed in memory", async () => {
    const options = { ...LIFO, directory: temporary(), memoryBytes: 200_000 };
    const frontier = await openFrontier({ ...options, durability: "none" });
    frontier.pushMany(urls(5_000));
    const { pending, spilled } = frontier.report();
    expect(pending).toBe(5_000);
    expect(spilled.records).toBeGreaterThan(1_000);
    expect(spilled.records).toBeLessThan(5_000);
    expect(spilled.out - spilled.in).toBe(spilled.records);
    expect(drained(frontier).length).toBe(5_000);
    const after = frontier.report();
    expect(after.spilled).toEqual({ records: 0, out: after.spilled.in, in: after.spilled.in });
    expect(after.spilled.in).toBeGreaterThanOrEqual(spilled.out);
    expect(after.accepted - after.done).toBe(after.pending);
    await frontier.close();
  });

  it("S12: data that can not be kept is refused with a reason, or stays in memory and is reported as lost", async () => {
    const directory = temporary();
    const first = await openFrontier(presets.scrapy({ directory }));
    const data = { parse: () => "page" };
    const refused = { status: "rejected", reason: "unserializable" };
    expect(first.push({ url: A, data })).toMatchObject(refused);
    expect(first.push({ url: A, data, volatile: true }).status).toBe("accepted");
    expect(first.push({ url: B, data: { page: 1 } }).status).toBe("accepted");
    expect(first.report()).toMatchObject({ rejected: { unserializable: 1 }, pending: 2 });
    expect(first.peek(2).map((view) => view.data)).toEqual([{ page: 1 }, data]);
    await first.close();
    const again = await openFrontier(presets.scrapy({ directory }));
    expect(await resumedOf(again)).toMatchObject({ pending: 1, lost: 1 });
    expect(again.push(A).status).toBe("accepted"); // lost, and not taken for seen
    expect(drained(again).map((lease) => lease.data)).toEqual([undefined, { page: 1 }]);
    await again.close();
  });

  it("S13: every file of the one directory begins with its kind and version, and another version is refused untouched", async () => {
    const directory = temporary();
    const first = await openFrontier({ directory });
    first.pushMany(urls(9));
    await first.snapshot();
    await first.close();
    const place = join(directory, "default");
    const names = readdirSync(place).sort();
    for (const [kind, magic, version] of [
      ["journal-", "ORJL", 2],
      ["snapshot-", "ORSN", 3],
    ] as const) {
      const newest = join(place, names.findLast((name) => name.startsWith(kind)) as string);
      const bytes = readFileSync(newest);
      expect([bytes.toString("latin1", 0, 4), bytes.readUInt32LE(4)]).toEqual([magic, version]);
      const other = Buffer.from(bytes);
      other.writeUInt32LE(99, 4);
      writeFileSync(newest, other);
      const refused = { code: "FORMAT_UNSUPPORTED" };
      await expect(openFrontier({ directory })).rejects.toMatchObject(refused);
      expect(readdirSync(place).sort()).toEqual(names);
      expect(readFileSync(newest).equals(other)).toBe(true);
      writeFileSync(newest, bytes);
    }
    // Scrapy's own file of hashes means nothing under another key: it is refused by name, and nothing changes.
    const seen = join(temporary(), "requests.seen");
    writeFileSync(
      seen,
      `${urls(3)
        .map((url) => `${fingerprint(url)}01234567`)
        .join("\n")}\n`,
    );
    const io = createFakeIo(undefined);
    expect(await runCommand(["import", directory, seen, "--json"], io)).toBe(1);
    expect(io.text.err).toContain("PROFILE_MISMATCH");
    const again = await openFrontier({ directory });
    expect(urlsOf(drained(again))).toEqual(urls(9));
    await again.close();
  });

  it("S26: the user's own state comes back from a snapshot, and from what was flushed after it", async () => {
    const files = createMemoryFiles();
    const { frontier } = await rigOf(files);
    const state = { items: 7, last: { url: A, at: new Date(86_400_000) }, bytes: [1, null] };
    Object.assign(frontier.state, state);
    await frontier.snapshot();
    expect((await rigOf(killedFiles(files))).frontier.state).toEqual(state);
    frontier.state.items = 8;
    delete frontier.state.bytes;
    await frontier.flush();
    const again = await rigOf(killedFiles(files));
    expect(again.frontier.state).toEqual({ items: 8, last: state.last });
  });

  it("S28: a request names its handler; one that is gone after a restart is reported by name, and nothing is lost", async () => {
    const directory = temporary();
    const first = await openFrontier({ directory });
    first.push({ url: A, handler: "parseItem" });
    first.push({ url: B, handler: "hold" });
    await first.close();
    const again = await openFrontier({ directory });
    expect(again.peek(2).map(({ handler }) => handler)).toEqual(["parseItem", "hold"]);
    const faults: FrontierFault[] = [];
    again.on("error", (fault) => faults.push(fault));
    const pool = new WorkerPool({ frontier: again, handler: HANDLERS, threads: 1 });
    try {
      await pool.run();
    } finally {
      await pool.close();
    }
    const missing = faults.filter(({ url }) => url === A);
    expect(missing.length).toBeGreaterThan(0);
    for (const { kind, cause } of missing) {
      expect([kind, String(cause)]).toEqual(["handler", expect.stringContaining("parseItem")]);
    }
    expect(again.requeue({ state: "failed" })).toBe(2);
    expect(
      again
        .peek(2)
        .map(({ handler }) => handler)
        .sort(),
    ).toEqual(["hold", "parseItem"]);
    await again.close();
  });
});

describe("Scrapy's losses on disk", () => {
  it("S-B1: what is on disk with a better priority goes before what is in memory with a worse one", async () => {
    const options = { ...LIFO, directory: temporary(), memoryBytes: 200_000 };
    const frontier = await openFrontier({ ...options, durability: "none" });
    frontier.pushMany(urls(5_000), { priority: 100 });
    expect(frontier.report().memory.spilledBytes).toBeGreaterThan(50_000);
    frontier.push({ url: A, priority: -100 });
    expect(urlsOf(drained(frontier))).toEqual([...urls(5_000).reverse(), A]);
    await frontier.close();
  });

  it("S-B2: a power cut at any change of the disk leaves what was said, with the last call or without it", async () => {
    let isCut = true;
    let cutAt = 1;
    for (; isCut; cutAt++) {
      const files = createMemoryFiles();
      files.cutAt = cutAt;
      const said = await crawlUntilCut(files);
      isCut = said.isCut;
      const { frontier } = await rigOf(withoutLock(files.afterCut(createRandom(cutAt))));
      expect([said.before, said.after], `cut ${cutAt}`).toContainEqual(urlsOf(drained(frontier)));
      await frontier.close({ discard: true });
    }
    expect(cutAt).toBeGreaterThan(30);
  });

  it("S-B3: what was handed out and not answered comes back after a kill, and what was answered does not", async () => {
    const files = createMemoryFiles();
    const { frontier } = await rigOf(files);
    frontier.pushMany(urls(10));
    const [first, second, ...open] = frontier.pollMany(6);
    first?.done();
    second?.fail("404");
    expect(open.length).toBe(4);
    await frontier.flush();
    const again = await rigOf(killedFiles(files));
    expect(again.frontier.report()).toMatchObject({ pending: 8, done: 1, failed: 1, leased: 0 });
    const leases = drained(again.frontier);
    expect(urlsOf(leases)).toEqual(urls(8).reverse());
    const twice = leases.filter(({ deliveries }) => deliveries === 2);
    expect(urlsOf(twice)).toEqual(urlsOf(open));
    for (const { attempt } of leases) expect(attempt).toBe(1);
  });

  it("S-B6: what was seen goes to disk beyond its bound and stays exact, and the report says its bits per URL", async () => {
    const seen = { memoryBytes: 300_000 };
    const directory = temporary();
    const frontier = await openFrontier({ directory, seen, durability: "none", keepOpen: true });
    for (let from = 0; from < 40_000; from += 1_000) {
      frontier.pushMany(urls(1_000, from));
      frontier.done(frontier.pollMany(1_000));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const cold = readdirSync(join(directory, "default", "seen"));
    expect(cold.filter((name) => /^run-.*\.cold$/.test(name))).not.toEqual([]);
    for (let from = 0; from < 10_000; from += 1_000) {
      expect(frontier.pushMany(urls(1_000, from))).toMatchObject({ accepted: 0, duplicate: 1_000 });
    }
    expect(frontier.pushMany(urls(1_000, 40_000)).accepted).toBe(1_000);
    const { mode, coldReads, bitsPerUrl, bytes } = frontier.report().seenSet;
    expect(mode).toBe("tiered");
    expect(coldReads).toBeGreaterThan(0);
    expect(bitsPerUrl).toBeCloseTo((bytes * 8) / 41_000);
    await frontier.close();
  });

  it("S-B9: a job directory holds data alone: nothing in it runs, and what comes back is a copy", async () => {
    const directory = temporary();
    const first = await openFrontier({ directory });
    class Page {
      readonly title = "t";
    }
    const own = JSON.parse('{"__proto__":{"isAdmin":true}}') as object;
    for (const data of [new Page(), own, Symbol("x"), [() => 1]]) {
      expect(first.push({ url: A, data }).reason).toBe("unserializable");
    }
    const data = { code: "process.exit(1)", list: [1, { constructor: "Function" }] };
    const before = structuredClone(data);
    first.push({ url: A, data });
    data.list.push(9);
    data.code = "changed";
    await first.close();
    const again = await openFrontier({ directory });
    const lease = again.poll();
    expect(lease?.data).toEqual(before);
    expect(Object.getPrototypeOf(lease?.data)).toBe(Object.prototype);
    (lease?.data as typeof data).code = "changed again";
    lease?.release();
    expect(again.poll()?.data).toEqual(before);
    await again.close();
  });
});

/** Larger priorities first, last in first out: what the whole of it should give. */
function orderOf(pushed: ReadonlyArray<{ url: string; priority: number }>): string[] {
  return [...pushed]
    .reverse()
    .sort((a, b) => b.priority - a.priority)
    .map(({ url }) => url);
}

interface Said {
  /** What is not finished, in the order in which it goes, before the last call and after it. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly isCut: boolean;
}

/** A crawl that waits for the disk at every call, until the power goes. */
async function crawlUntilCut(files: MemoryFiles): Promise<Said> {
  let before: string[] = [];
  let after: string[] = [];
  const says = (next: string[]): void => {
    before = after;
    after = next;
  };
  try {
    const { frontier } = await rigOf(files, { durability: "sync" });
    for (let round = 0; round < 3; round++) {
      const found = urls(3, round * 10);
      says([...found.toReversed(), ...after]);
      if (frontier.pushMany(found).full > 0) return { before, after, isCut: true };
      const [lease, other] = frontier.pollMany(2);
      const child = `http://a.com/child/${round}`;
      says([child, ...after.filter((url) => url !== lease?.url)]);
      lease?.done({ found: [child] });
      other?.release();
      if (round === 1) await frontier.snapshot();
    }
    return { before: after, after, isCut: false };
  } catch (error) {
    const { cause } = (error as { details?: { cause?: unknown } }).details ?? {};
    if (!(error instanceof PowerCut || cause instanceof PowerCut)) throw error;
    return { before, after, isCut: true };
  }
}
