/**
 * Flips every byte of a small journal and of a small snapshot, and cuts the files at every byte. An opening recovers a prefix of the
 * calls, whole ones only, or throws an error with a code; it never recovers anything else.
 */
import { expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { FrontierError } from "../../src/base/errors.ts";
import { killedFiles, knownOf, openRig } from "../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles } from "../support/memory-files.ts";

const JOURNAL = "/dir/default/journal-00000001.log";
const CODES = ["SNAPSHOT_CORRUPT", "FORMAT_UNSUPPORTED", "PROFILE_MISMATCH"];

/** A frontier, and its state after each of a few calls: the states that may be recovered. */
async function written(): Promise<{ files: MemoryFiles; states: string[] }> {
  const files = createMemoryFiles();
  const rig = await openRig(files, createVirtualClock(0), { durability: "sync" });
  const states = [recordsOf(rig)];
  const calls = [
    () => rig.frontier.pushMany(["https://a.example/1", "https://b.example/2"]),
    () => rig.frontier.poll()?.done({ found: ["https://a.example/3", "https://c.example/4"] }),
    () => rig.frontier.push({ url: "https://c.example/5", priority: 2, data: { x: 1 } }),
    () => rig.frontier.host("a.example").hold(),
    () => rig.frontier.poll()?.retry({ delayMs: 50 }),
  ];
  for (const call of calls) {
    call();
    states.push(recordsOf(rig));
  }
  return { files: killedFiles(files), states };
}

/** Records as a text, with leases as pending. */
function recordsOf(rig: Parameters<typeof knownOf>[0]): string {
  const { records, finished } = knownOf(rig);
  return JSON.stringify([records.map((record) => ({ ...record, deliveries: 0 })), finished]);
}

async function tryOpen(files: MemoryFiles, states: readonly string[]): Promise<string> {
  try {
    const rig = await openRig(files, createVirtualClock(0));
    const found = recordsOf(rig);
    expect(states).toContain(found);
    await rig.frontier.close();
    return found;
  } catch (error) {
    if (!(error instanceof FrontierError)) throw error;
    expect(CODES).toContain(error.code);
    return error.code;
  }
}

test("any byte of a journal flipped: a prefix of its calls, or a named error", async () => {
  const { files, states } = await written();
  const end = trimmed(files.bytesOf(JOURNAL));
  for (let at = 0; at < end; at++) {
    const copy = killedFiles(files);
    copy.bytesOf(JOURNAL)[at] = (copy.bytesOf(JOURNAL)[at] as number) ^ (1 << (at % 8));
    await tryOpen(copy, states);
  }
}, 600_000);

test("a journal cut at any byte: a prefix of its calls, all that were whole", async () => {
  const { files, states } = await written();
  const whole = files.bytesOf(JOURNAL);
  let reached = 0;
  for (let size = 0; size <= trimmed(whole); size += 3) {
    const copy = killedFiles(files);
    copy.setBytes(JOURNAL, whole.slice(0, size));
    const state = states.indexOf(await tryOpen(copy, states));
    expect(state, "more bytes never give less").toBeGreaterThanOrEqual(reached);
    reached = state;
  }
}, 600_000);

test("any byte of the newest snapshot flipped: the one before it and the journal serve as well", async () => {
  const files = createMemoryFiles();
  const rig = await openRig(files, createVirtualClock(0));
  rig.frontier.pushMany(["https://a.example/1", "https://b.example/2"]);
  await rig.frontier.snapshot();
  rig.frontier.poll()?.done({ found: ["https://c.example/3"] });
  const { path } = await rig.frontier.snapshot();
  rig.frontier.push("https://d.example/4");
  await rig.frontier.flush();
  const known = recordsOf(rig);
  const size = files.bytesOf(path).length;
  for (let at = 0; at < size; at += 2) {
    const copy = killedFiles(files);
    copy.bytesOf(path)[at] = (copy.bytesOf(path)[at] as number) ^ (1 << (at % 8));
    const found = await tryOpen(copy, [known]);
    if (!CODES.includes(found)) expect(copy.names()).toContain(`${path}.damaged`);
    else expect(found).toBe("FORMAT_UNSUPPORTED"); // the version's own bytes
  }
}, 600_000);

/** The bytes without the room written ahead. */
function trimmed(bytes: Uint8Array): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return end;
}
