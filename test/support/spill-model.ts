/** Lanes over a spill tier beside sorted arrays without tiers. */
import { expect } from "vitest";
import type { Random } from "../../src/base/random.ts";
import { loadKernelModule } from "../../src/engine/kernel-file.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { openSpillTier } from "../../src/persistence/spill/spill-files.ts";
import { laneFirst, laneLast } from "../../src/structures/ordering/lane.ts";
import {
  ranksBest,
  ranksFind,
  ranksInsert,
  ranksRemove,
} from "../../src/structures/ordering/ranks.ts";
import {
  createDraft,
  parentCreate,
  parentFingerprint,
  parentRelease,
  parentRetain,
  blobBytes,
  blobCreate,
  blobMaxAttempts,
  RECORD_FLAG_NO_IDENTITY,
  RECORD_FLAG_VOLATILE,
  recordBlob,
  recordCreate,
  recordDepth,
  recordFlags,
  recordFree,
  recordHi,
  recordKey,
  recordLo,
  recordParent,
  recordTextLength,
  recordTextOffset,
  RECORD_PENDING,
  setRecordKey,
  setRecordState,
} from "../../src/structures/records/record.ts";
import {
  createSeenSet,
  seenFind,
  seenForget,
  seenSet,
} from "../../src/structures/seen/seen-set.ts";
import { createSpill, type Spill, spillReady } from "../../src/structures/spill/lane-spill.ts";
import { spillSettle } from "../../src/structures/spill/forget-spilled.ts";
import { createStore, setWord, type Store, word } from "../../src/structures/store.ts";
import { ruleQueueCreate } from "../../src/structures/hosts/host-table.ts";
import { createMemoryFiles, type MemoryFiles } from "./memory-files.ts";

/** A record of the model. */
export interface ModelRecord {
  key: number;
  priority: number;
  lo: number;
  depth: number;
  text: string;
  blob: string | undefined;
  parent: string | undefined;
  isVolatile: boolean;
  hasIdentity: boolean;
}

export interface SpillRig {
  readonly store: Store;
  readonly spill: Spill;
  readonly files: MemoryFiles;
  readonly owner: number;
  readonly model: ModelRecord[];
  isLifo: boolean;
  sequence: number;
}

export function createSpillRig(segmentBytes: number): SpillRig {
  const kernel = createKernel(loadKernelModule());
  const store = createStore(kernel, new Uint32Array([1, 2, 3, 4]));
  const seen = createSeenSet({ kernel, mode: "exact" });
  const files = createMemoryFiles();
  const tier = openSpillTier({ directory: "/spill", files, segmentBytes });
  const owner = ruleQueueCreate(store, 0);
  const spill = createSpill(store, seen, tier);
  return { store, spill, files, owner, model: [], isLifo: false, sequence: 1000 };
}

/** A new record at the end of its lane, or at an older place. */
export function pushOne(rig: SpillRig, random: Random, parents: readonly string[]): void {
  const { store, spill } = rig;
  const isOld = random.below(12) === 0;
  rig.sequence += 1;
  const key = isOld ? random.below(rig.sequence) + 0.001 * rig.sequence : rig.sequence;
  const text = `/${"p".repeat(random.below(40))}${rig.sequence}`;
  const parent = random.below(3) === 0 ? parents[random.below(parents.length)] : undefined;
  const blob = random.below(4) === 0 ? `data ${"x".repeat(random.below(300))}` : undefined;
  const made: ModelRecord = {
    ...{ key, priority: random.below(3) - 1, lo: rig.sequence, depth: random.below(90), text },
    ...(random.below(3) === 0 ? { lo: forgottenOf(rig, random) ?? rig.sequence } : {}),
    ...{ blob, parent, isVolatile: random.below(40) === 0, hasIdentity: random.below(10) > 0 },
  };
  const draft = createDraft();
  draft.flags = made.isVolatile ? RECORD_FLAG_VOLATILE : 0;
  if (!made.hasIdentity) draft.flags |= RECORD_FLAG_NO_IDENTITY;
  draft.priority = made.priority;
  draft.lo = made.lo;
  draft.hi = 7;
  draft.depth = made.depth;
  draft.textLength = text.length;
  draft.parent = parent === undefined ? 0 : parentCreate(store, parent);
  draft.blob = blob === undefined ? 0 : blobCreate(store, Buffer.from(blob), 3);
  const record = recordCreate(store, draft);
  if (draft.parent !== 0) {
    parentRetain(store, draft.parent);
    parentRelease(store, draft.parent);
  }
  store.region.views.buffer.latin1Write(text, recordTextOffset(store, record));
  setRecordKey(store, record, key);
  setRecordState(store, record, RECORD_PENDING);
  if (made.hasIdentity) seenSet(spill.seen, made.lo, 7, record);
  ranksInsert(store.arena, rig.owner, 0, made.priority, record);
  rig.model.push(made);
}

/** A live identity that was forgotten, so that it counts as new again. */
function forgottenOf({ model }: SpillRig, random: Random): number | undefined {
  const { lo, hasIdentity } = model[random.below(model.length)] ?? { lo: 0, hasIdentity: true };
  if (hasIdentity || model.some((one) => one.lo === lo && one.hasIdentity)) return undefined;
  return lo;
}

/** The record that goes next, by the structures and by the model. */
export function popOne(rig: SpillRig): void {
  const { store, spill, model, isLifo } = rig;
  const lane = ranksBest(store.arena, word(store, rig.owner, 0));
  expect(lane === 0).toBe(model.length === 0);
  if (lane === 0) return;
  spillReady(spill, lane, isLifo);
  const record = isLifo ? laneLast(store.region, lane) : laneFirst(store.region, lane);
  const best = bestOf(rig);
  checkRecord(rig, record, best);
  takeOut(rig, record, best);
}

/** Takes a record out for good, from both. */
export function takeOut(rig: SpillRig, record: number, made: ModelRecord): void {
  const { store, spill } = rig;
  ranksRemove(store.arena, rig.owner, 0, made.priority, record);
  if (made.hasIdentity) seenSet(spill.seen, made.lo, 7, 0x8000_0000);
  recordFree(store, record);
  rig.model.splice(rig.model.indexOf(made), 1);
}

export function checkRecord({ store }: SpillRig, record: number, made: ModelRecord): void {
  expect(recordKey(store, record)).toBe(made.key);
  expect([recordLo(store, record), recordHi(store, record)]).toEqual([made.lo, 7]);
  expect(recordDepth(store, record)).toBe(made.depth);
  const at = recordTextOffset(store, record);
  const { buffer } = store.region.views;
  expect(buffer.latin1Slice(at, at + recordTextLength(store, record))).toBe(made.text);
  const parent = recordParent(store, record);
  expect(parent === 0 ? undefined : parentFingerprint(store, parent)).toBe(made.parent);
  const blob = recordBlob(store, record);
  expect(blob === 0 ? undefined : Buffer.from(blobBytes(store, blob)).toString()).toBe(made.blob);
  if (blob !== 0) expect(blobMaxAttempts(store, blob)).toBe(3);
  expect((recordFlags(store, record) & RECORD_FLAG_VOLATILE) !== 0).toBe(made.isVolatile);
}

export function bestOf({ model, isLifo }: SpillRig): ModelRecord {
  return model.reduce((best, one) => {
    if (one.priority !== best.priority) return one.priority > best.priority ? one : best;
    return one.key < best.key !== isLifo ? one : best;
  });
}

export function laneAt(rig: SpillRig, priority: number): number {
  return ranksFind(rig.store.arena, word(rig.store, rig.owner, 0), priority);
}

export function seenValue(rig: SpillRig, made: ModelRecord): number {
  return seenFind(rig.spill.seen, made.lo, 7);
}

export function setValue(rig: SpillRig, made: ModelRecord, value: number): void {
  seenSet(rig.spill.seen, made.lo, 7, value);
}

/** A new generation: live records continue without identity. */
export function forgetAll(rig: SpillRig): void {
  spillSettle(rig.spill);
  seenForget(rig.spill.seen);
  for (const one of rig.model) one.hasIdentity = false;
}

/** Everything taken from the arena is returned: nothing leaks. */
export function freeOwner(rig: SpillRig): void {
  expect(word(rig.store, rig.owner, 0)).toBe(0);
  setWord(rig.store, rig.owner, 0, 0);
}
