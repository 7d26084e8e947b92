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
      validators.learn(url, "default", ETAG);
      expect(known(validators, url)).toEqual({});
      validators.setRules([{ id: "news", epoch: { every: "1h" } }]);
      expect(validators.isWanted("news")).toBe(true);
      expect(validators.headersFor(url, "news")).toEqual({}); // of other epochs nothing is kept
      validators.learn(url, "news", ETAG);
      expect(validators.headersFor(url, "news")).toEqual(ETAG);
      expect(validators.headersFor(url, "other")).toEqual({});
    }
    const { validators } = open();
    validators.learn(url, "default", ETAG);
    expect(known(validators, url)).toEqual(ETAG);
    validators.learn(url, "default", undefined);
    expect(known(validators, url)).toEqual({});
  });

  it("are written only when a later flush shows that the end of their page is durable", () => {
    const path = join(folder, "order.jsonl");
    const { clock, validators } = open(path);
    const written = (): number => openLineFile(path).takeLines().length;
    validators.learn("http://a.test/1", "default", ETAG);
    clock.advance(10);
    validators.flushed(clock.now()); // this flush may have begun before the page was done
    expect(written()).toBe(0);
    clock.advance(10);
    validators.learn("http://a.test/2", "default", ETAG);
    clock.advance(10);
    validators.flushed(clock.now());
    expect(written()).toBe(1);
    validators.flushed(Number.POSITIVE_INFINITY);
    expect(written()).toBe(2);
  });

  it("outlive the process: the last word of each page counts, and what is no line of ours is passed over", () => {
    const path = join(folder, "kept.jsonl");
    const first = open(path).validators;
    first.learn("http://a.test/1", "default", ETAG);
    first.learn("http://a.test/2", "default", ETAG);
    first.learn("http://a.test/2", "default", { "if-modified-since": "then" });
    first.learn("http://a.test/3", "default", ETAG);
    first.learn("http://a.test/3", "default", undefined);
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
      validators.learn(`http://a.test/${page}`, "default", ETAG);
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
    for (const [url, headers] of pages) validators.learn(url, "default", headers);
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
});
