/** IntakeContext: what every push works with: the core, one batch of URLs, the user's hook and the listeners. One per runtime. */
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
  /** A batch is being admitted: the user's functions that it asks must not come back in. */
  isBusy: boolean;
  /** Told of what plain batches admitted, while workers decide about links by themselves. */
  filter: SeenFilter | undefined;
  /** What another program saw before: looked at beside the seen-set. */
  visited: ScrapyDigests | undefined;
}
