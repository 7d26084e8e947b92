/**
 * Room `src/engine`: where an open frontier is put together, and what all rooms of the engine share: its events and the
 * kernel's file. Decides nothing; the rooms below it do.
 */

/**
 * Runtime: one open frontier put together: the core, its gate, its clock, its events, its lifecycle. The composition root: nothing below
 * imports all of these.
 */
import { VERIFY } from "../base/assert.ts";
import { createRandom, entropyWords } from "../base/random.ts";
import { memoryFull } from "../base/errors.ts";
import { MODE_HOOK } from "../frontier/admission/admission-mode.ts";
import { type Core, createCounters, type TransitionSink } from "../frontier/core.ts";
import { createLeaseTimes } from "../frontier/leases/lease-times.ts";
import { createReasons } from "../frontier/records/outcome-reasons.ts";
import { createRules, installRules } from "../frontier/rules/install-rules.ts";
import { createEpochTable } from "../structures/seen/epoch-table.ts";
import { createSpilling, type Spilled } from "../frontier/scheduling/spill-state.ts";
import { createGroups } from "../frontier/politeness/host-groups.ts";
import { createHeap } from "../structures/ordering/heap.ts";
import { createTimeline } from "../structures/ordering/timeline.ts";
import { createHostTable } from "../structures/hosts/host-table.ts";
import { laneCreate } from "../structures/ordering/lane.ts";
import { REGION_PAGE_COUNT_MAX } from "../layout/memory/region.ts";
import { createKernel, type Kernel } from "../kernel/kernel.ts";
import { createDraft } from "../structures/records/record.ts";
import { createScratch } from "../structures/records/kernel-scratch.ts";
import { createSeenSet, type SeenSet, type SeenSetOptions } from "../structures/seen/seen-set.ts";
import { createStore, type Store, storeSecret } from "../structures/store.ts";
import { createUrlBatch } from "../url/batch/url-batch.ts";
import { carryHostClocks } from "../frontier/politeness/carry-host-clocks.ts";
import type { EventHub } from "./event-hub.ts";
import type { IntakeContext } from "./intake/intake-context.ts";
import { loadKernelModule } from "./kernel-file.ts";
import type { Settings } from "./options/normalize-options.ts";
import type { OpenDiskTiers, DiskTiers } from "./durable/disk-tiers.ts";
import type { FailureNotes } from "./records/failure-notes.ts";
import { recordHostKey, recordView } from "./records/record-view.ts";

/** Everything that `clear` makes anew. */
export interface Runtime {
  readonly core: Core;
  readonly intake: IntakeContext;
}

export interface RuntimeHooks {
  readonly events: EventHub;
  readonly failures: FailureNotes;
  /** A failure for the breaker. */
  failure(nowMs: number): void;
  /** Of a frontier with a directory. */
  tiers?: DiskTiers;
}

/**
 * A small frontier's memory begins with 8 MiB: the collection of garbage that a memory of full size makes V8 begin is not paid at each open.
 * Under VERIFY all do, so that tests meet growth, as on a machine that cannot reserve 4 GiB.
 */
const SMALL_PAGES = 128;

/** The secret of its hashes, and whether it begins empty, with emptied tiers. */
export interface RuntimeOrigin {
  readonly secret?: Uint32Array | undefined;
  readonly isCleared?: boolean;
}

/**
 * `before`: the core that a clear is to replace. Its fences stay spent, and hosts keep the pauses that were set. Its tiers are emptied by
 * `replaceTiers`: until then nothing has changed.
 */
export function createRuntime(
  settings: Settings,
  hooks: RuntimeHooks,
  before?: { core: Core; nowMs: number },
  { secret = secretOf(before?.core), isCleared = false }: RuntimeOrigin = {},
): Runtime {
  const { pageCountMax = REGION_PAGE_COUNT_MAX, isSmall = VERIFY } = settings;
  const initialPages = isSmall ? Math.min(pageCountMax, SMALL_PAGES) : pageCountMax;
  const kernel = createKernel(loadKernelModule(), { initialPages, pageCountMax });
  const store = createStore(kernel, secret);
  const { events, failures } = hooks;
  const failedLane = laneCreate(store.arena, 0);
  if (failedLane === 0) throw memoryFull();
  const tiers = openTiers(hooks.tiers, kernel, { secret, isCleared, before });
  const seen = createSeenSet({ kernel, ...settings.seen, ...seenTiers(tiers) });
  const spilled = spilledOf(store, seen, settings);
  const random = createRandom(settings.seed);
  const sink: TransitionSink = {
    wants: events.wants,
    record: (kind, record, reason) => {
      const view = recordView(core, record);
      const why = kind === "failed" ? { reason, failure: failures.of(core, record) } : { reason };
      events.transition(kind, reason === undefined ? view : Object.assign(view, why));
    },
    failed: (record, reason) => failures.record(core, record, reason),
    failure: hooks.failure,
    fault: (stage, cause, url) => events.hookFault(stage, cause, url),
  };
  const ownUnitOf = (record: number): string | undefined => recordHostKey(core, record);
  const core: Core = {
    store,
    seen,
    hosts: spilled.hosts,
    waiting: createHeap(store.region),
    resting: createHeap(store.region),
    epochs: createEpochTable(store),
    deadlines: createTimeline(store.region),
    clocks: spilled.clocks,
    ...createGroups(store, before?.core.groupKinds),
    failedLane,
    ...createRules(store),
    limits: settings,
    counters: createCounters(),
    ...{ reasons: createReasons(), leaseTimes: createLeaseTimes() },
    ...{ sink, log: undefined },
    random: () => random.unit(),
    ...{ sequence: 0, leaseSequence: before?.core.leaseSequence ?? 0 },
    ...{ volatileData: new Map(), unbegun: undefined, fresh: undefined },
    ...{ hasKept: false, hasOwnUnits: isRestored(settings), ownUnitOf },
    draft: createDraft(),
    scratch: createScratch(store),
    spilling: spillingOf(settings, spilled, tiers),
  };
  const { core: list = settings.rules, nowMs = 0 } = before ?? {};
  installRules(core, list, before?.core.version ?? 0, nowMs);
  if (before !== undefined) carryHostClocks(before.core, core, before.nowMs);
  const batch = createUrlBatch(kernel, { maxUrlBytes: settings.maxUrlBytes });
  store.region.views.u32.set(secret, batch.area.secret >>> 2);
  return {
    core,
    intake: {
      core,
      batch,
      rows: { kernel, offset: batch.area.header },
      key: settings.key,
      ...{ accept: settings.accept, mode: settings.accept === undefined ? 0 : MODE_HOOK },
      ...{ events, failures, isBusy: false, filter: undefined, visited: undefined },
    },
  };
}

/** What a file brings may have named politeness units of its own. */
function isRestored({ directory, from }: Settings): boolean {
  return directory !== undefined || from !== undefined;
}

/** Those of a core that begins, or prepared for one that is to replace another. */
function openTiers(
  tiers: DiskTiers | undefined,
  kernel: Kernel,
  { secret, isCleared, before }: Required<RuntimeOrigin> & { secret: Uint32Array; before: unknown },
): OpenDiskTiers | undefined {
  if (before !== undefined) return tiers?.prepare(kernel, secret);
  return tiers?.open(kernel, secret, isCleared);
}

/** The core that a clear made takes the tiers of the one before, emptied: it is durable that nothing of it is left. */
export function replaceTiers(settings: Settings, hooks: RuntimeHooks): void {
  settings.spill?.tier.clear();
  hooks.tiers?.replace();
}

/** That of the core before: what a clear carries over is known by its hash. */
function secretOf(before: Core | undefined): Uint32Array {
  return before === undefined ? entropyWords(4) : storeSecret(before.store);
}

function seenTiers(tiers: OpenDiskTiers | undefined): Partial<SeenSetOptions> {
  if (tiers?.cold === undefined) return {};
  const { beforeMove, cold } = tiers;
  return { beforeMove, cold };
}

/** What may go to disk in part. */
function spilledOf(store: Store, seen: SeenSet, { hostIdleCountMax }: Settings): Spilled {
  const hosts = createHostTable(store, hostIdleCountMax);
  return { store, seen, hosts, clocks: createTimeline(store.region) };
}

function spillingOf(
  settings: Settings,
  spilled: Spilled,
  tiers: OpenDiskTiers | undefined,
): Core["spilling"] {
  const { memoryBytes: budgetBytes } = settings;
  const spill = settings.spill ?? (tiers === undefined ? undefined : { tier: tiers.spill });
  return spill === undefined ? undefined : createSpilling(spilled, { ...spill, budgetBytes });
}
