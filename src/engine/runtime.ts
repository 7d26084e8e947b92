/**
 * Runtime: one open frontier put together: the core, its gate, its clock, its events, its life.
 * The composition root: nothing below knows all of these.
 */
import { createRandom, entropyWords } from "../base/random.ts";
import { memoryFull } from "../base/errors.ts";
import { type Core, createCounters, type TransitionSink } from "../frontier/core.ts";
import { createReasons } from "../frontier/reasons.ts";
import { createRules, installRules } from "../frontier/rule-set.ts";
import { createEpochTable } from "../structures/epoch-table.ts";
import { createSpilling } from "../frontier/spill-state.ts";
import { createGroups } from "../frontier/groups.ts";
import { createHeap } from "../structures/heap.ts";
import { createTimeline } from "../structures/timeline.ts";
import { createHostTable } from "../structures/host-table.ts";
import { laneCreate } from "../structures/lane.ts";
import { REGION_PAGE_COUNT_MAX } from "../layout/region.ts";
import { createKernel, type Kernel } from "../kernel/kernel.ts";
import { createDraft } from "../structures/record.ts";
import { createScratch } from "../structures/scratch.ts";
import { createSeenSet, type SeenSet, type SeenSetOptions } from "../structures/seen-set.ts";
import { createStore, type Store, storeSecret } from "../structures/store.ts";
import { createUrlBatch } from "../url/batch.ts";
import { carryHosts } from "../frontier/carry.ts";
import type { EventHub } from "./events.ts";
import type { Gate } from "./gate.ts";
import { loadKernelModule } from "./kernel-file.ts";
import type { Settings } from "./options.ts";
import type { OpenTiers, Tiers } from "./tiers.ts";
import { recordView } from "./view.ts";

/** Everything that `clear` makes anew. */
export interface Runtime {
  readonly core: Core;
  readonly gate: Gate;
}

export interface RuntimeHooks {
  readonly events: EventHub;
  /** A failure for the breaker. */
  failure(nowMs: number): void;
  /** Of a frontier with a directory. */
  tiers?: Tiers;
}

/** Whose hashes it makes, and whether it begins with nothing known, its tiers emptied. */
export interface RuntimeOrigin {
  readonly secret?: Uint32Array | undefined;
  readonly isCleared?: boolean;
}

/**
 * `before`: the core that a clear is to replace. Its fences stay spent, and hosts are owed the pauses they were promised. Its tiers
 * are emptied by `replaceTiers`: until then nothing has changed.
 */
export function createRuntime(
  settings: Settings,
  hooks: RuntimeHooks,
  before?: { core: Core; nowMs: number },
  { secret = secretOf(before?.core), isCleared = false }: RuntimeOrigin = {},
): Runtime {
  const { pageCountMax = REGION_PAGE_COUNT_MAX } = settings;
  const kernel = createKernel(loadKernelModule(), { initialPages: pageCountMax, pageCountMax });
  const store = createStore(kernel, secret);
  const { events } = hooks;
  const failedLane = laneCreate(store.arena, 0);
  if (failedLane === 0) throw memoryFull();
  const tiers = openTiers(hooks.tiers, kernel, { secret, isCleared, before });
  const seen = createSeenSet({ kernel, ...settings.seen, ...seenTiers(tiers) });
  const random = createRandom(settings.seed);
  const sink: TransitionSink = {
    wants: events.wants,
    record: (kind, record, reason) => {
      const view = recordView(core, record);
      events.transition(kind, reason === undefined ? view : Object.assign(view, { reason }));
    },
    failure: hooks.failure,
    fault: (stage, cause, url) => events.hookFault(stage, cause, url),
  };
  const core: Core = {
    store,
    seen,
    hosts: createHostTable(store, settings.hostIdleCountMax),
    waiting: createHeap(store.region),
    resting: createHeap(store.region),
    epochs: createEpochTable(store),
    deadlines: createTimeline(store.region),
    clocks: createTimeline(store.region),
    ...createGroups(store, before?.core.groupKinds),
    failedLane,
    ...createRules(store),
    limits: settings,
    counters: createCounters(),
    reasons: createReasons(),
    sink,
    log: undefined,
    random: () => random.unit(),
    sequence: 0,
    leaseSequence: before?.core.leaseSequence ?? 0,
    volatileData: new Map(),
    unbegun: undefined,
    draft: createDraft(),
    scratch: createScratch(store),
    spilling: spillingOf(settings, store, seen, tiers),
  };
  const { core: list = settings.rules, nowMs = 0 } = before ?? {};
  installRules(core, list, before?.core.version ?? 0, nowMs);
  if (before !== undefined) carryHosts(before.core, core, before.nowMs);
  const batch = createUrlBatch(kernel, { maxUrlBytes: settings.maxUrlBytes });
  store.region.views.u32.set(secret, batch.area.secret >>> 2);
  return {
    core,
    gate: {
      core,
      batch,
      rows: { kernel, offset: batch.area.header },
      key: settings.key,
      accept: settings.accept,
      events,
      isBusy: false,
      filter: undefined,
      visited: undefined,
    },
  };
}

/** Those of a core that begins, or prepared for one that is to replace another. */
function openTiers(
  tiers: Tiers | undefined,
  kernel: Kernel,
  { secret, isCleared, before }: Required<RuntimeOrigin> & { secret: Uint32Array; before: unknown },
): OpenTiers | undefined {
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

function seenTiers(tiers: OpenTiers | undefined): Partial<SeenSetOptions> {
  if (tiers?.cold === undefined) return {};
  const { beforeMove, cold } = tiers;
  return { beforeMove, cold };
}

function spillingOf(
  settings: Settings,
  store: Store,
  seen: SeenSet,
  tiers: OpenTiers | undefined,
): Core["spilling"] {
  const { memoryBytes: budgetBytes } = settings;
  const spill = settings.spill ?? (tiers === undefined ? undefined : { tier: tiers.spill });
  return spill === undefined ? undefined : createSpilling(store, seen, { ...spill, budgetBytes });
}
