import { describe, expect, test } from "vitest";
import { packr } from "../../../../src/persistence/msgpack.ts";
import {
  addSection,
  createSectionBuffer,
} from "../../../../src/persistence/snapshot/section-buffer.ts";
import {
  SECTION_HEAD_BYTES,
  type Section,
} from "../../../../src/persistence/snapshot/snapshot-format.ts";

describe("a section buffer", () => {
  const columns = new Uint8Array(70_000).map((_, at) => at * 7);
  const sections: Section[] = [
    { t: "seen", n: 3, hashes: columns.subarray(0, 24), values: columns.subarray(24, 36) },
    { t: "seen", n: 300, hashes: columns.subarray(0, 2400), values: columns.subarray(0, 1200) },
    { t: "epoch", n: 1, name: "ä".repeat(400), hashes: columns.subarray(0, 8) },
    { t: "end", hosts: 0, seen: 127, records: 128, segment: 70_000, offset: 2 ** 33 + 1 },
    { t: "journal", entries: columns },
    { t: "bits", layer: 2, from: 65_536, bits: new Uint8Array(0) },
  ];

  test("writes sections that msgpackr reads back equal, one after the other, and grows as needed", () => {
    const buffer = createSectionBuffer(64);
    let at = 0;
    for (const section of sections) {
      const length = addSection(buffer, section, { serial: 3, offset: at });
      const body = buffer.bytes.subarray(at + SECTION_HEAD_BYTES, at + length);
      expect(buffer.bytes.readUInt32LE(at)).toBe(body.length);
      const read = packr.unpack(body) as Record<string, unknown>;
      for (const [key, value] of Object.entries(section)) {
        const found = read[key];
        if (value instanceof Uint8Array)
          expect(Buffer.from(found as Buffer)).toEqual(Buffer.from(value));
        else expect(found).toBe(value);
      }
      expect(Object.keys(read)).toEqual(Object.keys(section));
      at += length;
    }
    expect(buffer.used).toBe(at);
  });
});
