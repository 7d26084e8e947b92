/** A forged note of rules under a right checksum ended the opening with RULE_INVALID: the caller had given no rules that could be wrong. */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { FrontierError } from "../../src/base/errors.ts";
import type { FrontierOptions } from "../../src/engine/types/frontier-types.ts";
import { crcAt } from "../../src/persistence/checksum.ts";
import {
  PREAMBLE_BYTES,
  SECTION_HEAD_BYTES,
} from "../../src/persistence/snapshot/snapshot-format.ts";
import { damageOf, killedFiles, openRig, journalPath } from "../support/durable-rig.ts";
import { bytesOfSegment, segmentOf } from "../support/journal-entries.ts";
import { createMemoryFiles, type MemoryFiles } from "../support/memory-files.ts";

const PATH = journalPath(1);
const RULES: FrontierOptions["rules"] = [{ id: "given" }];

/** Rules of two sets, each followed by an admission; the second set's pattern is replaced by one of the same length. */
async function leftWith(pattern: string): Promise<MemoryFiles> {
  const written = createMemoryFiles();
  const { frontier } = await openRig(written, createVirtualClock(1_000));
  for (const id of ["first", "second"]) {
    frontier.setRules([{ id, match: { pattern: "/[0-9]$" } }, { id: "rest" }]);
    frontier.push(`http://${id}.test/1`);
    await frontier.flush();
  }
  const files = killedFiles(written);
  await frontier.close({ discard: true });
  const segment = segmentOf(files.bytesOf(PATH), 1);
  for (const { words } of segment.frames.flat()) {
    const bytes = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
    if (bytes.includes("second") && bytes.includes("/[0-9]$")) {
      bytes.write(pattern, bytes.indexOf("/[0-9]$"));
    }
  }
  files.setBytes(PATH, bytesOfSegment(segment));
  return files;
}

/** What an opening reports, counts and has for rules. */
async function openedOn(files: MemoryFiles, options: FrontierOptions = {}) {
  const { frontier } = await openRig(files, createVirtualClock(2_000), options);
  const damage = await damageOf(frontier);
  const { accepted, rules } = frontier.report();
  await frontier.close();
  return { damage, accepted, rules: Object.keys(rules).sort() };
}

it("a note of rules that cannot be is set aside by name, and the rules before it hold", async () => {
  const files = await leftWith("/[0-9(x");
  const { damage, ...rest } = await openedOn(files);
  expect(rest).toEqual({ accepted: 1, rules: ["first", "rest"] });
  expect(damage).toEqual([expect.stringMatching(/journal-00000001\.log.*rule 'second'\.match/)]);
  expect(files.names()).toContain(`${PATH}.damaged`);
  expect(await openedOn(files)).toEqual({ damage: [], ...rest });
});

it("a snapshot whose rules cannot be is set aside, and the one before it serves with the journal", async () => {
  const written = createMemoryFiles();
  const { frontier } = await openRig(written, createVirtualClock(1_000));
  for (const id of ["first", "second"]) {
    frontier.setRules([{ id, match: { pattern: "/[0-9]$" } }, { id: "rest" }]);
    frontier.push(`http://${id}.test/1`);
    await frontier.snapshot();
  }
  const files = killedFiles(written);
  await frontier.close({ discard: true });
  const path = files
    .names()
    .filter((name) => name.includes("snapshot-"))
    .sort()
    .at(-1) as string;
  const bytes = Buffer.from(files.bytesOf(path));
  const [serial, length] = [bytes.readUInt32LE(8), bytes.readUInt32LE(PREAMBLE_BYTES)];
  const head = bytes.subarray(PREAMBLE_BYTES + SECTION_HEAD_BYTES).subarray(0, length);
  head.write("/[0-9(x", head.indexOf("/[0-9]$"));
  bytes.writeUInt32LE(crcAt(head, serial, PREAMBLE_BYTES), PREAMBLE_BYTES + 4);
  files.setBytes(path, bytes);
  const opened = await openedOn(files);
  expect(opened.damage).toEqual([expect.stringMatching(/snapshot-.*rule 'second'\.match/)]);
  expect(opened).toMatchObject({ accepted: 2, rules: ["rest", "second"] });
});

it("a note of rules as it was written holds", async () => {
  const files = await leftWith("/[0-8]$");
  expect(await openedOn(files)).toEqual({ damage: [], accepted: 2, rules: ["rest", "second"] });
});

it("an opening with rules of its own does not ask the note", async () => {
  const files = await leftWith("/[0-9(x");
  const opened = await openedOn(files, { rules: RULES });
  expect(opened).toEqual({ damage: [], accepted: 2, rules: ["given"] });
});

it("rules that the opening's own options exclude are refused by name, and nothing is set aside", async () => {
  const files = createMemoryFiles();
  const first = await openRig(files, createVirtualClock(1_000));
  first.frontier.setRules([{ id: "again", epoch: { every: 300 } }]);
  await first.frontier.close();
  const names = files.names();
  const bloom: FrontierOptions = { seen: { mode: "bloom", capacity: 16, falsePositiveRate: 1e-9 } };
  const opening = openRig(files, createVirtualClock(2_000), bloom);
  await expect(opening).rejects.toSatisfy(
    (error) => error instanceof FrontierError && error.code === "RULE_INVALID",
  );
  expect(files.names().filter((name) => name.endsWith(".damaged"))).toEqual([]);
  expect(names.every((name) => files.names().includes(name))).toBe(true);
});
