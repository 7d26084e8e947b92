import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { createRandom } from "../../../../src/base/random.ts";
import { createWarcFile, type WarcFileOptions } from "../../../../src/crawl/archive/warc-file.ts";
import { surtOf } from "../../../../src/crawl/archive/cdxj-index.ts";
import { digestText } from "../../../../src/crawl/archive/warc-records.ts";
import type { Exchange } from "../../../../src/crawl/module-registry.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "outrider-warc-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

function exchange(n: number, change: Partial<Exchange> = {}): Exchange {
  return {
    ...{ url: `http://www.site.test/p${n}?b=1&a=2`, atMs: 1_700_000_000_000 + n, method: "GET" },
    requestHeaders: [["host", "www.site.test"]],
    ...{ status: 200, statusText: "OK", latencyMs: 5 },
    responseHeaders: [["Content-Type", "text/html; charset=utf-8"]],
    body: Buffer.from(`page ${n} ${"x".repeat(n)}`),
    ...change,
  };
}

const text = (path: string): string => gunzipSync(readFileSync(path)).toString("latin1");
const count = (path: string, type: string): number =>
  text(path).split(`WARC-Type: ${type}\r\n`).length - 1;

/** Of responses and revisits, without their query. */
function urlsOf(path: string): string[] {
  const records = text(path).split("WARC/1.1\r\nWARC-Type: ");
  const answers = records.filter((each) => /^(?:response|revisit)\r/.test(each));
  return answers.map((each) => /(?<=WARC-Target-URI: )[^?]*/.exec(each)?.[0] ?? "");
}

describe("a WARC file", () => {
  it("cut at any byte is cut to its last whole record, and what was whole is indexed", async () => {
    const path = join(folder(), "a.warc.gz");
    const index = path.replace(".warc.gz", ".cdxj");
    const write = async (numbers: readonly number[]): Promise<number> => {
      const file = createWarcFile(path);
      for (const n of numbers) await file.archive(exchange(n));
      file.close();
      return file.cutBytes;
    };
    await write([1]);
    const one = statSync(path).size;
    await write([2]);
    const bytes = readFileSync(path);
    for (let end = one; end <= bytes.length; end += 41) {
      for (const lines of [0, 1, 2]) {
        writeFileSync(path, bytes.subarray(0, end));
        const before = readFileSync(index, "utf8")
          .split("\n")
          .filter((line) => /\/p[12]\?/.test(line));
        writeFileSync(index, `${before.slice(0, lines).join("\n")}\n{"torn`);
        const cut = await write([3]);
        expect(cut).toBeLessThan(bytes.length - one);
        const urls = urlsOf(path);
        const indexed = readFileSync(index, "utf8").match(/(?<="url":").*?(?=\?)/g);
        expect(indexed).toEqual([...urls].sort());
        expect(urls[0]).toBe("http://www.site.test/p1");
        expect(urls.at(-1)).toBe("http://www.site.test/p3");
      }
    }
  });

  it("refers to an equal body of this process or one before, never to a cut one", async () => {
    const path = join(folder(), "a.warc.gz");
    const body = Buffer.from("the same");
    const first = createWarcFile(path);
    await first.archive(exchange(0, { body, truncated: "length" }));
    await first.archive(exchange(1, { body }));
    await first.archive(exchange(2, { body }));
    await first.archive(exchange(3, { body, truncated: "length" }));
    await first.archive(exchange(4, { body: Buffer.alloc(0) }));
    await first.archive(exchange(5, { body: Buffer.alloc(0), status: 304 }));
    first.close();
    const second = createWarcFile(path);
    await second.archive(exchange(6, { body }));
    second.close();
    expect([count(path, "response"), count(path, "revisit")]).toEqual([4, 3]);
    expect(text(path).match(/WARC-Refers-To-Target-URI: .*/g)).toEqual([
      "WARC-Refers-To-Target-URI: http://www.site.test/p1?b=1&a=2",
      "WARC-Refers-To-Target-URI: http://www.site.test/p1?b=1&a=2",
    ]);
    expect(text(path).match(/revisit\/[\w-]+/g)).toEqual([
      "revisit/identical-payload-digest",
      "revisit/server-not-modified",
      "revisit/identical-payload-digest",
    ]);
  });

  it("goes on in the last file of a process before, and knows the bodies of all", async () => {
    const path = join(folder(), "a.warc.gz");
    const options: WarcFileOptions = { rotateBytes: 1 };
    const first = createWarcFile(path, options);
    for (const n of [1, 2, 3]) await first.archive(exchange(n));
    first.close();
    const second = createWarcFile(path, { rotateBytes: 1_000_000 });
    for (const n of [1, 2, 3, 4]) await second.archive(exchange(n));
    second.close();
    const paths = ["", "-0001", "-0002"].map((name) => path.replace(".warc", `${name}.warc`));
    expect([first.paths, second.paths]).toEqual([paths, paths]);
    expect(paths.map((each) => [count(each, "response"), count(each, "revisit")])).toEqual([
      [1, 0],
      [1, 0],
      [2, 3],
    ]);
  });

  it("writes exchanges of one turn together, each whole and where its index line has it", async () => {
    const path = join(folder(), "a.warc.gz");
    const file = createWarcFile(path, { rotateBytes: 20_000 });
    const random = createRandom(30);
    const noise = (bytes: number): Buffer =>
      Buffer.from(Array.from({ length: bytes }, () => random.below(256)));
    const bodies = Array.from({ length: 100 }, (_, n) =>
      n % 10 === 9 ? Buffer.from("the same") : noise(n === 50 ? 150_000 : 20 * n + 1),
    );
    const ends = bodies.map((body, n) => file.archive(exchange(n, { body })));
    await Promise.all(ends.slice(0, 50));
    await Promise.all(ends);
    file.close();
    expect(file.paths.length).toBeGreaterThan(1);
    const found = file.paths.flatMap((each) => {
      const bytes = readFileSync(each);
      const lines = readFileSync(each.replace(".warc.gz", ".cdxj"), "utf8").trimEnd().split("\n");
      return lines.map((line) => {
        const { offset, length, mime } = JSON.parse(line.slice(line.indexOf("{")));
        const record = gunzipSync(bytes.subarray(Number(offset), Number(offset) + Number(length)));
        const [, n] = /\/p(\d+)\?/.exec(record.toString("latin1")) ?? [];
        const block = record.subarray(record.indexOf("\r\n\r\n") + 4);
        return { n: Number(n), mime, body: block.subarray(block.indexOf("\r\n\r\n") + 4, -4) };
      });
    });
    found.sort((a, b) => a.n - b.n);
    expect(found.map(({ n }) => n)).toEqual(bodies.map((_, n) => n));
    for (const { n, mime, body } of found)
      if (mime !== "warc/revisit") expect([n, body.equals(bodies[n] as Buffer)]).toEqual([n, true]);
    expect(found.filter(({ mime }) => mime === "warc/revisit")).toHaveLength(9);
  });

  it("fails every exchange of a write that fails, and writes them when they come again", async () => {
    const path = join(folder(), "a.warc.gz");
    const file = createWarcFile(path, { rotateBytes: 1 });
    await file.archive(exchange(1));
    // The next file cannot be made.
    const next = path.replace(".warc.gz", "-0001.warc.gz");
    mkdirSync(next);
    const body = Buffer.from("the same");
    const both = [2, 3].map((n) => file.archive(exchange(n, { body })));
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual([
      "rejected",
      "rejected",
    ]);
    rmSync(next, { recursive: true });
    for (const n of [2, 3]) await file.archive(exchange(n, { body }));
    file.close();
    const read = file.paths.map((each) => [count(each, "response"), count(each, "revisit")]);
    expect(read).toEqual([
      [1, 0],
      [1, 0],
      [0, 1],
    ]);
  });

  it("has an index that is whole before the next file is made, and closes each file once", async () => {
    const path = join(folder(), "a.warc.gz");
    const indexed = (name: string): string[] => {
      const lines = readFileSync(path.replace(".warc.gz", `${name}.cdxj`), "utf8");
      return lines.match(/(?<=site\.test\/p)\d+/g) ?? [];
    };
    const file = createWarcFile(path, { rotateBytes: 1 });
    await file.archive(exchange(1));
    const next = path.replace(".warc.gz", "-0001.warc.gz");
    mkdirSync(next);
    await expect(file.archive(exchange(2))).rejects.toThrow();
    // A kill at this moment leaves this.
    expect(indexed("")).toEqual(["1"]);
    rmSync(next, { recursive: true });
    const block = path.replace(".warc.gz", ".cdxj.new");
    mkdirSync(block);
    await expect(file.archive(exchange(2))).rejects.toThrow();
    rmSync(block, { recursive: true });
    // Whatever is opened now may get the number of a file that was closed.
    const others = [1, 2].map((n) => openSync(`${path}.${n}`, "w"));
    await file.archive(exchange(2));
    others.push(openSync(`${path}.3`, "w"));
    await file.archive(exchange(3));
    file.close();
    for (const other of others) closeSync(other);
    expect(["", "-0001", "-0002"].map(indexed)).toEqual([["1"], ["2"], ["3"]]);
  });

  it("goes on behind the number of the last file where files before it were taken away", async () => {
    const path = join(folder(), "a.warc.gz");
    const first = createWarcFile(path, { rotateBytes: 1 });
    for (const n of [1, 2, 3]) await first.archive(exchange(n));
    first.close();
    for (const each of first.paths.slice(0, 2)) {
      rmSync(each);
      rmSync(each.replace(".warc.gz", ".cdxj"));
    }
    const second = createWarcFile(path, { rotateBytes: 1 });
    for (const n of [4, 5]) await second.archive(exchange(n));
    second.close();
    const later = [2, 3, 4].map((n) => path.replace(".warc", `-000${n}.warc`));
    expect(second.paths).toEqual([path, ...later]);
    expect(later.map((each) => count(each, "response"))).toEqual([1, 1, 1]);
  });

  it("says who wrote it, once for each opening", async () => {
    const path = join(folder(), "a.warc.gz");
    const clock = createVirtualClock(1_700_000_000_000);
    for (const n of [1, 2]) {
      const file = createWarcFile(path, { clock, info: { operator: "me" } });
      await file.archive(exchange(n));
      await file.archive(exchange(n + 2));
      file.close();
    }
    expect(count(path, "warcinfo")).toBe(2);
    expect(text(path)).toMatch(/^WARC\/1\.1\r\nWARC-Type: warcinfo\r\n/);
    expect(text(path)).toContain("WARC-Date: 2023-11-14T22:13:20.000Z\r\nWARC-Filename: a.warc.gz");
    expect(text(path)).toContain("operator: me\r\n");
  });

  it.each<[what: string, bytes: Buffer]>([
    ["text", Buffer.from("no archive at all")],
    ["a file that gzip named", Buffer.concat([Buffer.from([31, 139, 8, 8]), gzipSync("WARC/1.0")])],
    ["a gzip file of something else", gzipSync("<html>")],
  ])("leaves %s as it is, however short it is", (_, bytes) => {
    const path = join(folder(), "foreign.warc.gz");
    writeFileSync(path, bytes);
    expect(() => createWarcFile(path)).toThrow(
      expect.objectContaining({ code: "ARGUMENT_INVALID" }),
    );
    expect(readFileSync(path)).toEqual(bytes);
  });

  it("cuts the beginning of a first record, and what a power loss left of one", () => {
    const path = join(folder(), "begun.warc.gz");
    const record = gzipSync("WARC/1.1\r\n".repeat(40));
    for (const bytes of [record.subarray(0, 5), record.subarray(0, 30), Buffer.alloc(4_096)]) {
      writeFileSync(path, bytes);
      const file = createWarcFile(path);
      file.close();
      expect([file.cutBytes, existsSync(path)]).toEqual([bytes.length, false]);
    }
  });

  it("is not written over a file of another kind, and takes no other name or option", () => {
    const path = join(folder(), "a.warc.gz");
    writeFileSync(path, Buffer.alloc(100_000, 1));
    expect(() => createWarcFile(path)).toThrowError(
      expect.objectContaining({ code: "ARGUMENT_INVALID" }),
    );
    expect(statSync(path).size).toBe(100_000);
    truncateSync(path);
    appendFileSync(path, "torn");
    const torn = createWarcFile(path);
    torn.close();
    expect([torn.cutBytes, existsSync(path)]).toEqual([4, false]);
    for (const name of ["a.warc", ".warc.gz", "", 7 as never])
      expect(() => createWarcFile(name)).toThrowError(
        expect.objectContaining({ code: "ARGUMENT_INVALID" }),
      );
    for (const wrong of [{ rotateBytes: 0 }, { level: 10 }, { info: { a: "b\r\nc: d" } }])
      expect(() => createWarcFile(path, wrong)).toThrowError(
        expect.objectContaining({ code: "OPTION_INVALID" }),
      );
  });

  it.each([
    ["http://www.Example.com/A?b=2&a=1", "com,example)/a?a=1&b=2"],
    ["https://example.com:8080/", "com,example:8080)/"],
    ["http://127.0.0.1/x", "1,0,0,127)/x"],
    ["http://www2.a.b.test/", "test,b,a)/"],
  ])("sorts %s as %s", (url, surt) => expect(surtOf(url)).toBe(surt));

  it.each([
    ["da39a3ee5e6b4b0d3255bfef95601890afd80709", "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"],
    ["a9993e364706816aba3e25717850c26c9cd0d89d", "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"],
  ])("writes SHA-1 %s as %s", (hex, written) => expect(digestText(hex)).toBe(written));
});
