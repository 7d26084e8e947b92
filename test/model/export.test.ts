/**
 * Out of a directory as lines and into an empty one: random programs, and everything that is known afterwards must be equal:
 * records with every field, places, clocks, identities, counters; and so must what both hand out from then on.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { normalizeOptions } from "../../src/engine/options/normalize-options.ts";
import type { FrontierOptions, Lease } from "../../src/engine/types/frontier-types.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { openFrontier } from "../../src/index.ts";
import { exportFrontier, importFrontier } from "../../src/tools.ts";
import { nodeFiles } from "../../src/persistence/files.ts";
import { act, optionsOf } from "../support/durable-program.ts";
import { type DurableRig, knownOf } from "../support/durable-rig.ts";
import { stressRounds, testSeed } from "../support/seed.ts";

const PROGRAMS = stressRounds(3, 1);
const CALLS = 100;
const folder = mkdtempSync(join(tmpdir(), "outrider-export-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Values that JSON has no word for, and some that look like the words of ours. */
const ODD: readonly unknown[] = [
  ...[undefined, null, -0, Number.NaN, Number.NEGATIVE_INFINITY, 2n ** 62n, "", "$", "ä\u{1f600}"],
  ...[new Date(5), new Date(Number.NaN), new Set([1, "two", new Set([3n])]), Uint8Array.of(0, 255)],
  ...[{ $: "bytes", v: "AA==" }, { $: 1 }, [{ $: "undefined" }, undefined], { a: { b: [[]] } }],
  ...[{ 2: "two", 1: "one", z: undefined }, 1e300, 0.1, 2 ** 53, -(2 ** 53), [], {}],
];

test("an export brings back an equal frontier in an empty directory", async () => {
  const seed = testSeed("export");
  for (let program = 0; program < PROGRAMS; program++) {
    await run(seed + program).catch((error: unknown) => {
      throw new Error(`SEED=${seed + program}: ${(error as Error).message}`, { cause: error });
    });
  }
}, 600_000);

async function run(seed: number): Promise<void> {
  const random = createRandom(seed);
  const options = optionsOf(random);
  const first = join(folder, `first-${seed}`);
  const second = join(folder, `second-${seed}`);
  let rig = await openReal(first, createVirtualClock(1_000), options);
  const held: Lease[] = [];
  for (let call = 0; call < CALLS; call++) {
    act(rig, random, held);
    if (random.below(6) === 0) pushOdd(rig, random);
    if (random.below(50) === 0) await rig.frontier.snapshot();
  }
  rig.frontier.state = { odd: ODD.filter((one) => one !== undefined) };
  const nowMs = rig.clock.now();
  await rig.frontier.close();
  const clock = createVirtualClock(nowMs);
  const lines: string[] = [];
  for await (const line of exportFrontier(first, { options: { ...options, clock } })) {
    expect(line).not.toContain("\n");
    lines.push(line);
  }
  const { kind } = await importFrontier(second, lines, { options: { ...options, clock } });
  expect(kind).toBe("frontier");
  rig = await openReal(first, createVirtualClock(nowMs), options);
  const copy = await openReal(second, createVirtualClock(nowMs), options);
  verifyFrontier(copy.frontier);
  // What is due at this very moment may have taken its place while the lines were read, and does so at any call.
  for (const { frontier } of [rig, copy]) frontier.report();
  expect(knownOf(copy)).toEqual(knownOf(rig));
  expect(answersOf(copy)).toEqual(answersOf(rig));
  expect(restOf(copy)).toEqual(restOf(rig));
  expect(answersOf(copy)).toEqual(answersOf(rig));
  await rig.frontier.close({ discard: true });
  await copy.frontier.close({ discard: true });
}

async function openReal(
  directory: string,
  clock: DurableRig["clock"],
  options: FrontierOptions,
): Promise<DurableRig> {
  const settings = normalizeOptions({ directory, clock, seed: 1, ...options });
  const frontier = await LocalFrontier.open({ ...settings, pageCountMax: 1024, snapshotRows: 3 });
  return { frontier, files: nodeFiles, clock };
}

function pushOdd({ frontier, clock }: DurableRig, random: Random): void {
  const odd = ODD[random.below(ODD.length)];
  frontier.push({
    url: `https://odd${random.below(9)}.example/${random.below(99)}?ä=${random.below(3)}#f`,
    method: ["GET", "POST", "PUT"][random.below(3)] as string,
    body: random.below(2) === 0 ? "text ä" : Uint8Array.of(200, 0, random.below(256)),
    headers: { "x-a": "1", accept: "ü" },
    priority: random.below(5) - 2,
    ...(random.below(3) === 0 ? { notBefore: clock.now() + 50 } : {}),
    ...(random.below(3) === 0 ? { key: `own ${random.below(9)}` } : {}),
    ...(random.below(3) === 0 ? { handler: "list" } : {}),
    ...(random.below(3) === 0 ? { volatile: true } : {}),
    data: random.below(2) === 0 ? odd : { odd, at: [odd] },
  });
}

/** What every URL of the programs is known as. */
function answersOf({ frontier }: DurableRig): unknown[] {
  const urls = Array.from({ length: 200 }, (_, at) => `https://h${at % 5}.example/${at % 40}`);
  return urls.map((url) => frontier.record(url));
}

/** Hand-outs to the end, with all that a lease shows. */
function restOf({ frontier, clock }: DurableRig): unknown[] {
  const rest: unknown[] = [];
  for (let turns = 0; turns < 300; turns++) {
    for (const lease of frontier.pollMany(3)) {
      const { url, method, body, headers, data, priority, depth, attempt, deliveries } = lease;
      const { host, rule, parent, handler, fingerprint } = lease;
      rest.push([url, method, body, headers, data, priority, depth, attempt, deliveries]);
      rest.push([host, rule, parent, handler, fingerprint]);
      lease.done({ found: [`${url}/next`] });
    }
    clock.advance(40);
  }
  return rest;
}

test("an export is the same, line by line, whether its records fit into memory or not", async () => {
  const random = createRandom(testSeed("export from disk"));
  const source = join(folder, "spilled");
  const clock = createVirtualClock(1_000);
  const options = { clock, keepOpen: true, defaults: { order: "lifo" as const } };
  const frontier = await openFrontier({ ...options, directory: source });
  for (let round = 0; round < 40; round++) {
    const urls = Array.from({ length: 200 }, () => {
      const url = `https://h${random.below(30)}.example/${random.below(20_000)}`;
      return { url, priority: random.below(3), start: random.below(5) === 0 };
    });
    frontier.pushMany(urls);
    for (const lease of frontier.pollMany(20)) random.below(3) === 0 ? lease.fail() : lease.done();
  }
  await frontier.close();
  const linesOf = async (memoryBytes: number, only?: object): Promise<string[]> => {
    const lines: string[] = [];
    const how = { options: { ...options, memoryBytes }, ...(only === undefined ? {} : { only }) };
    for await (const line of exportFrontier(source, how)) lines.push(line);
    return lines;
  };
  const small = 60_000;
  const lines = await linesOf(1e9);
  expect(lines.filter((line) => line.startsWith('{"url"')).length).toBeGreaterThan(5_000);
  expect(await linesOf(small)).toEqual(lines);
  for (const only of [{ state: "failed" }, { host: "h7.example" }, { rule: "default" }]) {
    const [[field, value]] = Object.entries(only) as [[string, string]];
    const asked = lines.filter((line) => {
      const record = JSON.parse(line) as Record<string, unknown>;
      return "url" in record && record[field] === value;
    });
    expect(await linesOf(small, only)).toEqual(asked);
  }
}, 600_000);

test("a line that is changed, left out or cut off is refused by its number, and nothing is made", async () => {
  const source = join(folder, "source");
  const frontier = await openFrontier({ directory: source });
  frontier.pushMany(["https://a.example/1", "https://b.example/2", "https://a.example/3"]);
  frontier.poll()?.done();
  await frontier.close();
  const lines: string[] = [];
  for await (const line of exportFrontier(source)) lines.push(line);
  const target = join(folder, "target");
  const refusal = async (broken: readonly string[]): Promise<string> => {
    const error = await importFrontier(target, broken).then(
      () => undefined,
      (cause: unknown) => cause as { code: string; message: string },
    );
    expect(error?.code).toBe("SNAPSHOT_CORRUPT");
    return error?.message ?? "";
  };
  for (let at = 1; at < lines.length; at++) {
    expect(await refusal(lines.filter((_, line) => line !== at))).toMatch(/^line \d+: /);
  }
  const hit = lines.findIndex((line) => line.startsWith('{"url"'));
  const edited = (from: RegExp, to: string): string[] =>
    lines.map((line, at) => (at === hit ? line.replace(from, to) : line));
  expect(await refusal(edited(/"order":[-\d.]+/, '"order":"x"'))).toMatch(`line ${hit + 1}: order`);
  expect(await refusal(edited(/"state":"pending"/, '"state":"gone"'))).toMatch("state");
  expect(await refusal(edited(/"host":"[^"]*"/, '"host":"c.example"'))).toMatch("host");
  expect(await refusal(edited(/"id":"\w/, '"id":"'))).toMatch("16 hex digits");
  const whole = await importFrontier(target, lines);
  expect(whole).toMatchObject({ kind: "frontier", size: 2 });
  expect(await importFrontier(target, lines)).toMatchObject({ kind: "requests", duplicate: 2 });
});

test("hosts joined once however often a directory is opened, and new ones come behind them", async () => {
  const source = join(folder, "joined");
  const heads: unknown[] = [];
  for (let opening = 0; opening < 3; opening++) {
    const frontier = await openFrontier({ directory: source });
    frontier.pushMany(["https://c.example/1", "https://a.example/2", "https://b.example/3"]);
    if (opening === 1) await frontier.snapshot();
    await frontier.close();
    for await (const line of exportFrontier(source)) {
      if (line.startsWith('{"outrider"'))
        heads.push((JSON.parse(line) as { joined: number }).joined);
    }
  }
  expect(heads).toEqual([3, 3, 3]);
  const target = join(folder, "joined-copy");
  await importFrontier(target, exportFrontier(source));
  await using copy = await openFrontier({ directory: target });
  copy.push("https://0.example/4");
  const hosts = copy.pollMany(9).map(({ host }) => host);
  expect(hosts).toEqual(["c.example", "a.example", "b.example", "0.example"]);
});

test("the golden export of version 1 is read, and is what is written", async () => {
  const path = new URL("../golden/export-1.jsonl", import.meta.url);
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const directory = join(folder, "golden");
  const clock = createVirtualClock(2_000);
  await importFrontier(directory, lines, { options: { clock } });
  const written: string[] = [];
  for await (const line of exportFrontier(directory, { options: { clock } })) written.push(line);
  const ofTime = (line: string): string =>
    line.replace(/"savedAt":\d+/, "").replace(/"options":\{.*?\}\},/, "");
  expect(written.slice(1)).toEqual(lines.slice(1));
  expect(ofTime(written[0] as string)).toBe(ofTime(lines[0] as string));
});

test.each([1_500, 7_000])(
  "seeds that are still on their way in go along: in the copy each comes once, where there is room for %i",
  async (capacity) => {
    const seeds = ["http://a.test/[1-9000]", "http://b.test/[1-3000]"];
    const rules = seeds.map((seed, at) => ({ id: `rule-${at}`, seeds: [seed] }));
    const options = { rules, capacity };
    const first = join(folder, `seeds-${capacity}`);
    const second = join(folder, `seeds-again-${capacity}`);
    const visited: string[] = [];
    {
      await using frontier = await openFrontier({ ...options, directory: first });
      for (const lease of frontier.pollMany(70)) {
        visited.push(lease.url);
        lease.done();
      }
      expect(frontier.report().accepted).toBeLessThan(capacity + 71);
    }
    const lines: string[] = [];
    for await (const line of exportFrontier(first)) lines.push(line);
    const { accepted } = await importFrontier(second, lines);
    expect(accepted).toBeLessThan(12_000);
    await using copy = await openFrontier({ ...options, directory: second });
    verifyFrontier(copy);
    for await (const lease of copy) {
      visited.push(lease.url);
      lease.done();
    }
    verifyFrontier(copy);
    expect(copy.report()).toMatchObject({ accepted: 12_000, done: 12_000, duplicate: 0 });
    expect(visited.length).toBe(12_000);
    expect(new Set(visited).size).toBe(12_000);
  },
  600_000,
);
