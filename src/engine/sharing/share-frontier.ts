/**
 * Room `src/engine/sharing`: the frontier as workers see it: handle, link facts, many results applied in one call.
 * Everything is decided as for a caller on the owner's thread.
 */

/**
 * WorkerSharing: the frontier as its workers see it, and the facts of their link filter, which follow the runtime.
 *
 *   share() ─▶ hub over this port ─▶ handle ─▶ attach(handle) in other threads
 *
 * Workers decide about links by themselves what needs no state: which rule takes a link, how deep, whether a page's are
 * followed. Where besides nothing but the seen-set decides (one key for all rules, epochs without end, no hook, no budget), they
 * drop what is known as well. Where a listener asks for each link, or a key is more than a policy of canonical URLs, the
 * edge is off and the owner sees all of them.
 */
import { MODE_KEYS, MODE_REFUSED, MODE_UNSURE } from "../../frontier/admission/admission-mode.ts";
import {
  VERDICT_INVALID_URL,
  VERDICT_NO_FOLLOW,
  VERDICT_NO_RULE,
  VERDICT_SCHEME,
  VERDICT_TOO_DEEP,
  VERDICT_TOO_LONG,
  VERDICT_DUPLICATE,
} from "../../frontier/admission/verdicts.ts";
import type { RuleSpec } from "../../frontier/rules/rule-specs.ts";
import type { HandOut } from "../../frontier/scheduling/hand-out.ts";
import type { NormalPolicy } from "../../url/keys/key-policy.ts";
import { WorkerHub } from "../../workers/pool/hub/worker-hub.ts";
import type { OwnedLease, OwnerPort } from "../../workers/pool/hub/owner-port.ts";
import { registerHub } from "../../workers/pool/hub-registry.ts";
import type { CrewHandle } from "../../workers/protocol/shared-memory.ts";
import type { LinkFacts } from "../../workers/protocol/link-facts-message.ts";
import { NO_EXTRAS } from "../intake/request-extras.ts";
import type { EventHub } from "../event-hub.ts";
import { type IntakeContext, modeOf } from "../intake/intake-context.ts";
import { refuse } from "../intake/push-requests.ts";
import { siftRequests } from "../intake/request-fields.ts";
import { canApplyResults, applyResults, type ResultBatch as RecordSheaf } from "./apply-results.ts";
import { loadKernelModule } from "../kernel-file.ts";
import { RecordLease } from "../leases/record-lease.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { Settings } from "../options/normalize-options.ts";
import type { Frontier, RequestLike } from "../types/frontier-types.ts";
import { bookPushed, bookVerdict } from "../../frontier/records/ledger.ts";

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
const LINK_FACTS_LENGTH_MAX = 1 << 18;
const LINK_FACTS_RULES_MAX = 4_096;

interface Parts {
  readonly frontier: Frontier;
  readonly lifecycle: Lifecycle;
  readonly events: EventHub;
  readonly settings: Settings;
}

export class WorkerSharing {
  readonly #parts: Parts;
  #hub: WorkerHub | undefined;
  /** Facts of the edge, and what they were read from. */
  #facts: LinkFacts | undefined;
  #intake: IntakeContext | undefined;
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
      this.#hub = new WorkerHub(this.#port());
      registerHub(this.#parts.frontier, this.#hub);
      this.#hub.start();
    }
    return this.#hub.handle;
  }

  /** Identities may be new again: what workers have of them is void from here on. */
  refresh(): void {
    if (this.#intake !== undefined) this.#intake.filter = undefined;
    this.#intake = undefined;
    this.#facts = undefined;
    this.#hub?.refresh();
  }

  /** A promise where a worker holds what is still to come. */
  close(): Promise<void> | undefined {
    return this.#hub?.close();
  }

  #port(): OwnerPort {
    const { frontier, lifecycle, events, settings } = this.#parts;
    return {
      name: frontier.name,
      clock: lifecycle.clock,
      kernel: loadKernelModule(),
      maxUrlBytes: settings.maxUrlBytes,
      pollMany: (max) => {
        // A frontier that was cleared has another core.
        if (!lifecycle.isClosed) lifecycle.intake.core.unbegun = this.#unbegun;
        return frontier.pollMany(max) as unknown as OwnedLease[];
      },
      maxFound: settings.maxFound,
      canApplyResults: () => canApplyResults(lifecycle),
      applyResults: (resultBatch) => applyResults(lifecycle, resultBatch as unknown as RecordSheaf),
      sift: (requests) => siftRequests(requests, "requests"),
      pushMany: (requests) => frontier.pushMany(requests as RequestLike[]),
      isPlain: (lease) =>
        lease instanceof RecordLease && lease.extras === NO_EXTRAS && lease.data === undefined,
      isFinished: () => lifecycle.isFinished,
      isClosed: () => lifecycle.isClosed,
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
      keyPolicy: () => keyPolicyOf(lifecycle),
      linkFacts: () => this.#edge(),
    };
  }

  #count(dropped: ArrayLike<number>): void {
    if (this.#parts.lifecycle.isClosed) return;
    const { intake } = this.#parts.lifecycle;
    const duplicates = dropped[0] as number;
    bookPushed(intake.core, duplicates);
    bookVerdict(intake.core, VERDICT_DUPLICATE, duplicates);
    DROPPED.forEach((code, at) => {
      refuse(intake, code, dropped[at + 1] as number);
    });
  }

  #edge(): LinkFacts | undefined {
    const { lifecycle, events } = this.#parts;
    if (lifecycle.isClosed) return undefined;
    const { intake } = lifecycle;
    const isWatched = (events.mode & MODE_REFUSED) !== 0;
    if (intake !== this.#intake || isWatched !== this.#isWatched) {
      if (this.#intake !== undefined) this.#intake.filter = undefined;
      this.#intake = intake;
      this.#isWatched = isWatched;
      this.#facts = isWatched ? undefined : factsOf(intake);
      // Called with what is admitted, if workers use it.
      intake.filter = this.#facts?.policy === undefined ? undefined : this.#hub?.filter;
    }
    return this.#facts;
  }
}

/** What workers may decide; undefined: nothing. */
function factsOf(intake: IntakeContext): LinkFacts | undefined {
  const { batch, core } = intake;
  const mode = modeOf(intake);
  if ((mode & MODE_KEYS) !== 0 || lengthOf(core.specs) > LINK_FACTS_LENGTH_MAX) return undefined;
  const rules = core.specs.map((spec) => {
    const { id, policy, order, hosts, domains, pattern, patternText, schemes } = spec;
    const match = { order, hosts, domains, pattern, patternText, schemes };
    return { id, match, maxDepth: policy.maxDepth, follow: policy.follow };
  });
  const isSure = (mode & MODE_UNSURE) === 0 && core.seen.mode !== "bloom";
  const policy = isSure ? core.soleKey : undefined;
  const canRefuse = rules.some(({ maxDepth, follow }) => !follow || maxDepth < Infinity);
  if (policy === undefined && core.plain !== undefined && !canRefuse) return undefined;
  const { u32 } = batch.area.kernel.region.views;
  const start = batch.area.secret >>> 2;
  return { rules, policy, secret: [...u32.subarray(start, start + 4)] };
}

/** Characters of all that rules match by. */
function lengthOf(specs: readonly RuleSpec[]): number {
  if (specs.length > LINK_FACTS_RULES_MAX) return Number.POSITIVE_INFINITY;
  let length = 0;
  for (const { domains, hosts, patternText } of specs) {
    length += patternText.length;
    for (const name of hosts) length += name.length;
    for (const name of domains) length += name.length;
  }
  return length;
}

/** One policy for all requests, which other threads can have: no function in it. */
function keyPolicyOf(lifecycle: Lifecycle): NormalPolicy | undefined {
  const key = lifecycle.isClosed ? undefined : lifecycle.intake.core.plain?.key;
  return key?.keyOf === undefined ? key : undefined;
}
