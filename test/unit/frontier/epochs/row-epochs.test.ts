import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/base/random.ts";
import type { EpochPolicy, FrontierOptions } from "../../../../src/engine/types/frontier-types.ts";
import { coreOf } from "../../../../src/engine/api/verify-frontier.ts";
import { listRecords } from "../../../../src/frontier/records/record-walk.ts";
import { epochSalt } from "../../../../src/structures/seen/epoch-table.ts";
import { recordHi, recordLo } from "../../../../src/structures/records/record.ts";
import { openBench, thrownBy } from "../../../support/bench-frontier.ts";
import { testSeed } from "../../../support/seed.ts";

const A = "http://a.com/1";
const DAY = 86_400_000;
const NOON = Date.parse("2026-11-20T12:00:00Z");

function openEpoch(epoch: EpochPolicy, more: FrontierOptions = {}) {
  const bench = openBench({ ...more, defaults: { ...more.defaults, epoch } });
  bench.clock.advance(NOON - bench.clock.now());
  return bench;
}

describe("a calendar epoch", () => {
  it("lets a URL in once in each period, and remembers the periods before", () => {
    const { frontier, clock, check } = openEpoch({ calendar: "day" });
    expect(frontier.push(A).status).toBe("accepted");
    clock.advance(DAY / 2 - 1);
    expect(frontier.push(A).status).toBe("duplicate");
    clock.advance(1);
    expect(frontier.push(A).status).toBe("accepted");
    expect(frontier.push({ url: A, notBefore: NOON }).status).toBe("duplicate");
    expect(frontier.push({ url: A, epoch: "2026-11-20" }).status).toBe("duplicate");
    expect(frontier.push({ url: A, notBefore: NOON + 2 * DAY }).status).toBe("deferred");
    expect(frontier.report().epochs).toEqual({ open: 3, identities: 3 });
    check();
  });

  it("segments dated requests alone where undated ones are for ever", () => {
    const { frontier, clock, check } = openEpoch({ calendar: "day", undated: "forever" });
    expect(frontier.push(A).status).toBe("accepted");
    clock.advance(DAY);
    expect(frontier.push(A).status).toBe("duplicate");
    expect(frontier.push({ url: A, notBefore: NOON + 3 * DAY }).status).toBe("deferred");
    expect(frontier.push({ url: A, notBefore: new Date(NOON + 3 * DAY + 5) }).status).toBe(
      "duplicate",
    );
    check();
  });

  it("takes the beginning of 1970 for a date like any other", () => {
    const { frontier, check } = openEpoch({ calendar: "day", undated: "forever" });
    for (const notBefore of [0, new Date(0), -DAY]) {
      const { epoch } = frontier.explain({ url: A, notBefore });
      expect(epoch).toBe(Number(notBefore) === 0 ? "1970-01-01" : "1969-12-31");
    }
    expect(frontier.push(A).status).toBe("accepted");
    expect(frontier.push({ url: A, notBefore: 0 }).status).toBe("accepted");
    expect(frontier.push({ url: A, notBefore: new Date(5) }).status).toBe("duplicate");
    const times: number[] = [];
    const other = openEpoch({ of: (timeMs) => String(times.push(timeMs)) });
    other.frontier.pushMany([{ url: A, notBefore: 0 }, A]);
    expect(times).toEqual([0, NOON]);
    check();
  });

  it("survives a clock that goes back and forth", () => {
    let nowMs = NOON;
    const clock = { now: () => nowMs, monotonic: () => 0, schedule: () => () => {} };
    const { frontier, check } = openBench({ clock, defaults: { epoch: { calendar: "hour" } } });
    const random = createRandom(testSeed("clock"));
    const seen = new Set<number>();
    for (let step = 0; step < 2_000; step++) {
      nowMs += Math.round((random.unit() - 0.5) * 8 * 3_600_000);
      const hour = Math.floor(nowMs / 3_600_000);
      expect(frontier.push(A).status).toBe(seen.has(hour) ? "duplicate" : "accepted");
      seen.add(hour);
    }
    check();
  });
});

describe("a named epoch", () => {
  it("by version is new with each version, by `of` with each name, by request whatever the rule", () => {
    const one = openEpoch({ version: 7 });
    expect(one.frontier.push(A).status).toBe("accepted");
    expect(one.frontier.push({ url: A, epoch: "7" }).status).toBe("duplicate");
    expect(one.frontier.push({ url: A, epoch: "8" }).status).toBe("accepted");
    one.check();
    const two = openEpoch({ of: (timeMs) => `even ${Math.floor(timeMs / DAY) % 2 === 0}` });
    const verdicts = [0, 1, 1, 2].map((days) => {
      two.clock.advance(days * DAY);
      return two.frontier.push(A).status;
    });
    expect(verdicts).toEqual(["accepted", "accepted", "duplicate", "duplicate"]);
    two.check();
  });

  it.each<[string, unknown]>([
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["answers a promise", () => Promise.resolve("name")],
    ["answers nothing", () => undefined],
    ["answers a number", () => 5],
    ["answers an empty name", () => ""],
    ["answers a name of a megabyte", () => "x".repeat(1_000_000)],
    ["answers half a character", () => "\ud800"],
  ])("whose function %s refuses the request and harms nothing", (_, of) => {
    const { frontier, check } = openEpoch({ of: of as () => string });
    expect(frontier.push(A)).toMatchObject({ status: "rejected", reason: "hook" });
    expect(frontier.explain(A).verdict.reason).toBe("hook");
    expect(frontier.record(A)).toBe(undefined);
    expect(frontier.push({ url: A, epoch: "own" }).status).toBe("accepted");
    check();
  });

  it("has the same verdicts however its URLs come: one by one, in batches, with or without a kernel call of their own", () => {
    const random = createRandom(testSeed("epoch batches"));
    const urls = Array.from(
      { length: 3_000 },
      () => `http://h${random.below(9)}.com/${random.below(900)}`,
    );
    const each = openEpoch({ calendar: "day" });
    const batch = openEpoch({ calendar: "day" });
    const single = urls.map((url) => each.frontier.push({ url }).status);
    const result = batch.frontier.pushMany(urls);
    expect(single).toEqual(urls.map((_, index) => result.verdict(index).status));
    expect(batch.frontier.report().epochs).toEqual(each.frontier.report().epochs);
    each.check();
    batch.check();
  });

  it.each([1, "", "x".repeat(1_001), "\udfff", {}])("can not be %j", (epoch) => {
    const { frontier } = openBench();
    expect(thrownBy(() => frontier.push({ url: A, epoch: epoch as string }))).toMatchObject({
      code: "REQUEST_INVALID",
    });
  });
});

describe("forget({ epoch })", () => {
  it("makes the identities of one epoch new again and leaves all others", () => {
    const { frontier, check } = openEpoch({ calendar: "day" });
    const urls = Array.from({ length: 2_000 }, (_, index) => `http://a.com/${index}`);
    for (const epoch of ["x", "y"]) frontier.pushMany(urls, { epoch });
    for (const lease of frontier.pollMany(1_500)) {
      if (lease.url.endsWith("7")) lease.fail();
      else lease.done();
    }
    const out = frontier.pollMany(100);
    expect(frontier.forget({ epoch: "x" })).toBe(1_500);
    check();
    expect(frontier.forget({ epoch: "x" })).toBe(0);
    expect(frontier.report()).toMatchObject({
      forgotten: 1_500,
      done: 0,
      failed: 0,
      pending: 2_400,
    });
    expect(frontier.report().epochs).toEqual({ open: 1, identities: 2_000 });
    expect(frontier.pushMany(urls, { epoch: "y" }).duplicate).toBe(2_000);
    expect(frontier.pushMany(urls, { epoch: "x" }).accepted).toBe(2_000);
    for (const lease of out) lease.done(); // finish without identity
    expect(frontier.pushMany(urls, { epoch: "x" }).duplicate).toBe(2_000);
    check();
  });

  it("of the epoch `forever` leaves the named ones", () => {
    const { frontier, check } = openBench();
    frontier.pushMany([A, { url: A, epoch: "x" }]);
    for (const lease of frontier.pollMany(2)) lease.done();
    frontier.push({ url: A, epoch: "y" });
    expect(frontier.forget({ epoch: "forever" })).toBe(1);
    check();
    const again = frontier.pushMany([A, { url: A, epoch: "x" }, { url: A, epoch: "y" }]);
    expect([0, 1, 2].map((index) => again.verdict(index).status)).toEqual([
      "accepted",
      "duplicate",
      "duplicate",
    ]);
    check();
  });

  it("gives the memory of what it forgets to the epochs that come", () => {
    const { frontier, check } = openEpoch({ version: 1 });
    const urls = Array.from({ length: 5_000 }, (_, index) => `http://a.com/${index}`);
    let bytes = 0;
    for (let round = 0; round < 20; round++) {
      frontier.pushMany(urls, { epoch: `e${round}` });
      frontier.done(frontier.pollMany(5_000));
      expect(frontier.forget({ epoch: `e${round}` })).toBe(5_000);
      const { offHeapBytes } = frontier.report().memory;
      if (round === 9) bytes = offHeapBytes;
      if (round > 9) expect(offHeapBytes).toBeLessThanOrEqual(bytes * 1.1);
    }
    check();
  });
});

describe("epoch policies", () => {
  it.each<[unknown, string]>([
    ["always", "epoch"],
    [null, "epoch"],
    [{}, "epoch"],
    [{ calendar: "day", every: 5 }, "epoch"],
    [{ calendar: "year" }, "epoch.calendar"],
    [{ calendar: "day", zone: "Mars/Olympus" }, "epoch.zone"],
    [{ calendar: "day", zone: 5 }, "epoch.zone"],
    [{ calendar: "day", undated: "never" }, "epoch.undated"],
    [{ calendar: "day", days: 3 }, "epoch.days"],
    [{ every: "soon" }, "epoch.every"],
    [{ every: 0 }, "epoch.every"],
    [{ every: "9999999w" }, "epoch.every"],
    [{ every: "1d", zone: "UTC" }, "epoch.zone"],
    [{ version: {} }, "epoch.version"],
    [{ version: "" }, "epoch.version"],
    [{ version: Number.NaN }, "epoch.version"],
    [{ of: "day" }, "epoch.of"],
    [{ adaptive: 5 }, "epoch.adaptive"],
    [{ adaptive: { min: "1d" } }, "epoch.adaptive.max"],
    [{ adaptive: { min: "2d", max: "1d" } }, "epoch.adaptive.max"],
    [{ adaptive: { min: "1d", max: "2d", start: 1 } }, "epoch.adaptive.start"],
  ])("%j is refused by the name %s", (epoch, field) => {
    const error = thrownBy(() => openBench({ defaults: { epoch: epoch as EpochPolicy } }));
    expect(error).toMatchObject({ code: "OPTION_INVALID" });
    expect((error as Error).message).toContain(`options.defaults.${field}:`);
  });

  it("that need finish times are refused with the mode bloom, and so is forgetting one epoch", () => {
    const seen = { mode: "bloom" } as const;
    for (const epoch of [{ every: "1d" }, { adaptive: { min: "1h", max: "1d" } }]) {
      const error = thrownBy(() => openBench({ seen, defaults: { epoch } }));
      expect(error).toMatchObject({ code: "OPTION_INVALID" });
    }
    const { frontier, check } = openEpoch({ calendar: "day" }, { seen });
    expect(frontier.push(A).status).toBe("accepted");
    expect(frontier.push(A).status).toBe("duplicate");
    expect(frontier.push({ url: A, epoch: "e" }).status).toBe("accepted");
    const error = thrownBy(() => frontier.forget({ epoch: "e" }));
    expect(error).toMatchObject({ code: "OPTION_INVALID" });
    check();
  });
});

describe("the salt of an epoch", () => {
  it("changes both words of an identity's hash, each by its own word", () => {
    const { frontier } = openBench();
    frontier.pushMany([{ url: A }, { url: A, epoch: "one" }, { url: A, epoch: "two" }]);
    const core = coreOf(frontier);
    const noted = listRecords(core, new Set(["pending"]));
    const [plain, one, two] = Array.from(noted.handles.subarray(0, noted.count), (record) => [
      recordLo(core.store, record),
      recordHi(core.store, record),
    ]) as [number[], number[], number[]];
    for (const [hash, name] of [
      [one, "one"],
      [two, "two"],
    ] as const) {
      const { hi, lo } = epochSalt(core.epochs, name);
      const salt = [lo >>> 0, hi >>> 0];
      expect(salt.every((word) => word !== 0)).toBe(true);
      expect(hash.map((word, at) => (word ^ (plain[at] as number)) >>> 0)).toEqual(salt);
    }
    expect([one[0] === two[0], one[1] === two[1]]).toEqual([false, false]);
  });
});
