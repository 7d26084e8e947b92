/** Lanes with a spill tier against lanes without: the same order, the same records, whatever moves when. */
import { describe, expect, it } from "vitest";
import type { Random } from "../../src/base/random.ts";
import { arenaUsedBytes } from "../../src/memory/arena.ts";
import { verifyArena } from "../../src/memory/verify-arena.ts";
import { verifyRanks } from "../../src/structures/ordering/ranks.ts";
import {
  spillBlock,
  spillLane,
  spillLower,
  spillPlaces,
} from "../../src/structures/spill/lane-spill.ts";
import { spillPull, spillVisit } from "../../src/structures/spill/take-spilled.ts";
import { spilledOfLane } from "../../src/structures/spill/block-chain.ts";
import {
  isSpilledValue,
  spilledDepth,
  spilledPlace,
} from "../../src/structures/spill/spilled-identity.ts";
import { recordDepth, recordKey, setRecordDepth } from "../../src/structures/records/record.ts";
import { word } from "../../src/structures/store.ts";
import { commandsOf, seeded, testSeed } from "../support/seed.ts";
import {
  checkRecord,
  createSpillRig,
  forgetAll,
  freeOwner,
  laneAt,
  popOne,
  pushOne,
  setValue,
  type SpillRig,
  takeOut,
  seenValue,
} from "../support/spill-model.ts";

const PARENTS = [1, 2, 3].map((digit) => String(digit).repeat(32));

function spillSome(rig: SpillRig, random: Random): void {
  const lane = laneAt(rig, random.below(3) - 1);
  if (lane === 0) return;
  const request = {
    most: 1 + random.below(40),
    least: random.below(8),
  };
  const isInside = random.below(9) === 0;
  const from = rig.isLifo ? "bottom" : isInside ? "inside" : "tail";
  spillLane(rig.spill, lane, { ...request, from });
}

/** A record is asked for by its identity: seen shallower, or taken out of its block. */
function touch(rig: SpillRig, random: Random): void {
  const made = rig.model[random.below(rig.model.length)];
  if (made === undefined || !made.hasIdentity) return;
  const value = seenValue(rig, made);
  if (!isSpilledValue(value)) {
    made.depth = Math.min(made.depth, 5);
    setRecordDepth(rig.store, value, made.depth);
    return;
  }
  expect(spilledDepth(value)).toBe(Math.min(made.depth, 63));
  const depth = random.below(63);
  if (random.below(2) === 0 && depth < made.depth) {
    setValue(rig, made, spillLower(rig.spill, value, depth));
    made.depth = depth;
    return;
  }
  const record = spillPull(rig.spill, spilledPlace(value), made.lo, 7);
  checkRecord(rig, record, made);
  expect(seenValue(rig, made)).toBe(record);
  if (random.below(2) === 0) takeOut(rig, record, made);
}

/** Looks through all blocks, takes a few records out of them for good. */
function sweep(rig: SpillRig, random: Random): void {
  const { spill, model, store } = rig;
  let shown = 0;
  for (const place of spillPlaces(spill)) {
    const taken = spillVisit(spill, spillBlock(spill, place), (record) => {
      shown += 1;
      const made = model.find(({ key }) => key === recordKey(store, record));
      expect(made).toBeDefined();
      if (made !== undefined) checkRecord(rig, record, made);
      expect(made?.isVolatile).toBe(false);
      return random.below(20) === 0;
    });
    shown -= taken.length; // now in memory
    for (const record of taken) {
      const made = model.find(({ key }) => key === recordKey(store, record));
      if (made !== undefined && random.below(2) === 0) takeOut(rig, record, made);
      else expect(recordDepth(store, record)).toBe(made?.depth);
    }
  }
  expect(shown).toBe(spill.count);
}

function checkAll(rig: SpillRig): void {
  const { store, spill, model } = rig;
  verifyArena(store.arena);
  const held = verifyRanks(store.arena, word(store, rig.owner, 0));
  expect(held + spill.count).toBe(model.length);
  let spilled = 0;
  for (const priority of [-1, 0, 1]) {
    const lane = laneAt(rig, priority);
    if (lane !== 0) spilled += spilledOfLane(store, lane);
  }
  expect(spilled).toBe(spill.count);
  expect(spillPlaces(spill).length).toBe(spill.tier.stats().blocks);
}

function run(random: Random, commands: number): void {
  const rig = createSpillRig(2048);
  const usedBefore = arenaUsedBytes(rig.store.arena);
  rig.isLifo = random.below(2) === 0;
  for (let turn = 0; turn < commands; turn++) {
    const isFilling = Math.floor(turn / 400) % 2 === 0;
    const kind = random.below(100);
    if (kind < (isFilling ? 60 : 25)) pushOne(rig, random, PARENTS);
    else if (kind < 75) popOne(rig);
    else if (kind < 88) spillSome(rig, random);
    else if (kind < 97) touch(rig, random);
    else if (kind < 98) sweep(rig, random);
    else if (kind < 99 && random.below(4) === 0) forgetAll(rig);
    else if (random.below(4) === 0) rig.isLifo = !rig.isLifo;
    if (turn % 50 === 0) checkAll(rig);
  }
  while (rig.model.length > 0) popOne(rig);
  checkAll(rig);
  freeOwner(rig);
  expect(rig.spill.tier.stats().blocks).toBe(0);
  expect(arenaUsedBytes(rig.store.arena)).toBe(usedBefore);
}

describe("spill against lanes that know no tiers (I4)", () => {
  it("hands out the same records in the same order for any mix of calls", () => {
    const seed = testSeed("spill");
    for (let round = 0; round < 2; round++)
      seeded(seed + round, (random) => run(random, commandsOf(2400)));
  });

  it("loses nothing on a full disk: what can not go stays, and goes once there is space", () => {
    seeded(testSeed("spill full disk"), (random) => {
      const rig = createSpillRig(2048);
      for (let turn = 0; turn < 900; turn++) {
        pushOne(rig, random, PARENTS);
        rig.files.capacity = Math.floor(turn / 100) % 2 === 0 ? 4096 : Number.POSITIVE_INFINITY;
        try {
          if (turn % 7 === 0) spillSome(rig, random);
        } catch (error) {
          expect(error).toMatchObject({ code: "DISK_FULL" });
        }
        if (turn % 50 === 0) checkAll(rig);
      }
      rig.files.capacity = 0; // reading back needs no space
      expect(rig.spill.count).toBeGreaterThan(0);
      while (rig.model.length > 0) popOne(rig);
      checkAll(rig);
    });
  });

  it("leaves lane and block as they were when a block can not be read, and reads it later", () => {
    seeded(testSeed("spill unread block"), (random) => {
      const rig = createSpillRig(1 << 20);
      for (let turn = 0; turn < 60; turn++) pushOne(rig, random, PARENTS);
      for (let turn = 0; turn < 30; turn++) spillSome(rig, random);
      const path = rig.files.names().find((name) => name.endsWith(".seg")) as string;
      const whole = rig.files.bytesOf(path).slice();
      rig.files.setBytes(path, whole.slice(0, 20));
      let isMet = false;
      while (rig.model.length > 0 && !isMet) {
        try {
          popOne(rig);
        } catch (error) {
          expect(error).toMatchObject({ code: "SNAPSHOT_CORRUPT" });
          isMet = true;
        }
      }
      expect(isMet).toBe(true);
      checkAll(rig);
      rig.files.setBytes(path, whole);
      while (rig.model.length > 0) popOne(rig);
      checkAll(rig);
    });
  });
});
