/** Why records failed: kept in every mode, over restarts, snapshots and exports, within bounds; and which filters find them. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createVirtualClock,
  type FrontierOptions,
  openFrontier,
  openFrontierThread,
} from "../../../../src/index.ts";
import { exportFrontier, importFrontier } from "../../../../src/tools.ts";
import { FoundOn, PIECE_BYTES, PIECES_MAX } from "../../../../src/engine/records/found-on.ts";
import { testRandom } from "../../../support/seed.ts";

const SEED = "http://a.example/";
const DEAD = "http://a.example/dead";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "outrider-failures-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A page that links to one that fails at once, with a status. */
async function failing(options: FrontierOptions = {}) {
  const clock = createVirtualClock(5_000);
  const frontier = await openFrontier({ clock, ...options });
  frontier.push(SEED);
  frontier.poll()?.done({ found: [DEAD] });
  clock.advance(1_000);
  frontier.poll()?.fail("not there", { status: 404 });
  return { frontier, clock };
}

const FAILURE = { reason: "not there", atMs: 6_000, status: 404, foundOn: SEED };

describe("a failed record", () => {
  for (const mode of ["exact", "bloom"] as const) {
    it(`keeps reason, time, status and the page it was found on, in mode ${mode}`, async () => {
      const { frontier } = await failing({ seen: { mode } });
      const [view] = frontier.records({ state: "failed" });
      expect(view).toMatchObject({ state: "failed", url: DEAD, failure: FAILURE });
      expect(frontier.record(DEAD)?.failure).toEqual(FAILURE);
      await frontier.close();
    });
  }

  it("is passed whole to listeners", async () => {
    const clock = createVirtualClock(6_000);
    const frontier = await openFrontier({ clock });
    const told: unknown[] = [];
    frontier.on("failed", (views) => told.push(...views));
    frontier.push(SEED);
    frontier.poll()?.done({ found: [DEAD] });
    frontier.poll()?.fail("not there", { status: 404 });
    const reason = "not there";
    expect(told).toEqual([expect.objectContaining({ url: DEAD, reason, failure: FAILURE })]);
    await frontier.close();
  });

  it("keeps what the frontier decided where nobody gave a reason", async () => {
    const clock = createVirtualClock(0);
    const frontier = await openFrontier({ clock, leaseMs: 10, defaults: { maxAttempts: 1 } });
    frontier.pushMany([SEED, DEAD, "http://b.example/"]);
    frontier.poll()?.retry({ outcome: { status: 503 } });
    frontier.poll()?.fail();
    frontier.poll();
    clock.advance(10);
    frontier.poll();
    const failures = [...frontier.records({ state: "failed" })].map(({ failure }) => failure);
    expect(failures).toEqual([
      { reason: "attempts", atMs: 0, status: 503 },
      { reason: "failed", atMs: 0 },
      { reason: "expired", atMs: 10 },
    ]);
    await frontier.close();
  });

  it("keeps all of it over a restart and over a kill, each with and without a snapshot", async () => {
    for (const hasSnapshot of [false, true]) {
      const directory = folder();
      const { frontier } = await failing({ directory });
      if (hasSnapshot) await frontier.snapshot();
      await frontier.flush();
      // What a process that is killed now would leave.
      const killed = await openFrontier({ directory, readOnly: true });
      expect(killed.record(DEAD)?.failure).toEqual(FAILURE);
      await killed.close({ discard: true });
      await frontier.close();
      const again = await openFrontier({ directory });
      expect(again.record(DEAD)?.failure).toEqual(FAILURE);
      expect([...again.records({ state: "failed" })][0]?.failure).toEqual(FAILURE);
      await again.close();
    }
  });

  it("keeps the page it was found on where it fails after the restart", async () => {
    const directory = folder();
    const first = await openFrontier({ directory });
    first.push(SEED);
    first.poll()?.done({ found: [DEAD] });
    await first.close();
    const again = await openFrontier({ directory });
    again.poll()?.fail("later");
    expect(again.record(DEAD)?.failure).toMatchObject({ reason: "later", foundOn: SEED });
    await again.close();
  });

  it("keeps the page it was found on where it fails after a kill, in every mode that writes", async () => {
    for (const durability of ["sync", { everyMs: 20 }, "none"] as const) {
      const directory = folder();
      const lost = join(folder(), "killed");
      const first = await openFrontier({ directory, durability, leaseMs: 1_000_000 });
      const pages = Array.from({ length: 60 }, (_, at) => `${SEED}${"page/".repeat(10)}${at}`);
      first.pushMany(pages);
      for (const lease of first.pollMany(60)) lease.done({ found: [`${lease.url}/dead`] });
      if (durability !== "sync") await first.flush();
      // What a process that is killed now would leave: no snapshot, no end of the journal.
      cpSync(directory, lost, { recursive: true, filter: (path) => !path.endsWith("lock") });
      await first.close();
      const again = await openFrontier({ directory: lost, durability });
      const found = again.pollMany(100).map((lease) => {
        lease.fail("later");
        const { url = "", failure } = again.record(lease.url) ?? {};
        return failure?.foundOn === url.replace("/dead", "");
      });
      // In mode sync, those of a piece that was not long enough yet are lost.
      const kept = found.filter(Boolean).length;
      expect([found.length, kept]).toEqual([60, durability === "sync" ? kept : 60]);
      expect(kept).toBeGreaterThan(30);
      await again.close();
    }
  });

  it("keeps it after a kill where a full frame was written between two flushes", async () => {
    const directory = folder();
    const lost = join(folder(), "killed");
    const first = await openFrontier({ directory, durability: { everyMs: 1_000_000 } });
    first.push(SEED);
    const links = Array.from({ length: 20_000 }, (_, at) => `${SEED}${"path/".repeat(20)}${at}`);
    first.poll()?.done({ found: links });
    cpSync(directory, lost, { recursive: true, filter: (path) => !path.endsWith("lock") });
    await first.close();
    const again = await openFrontier({ directory: lost });
    const lease = again.poll();
    lease?.fail("later");
    expect(again.record(lease?.url ?? "")?.failure?.foundOn).toBe(SEED);
    await again.close();
  });

  it("keeps all of it in a file of its own, and in an export and its import", async () => {
    const directory = folder();
    const { frontier } = await failing();
    const path = join(directory, "alone.msgpack");
    await frontier.snapshot({ path });
    await frontier.close();
    const from = await openFrontier({ from: path, directory: join(directory, "made") });
    expect(from.record(DEAD)?.failure).toEqual(FAILURE);
    await from.close();
    const lines: string[] = [];
    for await (const line of exportFrontier(join(directory, "made"))) lines.push(line);
    await importFrontier(join(directory, "copy"), lines);
    const copy = await openFrontier({ directory: join(directory, "copy") });
    expect(copy.record(DEAD)?.failure).toEqual(FAILURE);
    await copy.close();
    const only: string[] = [];
    const asked = { only: { state: "failed" } } as const;
    for await (const line of exportFrontier(join(directory, "made"), asked)) only.push(line);
    expect(only.map((line) => JSON.parse(line))).toMatchObject([{ url: DEAD, failure: FAILURE }]);
  });

  it("reaches listeners on another thread as well", async () => {
    const frontier = await openFrontierThread();
    await frontier.push(SEED);
    await (await frontier.poll())?.done({ found: [DEAD] });
    await (await frontier.poll())?.fail("not there", { status: 404 });
    for await (const { failure } of frontier.records({ state: "failed" })) {
      expect(failure).toMatchObject({ reason: "not there", status: 404, foundOn: SEED });
    }
    expect(await frontier.requeue({ reason: "not there" })).toBe(1);
    await frontier.close();
  });

  it("loses it when it is requeued, forgotten or cleared", async () => {
    const { frontier } = await failing({ directory: folder() });
    expect(frontier.requeue({ all: true })).toBe(1);
    expect(frontier.record(DEAD)).not.toHaveProperty("failure");
    frontier.poll()?.fail("again");
    expect(frontier.record(DEAD)?.failure?.reason).toBe("again");
    frontier.forget();
    frontier.push(DEAD);
    expect(frontier.record(DEAD)).not.toHaveProperty("failure");
    frontier.clear();
    expect([...frontier.records({ state: "failed" })]).toEqual([]);
    await frontier.close();
  });

  it("keeps the newest 10,000, and every record is failed all the same", async () => {
    const frontier = await openFrontier();
    frontier.pushMany(Array.from({ length: 10_003 }, (_, at) => `http://a.example/${at}`));
    for (const lease of frontier.pollMany(10_003)) lease.fail(`no ${lease.url}`);
    const views = [...frontier.records({ state: "failed" })];
    expect(views).toHaveLength(10_003);
    expect(views.filter(({ failure }) => failure === undefined)).toHaveLength(3);
    await frontier.close();
  });

  it("keeps 500 characters of a reason, and finds it by the whole of it", async () => {
    const frontier = await openFrontier();
    frontier.push(SEED);
    const reason = "x".repeat(2_000);
    frontier.poll()?.fail(reason);
    expect(frontier.record(SEED)?.failure?.reason).toHaveLength(500);
    expect(frontier.requeue({ reason })).toBe(1);
    await frontier.close();
  });

  it("of a volatile request is never written", async () => {
    const directory = folder();
    const frontier = await openFrontier({ directory });
    frontier.push({ url: "http://secret.example/", volatile: true });
    frontier.poll()?.fail("volatile-reason");
    expect([...frontier.records({ state: "failed" })][0]?.failure?.reason).toBe("volatile-reason");
    await frontier.snapshot();
    await frontier.close();
    const again = await openFrontier({ directory });
    expect([...again.records({ state: "failed" })]).toEqual([]);
    await again.close();
  });
});

describe("requeue by reason", () => {
  it("takes the records that failed for it, and no others", async () => {
    const frontier = await openFrontier();
    frontier.pushMany([SEED, DEAD, "http://b.example/"]);
    for (const lease of frontier.pollMany(3)) lease.fail(lease.url === DEAD ? "gone" : "busy");
    expect(frontier.requeue({ reason: "busy", host: "b.example" })).toBe(1);
    expect(frontier.requeue({ reason: "busy" })).toBe(1);
    expect(frontier.report()).toMatchObject({ pending: 2, failed: 1 });
    expect(() => frontier.requeue({ state: "done", reason: "busy" })).toThrow(
      "filter.reason: \"busy\" (expected: none with state 'done')",
    );
    await frontier.close();
  });
});

describe("pages that links were found on", () => {
  const print = (number: number): Buffer => {
    const bytes = Buffer.alloc(16);
    bytes.writeUInt32LE(Math.imul(number, 0x9e3779b1) >>> 0);
    bytes.writeUInt32LE(number, 4);
    return bytes;
  };

  it("at least the last 2 MiB of them are found, the oldest go, and no two are confused", () => {
    const pages = new FoundOn();
    const urlOf = (number: number): string => `http://a.example/${"p".repeat(60)}/${number}`;
    const count = 120_000;
    for (let number = 0; number < count; number++) pages.add(print(number), 0, urlOf(number));
    for (let number = count - 20_000; number < count; number++) {
      expect(pages.find(print(number), 0)).toBe(urlOf(number));
    }
    expect(pages.find(print(0), 0)).toBeUndefined();
    expect(pages.find(print(count), 0)).toBeUndefined();
    const again = new FoundOn();
    again.restore(pages.pack());
    expect([again.newBytes, again.takePieces()]).toEqual([0, []]);
    expect(again.find(print(count - 1), 0)).toBe(urlOf(count - 1));
  });

  it("go to a journal in pieces: each page once, but for those of the piece that still grows", () => {
    const random = testRandom("pieces");
    const pages = new FoundOn();
    const notes = new Map<number, { number: number; pages: Buffer }>();
    const urlOf = (number: number): string =>
      `http://a.example/${"p".repeat(number % 90)}/${number}`;
    let written = 0;
    let count = 0;
    for (let turn = 0; turn < 2_000; turn++) {
      for (const last = count + random.below(turn % 50 === 0 ? 900 : 9); count < last; count++) {
        pages.add(print(count), 0, urlOf(count));
      }
      for (const piece of pages.takePieces()) {
        written += piece.pages.length;
        notes.set(piece.number % PIECES_MAX, { ...piece, pages: Buffer.from(piece.pages) });
      }
      expect(pages.newBytes).toBe(0);
    }
    expect(notes.size).toBeLessThanOrEqual(PIECES_MAX);
    const again = new FoundOn();
    const sorted = [...notes.values()].sort((one, other) => one.number - other.number);
    for (const piece of sorted) again.restore(piece.pages, piece.number);
    for (let number = count - 20_000; number < count; number++) {
      expect(again.find(print(number), 0)).toBe(urlOf(number));
    }
    // A piece that grows is written again: at most its own length for each turn.
    expect(written).toBeLessThan(count * 81 + 2_000 * PIECE_BYTES);
    again.add(print(count), 0, SEED);
    expect(again.takePieces()[0]?.number).toBe((sorted.at(-1)?.number ?? 0) + 1);
  });

  it("fingerprints that aim at one place cost URLs of their own and nothing else", () => {
    const pages = new FoundOn();
    for (let number = 0; number < 50_000; number++) {
      const bytes = Buffer.alloc(16);
      bytes.writeUInt32LE(number, 8);
      pages.add(bytes, 0, `http://a.example/${number}`);
    }
    expect(pages.find(Buffer.alloc(16), 0)).toBe("http://a.example/0");
    pages.add(print(7), 0, SEED);
    expect(pages.find(print(7), 0)).toBe(SEED);
  });

  it("leaves out a URL over 2,000 characters, and refuses what it did not pack", () => {
    const pages = new FoundOn();
    pages.add(print(1), 0, `http://a.example/${"x".repeat(2_000)}`);
    expect(pages.pack()).toBeUndefined();
    for (const wrong of ["text", null, new Uint8Array(5), Buffer.alloc(18, 1)]) {
      expect(() => pages.restore(wrong)).toThrow(TypeError);
    }
  });
});
