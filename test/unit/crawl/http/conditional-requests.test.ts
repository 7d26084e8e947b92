import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import { openLineFile } from "../../../../src/crawl/files.ts";
import type {
  Download,
  Downloader,
  DownloadRequest,
} from "../../../../src/crawl/module-registry.ts";
import {
  createValidators,
  type ValidatorHeaders,
  type Validators,
} from "../../../../src/crawl/http/conditional-requests.ts";
import {
  createVirtualClock,
  type EpochPolicy,
  openFrontier,
  type Rule,
} from "../../../../src/index.ts";
import { readText } from "../../../support/package.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-validators-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ETAG = { "if-none-match": '"1"' };

function open(path?: string, epoch: EpochPolicy = { every: 50 }) {
  const clock = createVirtualClock(1_000);
  const file = path === undefined ? undefined : openLineFile(path);
  const validators = createValidators({ clock, file, defaults: { epoch } });
  return { clock, validators };
}

const known = (validators: Validators, url: string) => validators.headersFor(url, "default");

describe("validators", () => {
  it("are asked for only under rules whose pages come again by themselves", () => {
    const url = "http://a.test/";
    for (const epoch of ["forever", { version: 2 }, { calendar: "day" }] as EpochPolicy[]) {
      const { validators } = open(undefined, epoch);
      validators.learn(url, "default", { headers: ETAG });
      expect(known(validators, url)).toEqual({});
      validators.setRules([{ id: "news", epoch: { every: "1h" } }]);
      expect(validators.isWanted("news")).toBe(true);
      expect(validators.headersFor(url, "news")).toEqual({}); // of other epochs nothing is kept
      validators.learn(url, "news", { headers: ETAG });
      expect(validators.headersFor(url, "news")).toEqual(ETAG);
      expect(validators.headersFor(url, "other")).toEqual({});
    }
    const { validators } = open();
    validators.learn(url, "default", { headers: ETAG });
    expect(known(validators, url)).toEqual(ETAG);
    validators.learn(url, "default", { headers: undefined });
    expect(known(validators, url)).toEqual({});
  });

  it("are written only when a later flush shows that the end of their page is durable", () => {
    const path = join(folder, "order.jsonl");
    const { clock, validators } = open(path);
    const written = (): number => openLineFile(path).takeLines().length;
    validators.learn("http://a.test/1", "default", { headers: ETAG });
    clock.advance(10);
    validators.flushed(clock.now()); // this flush may have begun before the page was done
    expect(written()).toBe(0);
    clock.advance(10);
    validators.learn("http://a.test/2", "default", { headers: ETAG });
    clock.advance(10);
    validators.flushed(clock.now());
    expect(written()).toBe(1);
    validators.flushed(Number.POSITIVE_INFINITY);
    expect(written()).toBe(2);
  });

  it("outlive the process: the last word of each page counts, and what is no line of ours is passed over", () => {
    const path = join(folder, "kept.jsonl");
    const first = open(path).validators;
    first.learn("http://a.test/1", "default", { headers: ETAG });
    first.learn("http://a.test/2", "default", { headers: ETAG });
    first.learn("http://a.test/2", "default", { headers: { "if-modified-since": "then" } });
    first.learn("http://a.test/3", "default", { headers: ETAG });
    first.learn("http://a.test/3", "default", { headers: undefined });
    first.flushed(Number.POSITIVE_INFINITY);
    const text = readFileSync(path, "utf8");
    writeFileSync(
      path,
      `${text}{"a":1}\n[1]\nno json\n["http://a.test/4",7]\n["http://a.test/5",{"i`,
    );
    const { validators } = open(path);
    const all = [1, 2, 3, 4, 5].map((page) => known(validators, `http://a.test/${page}`));
    expect(all).toEqual([ETAG, { "if-modified-since": "then" }, {}, {}, {}]);
    expect(readFileSync(path, "utf8").trimEnd().split("\n")).toHaveLength(2);
  });

  it("are as many as are wanted, in memory and, twice over, in the file", () => {
    const path = join(folder, "bounded.jsonl");
    const clock = createVirtualClock(1_000);
    const file = openLineFile(path);
    const defaults = { epoch: { every: 50 } };
    const validators = createValidators({ clock, file, defaults, countMax: 10 });
    let most = 0;
    for (let page = 0; page < 200; page++) {
      validators.learn(`http://a.test/${page}`, "default", { headers: ETAG });
      clock.advance(5);
      validators.flushed(clock.now());
      most = Math.max(most, openLineFile(path).takeLines().length);
    }
    expect(most).toBe(20);
    validators.flushed(Number.POSITIVE_INFINITY);
    expect(known(validators, "http://a.test/189")).toEqual({});
    expect(known(validators, "http://a.test/190")).toEqual(ETAG);
    const after = open(path).validators;
    expect(known(after, "http://a.test/199")).toEqual(ETAG);
  });
});

describe("the file of validators", () => {
  const golden = readText("test/golden/validators-1.jsonl");
  const pages: ReadonlyArray<readonly [string, ValidatorHeaders | undefined]> = [
    [
      "http://site.example/",
      { "if-none-match": '"1"', "if-modified-since": "Sun, 01 Nov 2026 00:00:00 GMT" },
    ],
    ["http://site.example/old", ETAG],
    ["http://site.example/old", undefined],
    ["http://site.example/weak", { "if-none-match": 'W/"a,b"' }],
    ["http://xn--bcher-kva.example/caf%C3%A9", { "if-modified-since": "yesterday" }],
  ];

  it("is the golden one, byte for byte, and that is read as it was meant", () => {
    const path = join(folder, "golden.jsonl");
    const { validators } = open(path);
    for (const [url, headers] of pages) validators.learn(url, "default", { headers: headers });
    validators.flushed(Number.POSITIVE_INFINITY);
    expect(readFileSync(path, "utf8")).toBe(golden);
    writeFileSync(path, golden);
    const again = open(path).validators;
    for (const [url, headers] of new Map(pages)) expect(known(again, url)).toEqual(headers ?? {});
  });

  it("is as its document shows it", () => {
    const lines = golden.split("\n");
    const document = readText("docs/formats/validators.md");
    for (const at of [0, 2]) expect(document).toContain(`    ${lines[at]}\n`);
  });
});

/** A site of two pages that answers 304 to whoever knows a page already. */
function site(onConditional: () => void): Downloader & { asked: DownloadRequest[] } {
  const asked: DownloadRequest[] = [];
  return {
    asked,
    async download(request) {
      asked.push(request);
      const isKnown = request.headers?.["if-none-match"] === '"1"';
      if (isKnown) onConditional();
      const body = Buffer.from(isKnown ? "" : '<a href="/more">more</a>');
      const headers: Download["headers"] = {
        "content-type": "text/html",
        etag: '"1"',
        "last-modified": "Sun, 01 Nov 2026 00:00:00 GMT",
      };
      const { url } = request;
      return { url, status: isKnown ? 304 : 200, headers, body, bytes: body.length, latencyMs: 1 };
    },
  };
}

describe("a recrawl", () => {
  const base = {
    seeds: "http://site.example/",
    delayMs: 0,
    robots: false,
    progressMs: 10,
    defaults: { epoch: { every: 20 } },
  } as const;

  it("asks conditionally, counts 304 as unchanged, and still does after a restart", async () => {
    const directory = join(folder, "frontier");
    const first = site(() => void run.stop());
    const run = crawl({ ...base, directory, downloaders: [first] });
    const summary = await run.finished;
    expect(summary.notModified).toBeGreaterThan(0);
    const plain = first.asked.filter(({ headers }) => headers?.["if-none-match"] === undefined);
    expect(new Set(plain.map(({ url }) => url)).size).toBe(plain.length); // each page whole once
    const again = site(() => void second.stop());
    const second = crawl({ ...base, directory, downloaders: [again] });
    expect((await second.finished).notModified).toBeGreaterThan(0);
    expect(again.asked[0]?.headers).toMatchObject({
      "if-none-match": '"1"',
      "if-modified-since": "Sun, 01 Nov 2026 00:00:00 GMT",
    });
  });

  it("asks conditionally under the rules that its directory keeps", async () => {
    const rules: Rule[] = [
      { id: "news", match: { hosts: ["site.example"] }, epoch: { every: 20 } },
    ];
    const { defaults: _, ...rest } = base;
    const options = { ...rest, directory: join(folder, "stored-rules"), maxPages: 20 };
    const first = site(() => void run.stop());
    const run = crawl({ ...options, rules, downloaders: [first] });
    expect((await run.finished).notModified).toBeGreaterThan(0);
    const again = site(() => void second.stop());
    const second = crawl({ ...options, downloaders: [again] });
    expect((await second.finished).notModified).toBeGreaterThan(0);
    expect(again.asked[0]?.headers).toMatchObject({ "if-none-match": '"1"' });
  });

  it("reads a page whole again whose visit ended too late: nobody took its links", async () => {
    const clock = createVirtualClock();
    const defaults = { epoch: { every: "1h" } } as const;
    const frontier = await openFrontier({ clock, leaseMs: 20, defaults });
    const slow = site(() => {});
    const downloader: Downloader = {
      async download(request) {
        const answer = await slow.download(request);
        if (slow.asked.length === 1) clock.advance(20);
        return answer;
      },
    };
    const run = crawl({ ...base, frontier, concurrency: 1, downloaders: [downloader] });
    run.on("page", ({ url }) => url.endsWith("/more") && void run.stop());
    const { pages, notModified } = await run.finished;
    expect([pages, notModified]).toEqual([3, 0]);
    await frontier.close();
  });

  it("under a new version reads every page whole, for its links belong to the new epoch", async () => {
    const directory = join(folder, "versions");
    for (const version of [1, 2]) {
      const whole = site(() => {});
      const options = { ...base, directory, defaults: { epoch: { version } } };
      const summary = await crawl({ ...options, downloaders: [whole] }).finished;
      expect(summary).toMatchObject({ pages: 2, notModified: 0, reason: "finished" });
    }
  });

  it("comes sooner to a page whose text changes, also after a restart, and later to one of which only noise does", async () => {
    const directory = join(folder, "adaptive");
    const startMs = Date.UTC(2026, 10, 1);
    let serial = 0;
    const noisy: Downloader = {
      async download({ url }) {
        const time = `<!-- ${++serial} --><script>now = ${serial}</script>`;
        const text = url.endsWith("/changes") ? `text ${serial}` : "always the same text";
        const body = Buffer.from(`${time}<p>${text}</p>`);
        const headers = { "content-type": "text/html", etag: `"${serial}"` };
        return { url, status: 200, headers, body, bytes: body.length, latencyMs: 1 };
      },
    };
    const seeds = ["http://site.example/changes", "http://site.example/rests"];
    const epoch = { adaptive: { min: "1h", max: "100h" } } as const;
    /** Visits of each page within so many hours. */
    const visits = async (fromMs: number, hours: number): Promise<number[]> => {
      const clock = createVirtualClock(fromMs);
      const counts = new Map(seeds.map((url) => [url, 0]));
      const run = crawl({
        ...{ seeds, directory, clock, delayMs: 0, robots: false, progressMs: 0 },
        ...{ defaults: { epoch }, downloaders: [noisy] },
      });
      run.on("page", ({ url }) => counts.set(url, (counts.get(url) ?? 0) + 1));
      const endMs = fromMs + hours * 3_600_000;
      for (let idle = 0; clock.now() < endMs; ) {
        await new Promise((resolve) => setImmediate(resolve));
        const { pending = 1, leased = 1 } = run.frontier?.report() ?? {};
        idle = pending + leased === 0 ? idle + 1 : 0;
        // To the next visit and no further: a lease lasts five minutes.
        if (idle >= 5) clock.advance((run.frontier?.nextDueAt() ?? endMs) - clock.now());
      }
      await run.stop();
      return [...counts.values()];
    };
    const [changes = 0, rests = 0] = await visits(startMs, 300);
    expect([changes > 150, rests < 12]).toEqual([true, true]);
    const [changesLater = 0, restsLater = 0] = await visits(startMs + 300 * 3_600_000, 99);
    expect([changesLater > 90, restsLater <= 2]).toEqual([true, true]);
  });
});
