/**
 * Replaces a lock or spill files by other things: cut off, huge, binary, folders, links, pipes. An opening continues or reports the path;
 * it never waits for ever, throws no raw error, and touches nothing outside its directory.
 *
 *   a frontier, closed ─▶ something in a file's place ─▶ opened: all is there | FrontierError { path } ─▶ taken away ─▶ all is there
 */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FrontierError } from "../../src/base/errors.ts";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import type { Frontier } from "../../src/engine/types/frontier-types.ts";
import { skipUnless } from "../support/skip.ts";

const directories: string[] = [];

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "hostile-files-"));
  directories.push(directory);
  return directory;
}

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

const COUNT = 3_000;
const URLS = Array.from({ length: COUNT }, (_, at) => `http://host${at % 7}.test/${at}`);

function open(directory: string): Promise<Frontier> {
  return openFrontier({ directory, keepOpen: true, memoryBytes: 60_000 });
}

async function filled(): Promise<string> {
  const directory = temporary();
  await using frontier = await open(directory);
  for (let at = 0; at < COUNT; at += 500) frontier.pushMany(URLS.slice(at, at + 500));
  expect(frontier.report().memory.spilledBytes).toBeGreaterThan(0);
  return directory;
}

/** All URLs, in their order. */
async function allOf(directory: string): Promise<string[]> {
  await using frontier = await open(directory);
  const urls: string[] = [];
  for (let leases = frontier.pollMany(500); leases.length > 0; leases = frontier.pollMany(500)) {
    urls.push(...leases.map(({ url }) => url));
  }
  return urls; // the leases go back to their places
}

/** Compares to one word: thousands of differing lines help no reader. */
function sameAs(expected: readonly string[], got: readonly string[]): boolean {
  return got.length === expected.length && got.every((url, at) => url === expected[at]);
}

const OWNER = {
  ...{ pid: 1, started: "1", boot: "another", space: "pid:[1]", host: "here" },
  nonce: "0".repeat(32),
};
const text = (more: object) => JSON.stringify({ ...OWNER, ...more });
const pipe = (path: string) => expect(spawnSync("mkfifo", [path]).status).toBe(0);
const asFile = (content: string | Uint8Array) => (path: string) => writeFileSync(path, content);

/** Things in the place of the lock, and the code of the refusal; "": the opening takes the lock over. */
const LOCKS: ReadonlyArray<readonly [name: string, make: (path: string) => void, code: string]> = [
  ["nothing in it", asFile(""), ""],
  ["half of an owner", asFile(text({}).slice(0, 40)), ""],
  ["bytes that are no text", asFile(Uint8Array.from({ length: 99 }, (_, at) => 255 - at)), ""],
  ["no owner but null", asFile("null"), ""],
  ["an owner without a process", asFile(text({ pid: 0 })), ""],
  ["an owner that is a group of processes", asFile(text({ pid: -1 })), ""],
  ["an owner whose nonce is a path", asFile(text({ nonce: "x/../../../outside" })), ""],
  ["an owner without a host", asFile(text({ host: undefined })), ""],
  [
    "a terabyte",
    (path) => {
      writeFileSync(path, "{");
      truncateSync(path, 2 ** 40);
    },
    "",
  ],
  ["a folder", (path) => mkdirSync(path), "DISK_FAILED"],
  ["a link to nothing", (path) => symlinkSync(join(path, "../nowhere"), path), "DISK_FAILED"],
  ["a link to itself", (path) => symlinkSync(path, path), "DISK_FAILED"],
  ["a link to a folder", (path) => symlinkSync(tmpdir(), path), "DISK_FAILED"],
  ["a pipe", pipe, ""],
  ["another machine's owner", asFile(text({ host: "elsewhere" })), "FRONTIER_LOCKED"],
];

beforeEach((context) => skipUnless(context, process.platform !== "win32", "not on Windows"));

describe("in the place of a lock", () => {
  it.each(LOCKS)("%s is taken over or reported by name", async (_, make, code) => {
    const directory = await filled();
    const path = join(directory, "default/lock");
    const above = readdirSync(directory);
    make(path);
    const told = await open(directory).then(
      (frontier) => frontier.close().then(() => ""),
      (error: unknown) => {
        expect(error).toBeInstanceOf(FrontierError);
        expect((error as FrontierError).message).toContain(path);
        return (error as FrontierError).code;
      },
    );
    expect(told).toBe(code);
    if (code !== "") rmSync(path, { recursive: true });
    expect(sameAs(URLS, await allOf(directory))).toBe(true);
    expect(readdirSync(directory)).toEqual(above);
    expect(readdirSync(join(directory, "default")).filter((name) => /lock/.test(name))).toEqual([]);
  });

  it("a link to another file is replaced, and that file is unchanged", async () => {
    const directory = await filled();
    const outside = join(temporary(), "outside");
    writeFileSync(outside, "somebody's");
    symlinkSync(outside, join(directory, "default/lock"));
    expect(sameAs(URLS, await allOf(directory))).toBe(true);
    expect(readFileSync(outside, "utf8")).toBe("somebody's");
  });
});

describe("in the place of spill files", () => {
  it.each([
    ["a file instead of the folder", (at: string) => writeFileSync(at, "x")],
    ["a link to nothing instead of the folder", (at: string) => symlinkSync(`${at}-none`, at)],
    [
      "a folder instead of a segment",
      (at: string) => mkdirSync(join(at, "spill-00000001.seg"), { recursive: true }),
    ],
  ])("%s is told by name, and nothing is lost", async (_, make) => {
    const directory = await filled();
    const spill = join(directory, "default/spill");
    rmSync(spill, { recursive: true });
    make(spill);
    const refused = await open(directory).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(FrontierError);
    expect((refused as FrontierError).code).toMatch(/^DISK_/);
    expect((refused as FrontierError).message).toContain(spill);
    rmSync(spill, { recursive: true });
    expect(sameAs(URLS, await allOf(directory))).toBe(true);
  });

  it("foreign pipes, links and a terabyte file are removed unread", async () => {
    const directory = await filled();
    const spill = join(directory, "default/spill");
    const outside = join(temporary(), "outside");
    writeFileSync(outside, "somebody's");
    pipe(join(spill, "spill-00000001.seg"));
    symlinkSync(outside, join(spill, "spill-00000002.seg"));
    writeFileSync(join(spill, "spill-00000003.seg"), "");
    truncateSync(join(spill, "spill-00000003.seg"), 2 ** 40);
    expect(sameAs(URLS, await allOf(directory))).toBe(true);
    expect(readFileSync(outside, "utf8")).toBe("somebody's");
    expect(existsSync(join(spill, "spill-00000003.seg"))).toBe(false);
  });

  it.each([
    ["cut off", (path: string) => truncateSync(path, 100)],
    ["removed", (path: string) => rmSync(path)],
    ["overwritten", (path: string) => writeFileSync(path, Buffer.alloc(100_000, 7))],
  ])(
    "a segment that is %s under a running frontier is told by name, and nothing is lost",
    async (_, hurt) => {
      const directory = await filled();
      const frontier = await open(directory);
      const spill = join(directory, "default/spill");
      for (const name of readdirSync(spill)) hurt(join(spill, name));
      const pollAll = (): void => {
        for (let left = COUNT; left > 0; left -= 100) frontier.pollMany(100);
      };
      expect(pollAll).toThrow(FrontierError);
      expect(pollAll).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/^(SNAPSHOT_CORRUPT|DISK_GONE)$/) }),
      );
      await frontier.close();
      expect(sameAs(URLS, await allOf(directory))).toBe(true);
    },
  );
});
