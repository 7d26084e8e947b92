/**
 * Sharing: what the workers' side needs of a frontier, and the edge's facts, which follow the runtime.
 *
 *   share() ─▶ hub over this port ─▶ handle ─▶ attach(handle) in other threads
 *
 * Workers decide about links by themselves what needs no state: which rule takes a link, how deep, whether a page's are
 * followed. Where besides nothing but the seen-set decides (one key for all rules, epochs without end, no hook, no budget), they
 * drop what is known as well. Where somebody wants to hear of each link, or a key is more than a policy of canonical URLs, the
 * edge is off and the owner sees all of them.
 */
import { isBudgeted } from "../frontier/politeness.ts";
import {
  VERDICT_INVALID_URL,
  VERDICT_NO_FOLLOW,
  VERDICT_NO_RULE,
  VERDICT_SCHEME,
  VERDICT_TOO_DEEP,
  VERDICT_TOO_LONG,
} from "../frontier/verdict.ts";
import type { RuleSpec } from "../frontier/rules.ts";
import type { HandOut } from "../frontier/hand-out.ts";
import type { NormalPolicy } from "../url/policy.ts";
import { Hub } from "../workers/pool/hub.ts";
import type { OwnedLease, OwnerPort } from "../workers/pool/port.ts";
import { registerHub } from "../workers/pool/registry.ts";
import type { CrewHandle } from "../workers/protocol/crew.ts";
import type { EdgeFacts } from "../workers/protocol/edge-message.ts";
import { NO_EXTRAS } from "./codec.ts";
import type { EventHub } from "./events.ts";
import type { Gate } from "./gate.ts";
import { refuse } from "./intake.ts";
import { canHarvest, harvest, type Sheaf as RecordSheaf } from "./harvest.ts";
import { loadKernelModule } from "./kernel-file.ts";
import { RecordLease } from "./lease.ts";
import type { Life } from "./life.ts";
import type { Settings } from "./options.ts";
import type { Frontier, RequestLike } from "./types.ts";

/** Reasons of what the edge drops, in the order of the message; the first are duplicates. */
const DROPPED = [
  VERDICT_INVALID_URL,
  VERDICT_SCHEME,
  VERDICT_TOO_LONG,
  VERDICT_TOO_DEEP,
  VERDICT_NO_RULE,
  VERDICT_NO_FOLLOW,
];
/** Rules whose hosts, domains and patterns are longer than this together are not sent to every worker. */
const EDGE_LENGTH_MAX = 1 << 18;
const EDGE_RULES_MAX = 4_096;

interface Parts {
  readonly frontier: Frontier;
  readonly life: Life;
  readonly events: EventHub;
  readonly settings: Settings;
}

export class Sharing {
  readonly #parts: Parts;
  #hub: Hub | undefined;
  /** Facts of the edge, and what they were read from. */
  #facts: EdgeFacts | undefined;
  #gate: Gate | undefined;
  #isWatched = false;
  /** Leases that workers have not begun, by their sequences. */
  readonly #unbegun = (): Map<number, HandOut> => {
    const leases = (this.#hub?.unbegun() ?? []) as Iterable<unknown> as Iterable<RecordLease>;
    return new Map([...leases].map((lease) => [lease.sequence, lease]));
  };

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The handle; the first call makes the memory. */
  handle(): CrewHandle {
    if (this.#hub === undefined) {
      this.#hub = new Hub(this.#port());
      registerHub(this.#parts.frontier, this.#hub);
      this.#hub.start();
    }
    return this.#hub.handle;
  }

  /** Identities may be new again: what workers know is void from here on. */
  refresh(): void {
    if (this.#gate !== undefined) this.#gate.filter = undefined;
    this.#gate = undefined;
    this.#facts = undefined;
    this.#hub?.refresh();
  }

  /** A promise where a worker holds what is still to come. */
  close(): Promise<void> | undefined {
    return this.#hub?.close();
  }

  #port(): OwnerPort {
    const { frontier, life, events, settings } = this.#parts;
    return {
      name: frontier.name,
      clock: life.clock,
      kernel: loadKernelModule(),
      maxUrlBytes: settings.maxUrlBytes,
      pollMany: (max) => {
        // A frontier that was cleared has another core.
        if (!life.isClosed) life.gate.core.unbegun = this.#unbegun;
        return frontier.pollMany(max) as unknown as OwnedLease[];
      },
      maxFound: settings.maxFound,
      canHarvest: () => canHarvest(life),
      harvest: (sheaf) => harvest(life, sheaf as unknown as RecordSheaf),
      pushMany: (requests) => frontier.pushMany(requests as RequestLike[]),
      isPlain: (lease) =>
        lease instanceof RecordLease && lease.extras === NO_EXTRAS && lease.data === undefined,
      isFinished: () => life.isFinished,
      isClosed: () => life.isClosed,
      onChange: (wake) => {
        const offs = [
          frontier.on("ready", wake),
          frontier.on("finished", wake),
          frontier.on("status", wake),
        ];
        return () => {
          for (const off of offs) off();
        };
      },
      fault: (fault) => {
        events.fault(fault);
        events.flush();
      },
      countDropped: (dropped) => this.#count(dropped),
      keyPolicy: () => keyPolicyOf(life),
      edge: () => this.#edge(),
    };
  }

  #count(dropped: ArrayLike<number>): void {
    if (this.#parts.life.isClosed) return;
    const { gate } = this.#parts.life;
    const duplicates = dropped[0] as number;
    gate.core.counters.pushed += duplicates;
    gate.core.counters.duplicate += duplicates;
    DROPPED.forEach((code, at) => {
      refuse(gate, code, dropped[at + 1] as number);
    });
  }

  #edge(): EdgeFacts | undefined {
    const { life, events } = this.#parts;
    if (life.isClosed) return undefined;
    const { gate } = life;
    const isWatched = events.wants.duplicate || events.wants.rejected;
    if (gate !== this.#gate || isWatched !== this.#isWatched) {
      if (this.#gate !== undefined) this.#gate.filter = undefined;
      this.#gate = gate;
      this.#isWatched = isWatched;
      this.#facts = isWatched ? undefined : factsOf(gate);
      // Told of what is admitted, where workers ask it.
      gate.filter = this.#facts?.policy === undefined ? undefined : this.#hub?.filter;
    }
    return this.#facts;
  }
}

/** What workers may decide; undefined: nothing. */
function factsOf(gate: Gate): EdgeFacts | undefined {
  const { batch, core } = gate;
  if (core.isSpecial || lengthOf(core.specs) > EDGE_LENGTH_MAX) return undefined;
  const rules = core.specs.map((spec) => {
    const { id, policy, order, hosts, domains, pattern, patternText, schemes } = spec;
    const match = { order, hosts, domains, pattern, patternText, schemes };
    return { id, match, maxDepth: policy.maxDepth, follow: policy.follow };
  });
  const policy = isSeenAlone(gate) ? core.soleKey : undefined;
  const canRefuse = rules.some(({ maxDepth, follow }) => !follow || maxDepth < Infinity);
  if (policy === undefined && core.plain !== undefined && !canRefuse) return undefined;
  const { u32 } = batch.area.kernel.region.views;
  const start = batch.area.secret >>> 2;
  return { rules, policy, secret: [...u32.subarray(start, start + 4)] };
}

/** Whether nothing but the seen-set decides about a link that a rule takes. */
function isSeenAlone({ accept, core }: Gate): boolean {
  if (accept !== undefined || core.seen.mode === "bloom") return false;
  // In another epoch a sighting may be new again.
  return core.active.every(({ policy }) => policy.epoch.kind === "forever" && !isBudgeted(policy));
}

/** Characters of all that rules match by. */
function lengthOf(specs: readonly RuleSpec[]): number {
  if (specs.length > EDGE_RULES_MAX) return Number.POSITIVE_INFINITY;
  let length = 0;
  for (const { domains, hosts, patternText } of specs) {
    length += patternText.length;
    for (const name of hosts) length += name.length;
    for (const name of domains) length += name.length;
  }
  return length;
}

/** One policy for all requests, which other threads can have: no function in it. */
function keyPolicyOf(life: Life): NormalPolicy | undefined {
  const key = life.isClosed ? undefined : life.gate.core.plain?.key;
  return key?.keyOf === undefined ? key : undefined;
}
