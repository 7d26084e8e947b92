/**
 * Sharing: what the workers' side needs of a frontier, and the edge's facts, which follow the runtime.
 *
 *   share() ─▶ hub over this port ─▶ handle ─▶ attach(handle) in other threads
 *
 * Workers decide about links by themselves where nothing but the seen-set decides: one rule, its key a plain policy, no
 * hook, no budget, nobody who wants to hear of each link. Else the edge is off and the owner sees all of them.
 */
import { isBudgeted } from "../frontier/politeness.ts";
import type { RuleState } from "../frontier/rule-state.ts";
import {
  VERDICT_INVALID_URL,
  VERDICT_SCHEME,
  VERDICT_TOO_DEEP,
  VERDICT_TOO_LONG,
} from "../frontier/verdict.ts";
import type { NormalPolicy } from "../url/policy.ts";
import { Hub } from "../workers/pool/hub.ts";
import type { EdgeFacts, OwnedLease, OwnerPort } from "../workers/pool/port.ts";
import { registerHub } from "../workers/pool/registry.ts";
import type { CrewHandle } from "../workers/protocol/crew.ts";
import { NO_EXTRAS } from "./codec.ts";
import type { EventHub } from "./events.ts";
import { type Gate, refuse } from "./intake.ts";
import { canHarvest, harvest, type Sheaf as RecordSheaf } from "./harvest.ts";
import { loadKernelModule } from "./kernel-file.ts";
import { RecordLease } from "./lease.ts";
import type { Life } from "./life.ts";
import type { Settings } from "./options.ts";
import type { Frontier, RequestLike } from "./types.ts";

/** Reasons of what the edge drops, in the order of the message; the first are duplicates. */
const DROPPED = [VERDICT_INVALID_URL, VERDICT_SCHEME, VERDICT_TOO_LONG, VERDICT_TOO_DEEP];

interface Parts {
  readonly frontier: Frontier;
  readonly life: Life;
  readonly events: EventHub;
  readonly settings: Settings;
}

export class Sharing {
  readonly #parts: Parts;
  #hub: Hub | undefined;
  /** Facts of the edge and the gate they were read from. */
  #facts: EdgeFacts | undefined;
  #gate: Gate | undefined;

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

  close(): void {
    this.#hub?.close();
  }

  #port(): OwnerPort {
    const { frontier, life, events, settings } = this.#parts;
    return {
      name: frontier.name,
      clock: life.clock,
      kernel: loadKernelModule(),
      maxUrlBytes: settings.maxUrlBytes,
      pollMany: (max) => frontier.pollMany(max) as unknown as OwnedLease[],
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
    const isWanted = !events.wants.duplicate && !events.wants.rejected && canDecide(gate);
    if (!isWanted) {
      gate.filter = undefined;
      this.#gate = undefined;
      this.#facts = undefined;
    } else if (gate !== this.#gate) {
      if (this.#gate !== undefined) this.#gate.filter = undefined;
      this.#gate = gate;
      this.#facts = factsOf(gate);
      gate.filter = this.#hub?.filter;
    }
    return this.#facts;
  }
}

/** Whether nothing but the seen-set, the depth and the URL itself decides about a link. */
function canDecide({ accept, core }: Gate): boolean {
  const rule = core.plain;
  if (rule === undefined || accept !== undefined || core.isSpecial) return false;
  if (rule.policy.epoch.kind !== "forever") return false; // a sighting may be new again
  return rule.key.keyOf === undefined && !isBudgeted(rule.policy) && core.seen.mode !== "bloom";
}

/** One policy for all requests, which other threads can have: no function in it. */
function keyPolicyOf(life: Life): NormalPolicy | undefined {
  const key = life.isClosed ? undefined : life.gate.core.plain?.key;
  return key?.keyOf === undefined ? key : undefined;
}

function factsOf({ batch, core }: Gate): EdgeFacts {
  const { key, policy } = core.plain as RuleState;
  const { u32 } = batch.area.kernel.region.views;
  const start = batch.area.secret >>> 2;
  return {
    policy: key,
    secret: [...u32.subarray(start, start + 4)],
    maxDepth: Math.min(policy.maxDepth, 0x7fff_ffff),
  };
}
