import { describe, expect, it } from "vitest";
import { FrontierError } from "../../../src/base/errors.ts";
import {
  type ANYTHING,
  between,
  count,
  INTEGER,
  made,
  oneOf,
  readObject,
  shape,
  TEXT,
  textOf,
  TRUTH,
  whole,
} from "../../../src/base/fields.ts";
import { nearestName } from "../../../src/base/did-you-mean.ts";

interface Options {
  directory?: string;
  keep?: number;
  inner?: { on?: boolean };
}

const field = shape<Options>({
  directory: TEXT,
  keep: whole(1),
  inner: shape<{ on?: boolean }>({ on: TRUTH }),
});
const read = (given: unknown): Options => readObject(field, given, "options", "OPTION_INVALID");

function messageOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(FrontierError);
    return (error as Error).message;
  }
  return "nothing thrown";
}

describe("a shape", () => {
  it("copies what it reads, and leaves out what is undefined", () => {
    const given = { directory: "a", keep: undefined, inner: { on: true } };
    const kept = read(given);
    expect(kept).toEqual({ directory: "a", inner: { on: true } });
    expect(Object.hasOwn(kept, "keep")).toBe(false);
    expect(kept.inner).not.toBe(given.inner);
  });

  it("reads each field once", () => {
    let reads = 0;
    const given = {
      get keep() {
        return ++reads === 1 ? 1 : "hostile";
      },
    };
    expect(read(given)).toEqual({ keep: 1 });
    expect(reads).toBe(1);
  });

  it.each<[unknown, string]>([
    [{ dir: "a" }, "options.dir: no such option; did you mean 'directory'? (expected: one of "],
    [{ Directory: "a" }, "options.Directory: no such option; did you mean 'directory'?"],
    [{ kepe: 1 }, "options.kepe: no such option; did you mean 'keep'?"],
    [{ zebra: 1 }, "options.zebra: no such option (expected: one of directory, keep, inner)"],
    [{ keep: 0 }, "options.keep: 0 (expected: a whole number of at least 1)"],
    [{ keep: null }, "options.keep: null (expected: a whole number of at least 1)"],
    [{ inner: { on: 1 } }, "options.inner.on: 1 (expected: true or false)"],
    [{ inner: { of: true } }, "options.inner.of: no such option; did you mean 'on'?"],
    [[], "options: [] (expected: an object)"],
    [undefined, "options: undefined (expected: an object)"],
  ])("of %o says what is wrong", (given, message) => {
    expect(messageOf(() => read(given)).slice(0, message.length)).toBe(message);
  });

  it("names a field that must be there", () => {
    const needy = shape<{ a?: number }>({ a: INTEGER }, { needed: ["a"] });
    expect(messageOf(() => needy({}, "x", "ARGUMENT_INVALID"))).toBe(
      "x.a: undefined (expected: a safe integer)",
    );
  });

  it("says field, not option, of an argument", () => {
    expect(messageOf(() => field({ dir: 1 }, "filter", "ARGUMENT_INVALID"))).toContain(
      "filter.dir: no such field; did you mean 'directory'?",
    );
  });
});

it("an object that cannot be read is misuse", () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const throwing = Object.defineProperty({}, "keep", {
    get() {
      throw new Error("no");
    },
  });
  for (const given of [throwing, new Proxy({}, { ownKeys: () => [][0] as never })]) {
    expect(messageOf(() => read(given))).toBe("options: unreadable (expected: plain data)");
  }
  expect(messageOf(() => read(revoked.proxy))).toContain("options: ");
});

describe("fields", () => {
  const isTaken = (one: typeof ANYTHING, value: unknown): boolean =>
    !messageOf(() => one(value, "x", "OPTION_INVALID")).startsWith("x: ");

  it("take what they say and nothing else", () => {
    expect([0, 1, 3, 4, 1.5, "1"].map((value) => isTaken(whole(1, 3), value))).toEqual([
      ...[false, true, true, false, false, false],
    ]);
    const most = Number.POSITIVE_INFINITY;
    expect([0, 1, most, -most].map((value) => isTaken(count(1), value))).toEqual([
      ...[false, true, true, false],
    ]);
    expect(["", "ab", "abc"].map((value) => isTaken(textOf(1, 2), value))).toEqual([
      ...[false, true, false],
    ]);
    expect(messageOf(() => oneOf("a", "b")("c", "x", "OPTION_INVALID"))).toBe(
      "x: \"c\" (expected: 'a' or 'b')",
    );
  });

  it("keep what they make of a value", () => {
    const half = made("an even number", (value) =>
      typeof value === "number" && value % 2 === 0 ? value / 2 : undefined,
    );
    expect(half(8, "x", "OPTION_INVALID")).toBe(4);
    expect(messageOf(() => half(7, "x", "OPTION_INVALID"))).toContain("an even number");
  });

  it("hold two bounds against each other", () => {
    const range = between({ min: INTEGER, max: INTEGER }, ["min", "max"]);
    expect(range({ min: 1, max: 1 }, "x", "OPTION_INVALID")).toEqual({ min: 1, max: 1 });
    expect(messageOf(() => range({ min: 2, max: 1 }, "x", "OPTION_INVALID"))).toBe(
      "x.max: 1 (expected: at least min (2))",
    );
    expect(messageOf(() => range({ min: 2 }, "x", "OPTION_INVALID"))).toContain("x.max: undefined");
  });
});

it("the nearest name is one of a few letters away, or the only one that begins so", () => {
  const known = ["directory", "durability", "seen", "snapshots"];
  expect(nearestName("dir", known)).toBe("directory");
  expect(nearestName("dirctory", known)).toBe("directory");
  expect(nearestName("SEEN", known)).toBe("seen");
  expect(nearestName("snap", known)).toBe("snapshots");
  expect(nearestName("du", known)).toBeUndefined();
  expect(nearestName("d", known)).toBeUndefined();
  expect(nearestName("leases", known)).toBeUndefined();
});
