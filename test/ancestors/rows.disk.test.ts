/** What the ancestors keep on disk, and what they lose there, row by row; a kill is a copy of the files as they are. */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import type { FrontierOptions, Lease } from "../../src/engine/types.ts";
import { type DurableRig, killedFiles, openRig } from "../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles } from "../support/memory-files.ts";

const urls = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `https://h.example/${at}`);

async function open(files: MemoryFiles, options: FrontierOptions = {}): Promise<DurableRig> {
  return openRig(files, createVirtualClock(0), options);
}

/** The frontier that finds what a killed one left after its last flush. */
async function afterKill(rig: DurableRig, options: FrontierOptions = {}): Promise<DurableRig> {
  await rig.frontier.flush();
  return open(killedFiles(rig.files as MemoryFiles), options);
}

const drained = (rig: DurableRig): Lease[] => rig.frontier.pollMany(10_000);

it("W14: two frontiers in one directory share nothing", async () => {
  const files = createMemoryFiles();
  const one = await open(files, { name: "one" });
  const two = await open(files, { name: "two" });
  expect(one.frontier.push("https://a.example/").status).toBe("accepted");
  expect(two.frontier.push("https://a.example/").status).toBe("accepted");
});

it("W17: priorities order as before after a restart", async () => {
  const rig = await open(createMemoryFiles());
  for (const priority of [100, 900, 0, -900]) {
    rig.frontier.push({ url: `https://a.example/${priority}`, priority });
  }
  const again = await afterKill(rig);
  expect(drained(again).map(({ priority }) => priority)).toEqual([900, 100, 0, -900]);
});

it("W19: seen is all that was ever accepted, pending what is not finished", async () => {
  const rig = await open(createMemoryFiles());
  rig.frontier.pushMany(urls(100));
  rig.frontier.done(rig.frontier.pollMany(40));
  const again = await afterKill(rig);
  expect(again.frontier.report()).toMatchObject({ seen: 100, pending: 60, done: 40 });
  expect(again.frontier.pushMany(urls(100)).duplicate).toBe(100);
});

it("W-B2: a torn tail is cut off and never parsed as a URL", async () => {
  const rig = await open(createMemoryFiles(), { durability: "sync" });
  rig.frontier.pushMany(urls(5));
  const files = killedFiles(rig.files as MemoryFiles);
  const path = "/dir/default/journal-00000001.log";
  const size = files.bytesOf(path).findLastIndex((byte) => byte !== 0);
  files.setBytes(path, files.bytesOf(path).slice(0, size - 5));
  const again = await open(files);
  expect(drained(again).every(({ url }) => urls(5).includes(url))).toBe(true);
});

it("W-B4: polling an empty frontier moves nothing", async () => {
  const rig = await open(createMemoryFiles());
  rig.frontier.pushMany(urls(40));
  rig.frontier.done(rig.frontier.pollMany(40));
  for (let poll = 0; poll < 50; poll++) rig.frontier.poll();
  rig.frontier.pushMany(urls(70));
  const again = await afterKill(rig);
  expect(again.frontier.report().pending).toBe(30);
});

it("W-B5: what was handed out and not answered comes back, at its place", async () => {
  const rig = await open(createMemoryFiles());
  rig.frontier.pushMany(urls(5));
  rig.frontier.pollMany(3);
  const again = await afterKill(rig);
  expect(drained(again).map(({ url }) => url)).toEqual(urls(5));
});

it("W-B6: priority, method, data and attempts come back with the URL", async () => {
  const rig = await open(createMemoryFiles());
  const request = { url: "https://a.example/", method: "PUT", priority: 7, data: { deep: [1] } };
  rig.frontier.push(request);
  rig.frontier.poll()?.retry();
  const [lease] = drained(await afterKill(rig));
  expect(lease).toMatchObject({ method: "PUT", priority: 6, attempt: 2, data: { deep: [1] } });
});

it("V20: a restart raises deliveries and not the attempt", async () => {
  const rig = await open(createMemoryFiles());
  rig.frontier.push("https://a.example/");
  rig.frontier.poll();
  const [lease] = drained(await afterKill(rig));
  expect(lease).toMatchObject({ attempt: 1, deliveries: 2 });
});

it("S14: reopening tells how many are pending and how many leases were out", async () => {
  const rig = await open(createMemoryFiles());
  rig.frontier.pushMany(urls(10));
  rig.frontier.pollMany(4);
  const again = await afterKill(rig);
  const told: unknown[] = [];
  again.frontier.on("resumed", (resumed) => told.push(resumed));
  await Promise.resolve();
  expect(told).toMatchObject([{ pending: 10, leases: 4 }]);
});

it("S15: what was seen is seen after a kill", async () => {
  const rig = await open(createMemoryFiles());
  rig.frontier.push("https://a.example/");
  rig.frontier.poll()?.done();
  const again = await afterKill(rig);
  expect(again.frontier.push("https://a.example/").status).toBe("duplicate");
});

it("S16: another key policy is refused by name, never taken silently", async () => {
  const rig = await open(createMemoryFiles());
  rig.frontier.push("https://a.example/");
  await expect(afterKill(rig, { defaults: { key: { profile: "url" } } })).rejects.toMatchObject({
    code: "PROFILE_MISMATCH",
  });
});

it("S-B4: a URL that is seen is there: identity and record are one entry", async () => {
  const rig = await open(createMemoryFiles());
  rig.frontier.pushMany(urls(50));
  const again = await afterKill(rig);
  expect(again.frontier.report()).toMatchObject({ seen: 50, pending: 50 });
});
