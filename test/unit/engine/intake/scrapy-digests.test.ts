/**
 * Scrapy's requests.seen: golden data made with Scrapy 2.8.0, whose fingerprinter made each fingerprint and whose duplicate filter
 * wrote both lists into a JOBDIR.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { exportFrontier } from "../../../../src/engine/transfer/export-frontier.ts";
import { importFrontier } from "../../../../src/engine/transfer/import-frontier.ts";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import { presets } from "../../../../src/engine/options/presets.ts";
import type { FrontierOptions, RequestInput } from "../../../../src/engine/types/frontier-types.ts";
import { verifyDirectory } from "../../../../src/engine/transfer/verify-directory.ts";
import { sortDigests } from "../../../../src/persistence/transfer/digest-file.ts";
import { testRandom } from "../../../support/seed.ts";

interface Golden {
  readonly requests: ReadonlyArray<RequestInput & Record<string, string>>;
  readonly "requests.seen": Readonly<Record<string, readonly string[]>>;
}

const GOLDEN = JSON.parse(
  readFileSync(fileURLToPath(new URL("../../../golden/scrapy-seen.json", import.meta.url)), "utf8"),
) as Golden;
const SEEN = GOLDEN["requests.seen"];
const OPTIONS = { ...presets.scrapy(), keepOpen: true } satisfies FrontierOptions;
const directories: string[] = [];

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "visited-"));
  directories.push(directory);
  return directory;
}

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function requestOf({ url, method, body }: RequestInput): RequestInput {
  return {
    url,
    ...(method === undefined ? {} : { method }),
    ...(body === undefined ? {} : { body }),
  };
}

async function imported(lines: readonly string[] = SEEN["2.7"] ?? []): Promise<string> {
  const directory = temporary();
  await importFrontier(directory, lines, { options: OPTIONS });
  return directory;
}

const KNOWN = "http://www.example.com/query?cat=222&id=111";

describe("fingerprints of Scrapy's requests.seen", () => {
  for (const version of ["2.6", "2.7"]) {
    it(`made by implementation ${version} are known again, request by request`, async () => {
      const directory = await imported(SEEN[version]);
      await using frontier = await openFrontier({ ...OPTIONS, directory });
      expect(frontier.report().seenSet.imported).toBe(SEEN[version]?.length);
      for (const request of GOLDEN.requests) {
        const known = requestOf(request);
        expect(frontier.explain(known).verdict.status, request.url).toBe("duplicate");
        expect(frontier.push(known).status, request.url).toBe("duplicate");
        const { method = "GET" } = request;
        const other = method === "GET" ? { method: "DELETE" } : { body: "another" };
        expect(frontier.push({ ...known, ...other }).status, request.url).not.toBe("rejected");
      }
      const plain = GOLDEN.requests.filter(({ method, body }) => method === undefined && !body);
      const urls = plain.map(({ url }) => url);
      const result = frontier.pushMany([...urls, "http://new.example/", "http://new.example/2"]);
      expect(result).toMatchObject({ duplicate: urls.length, accepted: 2 });
    });
  }

  it("hold for found links, and not for what is never refused or of an epoch of its own", async () => {
    await using frontier = await openFrontier({ ...OPTIONS, directory: await imported() });
    frontier.push("http://seed.example/");
    const found = frontier.poll()?.done({ found: [KNOWN, "http://www.example.com/new"] });
    expect(found).toMatchObject({ duplicate: 1, accepted: 1 });
    expect(frontier.push({ url: KNOWN, dedup: "record" }).status).toBe("accepted");
    expect(frontier.push({ url: KNOWN, dedup: "skip" }).status).toBe("accepted");
    expect(frontier.push({ url: KNOWN, epoch: "tuesday" }).status).toBe("accepted");
    expect(frontier.push({ url: KNOWN, key: "mine" }).status).toBe("accepted");
    frontier.setRules([{ id: "plain", key: { profile: "url" } }]);
    expect(frontier.push("http://example.org/?x=").status).toBe("accepted");
  });

  it("survive a kill and a snapshot, grow by another import, and go with a generation", async () => {
    const directory = await imported(SEEN["2.6"]);
    const first = await openFrontier({ ...OPTIONS, directory });
    await first.flush();
    const copy = temporary();
    cpSync(directory, copy, { recursive: true }); // as a kill leaves it
    rmSync(join(copy, "default", "lock"));
    expect(first.push(KNOWN).status).toBe("duplicate");
    await first.snapshot();
    await first.close();
    const more = await importFrontier(directory, [...(SEEN["2.7"] ?? []), "ab".repeat(20)]);
    expect(more).toMatchObject({ kind: "digests", accepted: 96, duplicate: 0, passed: 0 });
    const again = await importFrontier(directory, SEEN["2.7"] ?? []);
    expect(again).toMatchObject({ accepted: 0, duplicate: 95 });
    const files = (): string[] =>
      readdirSync(join(directory, "default")).filter((name) => name.endsWith(".sha1"));
    expect(files()).toEqual(["digests-00000003.sha1"]);
    expect(await verifyDirectory(directory)).toMatchObject({ isWhole: true });
    for (const at of [copy, directory]) {
      const second = await openFrontier({ ...OPTIONS, directory: at });
      expect(second.push(KNOWN).status).toBe("duplicate");
      second.forget();
      expect(second.report().seenSet.imported).toBe(0);
      expect(second.push(KNOWN).status).toBe("accepted");
      await second.close();
      const third = await openFrontier({ ...OPTIONS, directory: at });
      expect(third.report().seenSet.imported).toBe(0);
      await third.close();
    }
    expect(files()).toEqual([]);
    await importFrontier(directory, SEEN["2.6"] ?? []);
    const cleared = await openFrontier({ ...OPTIONS, directory });
    expect(cleared.push("http://example.org/?x=").status).toBe("duplicate");
    cleared.clear();
    expect(cleared.push("http://example.org/?x=").status).toBe("accepted");
    await cleared.close();
    const last = await openFrontier({ ...OPTIONS, directory });
    expect(last.report().seenSet.imported).toBe(0);
    await last.close({ discard: true });
    expect(files()).toEqual([]);
  });

  it("go along with an export, and come back", async () => {
    const directory = await imported();
    const lines: string[] = [];
    for await (const line of exportFrontier(directory)) lines.push(line);
    expect(lines.at(-1)).toBe('{"end":{"hosts":0,"seen":0,"records":0,"sha1":95}}');
    const copy = temporary();
    expect(await importFrontier(copy, lines)).toMatchObject({ kind: "frontier" });
    await using frontier = await openFrontier({ ...OPTIONS, directory: copy });
    expect(frontier.report().seenSet.imported).toBe(95);
    expect(frontier.push(KNOWN).status).toBe("duplicate");
    const cut = lines.filter((line) => !line.startsWith('{"sha1"'));
    await expect(importFrontier(temporary(), cut)).rejects.toMatchObject({
      code: "SNAPSHOT_CORRUPT",
    });
  });

  it("are refused whole where a line is none, but for a last one that a kill cut short", async () => {
    const [one = "", two = ""] = SEEN["2.7"] ?? [];
    const directory = temporary();
    const wrong = importFrontier(directory, [one, "http://x.test/", two], { options: OPTIONS });
    await expect(wrong).rejects.toMatchObject({ code: "REQUEST_INVALID", details: { line: 2 } });
    expect(readdirSync(directory)).toEqual([]);
    const other = importFrontier(directory, [one]);
    await expect(other).rejects.toMatchObject({ code: "PROFILE_MISMATCH" });
    expect(readdirSync(directory)).toEqual([]);
    const torn = await importFrontier(directory, [one, two.slice(0, 7)], { options: OPTIONS });
    expect(torn).toMatchObject({ kind: "digests", size: 1, accepted: 1, passed: 1 });
  });

  it("are named where their file is damaged or missing, and nothing is touched", async () => {
    const directory = await imported();
    const path = join(directory, "default", "digests-00000001.sha1");
    const good = readFileSync(path);
    for (const at of [0, 5, 9, 12, 16, 500, good.length - 1]) {
      const bad = Buffer.from(good);
      bad[at] = (bad[at] as number) ^ 8;
      writeFileSync(path, bad);
      const opening = openFrontier({ ...OPTIONS, directory });
      await expect(opening).rejects.toMatchObject({ code: "SNAPSHOT_CORRUPT" });
      const check = await verifyDirectory(directory);
      expect(check).toMatchObject({ isWhole: false, damage: [expect.stringContaining(path)] });
    }
    rmSync(path);
    const opening = openFrontier({ ...OPTIONS, directory });
    await expect(opening).rejects.toThrow("digests-00000001.sha1 at 0: missing");
    writeFileSync(path, good);
    await using frontier = await openFrontier({ ...OPTIONS, directory });
    expect(frontier.push(KNOWN).status).toBe("duplicate");
  });

  it("are sorted as a sort by their text would, each once", () => {
    const random = testRandom("digests");
    const texts = Array.from({ length: 3_000 }, () => {
      const words = Array.from({ length: 5 }, () => random.word().toString(16).padStart(8, "0"));
      return `${random.below(3) === 0 ? "0a0b" : ""}${words.join("")}`.slice(0, 40);
    });
    const twice = [...texts, ...texts.slice(0, 500)];
    const sorted = Buffer.from(sortDigests(Buffer.from(twice.join(""), "hex"))).toString("hex");
    expect(sorted.match(/.{40}/g)).toEqual([...new Set(twice)].sort());
  });
});
