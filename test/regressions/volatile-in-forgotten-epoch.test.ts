/**
 * Of a volatile record only its number is written. The journal named it all the same when its epoch was forgotten, and the next opening
 * refused that entry and everything after it. Where one failed or rested and was then forgotten or replaced, the counters of the next
 * opening counted it twice.
 */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import type { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";
import { JOURNAL_DISOWNED } from "../../src/layout/files/journal.ts";
import { sealFrame } from "../../src/persistence/journal/segment-format.ts";
import { damageOf, killedFiles, openRig, turn, type VirtualClock } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

const JOURNAL = "/dir/default/journal-00000001.log";
const URL = "http://a.test/1";
/** First in every order. */
const VOLATILE = { url: URL, volatile: true, priority: 9 };
const OF_EPOCH = { ...VOLATILE, epoch: "e" };
const STAYS = { url: URL, priority: 9 };
const AGAIN = { epoch: { every: 400 } };

interface Program {
  readonly name: string;
  readonly policy?: object;
  /** Volatile records that live at its end. */
  readonly lost: number;
  readonly run: (frontier: LocalFrontier, clock: VirtualClock) => void;
}

const forget = (frontier: LocalFrontier) => frontier.forget({ epoch: "e" });
const visit = (frontier: LocalFrontier) => frontier.poll()?.done();
const fail = (frontier: LocalFrontier) => frontier.poll()?.fail("no");

const PROGRAMS: readonly Program[] = [
  { name: "pending", lost: 1, run: () => {} },
  {
    name: "pending, done afterwards",
    lost: 0,
    run: (frontier) => {
      forget(frontier);
      visit(frontier);
    },
  },
  {
    name: "pending, pushed again",
    lost: 1,
    run: (frontier) => {
      forget(frontier);
      frontier.push({ ...STAYS, epoch: "e" });
    },
  },
  { name: "leased", lost: 1, run: (frontier) => void frontier.poll() },
  {
    name: "waiting",
    lost: 1,
    run: (frontier) => void frontier.update(OF_EPOCH, { notBefore: 9_000 }),
  },
  { name: "done", lost: 0, run: visit },
  { name: "removed", lost: 0, run: (frontier) => void frontier.remove({ host: "a.test" }) },
  { name: "failed", lost: 0, run: fail },
  { name: "resting", policy: AGAIN, lost: 0, run: visit },
  {
    name: "of a rule that is gone",
    lost: 1,
    run: (frontier, clock) => {
      frontier.setRules([{ id: "other", politeness: { delayMs: 5, by: "domain" } }]);
      clock.advance(2_000);
    },
  },
];

describe("the epoch of a volatile record that is", () => {
  it.each(PROGRAMS)("$name is forgotten, and no entry after it is refused", async (program) => {
    await reopened({
      ...program,
      run: (frontier, clock) => {
        frontier.push(OF_EPOCH);
        program.run(frontier, clock);
        forget(frontier);
      },
    });
  });
});

const ALL: readonly Program[] = [
  {
    name: "failed, and everything is forgotten",
    lost: 0,
    run: (frontier) => {
      fail(frontier);
      frontier.forget();
    },
  },
  {
    name: "failed, and is put",
    lost: 0,
    run: (frontier) => {
      fail(frontier);
      put(frontier);
    },
  },
  { name: "pending, and is put", lost: 0, run: (frontier) => void put(frontier) },
  {
    name: "pending, and is put as a volatile one",
    lost: 1,
    run: (frontier) => void frontier.put(VOLATILE, { dueAt: 9_000 }),
  },
  {
    name: "kept with its data",
    lost: 0,
    run: (frontier) => void frontier.put(VOLATILE, { data: 4 }),
  },
  { name: "resting", policy: AGAIN, lost: 0, run: visit },
  {
    name: "resting, and everything is forgotten",
    policy: AGAIN,
    lost: 0,
    run: (frontier) => {
      visit(frontier);
      frontier.forget();
    },
  },
  {
    name: "resting, and is put",
    policy: AGAIN,
    lost: 0,
    run: (frontier) => {
      visit(frontier);
      put(frontier);
    },
  },
  {
    name: "resting, and is removed",
    policy: AGAIN,
    lost: 0,
    run: (frontier) => {
      visit(frontier);
      frontier.remove({ host: "a.test" });
    },
  },
  {
    name: "come again",
    policy: AGAIN,
    lost: 1,
    run: (frontier, clock) => {
      visit(frontier);
      clock.advance(500);
      frontier.peek();
    },
  },
  {
    name: "come again, and makes way for another",
    policy: AGAIN,
    lost: 0,
    run: (frontier, clock) => {
      visit(frontier);
      clock.advance(500);
      frontier.push(STAYS);
    },
  },
  {
    name: "failed, and makes way for another",
    policy: AGAIN,
    lost: 0,
    run: (frontier) => {
      fail(frontier);
      frontier.push(STAYS);
    },
  },
  {
    name: "failed, and is asked for again",
    lost: 1,
    run: (frontier) => {
      fail(frontier);
      frontier.requeue({ state: "failed" });
    },
  },
];

describe("a volatile record that is", () => {
  it.each(ALL)("$name is counted once by the next opening", async (program) => {
    await reopened({
      ...program,
      run: (frontier, clock) => {
        frontier.push(VOLATILE);
        program.run(frontier, clock);
      },
    });
  });
});

function put(frontier: LocalFrontier): void {
  expect(frontier.put(STAYS, { dueAt: 9_000 }).status).toBe("waiting");
}

it("an entry by which an earlier version named such a record is passed over", async () => {
  const files = createMemoryFiles();
  const clock = createVirtualClock(1_000);
  const { frontier } = await openRig(files, clock);
  frontier.push("http://before.test/");
  await frontier.flush();
  const left = killedFiles(files);
  await frontier.close();
  const whole = left.bytesOf(JOURNAL);
  let end = 64;
  for (let size = wordAt(whole, end); size > 0; size = wordAt(whole, end)) end += 12 + size;
  const frame = new Uint8Array(Uint32Array.of(0, 0, 0, JOURNAL_DISOWNED, 1, 2, 3, 4).buffer);
  sealFrame(frame, 1, end, 64);
  left.setBytes(JOURNAL, Buffer.concat([whole.subarray(0, end), frame]));
  const again = await openRig(left, clock);
  expect(await damageOf(again.frontier)).toEqual([]);
  expect(again.frontier.report().pending).toBe(1);
  await again.frontier.close();
});

function wordAt(bytes: Uint8Array, at: number): number {
  return at + 4 > bytes.length ? 0 : Buffer.from(bytes).readUInt32LE(at);
}

/** Runs a program, and opens what a killed process leaves: from a journal, and from a snapshot before and after it. */
async function reopened({ policy = {}, lost, run }: Program): Promise<void> {
  for (const snapshot of ["none", "before", "after"]) {
    const files = createMemoryFiles();
    const clock = createVirtualClock(1_000);
    const options = { defaults: policy, keepOpen: true };
    const { frontier } = await openRig(files, clock, options);
    frontier.push("http://before.test/");
    if (snapshot === "before") await frontier.snapshot();
    run(frontier, clock);
    frontier.push("http://after.test/");
    if (snapshot === "after") await frontier.snapshot();
    await frontier.flush();
    verifyFrontier(frontier);
    const { accepted, deferred, done, removed, forgotten } = frontier.report();
    const again = await openRig(killedFiles(files), clock, options);
    const resumed: object[] = [];
    again.frontier.on("resumed", (event) => resumed.push(event));
    await turn();
    expect(resumed).toMatchObject([{ damage: [], lost }]);
    verifyFrontier(again.frontier);
    expect(again.frontier.push("http://after.test/").status).toBe("duplicate");
    const counts = { accepted, deferred, done, removed, forgotten: forgotten + lost };
    expect(again.frontier.report()).toMatchObject(counts);
    await again.frontier.close();
    await frontier.close();
  }
}
