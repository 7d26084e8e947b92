import { describe, expect, test } from "vitest";
import {
  type Extras,
  packExtras,
  packList,
  readTexts,
  unpackExtras,
} from "../../../../src/engine/intake/request-extras.ts";

function read(extras: Extras): Extras | undefined {
  const packed = packExtras(extras);
  // Where they stand in memory there is something before and after them.
  const memory = Buffer.concat([Buffer.from([0xa1, 0x6b]), packed, Buffer.from([0xa1, 0x64])]);
  return readTexts(memory, 2, packed.length);
}

describe("texts and a number are read where they stand", () => {
  const short: Extras[] = [
    { k: "abcdefghijklmno", d: "" },
    { d: "data", k: "key" },
    { d: "x".repeat(31) },
    { k: "" },
    { d: 1_800_000_000 },
    { d: 0x1_0000, k: "key" },
    { k: "key", d: 0xffff_ffff },
  ];
  test.each(short)("as unpackExtras does: %o", (extras) => {
    expect(read(extras)).toEqual(unpackExtras(packExtras(extras)));
  });

  const others: Extras[] = [
    { k: "x".repeat(32) },
    { k: "é" },
    { k: "\u{1f600}", d: "" },
    { d: "\ud800" },
    { d: 1 },
    { d: 0x1_0000_0000 },
    { d: -1_800_000_000 },
    { d: ["a"] },
    { k: "key", m: "POST" },
    { h: { accept: "*/*" } },
  ];
  test.each(others)("and leaves to it what is something else: %o", (extras) => {
    expect(read(extras)).toBeUndefined();
  });
});

describe("a list of a number, bytes, null and 0 is written in place", () => {
  test.each([0, 1, 254, 255, 0xfffe])("as packExtras does: %d bytes", (size) => {
    const bytes = Uint8Array.from({ length: size }, (_, at) => at);
    for (const number of [0x1_0000, 1_800_000_000, 0xffff_ffff]) {
      const data = [number, bytes, null, 0];
      const packed = packList(data) as Uint8Array;
      expect(Buffer.compare(packed, packExtras({ d: data }, "plain"))).toBe(0);
      expect(unpackExtras(packed)).toEqual({ d: data });
    }
  });

  test.each([
    [[0xffff, new Uint8Array(3), null, 0]],
    [[0x1_0000_0000, new Uint8Array(3), null, 0]],
    [[70_000.5, new Uint8Array(3), null, 0]],
    [[70_000, Buffer.alloc(3), null, 0]],
    [[70_000, null, null, 0]],
    [[70_000, new Uint8Array(0xffff), null, 0]],
    [[70_000, new Uint8Array(3), "http://A.com", 0]],
    [[70_000, new Uint8Array(3), null, 1]],
    [[70_000, new Uint8Array(3), null]],
    [70_000],
  ])("and left to it where it is something else: %o", (data) => {
    expect(packList(data)).toBeUndefined();
  });
});
