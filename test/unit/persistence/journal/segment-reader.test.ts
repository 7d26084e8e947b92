import { describe, expect, it } from "vitest";
import { JOURNAL_FRAME_BYTES, JOURNAL_HEADER_BYTES } from "../../../../src/layout/files/journal.ts";
import type { Files } from "../../../../src/persistence/files.ts";
import {
  type Identity,
  type Place,
  segmentPath,
} from "../../../../src/persistence/directory/frontier-directory.ts";
import { sealFrame, segmentHead } from "../../../../src/persistence/journal/segment-format.ts";
import { SegmentReader } from "../../../../src/persistence/journal/segment-reader.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../support/memory-files.ts";
import { testRandom } from "../../../support/seed.ts";

const SERIAL = 7;
const IDENTITY: Identity = { secret: Uint32Array.of(1, 2, 3, 4), profile: "canonical/1" };

interface Rig {
  readonly files: MemoryFiles;
  readonly place: Place;
  /** The ends of the frames. */
  readonly ends: readonly number[];
  readonly bytes: Uint8Array;
}

/** A segment with frames of these lengths in words, and bytes after them. */
function rigOf(lengths: readonly number[], rest: Uint8Array = new Uint8Array(0)): Rig {
  const files = createMemoryFiles();
  const parts = [segmentHead(IDENTITY, SERIAL)];
  const ends: number[] = [];
  let at = JOURNAL_HEADER_BYTES;
  for (const length of lengths) {
    const frame = new Uint8Array(JOURNAL_FRAME_BYTES + length * 4);
    new Uint32Array(frame.buffer).fill(ends.length + 1, JOURNAL_FRAME_BYTES / 4);
    sealFrame(frame, SERIAL, at, at);
    parts.push(frame);
    at += frame.length;
    ends.push(at);
  }
  const bytes = Buffer.concat([...parts, rest]);
  const place: Place = { files, directory: "/dir" };
  const path = segmentPath(place, SERIAL);
  files.close(files.open(path, "w"));
  files.setBytes(path, bytes);
  return { files, place, ends, bytes };
}

/** What a reader returns: the end of each frame, and the words of its entries. */
function told(place: Place): { ends: number[]; rest: string; areWords: boolean } {
  const reader = SegmentReader.open(place, SERIAL) as SegmentReader;
  const ends: number[] = [];
  let areWords = true;
  expect(reader.head()?.secret).toEqual(IDENTITY.secret);
  while (reader.next()) {
    ends.push(reader.end);
    const { firstWord, lastWord, words } = reader;
    areWords &&= words.subarray(firstWord, lastWord).every((word) => word === ends.length);
    areWords &&= (lastWord - firstWord) * 4 + JOURNAL_FRAME_BYTES === reader.end - reader.offset;
  }
  const rest = reader.rest();
  reader.close();
  return { ends, rest, areWords };
}

describe("a segment reader", () => {
  it("reads frame by frame, whatever their lengths and however few bytes one read returns", () => {
    const random = testRandom("segment reader");
    for (let round = 0; round < 12; round++) {
      const lengths = Array.from({ length: 1 + random.below(60) }, () => {
        return (
          1 + random.below(random.below(12) === 0 ? 500_000 : random.below(3) === 0 ? 60_000 : 9)
        );
      });
      const { files, place, ends } = rigOf(lengths);
      const read: Files["read"] = (...[file, bytes, start, length, position]) => {
        return files.read(
          file,
          bytes,
          start,
          Math.min(length, 1 + random.below(700_000)),
          position,
        );
      };
      expect(told({ ...place, files: { ...files, read } })).toEqual({
        ...{ ends, rest: "none", areWords: true },
      });
      expect(files.openCount()).toBe(0);
    }
  });

  it("holds little more memory than the longest frame", () => {
    const { files, place } = rigOf(Array.from({ length: 200 }, () => 60_000));
    files.reads.length = 0;
    told(place);
    const longest = Math.max(...files.reads.map(([length]) => length));
    expect(longest).toBeLessThanOrEqual(1024 * 1024);
  });

  it("reads to the end, and classifies what follows it", () => {
    const behind = (rest: Uint8Array): string => told(rigOf([5, 6], rest).place).rest;
    expect(behind(new Uint8Array(3_000_000))).toBe("none");
    expect(behind(Uint8Array.of(0, 0, 1))).toBe("torn");
    const late = new Uint8Array(2_500_000);
    late[2_400_001] = 1;
    expect(behind(late)).toBe("torn");
    // A frame that was durable before the next one was written.
    const { files, place, bytes, ends } = rigOf([5, 70_000, 6, 7]);
    const [first = 0] = ends;
    bytes[first + 50] = 99;
    files.setBytes(segmentPath(place, SERIAL), bytes);
    expect(told(place)).toMatchObject({ ends: [first], rest: "damaged" });
  });

  it("reports damage when the file becomes shorter meanwhile", () => {
    const { files, place, bytes } = rigOf(Array.from({ length: 60 }, () => 60_000));
    const reader = SegmentReader.open(place, SERIAL) as SegmentReader;
    expect(reader.next()).toBe(true);
    files.setBytes(segmentPath(place, SERIAL), bytes.subarray(0, 2_000_000));
    expect(() => {
      while (reader.next());
    }).toThrow(expect.objectContaining({ code: "SNAPSHOT_CORRUPT" }));
    reader.close();
  });

  it("leaves no file open when opening fails", () => {
    const { files, place } = rigOf([5]);
    expect(SegmentReader.open(place, SERIAL + 1)).toBeUndefined();
    const size = (): never => {
      throw Object.assign(new Error("EIO"), { code: "EIO", syscall: "fstat" });
    };
    const failing = { ...place, files: { ...files, size } };
    expect(() => SegmentReader.open(failing, SERIAL)).toThrow(
      expect.objectContaining({ code: "EIO", path: segmentPath(place, SERIAL) }),
    );
    expect(files.openCount()).toBe(0);
  });
});
