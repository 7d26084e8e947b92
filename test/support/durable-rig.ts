/** A frontier on files in memory, and everything about it that must be recovered, as plain data. */
import type { Core } from "../../src/frontier/core.ts";
import type { createVirtualClock } from "../../src/base/clock.ts";
import { createRandom } from "../../src/base/random.ts";
import {
  GROUP_HASH_HI_WORD,
  GROUP_HASH_LO_WORD,
  GROUP_READY_AT_WORD,
  groupEach,
  memberAddress,
} from "../../src/structures/hosts/group-table.ts";
import { LocalFrontier } from "../../src/engine/api/local-frontier.ts";
import { normalizeOptions, type Settings } from "../../src/engine/options/normalize-options.ts";
import type { FrontierOptions } from "../../src/engine/types/frontier-types.ts";
import { coreOf } from "../../src/engine/api/verify-frontier.ts";
import { finishedView } from "../../src/frontier/records/finished-word.ts";
import { hostOf, sequenceOf } from "../../src/frontier/records/transitions.ts";
import { probeSpilled, placesSpilled } from "../../src/frontier/scheduling/spill-control.ts";
import { listRecords } from "../../src/frontier/records/record-walk.ts";
import { coldReading, openColdWalk } from "../../src/persistence/cold/cold-read.ts";
import { eachRow } from "../../src/persistence/cold/cold-walk.ts";
import { openSpillTier } from "../../src/persistence/spill/spill-files.ts";
import type { Files } from "../../src/persistence/files.ts";
import {
  closeWalk,
  openWalk,
  walkHash,
  walkNext,
  walkValue,
} from "../../src/structures/table/table-walk.ts";
import { dueOf } from "../../src/persistence/journal/entry-fields.ts";
import { epochEach, epochName, epochNext } from "../../src/structures/seen/epoch-table.ts";
import { loneText, orderKeyOf } from "../../src/structures/hosts/lone-host.ts";
import * as host from "../../src/structures/hosts/host-table.ts";
import * as record from "../../src/structures/records/record.ts";
import { seenFind } from "../../src/structures/seen/seen-set.ts";
import { recordUrl } from "../../src/structures/records/kernel-scratch.ts";
import { spillBlock, spillPlaces } from "../../src/structures/spill/lane-spill.ts";
import { visitSpilled } from "../../src/structures/spill/visit-spilled.ts";
import { float, storeSecret, word } from "../../src/structures/store.ts";
import { createMemoryFiles, type MemoryFiles } from "./memory-files.ts";

export type VirtualClock = ReturnType<typeof createVirtualClock>;

export interface DurableRig {
  readonly frontier: LocalFrontier;
  readonly files: Files;
  readonly clock: VirtualClock;
}

const DIRECTORY = "/dir";

/** Path of a file of such a frontier, in files of memory. */
export function filePath(name: string): string {
  return `${DIRECTORY}/default/${name}`;
}

/** Path of a journal segment of such a frontier. */
export function journalPath(serial: number): string {
  return filePath(`journal-${String(serial).padStart(8, "0")}.log`);
}

/**
 * Opens "/dir" of some files; it has few memory pages, so that thousands can be opened. `isTight`: everything that may leave memory does,
 * to spill blocks of any size and to the cold tier.
 */
export async function openRig(
  files: Files,
  clock: VirtualClock,
  options: FrontierOptions = {},
  isTight = false,
): Promise<DurableRig> {
  const frontier = await LocalFrontier.open(rigSettings(files, clock, options, isTight));
  return { frontier, files, clock };
}

/** The same, of which every snapshot is whole. */
export async function openWholeRig(
  files: Files,
  clock: VirtualClock,
  options: FrontierOptions = {},
): Promise<DurableRig> {
  const settings = rigSettings(files, clock, options, false);
  const partialBytesLeast = Number.POSITIVE_INFINITY;
  return { frontier: await LocalFrontier.open({ ...settings, partialBytesLeast }), files, clock };
}

/** The settings of such a frontier: where little has changed, its snapshots are partial, however small they are. */
export function rigSettings(
  files: Files,
  clock: VirtualClock,
  options: FrontierOptions,
  isTight: boolean,
): Settings {
  const bounds =
    isTight && options.seen === undefined ? { seen: { memoryBytes: TIGHT_BYTES } } : {};
  const settings = normalizeOptions({
    directory: DIRECTORY,
    clock,
    seed: 1,
    ...bounds,
    ...options,
  });
  return {
    ...settings,
    files,
    secret: secretOf(settings.seed),
    ...(isTight ? tightSpill() : {}),
    pageCountMax: 1024,
    snapshotRows: 3,
    partialBytesLeast: 1,
  };
}

/** The order of every table depends on it: one seed determines a whole run. */
function secretOf(seed: number): Uint32Array {
  const random = createRandom(seed);
  return Uint32Array.from({ length: 4 }, () => random.word());
}

/** A hot table of some dozen entries. */
const TIGHT_BYTES = 1_000;

function tightSpill(): Partial<Settings> {
  const tier = openSpillTier({
    directory: "/spill",
    files: createMemoryFiles(),
    segmentBytes: 4096,
  });
  return { memoryBytes: 1, spill: { tier, blockLeast: 1 } };
}

/** The same in memory, from one of the files if it exists. */
export async function openMemoryRig(
  files: Files,
  clock: VirtualClock,
  options: FrontierOptions = {},
  isTight = false,
): Promise<DurableRig> {
  const settings = { ...normalizeOptions({ clock, seed: 1, ...options }), files };
  const tight = isTight ? tightSpill() : {};
  const small = { ...settings, ...tight, pageCountMax: 1024, snapshotRows: 3 };
  return { frontier: await LocalFrontier.open(small), files, clock };
}

/** The same files without the lock of a dead process. */
export function withoutLock(files: MemoryFiles): MemoryFiles {
  for (const name of files.names()) if (name.endsWith("/lock")) files.remove(name);
  return files;
}

/** The files as a killed process leaves them: all bytes passed to the system, and no others. */
export function killedFiles(files: MemoryFiles): MemoryFiles {
  const copy = createMemoryFiles();
  for (const name of files.names()) {
    if (name.endsWith("/lock")) continue; // its owner is dead
    copy.close(copy.open(name, "w"));
    copy.setBytes(name, files.bytesOf(name).slice());
  }
  return copy;
}

export interface Known {
  readonly counters: Record<string, unknown>;
  readonly records: ReadonlyArray<Record<string, unknown>>;
  readonly hosts: Record<string, unknown>;
  readonly finished: readonly string[];
  readonly epochs: Record<string, readonly string[]>;
  /** Clocks that have not passed, by the hash of kind and name. */
  readonly groups: Record<string, number>;
  readonly state: unknown;
}

const PENDING = record.RECORD_PENDING;

/**
 * Everything that must survive; leases are described as the state in which they return. Idle hosts without any setting do not
 * survive in a directory; a file of a frontier in memory has them (`hasIdle`).
 */
export function knownOf({ clock, files, frontier }: DurableRig, hasIdle = false): Known {
  const core = coreOf(frontier);
  const { depths, rejected, leases: _leases, ...counters } = core.counters;
  const gauges = { ...counters, pending: counters.pending + counters.leased, leased: 0 };
  return {
    counters: {
      ...gauges,
      released: 0,
      rejected: Object.fromEntries(rejected),
      depths: Array.from(depths, (count) => count ?? 0),
    },
    records: recordsOf(core),
    hosts: hostsOf(core, hasIdle),
    finished: finishedOf(core, files),
    epochs: epochsOf(core),
    groups: groupsOf(core, clock.now()),
    state: frontier.state,
  };
}

function recordsOf(core: Core): Array<Record<string, unknown>> {
  const noted = listRecords(core, new Set(["pending", "waiting", "leased", "failed", "done"]));
  const views: Array<Record<string, unknown>> = [];
  const view = (one: number): void => {
    const { store } = core;
    const state = record.recordState(store, one);
    const blob = record.recordBlob(store, one);
    const parent = record.recordParent(store, one);
    const flags = record.recordFlags(store, one);
    views.push({
      url: recordUrl(core.scratch, one),
      state: state === record.RECORD_LEASED ? PENDING : state,
      sequence: sequenceOf(core, one),
      key: orderKeyOf(store, one),
      priority: record.recordPriority(store, one),
      attempt: record.recordAttempt(store, one),
      deliveries: record.recordDeliveries(store, one),
      depth: record.recordDepth(store, one),
      flags: flags & 31,
      due: dueOf(core, one),
      again: record.isRecordAgain(store, one),
      period: blob === 0 ? 0 : record.blobPeriod(store, blob),
      unit: record.isLone(store, one)
        ? loneText(store, one)
        : host.hostName(store, hostOf(core, one)),
      blob: blob === 0 ? "" : Buffer.from(record.blobBytes(store, blob)).toString("hex"),
      maxAttempts: blob === 0 ? 0 : record.blobMaxAttempts(store, blob),
      parent: parent === 0 ? "" : record.parentFingerprint(store, parent),
    });
  };
  for (let index = 0; index < noted.count; index++) view(noted.handles[index] as number);
  for (const place of placesSpilled(core)) probeSpilled(core, place, view);
  return views.sort((a, b) => (a.sequence as number) - (b.sequence as number));
}

function hostsOf(core: Core, hasIdle: boolean): Record<string, unknown> {
  const { hosts, store } = core;
  const views: Record<string, unknown> = {};
  const view = (one: number): void => {
    views[host.hostName(store, one)] = {
      turn: float(store, one, host.HOST_TURN_WORD),
      readyAt: float(store, one, host.HOST_READY_AT_WORD),
      blockUntil: float(store, one, host.HOST_BLOCK_UNTIL_WORD),
      delay: float(store, one, host.HOST_DELAY_WORD),
      adaptive: float(store, one, host.HOST_ADAPTIVE_WORD),
      bytes: float(store, one, host.HOST_BYTES_WORD),
      limit: word(store, one, host.HOST_LIMIT_WORD),
      failures: word(store, one, host.HOST_FAILURES_WORD),
      admitted: word(store, one, host.HOST_ADMITTED_WORD),
      address: memberAddress(store, one),
      flags:
        word(store, one, host.HOST_FLAGS_WORD) &
        (host.HOST_HELD | host.HOST_STEERED | host.HOST_KEPT),
    };
  };
  for (let one = host.hostNextBusy(hosts, 0); one !== 0; one = host.hostNextBusy(hosts, one)) {
    view(one);
  }
  for (let one = host.hostNextIdle(hosts, 0); one !== 0; one = host.hostNextIdle(hosts, one)) {
    const isJournaled = (word(store, one, host.HOST_FLAGS_WORD) & host.HOST_MARKED) !== 0;
    if (isJournaled || hasIdle) view(one);
  }
  eachSpilledHost(core, view);
  const noted = listRecords(core, new Set(["pending"]));
  for (const one of noted.handles.subarray(0, noted.count)) {
    if (!record.isLone(store, one)) continue;
    // As new but for its turn.
    views[loneText(store, one)] = {
      ...{ turn: record.recordKey(store, one), readyAt: 0, blockUntil: 0, delay: -1, adaptive: -1 },
      ...{ bytes: 0, limit: 0, failures: 0, admitted: 0, address: undefined, flags: 0 },
    };
  }
  return Object.fromEntries(Object.entries(views).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Hosts on disk, in memory for the time of the call. */
function eachSpilledHost({ spilling }: Core, view: (one: number) => void): void {
  if (spilling === undefined) return;
  const { spill } = spilling;
  for (const place of spillPlaces(spill)) {
    visitSpilled(spill, spillBlock(spill, place), (_, hosts) => {
      for (const one of hosts) view(one);
    });
  }
}

function groupsOf({ groups, store }: Core, nowMs: number): Record<string, number> {
  const clocks: Array<[string, number]> = [];
  groupEach(groups, (group) => {
    const readyAt = float(store, group, GROUP_READY_AT_WORD);
    const lo = word(store, group, GROUP_HASH_LO_WORD);
    if (readyAt > nowMs) clocks.push([`${word(store, group, GROUP_HASH_HI_WORD)}:${lo}`, readyAt]);
  });
  return Object.fromEntries(clocks.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Members whose identities are still known, by epoch. */
function epochsOf({ epochs, seen }: Core): Record<string, readonly string[]> {
  const views: Record<string, readonly string[]> = {};
  for (let epoch = epochNext(epochs, 0); epoch !== 0; epoch = epochNext(epochs, epoch)) {
    const members = new Set<string>();
    epochEach(epochs, epoch, (lo, hi) => {
      if (seenFind(seen, lo, hi) !== 0) members.add(`${hi}:${lo}`);
    });
    views[epochName(epochs.store, epoch)] = [...members].sort();
  }
  return Object.fromEntries(Object.entries(views).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Finished identities of the hot table, and those of the cold tier that it does not override. */
function finishedOf(core: Core, files: Files): string[] {
  const lines: string[] = [];
  const hot = new Set<string>();
  const add = (lo: number, hi: number, value: number): void => {
    if (value < 0x8000_0000) return;
    lines.push(`${hi}:${lo} ${JSON.stringify(finishedView(value))}`);
  };
  const walk = openWalk(core.seen.table);
  while (walkNext(walk)) {
    const { u32 } = core.store.region.views;
    for (let index = 0; index < walk.count; index++) {
      const at = walkHash(walk, index);
      const lo = u32[at] as number;
      const hi = u32[at + 1] as number;
      hot.add(`${hi}:${lo}`);
      add(lo, hi, u32[walkValue(walk, index)] as number);
    }
  }
  closeWalk(walk);
  const reading = coldReading({ files, directory: "/dir/default" }, storeSecret(core.store));
  if (core.seen.tiered === undefined || reading === undefined) return lines.sort();
  const { walk: cold, close } = openColdWalk(reading);
  eachRow(cold, (lo, hi, value) => {
    if (!hot.has(`${hi}:${lo}`)) add(lo, hi, value);
  });
  close();
  return lines.sort();
}

/** Damage reported by the opening: an older generation would serve as well, and hide it. */
export async function damageOf(frontier: LocalFrontier): Promise<readonly string[]> {
  let damage: readonly string[] = [];
  frontier.on("resumed", (resumed) => {
    damage = resumed.damage;
  });
  await turn();
  return damage;
}

/** A turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
