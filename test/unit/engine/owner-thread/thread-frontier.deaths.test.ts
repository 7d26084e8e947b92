/** The thread that owns a frontier dies: whoever waits is told so by name, and its directory can be opened again at once. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import type { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import { openFrontierThread } from "../../../../src/engine/owner-thread/open-frontier-thread.ts";
import type { AsyncFrontier } from "../../../../src/engine/types/async-frontier.ts";
import type { FrontierOptions } from "../../../../src/engine/types/frontier-types.ts";
import { verifyFrontier } from "../../../../src/engine/api/verify-frontier.ts";
import { attach } from "../../../../src/workers/remote/worker-port.ts";

const directories: string[] = [];
function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "outrider-owner-"));
  directories.push(directory);
  return directory;
}
afterEach(() => {
  for (const one of directories.splice(0)) rmSync(one, { recursive: true });
});

/** A frontier on a thread, and that thread. */
async function openSeen(options?: FrontierOptions) {
  let worker: Worker | undefined;
  const note = (one: Worker): void => {
    worker = one;
  };
  process.once("worker", note);
  const frontier = await openFrontierThread(options);
  process.off("worker", note);
  return { frontier, worker: worker as Worker };
}

/** The same with so little memory that hand-outs exhaust it: threads take the process's limits as they start. */
async function openSmall(options?: FrontierOptions) {
  setFlagsFromString("--max-old-space-size=48");
  try {
    return await openSeen(options);
  } finally {
    setFlagsFromString("--max-old-space-size=0"); // the default
  }
}

/** How a thread can die: from outside, and by what nobody caught. */
const ENDS: ReadonlyArray<[string, (worker: Worker) => Promise<unknown>]> = [
  ["is ended from outside", (worker) => worker.terminate()],
  [
    "throws what nobody catches",
    (worker) => {
      worker.emit("error", new Error("boom"));
      return worker.terminate();
    },
  ],
];

/** The code and the words that each of many calls rejects with. */
async function faultsOf(calls: ReadonlyArray<Promise<unknown>>): Promise<string[]> {
  const ended = await Promise.allSettled(calls);
  return ended.map((one) =>
    one.status === "fulfilled" ? "fulfilled" : `${one.reason.code} ${one.reason.message}`,
  );
}

async function iterate(frontier: AsyncFrontier): Promise<void> {
  for await (const { url } of frontier) expect(url).toBe("nothing");
}

async function* drip(): AsyncIterable<string> {
  yield "http://dripped.test/";
  await new Promise(() => undefined);
}

describe("a frontier whose own thread dies", () => {
  it.each(ENDS)(
    "when it %s: every call under way and to come is told by name, and the directory opens again",
    async (_, end) => {
      const directory = newDirectory();
      const options: FrontierOptions = { directory, durability: "sync", keepOpen: true };
      const { frontier, worker } = await openSeen(options);
      const told: unknown[] = [];
      frontier.on("status", (change) => told.push(change));
      await frontier.pushMany(["http://a.test/1", "http://a.test/2", "http://a.test/3"]);
      const leases = await frontier.pollMany(3);
      expect(await leases[0]?.done({ found: ["http://b.test/"] })).toMatchObject({ accepted: 1 });
      const [fourth] = await frontier.pollMany(1);
      expect(fourth?.url).toBe("http://b.test/");
      const lock = join(directory, "default", "lock");
      expect(existsSync(lock)).toBe(true);
      await expect(openFrontier(options)).rejects.toMatchObject({ code: "FRONTIER_LOCKED" });

      const underWay = [frontier.take(), iterate(frontier), frontier.pushFrom(drip())];
      underWay.push(frontier.take({ signal: new AbortController().signal }), frontier.drain());
      for (const one of underWay) one.catch(() => undefined);
      await frontier.status(); // they have arrived
      await end(worker);
      const died = /^FRONTIER_CLOSED frontier: its thread ended: .+ \(expected: /;
      // The source that never ends is left alone: its next batch is what finds out.
      const known = underWay.filter((_, at) => at !== 2);
      for (const fault of await faultsOf(known)) expect(fault).toMatch(died);
      const later = [frontier.push("http://c.test/"), frontier.report(), fourth?.done()];
      for (const fault of await faultsOf(later as Promise<unknown>[])) expect(fault).toMatch(died);
      expect(told.at(-1)).toEqual({ from: "running", to: "stopped", reason: "died" });
      await frontier.close(); // nothing is left to be done
      expect(existsSync(lock)).toBe(false);

      const again = await openFrontier(options);
      verifyFrontier(again);
      // One was done; those that were out are pending again, and what was answered is there.
      expect(again.report()).toMatchObject({ done: 1, leased: 0 });
      expect(again.record("http://b.test/")?.state).toBe("pending");
      expect(again.record("http://a.test/2")).toMatchObject({ state: "pending" });
      await again.close();
      const third = await openFrontierThread(options);
      expect((await third.report()).done).toBe(1);
      await third.close();
      expect(existsSync(lock)).toBe(false);
    },
  );

  it("when it runs out of memory: the process lives, calls reject with the cause, and the directory opens again", async () => {
    const directory = newDirectory();
    const options: FrontierOptions = { directory, durability: "sync" };
    const { frontier } = await openSmall(options);
    const count = 200_000;
    for (let start = 0; start < count; start += 10_000) {
      const urls = Array.from({ length: 10_000 }, (_, at) => `http://a.test/${start + at}`);
      expect(await frontier.pushMany(urls)).toMatchObject({ accepted: 10_000 });
    }
    const handle = await frontier.share();
    const port = attach(handle);
    const told: unknown[] = [];
    frontier.on("status", (change) => told.push(change));
    // Few at a time: what one native call would need beyond the limit ends the whole process, whatever a thread is.
    const calls: Array<Promise<unknown>> = [];
    for (let taken = 0; taken < count; taken += 200) calls.push(frontier.pollMany(200));
    calls.push(frontier.report());
    const faults = await faultsOf(calls);
    const died = /^FRONTIER_CLOSED frontier: its thread ended: .*memory limit/i;
    expect(faults.at(-1)).toMatch(died);
    for (const fault of faults) if (fault !== "fulfilled") expect(fault).toMatch(died);
    expect(told.at(-1)).toEqual({ from: "running", to: "stopped", reason: "died" });
    // What was laid out before is here; nothing comes after it, and nobody waits for ever.
    for (let taken = 1; taken > 0; ) taken = (await port.take({ max: 1_000 })).length;
    await port.close();
    await frontier.close();
    expect(existsSync(join(directory, "default", "lock"))).toBe(false);
    const again = await openFrontier(options);
    verifyFrontier(again);
    expect(again.report()).toMatchObject({ pending: count, leased: 0 });
    await again.close();
  });

  it("takes nobody's lock away that opened the directory since", async () => {
    const directory = newDirectory();
    const { frontier, worker } = await openSeen({ directory });
    await frontier.push("http://a.test/");
    await frontier.close();
    const next = await openFrontier({ directory });
    await worker.terminate();
    await frontier.close();
    await expect(openFrontier({ directory })).rejects.toMatchObject({ code: "FRONTIER_LOCKED" });
    await next.close();
  });

  it("rejects a close during which it dies, since what was flushed is unknown", async () => {
    const { frontier, worker } = await openSeen({ directory: newDirectory() });
    await frontier.pushMany(Array.from({ length: 1_000 }, (_, at) => `http://a.test/${at}`));
    const ending = worker.terminate();
    const [fault] = await faultsOf([frontier.close()]);
    expect(fault).toMatch(/^FRONTIER_CLOSED frontier: its thread ended/);
    await ending;
    await frontier.close();
  });

  it("notifies threads at its shared memory: they get no more leases, and stop waiting", async () => {
    const { frontier, worker } = await openSeen({ keepOpen: true });
    const handle = await frontier.share();
    const talking = attach(handle);
    await frontier.push("http://a.test/");
    const [lease] = await talking.take();
    const waiting = attach(handle);
    const taking = [waiting.take(), waiting.take({ max: 9 })];
    const ending = worker.terminate();
    lease?.done();
    // Nobody reads any more, or hardly: the ring fills up behind what is said here.
    const links = Array.from({ length: 200 }, (_, at) => `http://flood.test/${at}`);
    for (let round = 0; round < 400; round++) {
      const [answer] = talking.push(links.map((link) => `${link}/${round}`));
      if (answer !== "queued") break;
    }
    await ending;
    expect(await Promise.all(taking)).toEqual([[], []]);
    expect(await waiting.take()).toEqual([]);
    expect(talking.push("http://b.test/")).toBe("rejected");
    await Promise.all([waiting.close(), talking.close()]);
    await frontier.close();
  });

  it("says why where it can not even open", async () => {
    const directory = newDirectory();
    const { frontier } = await openSeen({ directory });
    const second = openFrontierThread({ directory });
    await expect(second).rejects.toMatchObject({ code: "FRONTIER_LOCKED" });
    await frontier.close();
  });
});
