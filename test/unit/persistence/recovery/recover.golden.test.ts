/** Golden files of every version open to their content. They are only ever added: `GOLDEN=write` writes missing ones. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import type { FrontierOptions } from "../../../../src/engine/types/frontier-types.ts";
import { type DurableRig, knownOf, openMemoryRig, openRig } from "../../../support/durable-rig.ts";
import { readGolden, writeGolden } from "../../../support/golden-files.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";

const FOLDER = fileURLToPath(new URL("../../../golden/durable-1/", import.meta.url));
const FOLDER_2 = fileURLToPath(new URL("../../../golden/durable-2/", import.meta.url));
const FOLDER_3 = fileURLToPath(new URL("../../../golden/durable-3/", import.meta.url));

const JOURNAL_AND_SNAPSHOT = /default\/(journal|snapshot)-/;

/** A missing file fails its test unless it was asked for: a new one would prove nothing about its version. */
const mayWrite = (path: string): boolean => process.env.GOLDEN === "write" && !existsSync(path);

const GROUPED: FrontierOptions = {
  defaults: {
    politeness: {
      groups: [
        { by: "domain", delayMs: 700 },
        { by: "address", delayMs: 900 },
      ],
    },
  },
};

/** The calls from which the golden files were made: two generations. */
async function write(): Promise<void> {
  const files = createMemoryFiles();
  const rig = await openRig(files, createVirtualClock(1_000));
  rig.frontier.pushMany(["https://a.example/1", "https://b.example/2", "https://b.example/3"]);
  rig.frontier.poll()?.done({ found: ["https://c.example/4"] });
  await rig.frontier.snapshot();
  rig.frontier.push({ url: "https://d.example/5", priority: 2, data: { x: [1, "ä"] } });
  rig.frontier.push({ url: "https://d.example/6", notBefore: 5_000, dedup: "record" });
  rig.frontier.host("b.example").delayMs = 250;
  rig.frontier.state.step = 3;
  await rig.frontier.close();
  writeGolden(FOLDER, files, /./);
}

it("version 1 of journal and snapshot open to their content", async () => {
  if (mayWrite(FOLDER)) await write();
  const files = readGolden(FOLDER);
  const rig = await openRig(files, createVirtualClock(1_000));
  const { hosts, records, state } = knownOf(rig);
  expect(records.map(({ url, state: at, due, priority }) => [url, at, due, priority])).toEqual([
    ["https://b.example/2", 1, 0, 0],
    ["https://b.example/3", 1, 0, 0],
    ["https://c.example/4", 1, 0, 0],
    ["https://d.example/5", 1, 0, 2],
    ["https://d.example/6", 2, 5_000, 0],
  ]);
  expect(hosts["b.example"]).toMatchObject({ delay: 250 });
  expect(state).toEqual({ step: 3 });
  expect(rig.frontier.push("https://a.example/1").status).toBe("duplicate");
});

const ALONE = fileURLToPath(new URL("../../../golden/alone-1.msgpack", import.meta.url));
const ALONE_OPTIONS = { seen: { mode: "bloom" as const, capacity: 10 } };

/** The calls from which the golden standalone file was made. */
async function writeAlone(): Promise<void> {
  const files = createMemoryFiles();
  const { frontier } = await openMemoryRig(files, createVirtualClock(1_000), ALONE_OPTIONS);
  const urls = Array.from({ length: 12 }, (_, at) => `https://h${at % 3}.example/${at}`);
  frontier.pushMany(urls);
  frontier.done(frontier.pollMany(4));
  frontier.push({ url: "https://skip.example/", dedup: "skip", data: { x: 1 } });
  const writing = frontier.snapshot({ path: "/alone" });
  await new Promise((resolve) => setImmediate(resolve));
  frontier.push("https://late.example/");
  frontier.poll()?.done();
  await writing;
  writeFileSync(ALONE, files.bytesOf("/alone"));
}

it("version 1 of a standalone snapshot, with a filter, opens to its content", async () => {
  if (mayWrite(ALONE)) await writeAlone();
  const files = createMemoryFiles();
  files.close(files.open("/alone", "w"));
  files.setBytes("/alone", new Uint8Array(readFileSync(ALONE)));
  const options = { ...ALONE_OPTIONS, from: "/alone" };
  const { frontier } = await openMemoryRig(files, createVirtualClock(1_000), options);
  const left = Array.from({ length: 7 }, (_, at) => `https://h${(at + 5) % 3}.example/${at + 5}`);
  expect(frontier.pollMany(20).map(({ url }) => url)).toEqual([
    ...left,
    "https://skip.example/",
    "https://late.example/",
  ]);
  expect(frontier.push("https://h0.example/0").status).toBe("duplicate");
  expect(frontier.report()).toMatchObject({ done: 5, leased: 9, seen: 13 });
});

/** The calls from which the files of version 2 were made: addresses and group clocks before the snapshot and after it. */
async function writeGrouped(): Promise<void> {
  const files = createMemoryFiles();
  const rig = await openRig(files, createVirtualClock(1_000), GROUPED);
  rig.frontier.pushMany(["https://a.one.test/1", "https://b.one.test/2", "https://c.two.test/3"]);
  rig.frontier.poll()?.done({ outcome: { address: "192.0.2.7" } });
  await rig.frontier.snapshot();
  rig.frontier.host("c.two.test").address = "2001:db8::1";
  rig.frontier.poll()?.done();
  await rig.frontier.close();
  writeGolden(FOLDER_2, files, JOURNAL_AND_SNAPSHOT);
}

it("version 2 keeps the addresses of hosts and the clocks of groups", async () => {
  if (mayWrite(FOLDER_2)) await writeGrouped();
  const files = readGolden(FOLDER_2);
  const clock = createVirtualClock(1_000);
  const rig = await openRig(files, clock, GROUPED);
  expect(rig.frontier.host("a.one.test").address).toBe("192.0.2.7");
  expect(rig.frontier.host("c.two.test").address).toBe("2001:db8::1");
  expect(Object.values(knownOf(rig).groups).sort()).toEqual([1_700, 1_700, 1_900, 1_900]);
  expect(rig.frontier.poll()).toBeUndefined();
  clock.advance(700);
  expect(rig.frontier.poll()?.url).toBe("https://b.one.test/2");
});

const POLITE: FrontierOptions = { defaults: { politeness: { delayMs: 700 } } };

/** The calls from which the files of version 3 were made: hosts on disk, some of which wait and some of which may go, with later records. */
function pushBlocks({ frontier }: DurableRig): void {
  const urls = Array.from({ length: 40 }, (_, at) => `https://h${at % 20}.test/${at}`);
  frontier.pushMany(urls);
  for (const lease of frontier.pollMany(9)) lease.done({ found: [`${lease.url}/link`] });
  frontier.push({ url: "https://h19.test/data", data: { x: [1, "ä"] } });
  frontier.pushMany(urls.map((url) => `${url}/more`));
}

async function writeBlocks(): Promise<void> {
  const files = createMemoryFiles();
  const rig = await openRig(files, createVirtualClock(1_000), POLITE, true);
  pushBlocks(rig);
  await rig.frontier.snapshot();
  await rig.frontier.close();
  writeGolden(FOLDER_3, files, JOURNAL_AND_SNAPSHOT);
}

it.each([true, false])(
  "version 3 has blocks of hosts (with hosts on disk: %s)",
  async (isTight) => {
    if (mayWrite(FOLDER_3)) await writeBlocks();
    const files = readGolden(FOLDER_3);
    const [snapshot = ""] = files.names().filter((name) => name.includes("snapshot-"));
    expect(Buffer.from(files.bytesOf(snapshot)).toString("latin1")).toContain("block");
    const rig = await openRig(files, createVirtualClock(1_000), POLITE, isTight);
    const model = await openMemoryRig(createMemoryFiles(), createVirtualClock(1_000), POLITE);
    pushBlocks(model);
    expect(orderOf(rig)).toEqual(orderOf(model));
    expect(rig.frontier.report()).toMatchObject({ pending: 0, done: 90, seen: 90 });
  },
);

/** All that is left, in its order. */
function orderOf({ frontier, clock }: DurableRig): unknown[] {
  const order: unknown[] = [];
  for (let turns = 0; turns < 10; turns++, clock.advance(700)) {
    for (const lease of frontier.pollMany(100)) {
      order.push([lease.url, lease.parent, lease.data, clock.now()]);
      lease.done();
    }
  }
  return order;
}
