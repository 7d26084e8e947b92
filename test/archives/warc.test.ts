/** WARC files that a crawl wrote, read by warcio and compared with what the server sent. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import { crawl, type CrawlOptions } from "../../src/crawl.ts";
import { testSeed } from "../support/seed.ts";
import { answer, type RawServer, serveRaw } from "./raw-server.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const HTML = "Content-Type: text/html; charset=utf-8";

interface ReadRecord {
  readonly type: string;
  readonly url: string;
  readonly fields: Record<string, string>;
  readonly block: string;
}
interface ReadFile {
  readonly records: ReadRecord[];
  readonly index: Array<Record<string, unknown>>;
}

function readWarc(path: string): ReadFile {
  const options = { maxBuffer: 512 * 1024 * 1024 };
  const text = execFileSync(process.execPath, [join(HERE, "read-warc.mjs"), path], options);
  return JSON.parse(String(text)) as ReadFile;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "outrider-warc-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

async function serve(answers: ReadonlyMap<string, Buffer>): Promise<RawServer> {
  const server = await serveRaw(answers);
  onTestFinished(() => server.close());
  return server;
}

const options = { allowPrivate: true, delayMs: 0, types: "any" } satisfies CrawlOptions;
const blockOf = ({ block }: ReadRecord): Buffer => Buffer.from(block, "base64");
const page = (...links: string[]): Buffer =>
  Buffer.from(links.map((link) => `<a href="${link}">${link}</a>`).join("\n"));
/** A body that no compression makes small. */
function noise(seed: number, bytes: number): Buffer {
  const random = createRandom(seed);
  return Buffer.from(Array.from({ length: bytes }, () => random.below(256)));
}
/** Index lines as far as warcio has their fields. */
function indexOf(path: string): unknown[] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(lines).toEqual([...lines].sort());
  return lines.map((line) => {
    const [, urlkey, timestamp, json = ""] = /^(\S+) (\d{14}) (.*)$/.exec(line) ?? [];
    const { url, mime, status, digest, length, offset } = JSON.parse(json) as ReadRecord["fields"];
    return { urlkey, timestamp, url, mime, status, digest, length, offset };
  });
}
/** warcio's, in our form: of a status, an offset and a length it makes numbers. */
function known(index: ReadFile["index"]): unknown[] {
  return index.map((entry) => ({
    ...{ ...entry, digest: entry.digest, mime: entry.mime },
    ...{ status: String(entry.status), length: String(entry.length), offset: String(entry.offset) },
  }));
}
/** The index beside a file has what warcio reads in it; records of one URL and second are in no order of their own. */
function expectIndexed(path: string, { index }: ReadFile): void {
  const byPlace = (entries: unknown[]): unknown[] =>
    (entries as Array<{ offset: string }>).sort((a, b) => Number(a.offset) - Number(b.offset));
  const ours = indexOf(path.replace(".warc.gz", ".cdxj"));
  expect(byPlace(ours)).toEqual(byPlace(known(index)));
}

describe("a crawl's WARC file, read by warcio", () => {
  it("has every answer as the server sent it, and every request as it was received", async () => {
    const body = page("/gzip", "/br", "/image.png?b=2&a=1", "/moved", "/gone", "/again", "/empty");
    const answers = new Map([
      ["/robots.txt", answer(200, ["Content-Type: text/plain"], Buffer.from("User-agent: *\n"))],
      ["/", answer(200, [HTML, "X-Case: Kept", "x-twice: 1", "X-Twice: \xe9"], body)],
      ["/gzip", answer(200, [HTML, "Content-Encoding: gzip"], gzipSync(page("/")))],
      ["/br", answer(200, [HTML, "Content-Encoding: br"], brotliCompressSync(page("/")))],
      ["/image.png?b=2&a=1", answer(200, ["Content-Type: image/png"], noise(1, 300_000))],
      ["/moved", answer(302, ["Location: /target"], Buffer.from("see there"))],
      ["/target", answer(200, [HTML], page("/target"))],
      ["/gone", answer(404, [HTML], page("nothing"))],
      ["/empty", answer(200, [HTML], Buffer.alloc(0))],
    ]);
    answers.set("/again", answers.get("/target") as Buffer);
    const server = await serve(answers);
    const path = join(folder(), "crawl.warc.gz");
    await crawl({ ...options, seeds: `${server.origin}/`, warc: path }).finished;
    const read = readWarc(path);
    const { records } = read;
    expect(records[0]).toMatchObject({ type: "warcinfo" });
    const of = (type: string): ReadRecord[] => records.filter((each) => each.type === type);
    const [again] = of("revisit");
    const responses = [...of("response"), ...of("revisit")];
    const paths = responses.map(({ url }) => url.slice(server.origin.length)).sort();
    expect(paths).toEqual([...answers.keys()].sort());
    for (const record of of("response")) {
      const sent = answers.get(record.url.slice(server.origin.length)) as Buffer;
      expect([record.url, blockOf(record).equals(sent)]).toEqual([record.url, true]);
    }
    // A body that was archived before is referred to.
    const sent = answers.get("/again") as Buffer;
    const first = of("response").find(
      ({ url }) => url === again?.fields["WARC-Refers-To-Target-URI"],
    );
    expect(of("revisit")).toHaveLength(1);
    expect(
      sent.toString("latin1").startsWith(blockOf(again as ReadRecord).toString("latin1")),
    ).toBe(true);
    expect(again?.fields["WARC-Payload-Digest"]).toBe(first?.fields["WARC-Payload-Digest"]);
    expect(again?.fields["WARC-Refers-To-Date"]).toBe(first?.fields["WARC-Date"]);
    expect(
      of("request")
        .map((each) => blockOf(each).toString("latin1"))
        .sort(),
    ).toEqual([...server.requests].sort());
    expect(of("metadata")).toHaveLength(answers.size);
    for (const { fields } of [...of("request"), ...of("metadata")]) {
      const beside = responses.find(
        (each) => each.fields["WARC-Record-ID"] === fields["WARC-Concurrent-To"],
      );
      expect(beside?.fields["WARC-Target-URI"]).toBe(fields["WARC-Target-URI"]);
    }
    expectIndexed(path, read);
  });

  it("says what it does not have: a body that was cut, one that was not wanted, and chunks", async () => {
    const chunked = Buffer.from(
      "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
    );
    const answers = new Map([
      ["/", answer(200, [HTML], page("/long", "/image", "/chunked"))],
      ["/long", answer(200, [HTML], Buffer.alloc(5_000, "a"))],
      ["/image", answer(200, ["Content-Type: image/png"], noise(2, 3_000))],
      ["/chunked", chunked],
    ]);
    const server = await serve(answers);
    const path = join(folder(), "crawl.warc.gz");
    const small = { ...options, types: ["text/html"], maxBytes: 1_000, robots: false };
    await crawl({ ...small, seeds: `${server.origin}/`, warc: path }).finished;
    const { records } = readWarc(path);
    const responses = records.filter(({ type }) => type === "response");
    const told = responses.map((record) => [
      record.url.slice(server.origin.length),
      record.fields["WARC-Truncated"],
      blockOf(record).length - blockOf(record).indexOf("\r\n\r\n") - 4,
    ]);
    expect(new Map(told.map(([key, ...rest]) => [key, rest]))).toEqual(
      new Map<unknown, unknown>([
        ["/", [undefined, page("/long", "/image", "/chunked").length]],
        ["/long", ["length", 1_000]],
        ["/image", ["unspecified", 0]],
        ["/chunked", [undefined, 5]],
      ]),
    );
    const last = responses.find(({ url }) => url.endsWith("/chunked")) as ReadRecord;
    expect(blockOf(last).toString()).toBe(
      "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Orig-Transfer-Encoding: chunked\r\n\r\nabcde",
    );
  });

  it("begins another file where one is full, and threads have files of their own", async () => {
    const links = Array.from({ length: 12 }, (_, n) => `/p${n}`);
    const answers = new Map([["/", answer(200, [HTML], page(...links))]]);
    for (const [n, link] of links.entries())
      answers.set(link, answer(200, [HTML], noise(n, 20_000)));
    const server = await serve(answers);
    for (const threads of [0, 2]) {
      const within = folder();
      const warc = { path: join(within, "crawl.warc.gz"), rotateBytes: 100_000 };
      const seeds = `${server.origin}/`;
      await crawl({ ...options, robots: false, threads, seeds, warc }).finished;
      const names = readdirSync(within).filter((name) => name.endsWith(".warc.gz"));
      const files = names.map((name) => join(within, name));
      const read = files.map(readWarc).flatMap(({ records }) => records);
      const urls = read.filter(({ type }) => type === "response").map(({ url }) => url);
      expect(urls.sort()).toEqual([...answers.keys()].map((each) => server.origin + each).sort());
      expect(files.length).toBeGreaterThan(2);
      for (const file of files) expectIndexed(file, readWarc(file));
    }
  });

  it("after a kill, and a second one, has all that was done, whole and once more where it was asked for again", async () => {
    const random = createRandom(testSeed("archives/kill"));
    const links = Array.from({ length: 60 }, (_, n) => `/p${n}`);
    const answers = new Map([["/", answer(200, [HTML], page(...links))]]);
    for (const [n, link] of links.entries())
      answers.set(link, answer(200, [HTML], noise(n, 1_000 + 500 * n)));
    const server = await serve(answers);
    const directory = folder();
    const path = join(directory, "crawl.warc.gz");
    const given = { ...options, robots: false, directory, seeds: `${server.origin}/`, warc: path };
    for (const isLast of [false, false, true]) {
      const killAt = existsSync(path)
        ? statSync(path).size + random.below(300_000)
        : random.below(300_000);
      const child = spawn(process.execPath, [join(HERE, "crawl-child.mjs"), JSON.stringify(given)]);
      let said = "";
      child.stdout.on("data", (chunk) => (said += String(chunk)));
      child.stderr.on("data", (chunk) => (said += String(chunk)));
      let isOver = false;
      const ended = new Promise<void>((resolve) =>
        child.on("close", () => {
          isOver = true;
          resolve();
        }),
      );
      while (!isLast && !isOver) {
        if (existsSync(path) && statSync(path).size > killAt) child.kill("SIGKILL");
        await new Promise((resolve) => setImmediate(resolve));
      }
      await ended;
      if (isLast) expect(said).toBe("finished");
    }
    const read = readWarc(path);
    const { records } = read;
    const whole = new Set<string>();
    for (const record of records.filter(({ type }) => type === "response")) {
      const key = record.url.slice(server.origin.length);
      expect([key, blockOf(record).equals(answers.get(key) as Buffer)]).toEqual([key, true]);
      whole.add(key);
    }
    expect([...whole].sort()).toEqual([...answers.keys()].sort());
    expectIndexed(path, read);
  });
});
