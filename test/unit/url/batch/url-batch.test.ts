import { describe, expect, it } from "vitest";
import { loadKernelModule } from "../../../../src/engine/kernel-file.ts";
import { createKernel } from "../../../../src/kernel/kernel.ts";
import {
  BATCH_OK,
  BATCH_ROW_WORDS,
  BATCH_SKIPPED,
  BATCH_TOO_LONG,
  ROW_STATUS_WORD,
} from "../../../../src/layout/calls/url-batch.ts";
import {
  batchBase,
  batchIsAbsolute,
  batchKey,
  batchLoad,
  batchOne,
  batchParse,
  createUrlBatch,
} from "../../../../src/url/batch/url-batch.ts";
import type { UrlBatch } from "../../../../src/url/batch/batch-memory.ts";
import {
  batchChangedStrings,
  batchString,
  batchStrings,
} from "../../../../src/url/batch/batch-strings.ts";
import { type KeyPolicy, normalizePolicy } from "../../../../src/url/keys/key-policy.ts";
import { newBatch, rowWord } from "../../../support/url-check.ts";

function skip(batch: UrlBatch, row: number): void {
  const at = (batch.area.rows >>> 2) + row * BATCH_ROW_WORDS + ROW_STATUS_WORD;
  batch.area.kernel.region.views.u32[at] = BATCH_SKIPPED;
}

describe("UrlBatch", () => {
  it("loads no more rows than its capacity and its input hold, and one at least", () => {
    const batch = newBatch("release", { capacity: 4, maxUrlBytes: 200, inputBytes: 256 });
    const long = `http://h/${"a".repeat(150)}`;
    expect(batchLoad(batch, ["http://a", "b", "c", "d", "e"], 0)).toBe(4);
    expect(batchLoad(batch, ["http://a", "b", "c", "d", "e"], 4)).toBe(1);
    expect(batchLoad(batch, [long, long, long], 0)).toBe(1);
    expect(batchLoad(batch, [`${long}\u4e2d`, long], 0)).toBe(1);
    expect(batchLoad(batch, ["x".repeat(1_000_000), "y"], 0)).toBe(2);
    expect(batchLoad(batch, [], 0)).toBe(0);
  });

  it("tells whether all loaded URLs are absolute, as a regular expression tells", () => {
    const batch = newBatch("release", { maxUrlBytes: 40 });
    const good = [
      "http://a",
      "https://b/",
      `http://${"c".repeat(33)}`,
      "http://\u00fc/",
      "http://\u4e2d",
    ];
    const other = [
      "",
      "h",
      "http",
      "http:/",
      "https:/",
      "https:",
      "httpx://a",
      "HTTP://a",
      "/p",
      "mailto:a",
      " http://a",
    ];
    const isAbsolute = (url: string): boolean => /^https?:\/\//.test(url);
    for (const before of good) {
      for (const url of [...good, ...other]) {
        const list = [before, url, before];
        batchLoad(batch, list, 0);
        expect([list, batchIsAbsolute(batch)]).toEqual([list, list.every(isAbsolute)]);
      }
    }
    // One that is over the limit has no bytes: whoever asks looks at the string.
    batchLoad(batch, [`http://${"c".repeat(34)}`], 0);
    expect(batchIsAbsolute(batch)).toBe(false);
  });

  it("passes over skipped rows in every step", () => {
    const batch = newBatch();
    batchLoad(batch, ["http://a", "http://b/?b&a", "http://c\u00fc"], 0);
    skip(batch, 1);
    const parsed = batchParse(batch);
    skip(batch, 2);
    batchKey(parsed, normalizePolicy({ keepParams: ["a"] }));
    batchKey(parsed, normalizePolicy({ profile: "w3lib" }));
    expect(batchStrings(batch, "key")).toEqual(["http://a/", undefined, undefined]);
    expect(rowWord(batch, 1, ROW_STATUS_WORD)).toBe(BATCH_SKIPPED);
    expect(rowWord(batch, 2, ROW_STATUS_WORD)).toBe(BATCH_SKIPPED);
  });

  it("can key the same rows again under another policy", () => {
    const batch = newBatch();
    batchLoad(batch, ["http://a/?b&a#f", "http://h/"], 0);
    const parsed = batchParse(batch);
    batchKey(parsed);
    expect(batchStrings(batch, "key")).toEqual(["http://a/?a&b", "http://h/"]);
    batchKey(parsed, normalizePolicy({ fragment: "keep", sortQuery: false }));
    expect(batchStrings(batch, "key")).toEqual(["http://a/?b&a#f", "http://h/"]);
    expect(batchString(batch, 0, "visit")).toBe("http://a/?b&a#f");
    batchKey(parsed, normalizePolicy({ profile: "url", fragment: "drop" }));
    expect(batchStrings(batch, "key")).toEqual(["http://a/?b&a", "http://h/"]);
    expect(batchString(batch, 0, "visit")).toBe("http://a/?b&a");
  });

  it("mends a copy of the list where keys differ, whatever was keyed before", () => {
    const batch = newBatch();
    const urls = ["http://h/", "http://a/?b&a#f", "no url", "http://h/\u00fc", "http://z/?a&b"];
    const mended = (): (string | undefined)[] => {
      const strings: (string | undefined)[] = urls.slice();
      batchChangedStrings(batch, strings);
      return strings;
    };
    for (const list of [urls, ["http://one/"]]) {
      batchLoad(batch, list, 0);
      batchParse(batch);
    }
    batchLoad(batch, urls, 0);
    const parsed = batchParse(batch);
    const policies: KeyPolicy[] = [{}, { profile: "w3lib" }, { keepParams: ["b"] }, {}];
    for (const policy of policies) {
      batchKey(parsed, normalizePolicy(policy));
      expect(mended()).toEqual(batchStrings(batch, "key"));
    }
    expect(mended()[0]).toBe(urls[0]);
    expect(mended()[2]).toBeUndefined();
    batchKey(parsed, normalizePolicy({ profile: "url" }));
    expect(mended()).toEqual(batchStrings(batch, "key"));
  });

  it("keeps its base from batch to batch until another one is set", () => {
    const batch = newBatch();
    for (const base of ["http://b/x/y", "http://[::1]/x/y", "http://\u00fc.de/x/y"]) {
      expect(batchBase(batch, base)).toBe(true);
      const href = new URL("z", base).href;
      for (let round = 0; round < 2; round++) {
        batchLoad(batch, ["z", "http://\u00e4.de"], 0);
        batchParse(batch);
        expect(batchStrings(batch, "href")).toEqual([href, "http://xn--4ca.de/"]);
      }
    }
    expect(batchBase(batch, "not a base")).toBe(false);
    expect(batchOne(batch, ["http://x/"])).toBe(BATCH_OK);
  });

  it("answers one URL as it does a batch, at the edge of maxUrlBytes too", () => {
    const batch = newBatch("release", { maxUrlBytes: 20 });
    const cases = [
      ["aaaaaaaaaaa", BATCH_OK], // 20 bytes
      ["aaaaaaaaaaaa", BATCH_TOO_LONG],
      ["aaaaaaaaa\u00fc", BATCH_TOO_LONG], // 20 bytes as pushed, 24 as serialised
      ["aaaaaaaaaa\u00fc", BATCH_TOO_LONG],
      ["aaaaa\u00fc", BATCH_OK],
      ["a a a a", BATCH_TOO_LONG],
    ] as const;
    for (const [tail, status] of cases) {
      const url = `http://h/${tail}`;
      batchLoad(batch, [url], 0);
      const parsed = batchParse(batch);
      batchKey(parsed);
      expect(rowWord(batch, 0, ROW_STATUS_WORD), tail).toBe(status);
      expect(batchOne(batch, [url]), tail).toBe(status);
    }
  });

  it("says MEMORY_FULL when the region has no page left", () => {
    const kernel = createKernel(loadKernelModule(), { pageCountMax: 20 });
    expect(() => createUrlBatch(kernel, { maxUrlBytes: 10_000_000 })).toThrow("memory");
  });
});
