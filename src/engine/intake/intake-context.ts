/** IntakeContext: what every push works with: the core, one batch of URLs, the user's hook and the listeners. One per runtime. */
import { MODE_DIGESTS, MODE_HOOK } from "../../frontier/admission/admission-mode.ts";
import type { NamedRows } from "../../frontier/admission/admission-input.ts";
import type { Core } from "../../frontier/core.ts";
import type { SeenFilter } from "../../structures/threads/seen-filter.ts";
import type { UrlBatch } from "../../url/batch/batch-memory.ts";
import type { NormalPolicy } from "../../url/keys/key-policy.ts";
import type { Rows } from "../../url/batch/row-fields.ts";
import type { EventHub } from "../event-hub.ts";
import type { FailureNotes } from "../records/failure-notes.ts";
import type { FrontierOptions } from "../types/frontier-types.ts";
import type { ScrapyDigests } from "./scrapy-digests.ts";

export interface IntakeContext {
  readonly core: Core;
  readonly batch: UrlBatch;
  readonly rows: Rows;
  /** The key of requests that no rule takes. */
  readonly key: NormalPolicy;
  readonly accept: FrontierOptions["accept"];
  readonly events: EventHub;
  /** Why records failed, and the pages that links were found on. */
  readonly failures: FailureNotes;
  /** A batch is being admitted: the user's functions that it calls must not call the frontier. */
  isBusy: boolean;
  /** Called with what plain batches admitted, while workers decide about links by themselves. */
  filter: SeenFilter | undefined;
  /** What another program saw before: checked beside the seen-set. `setVisited` writes it. */
  readonly visited: ScrapyDigests | undefined;
  /** What the hook and digests ask of admission: MODE_HOOK, MODE_DIGESTS. */
  readonly mode: number;
}

/** The same without the hook. */
export function withoutHook(intake: IntakeContext): IntakeContext {
  return { ...intake, accept: undefined, mode: intake.mode & ~MODE_HOOK };
}

/** Digests of another program count as seen from now on, or none do. */
export function setVisited(intake: IntakeContext, visited: ScrapyDigests | undefined): void {
  const mode = (intake.mode & ~MODE_DIGESTS) | (visited === undefined ? 0 : MODE_DIGESTS);
  Object.assign(intake, { visited, mode });
}

/** What rules, hooks and listeners ask of a batch. */
export function modeOf({ core, events, mode }: IntakeContext): number {
  return core.mode | events.mode | mode;
}

/** What is the same for all rows of a push. */
export interface PushContext {
  readonly nowMs: number;
  readonly isOutside: boolean;
  /** Seeds that come again: finished and failed ones start again, all others are duplicates. */
  readonly isAgain?: boolean;
  /** Depth that the engine sets; undefined: the request's own. */
  readonly depth: number | undefined;
  /** Handle of the parent's fingerprint, or 0. */
  readonly parent: number;
  /** Each row has a parent of its own, which the scratch names. */
  readonly hasParents?: boolean;
  /** Redirects before each of them; undefined: none. */
  readonly redirects?: number;
  /** The list is URLs alone, and these are the rest of their requests. */
  readonly named?: NamedRows | undefined;
}
