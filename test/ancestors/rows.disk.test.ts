/** What the ancestors keep on disk, and what they lose there, row by row; a kill is a copy of the files as they are. */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import type { FrontierOptions, Lease } from "../../src/engine/types/frontier-types.ts";
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

/** What every length of the journal leaves of five pushes that were each on the medium, from all of them down to none. */
async function* tornLives(): AsyncGenerator<DurableRig> {
  const rig = await open(createMemoryFiles(), { durability: "sync" });
  const path = "/dir/default/journal-00000001.log";
  const end = (files: MemoryFiles): number => files.bytesOf(path).findLastIndex((byte) => byte > 0);
  const before = end(rig.files as MemoryFiles) + 1;
  for (const url of urls(5)) rig.frontier.push(url);
  // A frame may end in zeros.
  for (let size = end(rig.files as MemoryFiles) + 9; size >= before; size -= 11) {
    const files = killedFiles(rig.files as MemoryFiles);
    files.setBytes(path, files.bytesOf(path).slice(0, size));
    yield await open(files);
  }
}

it("W-B2: a torn tail is cut off wherever it tears, and never parsed as a URL", async () => {
  const left = new Set<number>();
  for await (const again of tornLives()) {
    const found = drained(again).map(({ url }) => url);
    expect(found).toEqual(urls(found.length)); // whole ones from the front, nothing of the rest
    left.add(found.length);
  }
  expect([...left]).toEqual([5, 4, 3, 2, 1, 0]);
});

/** After a kill, and after a clean stop. */
async function* afterStops(rig: DurableRig): AsyncGenerator<DurableRig> {
  yield await afterKill(rig);
  await rig.frontier.close();
  yield await open(killedFiles(rig.files as MemoryFiles));
}

it("W-B4: polling an empty frontier moves nothing, whatever stops it then", async () => {
  const rig = await open(createMemoryFiles());
  rig.frontier.pushMany(urls(40));
  rig.frontier.done(rig.frontier.pollMany(40).slice(0, 10));
  for (let poll = 0; poll < 50; poll++) expect(rig.frontier.poll()).toBe(undefined);
  for await (const again of afterStops(rig)) {
    expect(again.frontier.report()).toMatchObject({ pending: 30, done: 10 });
    expect(drained(again).map(({ url }) => url)).toEqual(urls(40).slice(10));
  }
});

it("W-B5: what was handed out and not answered comes back at its place, whatever stops it", async () => {
  const rig = await open(createMemoryFiles());
  rig.frontier.pushMany(urls(5));
  const leases = rig.frontier.pollMany(3);
  leases[1]?.done();
  for await (const again of afterStops(rig)) {
    expect(drained(again).map(({ url }) => url)).toEqual(urls(5).toSpliced(1, 1));
  }
});

it("W-B6: all that a request says comes back with its URL, from the journal and from a snapshot", async () => {
  const rig = await open(createMemoryFiles());
  const request = {
    ...{ url: "https://a.example/", method: "PUT", body: "text", headers: { cookie: "a=1" } },
    ...{ priority: 7, depth: 3, handler: "visit", maxAttempts: 9, data: { deep: [1] } },
  };
  rig.frontier.push(request);
  rig.frontier.poll()?.retry();
  for (const isSnapshot of [false, true]) {
    if (isSnapshot) await rig.frontier.snapshot();
    const again = await afterKill(rig);
    const [lease] = drained(again);
    const { body, maxAttempts: _, ...said } = request;
    expect(lease).toMatchObject({ ...said, priority: 6, attempt: 2, deliveries: 2 });
    expect(Buffer.from(lease?.body ?? []).toString()).toBe(body);
    expect(again.frontier.push(request).status).toBe("duplicate");
    for (let attempt = 2; attempt < 9; attempt++) {
      const last = attempt === 2 ? lease : again.frontier.poll();
      expect([last?.attempt, last?.retry()]).toEqual([attempt, "requeued"]);
    }
    expect(again.frontier.poll()?.retry()).toBe("failed"); // its ninth, by its own word
  }
});

it("V20: a restart raises deliveries and not the attempt", async () => {
  const rig = await open(createMemoryFiles());
  rig.frontier.push("https://a.example/");
  rig.frontier.poll();
  const [lease] = drained(await afterKill(rig));
  expect(lease).toMatchObject({ attempt: 1, deliveries: 2 });
});

it("S14: reopening reports how many are pending and how many leases were out", async () => {
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

it("S-B4: a URL that is seen is there, wherever the journal breaks off: identity and record are one entry", async () => {
  const told = new Set<number>();
  for await (const again of tornLives()) {
    const { seen, pending } = again.frontier.report();
    expect(seen).toBe(pending);
    expect(again.frontier.pushMany(urls(5))).toMatchObject({
      duplicate: pending,
      accepted: 5 - pending,
    });
    expect(drained(again).map(({ url }) => url)).toEqual(urls(5));
    told.add(pending);
  }
  expect(told.size).toBe(6);
});
