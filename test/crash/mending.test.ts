/**
 * Openings that are cut short while they repair damage: at any call of the disk, by a kill or by a power cut. However far the first one
 * came, the next one recovers the same state, and everything logged after that is in every later one.
 *
 *   segments, one damaged ─▶ opened, and cut at the n-th change ─▶ opened again ─▶ pushed to, closed ─▶ opened again
 *                 n = 1, 2, … until the opening ends by itself
 */
import { expect, test } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import { FrontierError } from "../../src/base/errors.ts";
import { createRandom } from "../../src/base/random.ts";
import {
  damageOf,
  type DurableRig,
  killedFiles,
  openRig,
  withoutLock,
} from "../support/durable-rig.ts";
import { createMemoryFiles, type MemoryFiles, PowerCut } from "../support/memory-files.ts";
import { testSeed } from "../support/seed.ts";

const DIRECTORY = "/dir/default";
const LOCK = `${DIRECTORY}/lock`;
const OPTIONS = { snapshots: { everyBytes: 1e9, everyMs: 1e12, keep: 2 } };
const NEW = "https://new.example/after";

/** Files of a few lives, each with segments of its own; `snapshots`: the lives after which a snapshot was written. */
async function written(lives: number, snapshots: readonly number[] = []): Promise<MemoryFiles> {
  let files = createMemoryFiles();
  for (let life = 1; life <= lives; life++) {
    const rig = await openRig(files, createVirtualClock(life), OPTIONS);
    for (let call = 0; call < 3; call++) {
      rig.frontier.pushMany([0, 1, 2].map((at) => `https://h${at}.example/${life}/${call}`));
      await rig.frontier.flush(); // a frame of its own
    }
    rig.frontier.done(rig.frontier.pollMany(2));
    if (snapshots.includes(life)) await rig.frontier.snapshot();
    await rig.frontier.close();
    files = killedFiles(files);
  }
  return files;
}

function segment(serial: number): string {
  return `${DIRECTORY}/journal-${String(serial).padStart(8, "0")}.log`;
}

interface Wound {
  readonly what: string;
  readonly lives: number;
  readonly snapshots?: readonly number[];
  readonly hurt: (files: MemoryFiles) => void;
}

const WOUNDS: readonly Wound[] = [
  { what: "a frame in the middle", lives: 3, hurt: (files) => flip(files, segment(2), 0.5) },
  { what: "the first frame", lives: 3, hurt: (files) => flip(files, segment(1), 0.3) },
  { what: "the head of a segment", lives: 3, hurt: (files) => flip(files, segment(2), 0) },
  { what: "the head of the last segment", lives: 3, hurt: (files) => flip(files, segment(3), 0) },
  { what: "a segment that is missing", lives: 3, hurt: (files) => files.remove(segment(2)) },
  { what: "a last segment never begun", lives: 3, hurt: (files) => empty(files, segment(3)) },
  {
    what: "the segment behind a snapshot",
    ...{ lives: 2, snapshots: [2] },
    hurt: (files) => files.remove(segments(files).at(-1) as string),
  },
  {
    what: "the newest snapshot and a segment behind the one before",
    ...{ lives: 3, snapshots: [1, 3] },
    hurt(files) {
      flip(files, snapshotsOf(files).at(-1) as string, 0.6);
      flip(files, segments(files).at(-2) as string, 0.5);
    },
  },
  {
    what: "all snapshots, and the journal's beginning is gone",
    ...{ lives: 4, snapshots: [2, 3, 4] },
    hurt(files) {
      for (const path of snapshotsOf(files)) flip(files, path, 0.6);
    },
  },
];

function segments(files: MemoryFiles): string[] {
  return files
    .names()
    .filter((name) => /journal-\d+\.log$/.test(name))
    .sort();
}

function snapshotsOf(files: MemoryFiles): string[] {
  return files
    .names()
    .filter((name) => /snapshot-\d+\.msgpack$/.test(name))
    .sort();
}

function flip(files: MemoryFiles, path: string, share: number): void {
  const bytes = files.bytesOf(path).slice();
  const at = Math.floor((bytes.length - 1) * share);
  bytes[at] = (bytes[at] as number) ^ 1;
  files.setBytes(path, bytes);
}

function empty(files: MemoryFiles, path: string): void {
  files.setBytes(path, new Uint8Array(10));
}

test.each(WOUNDS)("$what: an opening cut at any call has the effect of none", async (wound) => {
  const random = createRandom(testSeed(wound.what));
  const hurt = await written(wound.lives, wound.snapshots);
  wound.hurt(hurt);
  const before = bytesOf(hurt);
  const whole = await opened(killedFiles(hurt));
  for (let cut = 1; ; cut++) {
    const files = durableFiles(hurt);
    files.cutAt = files.changes + cut;
    const isCut = await isCutShort(files);
    for (const disk of [files.afterKill(), files.afterCut(random)]) {
      expect(await opened(withoutLock(disk)), `cut at change ${cut}`).toEqual(whole);
    }
    if (!isCut) break;
  }
  if (typeof whole === "string") {
    const after = killedFiles(hurt);
    await opened(after);
    expect(bytesOf(killedFiles(after)), "a failed opening changes no file").toEqual(before);
  }
});

/** The files of a killed process, with all bytes on the medium. */
function durableFiles(hurt: MemoryFiles): MemoryFiles {
  const files = killedFiles(hurt);
  for (const name of files.names()) {
    const file = files.open(name, "r+");
    files.sync(file);
    files.close(file);
  }
  files.syncDirectory(DIRECTORY);
  return files;
}

/** The recovered state, checked again after a push and one more opening; or the code that the opening threw. */
async function opened(files: MemoryFiles): Promise<string | string[]> {
  const urls: string[] = [];
  for (let times = 0; times < 2; times++) {
    let rig: DurableRig;
    try {
      rig = await openRig(files, createVirtualClock(9), OPTIONS);
    } catch (error) {
      return (error as FrontierError).code;
    }
    const now = urlsOf(rig);
    if (times === 0) {
      urls.push(...now);
      expect(rig.frontier.push(NEW).admitted).toBe(true);
    } else {
      expect(await damageOf(rig.frontier)).toEqual([]);
      expect(now).toEqual([...urls, NEW]);
    }
    await rig.frontier.close();
  }
  return urls;
}

function urlsOf({ frontier }: DurableRig): string[] {
  return [...frontier.records({ state: "pending" })].map(({ url }) => url as string);
}

async function isCutShort(files: MemoryFiles): Promise<boolean> {
  try {
    const { frontier } = await openRig(files, createVirtualClock(9), OPTIONS);
    await frontier.close();
    return false;
  } catch (error) {
    const { details } = error as { details?: { cause?: unknown } };
    if (error instanceof PowerCut || details?.cause instanceof PowerCut) return true;
    if (error instanceof FrontierError) return false;
    throw error;
  }
}

function bytesOf(files: MemoryFiles): Array<[string, string]> {
  const names = files.names().filter((name) => name !== LOCK && !name.includes("/seen/"));
  return names.sort().map((name) => [name, Buffer.from(files.bytesOf(name)).toString("hex")]);
}
