/** Looking at a directory: what was stored of its options, copies to look at, and the check of all files, with nothing changed. */
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openFrontier, presets } from "../../../../src/index.ts";
import {
  exportFrontier,
  importFrontier,
  storedOptions,
  verifyDirectory,
} from "../../../../src/tools.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "outrider-look-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Every name, size, mode, time of change and byte below a folder. */
function hashOf(folder: string): string {
  const hash = createHash("sha256");
  const walk = (path: string): void => {
    for (const name of readdirSync(path).sort()) {
      const one = join(path, name);
      const { mode, mtimeMs, size } = statSync(one);
      if (statSync(one).isDirectory()) walk(one);
      else hash.update(`${one} ${size} ${mode} ${mtimeMs}`).update(readFileSync(one));
    }
    hash.update(`${path} ${statSync(path).mtimeMs}`);
  };
  walk(folder);
  return hash.digest("hex");
}

const URLS = Array.from({ length: 300 }, (_, at) => `https://h${at % 7}.example/${at}`);

async function crawled(isClosed: boolean): Promise<{ close(): Promise<void> }> {
  const frontier = await openFrontier({ ...presets.scrapy(), directory });
  frontier.pushMany(URLS.slice(0, 200));
  frontier.done(frontier.pollMany(20));
  await frontier.snapshot();
  frontier.pushMany(URLS);
  frontier.poll();
  await frontier.flush();
  if (isClosed) await frontier.close();
  return frontier;
}

it("a copy shows what its owner would, and not a byte, name or time of the directory changes", async () => {
  const owner = (await crawled(false)) as Awaited<ReturnType<typeof openFrontier>>;
  const before = hashOf(directory);
  const { options } = storedOptions(directory) ?? { options: {} };
  const copy = await openFrontier({ ...options, directory, readOnly: true });
  expect(copy.report().pending).toBe(owner.report().pending + 1); // the lease comes back
  copy.pushMany(["https://new.example/"]);
  copy.done(copy.pollMany(50));
  await copy.flush();
  await copy.snapshot();
  await copy.close();
  expect(hashOf(directory)).toBe(before);
  owner.push("https://later.example/");
  await owner.close();
  const again = await openFrontier({ ...options, directory });
  expect(again.record("https://new.example/")).toBe(undefined);
  expect(again.record("https://later.example/")?.state).toBe("pending");
  await again.close();
});

it("verify names file and place of damage, counts what is whole, and changes nothing", async () => {
  await crawled(true);
  const own = join(directory, "default");
  const whole = await verifyDirectory(directory);
  expect(whole).toMatchObject({ isWhole: true, damage: [], records: 300, owner: undefined });
  const names = readdirSync(own)
    .filter((name) => /^(journal|snapshot)-/.test(name))
    .sort();
  for (const name of names) {
    const path = join(own, name);
    const bytes = readFileSync(path);
    const spoiled = Uint8Array.from(bytes);
    // The very last frame, flipped, can not be told from a torn one: there it is the head.
    const at = name === names.filter((each) => each.endsWith(".log")).at(-1) ? 40 : 200;
    spoiled[at] = (spoiled[at] as number) ^ 4;
    writeFileSync(path, spoiled);
    const before = hashOf(directory);
    const { isWhole, files, damage } = await verifyDirectory(directory);
    const found = files.find((file) => file.path === path);
    expect([name, isWhole, found?.state]).toEqual([name, false, "damaged"]);
    expect(found?.offset).toBeLessThanOrEqual(at);
    expect(damage.join()).toContain(name);
    expect(hashOf(directory)).toBe(before);
    writeFileSync(path, bytes);
  }
});

it("a torn tail is no damage, and stays where it is", async () => {
  await crawled(true);
  const own = join(directory, "default");
  const last = readdirSync(own)
    .filter((name) => name.endsWith(".log"))
    .sort()
    .at(-1) as string;
  writeFileSync(join(own, last), readFileSync(join(own, last)).subarray(0, -3));
  const before = hashOf(directory);
  const { isWhole, files } = await verifyDirectory(directory);
  expect(isWhole).toBe(true);
  expect(files.find(({ path }) => path.endsWith(last))?.state).toBe("torn");
  expect(hashOf(directory)).toBe(before);
});

it("a directory opens by what it stores, and says which functions it can not", async () => {
  const rules = [{ id: "news", match: { domains: ["example.org"] } }];
  const given = {
    rules,
    defaults: { key: { keepParams: ["id"], keyOf: () => "one" }, order: "lifo" as const },
    seen: { mode: "exact" as const, capacity: 9 },
    accept: () => true,
    maxDeliveries: 3,
  };
  const frontier = await openFrontier({ ...given, directory });
  frontier.push("https://example.org/");
  await frontier.close();
  const { options, missing } = storedOptions(directory) ?? { options: {}, missing: [] };
  expect([...missing].sort()).toEqual(["accept", "defaults.key.keyOf"]);
  expect(options).toMatchObject({
    maxDeliveries: 3,
    seen: given.seen,
    defaults: { order: "lifo" },
  });
  const copy = await openFrontier({ ...options, directory, readOnly: true });
  expect(copy.peek(5).map(({ url, rule }) => [url, rule])).toEqual([
    ["https://example.org/", "news"],
  ]);
  expect(copy.push("https://example.org/2").status).toBe("rejected"); // nobody knows its key
  await copy.close();
  expect(storedOptions(directory, "other")).toBe(undefined);
});

it("a copy is refused where there is nothing to look at, and makes nothing", async () => {
  const before = hashOf(directory);
  await expect(openFrontier({ directory, readOnly: true })).rejects.toMatchObject({
    code: "DISK_GONE",
  });
  await expect(verifyDirectory(directory)).rejects.toMatchObject({ code: "DISK_GONE" });
  await expect(openFrontier({ readOnly: true })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  expect(hashOf(directory)).toBe(before);
});

it.each([
  ["exportFrontier", (directory: never, name: never) => exportFrontier(directory, { name }).next()],
  ["importFrontier", (directory: never, name: never) => importFrontier(directory, [], { name })],
  ["verifyDirectory", (directory: never, name: never) => verifyDirectory(directory, { name })],
  ["storedOptions", async (directory: never, name: never) => storedOptions(directory, name)],
])("%s refuses a directory or a name that is no text, by name", async (_, call) => {
  for (const wrong of [undefined, null, 5, {}, Symbol("s")] as never[]) {
    await expect(call(wrong, "a" as never)).rejects.toMatchObject({
      ...{ code: "ARGUMENT_INVALID", details: { name: "directory" } },
    });
    if (wrong === undefined) continue; // the default
    await expect(call("nowhere" as never, wrong)).rejects.toMatchObject({
      ...{ code: "ARGUMENT_INVALID", details: { name: "name" } },
    });
  }
});
