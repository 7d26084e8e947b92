/** Gate: what requests come in by: the core, one batch of URLs, and whoever is asked or told about them. One per runtime. */
import type { Core } from "../frontier/core.ts";
import type { SeenFilter } from "../structures/seen-filter.ts";
import type { UrlBatch } from "../url/batch-area.ts";
import type { NormalPolicy } from "../url/policy.ts";
import type { Rows } from "../url/rows.ts";
import type { EventHub } from "./events.ts";
import type { FrontierOptions } from "./types.ts";
import type { Visited } from "./visited.ts";

export interface Gate {
  readonly core: Core;
  readonly batch: UrlBatch;
  readonly rows: Rows;
  /** The key of requests that no rule takes. */
  readonly key: NormalPolicy;
  readonly accept: FrontierOptions["accept"];
  readonly events: EventHub;
  /** A batch is being admitted: the user's functions that it asks must not come back in. */
  isBusy: boolean;
  /** Told of what plain batches admitted, while workers decide about links by themselves. */
  filter: SeenFilter | undefined;
  /** What another program saw before: looked at beside the seen-set. */
  visited: Visited | undefined;
}
