/**
 * Columns of a snapshot that the kernel fills (assembly/records/snapshot-columns.ts), and the same ones filled row by row: of whatever a frontier
 * holds both must be the same file, or where texts fill the columns before the rows do, the same rows.
 */
import { expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom, type Random } from "../../src/base/random.ts";
import type { Lease } from "../../src/engine/types/frontier-types.ts";
import { coreOf } from "../../src/engine/api/verify-frontier.ts";
import type { Core } from "../../src/frontier/core.ts";
import { listRecords } from "../../src/frontier/records/record-walk.ts";
import { createNames, nameRecord } from "../../src/persistence/journal/nameless-records.ts";
import { packr } from "../../src/persistence/msgpack.ts";
import { SECTION_HEAD_BYTES } from "../../src/persistence/snapshot/snapshot-format.ts";
import { snapshotHead } from "../../src/persistence/snapshot/snapshot-head.ts";
import {
  createSnapshotBuffers,
  type SnapshotBuffers,
} from "../../src/persistence/snapshot/snapshot-buffers.ts";
import { writeSnapshot } from "../../src/persistence/snapshot/write-snapshot.ts";
import { RECORD_FLAG_NO_IDENTITY, recordFlags } from "../../src/structures/records/record.ts";
import { SNAPSHOT_ROWS_MAX } from "../../src/structures/records/snapshot-batch.ts";
import { act, optionsOf } from "../support/durable-program.ts";
import { type DurableRig, openMemoryRig } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";
import { stressRounds, testSeed } from "../support/seed.ts";

const PROGRAMS = stressRounds(6, 1);
const CALLS = 120;
const PREAMBLE_BYTES = 16;
/** One text of these is more than all columns have room for. */
const LONG_BYTES = 140_000;

test("a snapshot is the same, byte for byte, whoever fills its columns", async () => {
  const seed = testSeed("snapshot rows");
  const kinds = new Set<string>();
  for (let program = 0; program < PROGRAMS; program++) {
    const random = createRandom(seed + program);
    const rig = await filled(random);
    for (const rows of [1, 3, 7]) {
      const bytes = await written(rig, { rows, isRowByRow: false });
      expect(bytes, `SEED=${seed + program}`).toEqual(
        await written(rig, { rows, isRowByRow: true }),
      );
      for (const section of sectionsOf(bytes))
        for (const key of Object.keys(section)) kinds.add(`${section.t} ${key}`);
    }
    await rig.frontier.close();
  }
  for (const kind of ["records parents", "records blobs", "seen values"])
    expect(kinds).toContain(kind);
});

test("what a snapshot that was broken off has left is not in the next one of its room", async () => {
  const random = createRandom(testSeed("snapshot broken off"));
  const rig = await filled(random);
  for (const isRowByRow of [false, true]) {
    const rows = 7;
    const alone = await written(rig, { rows, isRowByRow });
    const room = createSnapshotBuffers(coreOf(rig.frontier));
    let broken = 0;
    while ((await brokenOff(rig, { rows, isRowByRow, room, pauses: broken + 1 })) === undefined) {
      broken++;
      const next = await written(rig, { rows, isRowByRow, room });
      expect(Buffer.compare(next, alone), `after ${broken} pauses`).toBe(0);
    }
    expect(broken).toBeGreaterThan(5);
  }
  await rig.frontier.close();
});

test("texts longer than the columns end a section early, and one longer than all of them stands alone", async () => {
  const random = createRandom(testSeed("snapshot texts"));
  const rig = await filled(random);
  const long = (length: number, name: number): string =>
    `https://long.example/${name}/${"x".repeat(length)}`;
  for (let name = 0; name < 200; name++) rig.frontier.push(long(random.below(3_000), name));
  rig.frontier.push(long(LONG_BYTES, 200));
  rig.frontier.push(long(LONG_BYTES + 1, 201));
  const rows = SNAPSHOT_ROWS_MAX;
  const kernel = sectionsOf(await written(rig, { rows, isRowByRow: false }));
  const twin = sectionsOf(await written(rig, { rows, isRowByRow: true }));
  expect(kernel.length).toBeGreaterThan(twin.length);
  expect(rowsOf(kernel)).toEqual(rowsOf(twin));
  await rig.frontier.close();
});

test("records that lie on disk are written alike, as deep as they were seen last", async () => {
  const random = createRandom(testSeed("snapshot of spilled rows"));
  // Without a log: depths of later sightings are noted beside the places of what lies there, and in no record.
  const rig = await openMemoryRig(createMemoryFiles(), createVirtualClock(1_000), {}, true);
  const { frontier } = rig;
  const url = (name: number): string => `https://spilled${name % 5}.example/${name}`;
  for (let name = 0; name < 400; name++) {
    const depth = 1 + random.below(80);
    frontier.push({ url: url(name), depth, ...(random.below(3) === 0 ? { data: { name } } : {}) });
  }
  const { records } = frontier.report().spilled;
  for (let name = 0; name < 400; name += 3) frontier.push({ url: url(name), depth: 0 });
  expect(records).toBeGreaterThan(200);
  expect(frontier.report().spilled.records).toBe(records); // none came back for it
  for (const rows of [3, 7, SNAPSHOT_ROWS_MAX]) {
    const sections = sectionsOf(await written(rig, { rows, isRowByRow: false }));
    expect(sections).toEqual(sectionsOf(await written(rig, { rows, isRowByRow: true })));
    const depths = sections.flatMap((section) => depthsOf(section));
    expect(depths.length).toBe(400);
    expect(depths.filter((depth) => depth === 0).length).toBe(134);
  }
  await frontier.close();
});

function depthsOf({ t, words }: Fields): number[] {
  if (t !== "records") return [];
  const bytes = words as Buffer;
  return Array.from({ length: bytes.length / 16 }, (_, row) => bytes.readUInt32LE(row * 16 + 8));
}

/** A frontier in memory after a random program. */
async function filled(random: Random): Promise<DurableRig> {
  const rig = await openMemoryRig(
    createMemoryFiles(),
    createVirtualClock(1_000),
    optionsOf(random),
  );
  const held: Lease[] = [];
  for (let call = 0; call < CALLS; call++) {
    act(rig, random, held);
    if (random.below(4) > 0) continue;
    rig.frontier.push({
      url: `https://odd${random.below(9)}.example/${random.below(999)}`,
      ...(random.below(2) === 0 ? { data: { at: call } } : {}),
      ...(random.below(3) === 0 ? { notBefore: rig.clock.now() + 5_000 } : {}),
      ...(random.below(4) === 0 ? { volatile: true } : {}),
      ...(random.below(3) === 0 ? { dedup: "skip" as const } : {}),
    });
  }
  return rig;
}

interface Written {
  readonly rows: number;
  readonly isRowByRow: boolean;
  readonly room?: SnapshotBuffers;
  /** It is given up at the last of so many. */
  readonly pauses?: number;
}

/** The file of the frontier as it is. */
async function written(rig: DurableRig, options: Written): Promise<Buffer> {
  const bytes = await brokenOff(rig, options);
  if (bytes === undefined) throw new Error("given up");
  return bytes;
}

async function brokenOff(
  rig: DurableRig,
  { room, pauses = Number.POSITIVE_INFINITY, ...options }: Written,
): Promise<Buffer | undefined> {
  const files = createMemoryFiles();
  const core = coreOf(rig.frontier);
  let left = pauses;
  const identity = { secret: new Uint32Array(4), profile: "" };
  const facts = { serial: 1, identity, savedAt: 0, volatileLive: 0, notes: new Map() };
  const done = await writeSnapshot({
    ...{ core, names: namesOf(core), clock: rig.clock, head: snapshotHead(core, facts) },
    room: room ?? createSnapshotBuffers(core),
    ...{ place: { files, directory: "/to" }, path: "/to/file", ...options },
    isOver: () => left <= 0,
    pause: () => {
      left--;
      return Promise.resolve();
    },
    position: () => ({ segment: 1, offset: 0 }),
    flush: () => Promise.resolve(),
  });
  if (done === undefined) return undefined;
  expect(done.bytes).toBe(files.bytesOf("/to/file").length);
  return Buffer.from(files.bytesOf("/to/file"));
}

/** Names for what lives without identity. */
function namesOf(core: Core): ReturnType<typeof createNames> {
  const names = createNames(core);
  const { handles, count } = listRecords(core, new Set(["pending", "waiting", "leased", "failed"]));
  for (const record of handles.subarray(0, count)) {
    if ((recordFlags(core.store, record) & RECORD_FLAG_NO_IDENTITY) !== 0)
      nameRecord(names, record);
  }
  return names;
}

type Fields = Record<string, Buffer> & { readonly t: unknown };

function sectionsOf(bytes: Buffer): Fields[] {
  const sections: Fields[] = [];
  for (let at = PREAMBLE_BYTES; at < bytes.length; ) {
    const end = at + SECTION_HEAD_BYTES + bytes.readUInt32LE(at);
    sections.push(packr.unpack(bytes.subarray(at + SECTION_HEAD_BYTES, end)) as Fields);
    at = end;
  }
  return sections;
}

/** What each row of records says, whatever section it stands in. */
function rowsOf(sections: readonly Fields[]): string[] {
  const rows: string[] = [];
  for (const { t, ...section } of sections) {
    if (t !== "records") continue;
    const { hashes, doubles, words, text } = section as Record<string, Buffer>;
    let from = 0;
    for (let row = 0; row * 16 < (words as Buffer).length; row++) {
      const bytes = ((words as Buffer).readUInt32LE(row * 16 + 12) + 3) & ~3;
      rows.push(
        [
          hashes?.subarray(row * 16, row * 16 + 16).toString("hex"),
          doubles?.subarray(row * 24, row * 24 + 24).toString("hex"),
          words?.subarray(row * 16, row * 16 + 16).toString("hex"),
          text?.subarray(from, from + bytes).toString("latin1"),
          sparseOf(section, "parents", "prints", row),
          sparseOf(section, "blobs", "blob", row),
        ].join(" "),
      );
      from += bytes;
    }
    expect(text?.length).toBe(from);
  }
  return rows.sort();
}

/** What a row has in a column that most rows have nothing in. */
function sparseOf(section: Record<string, Buffer>, index: string, column: string, row: number) {
  const isParent = index === "parents";
  const entries = section[index] ?? Buffer.alloc(0);
  let from = 0;
  for (let at = 0; at < entries.length; at += isParent ? 8 : 12) {
    if (isParent) from = entries.readUInt32LE(at + 4) * 16;
    const end = from + (isParent ? 16 : entries.readUInt32LE(at + 8));
    if (entries.readUInt32LE(at) === row)
      return (
        entries.readUInt32LE(at + 4) * (isParent ? 0 : 1) +
        (section[column] as Buffer).toString("hex", from, end)
      );
    from = end;
  }
  return "";
}
