/** Laws of admission: limits, duplicates, and what a page's links and a redirected request take along. */
import type { SyncOptions, SyncPolicy, SyncRequest } from "../frontier-surface.ts";
import type { Source } from "../model-admit.ts";
import { effectivePriority } from "../model-order.ts";
import { isUpcoming, type Model, type ModelHost, type ModelRecord } from "../model-state.ts";

export const ADMISSION_LAWS = {
  /** A rule's greatest depth is allowed. */
  isTooDeep: (depth: number, maxDepth: number): boolean => depth > maxDepth,

  /** A request that skips the duplicate check is not remembered. */
  isRemembered: ({ dedup }: SyncRequest): boolean => dedup !== "skip",

  /** A known request is a duplicate unless it asks for a record of its own. The capacity has no say in this. */
  isDuplicate: ({ dedup }: SyncRequest, _options: SyncOptions): boolean => dedup !== "record",

  /** Another sighting counts while the record is still to be visited. */
  doesSightingCount: (known: ModelRecord): boolean => isUpcoming(known),

  /** A record keeps the smallest depth at which it was seen. */
  depthAfterSighting: (known: number, seen: number): number => Math.min(known, seen),

  /** The capacity binds pushes from outside. The links of a page come in always. */
  isBoundByCapacity: (source: Source): boolean => source === "outside",

  /** So many records are kept for later. */
  isFull: (held: number, capacity: number): boolean => held >= capacity,

  /** A host's budget is so many admissions. */
  isBudgetSpent: (admitted: number, budget: number): boolean => admitted >= budget,

  /** To look at a host's budget makes no host known. */
  hostWithBudget: (model: Model, key: string): ModelHost | undefined => model.hosts.get(key),

  /** A link is one deeper than its page, whatever depth it claims. */
  depthOfChild: (pageDepth: number, _child: SyncRequest): number => pageDepth + 1,
};

export const REDIRECT_LAWS = {
  /** A redirect goes no deeper. */
  depthOfRedirect: (depth: number): number => depth,

  /** A redirect takes its data along. */
  dataOfRedirect: ({ data }: ModelRecord): unknown => data,

  /** A redirected POST becomes a GET, and with 303 all but HEAD do. */
  becomesGet: (method: string, status: number): boolean =>
    (status === 303 && method !== "HEAD") || (status < 303 && method === "POST"),

  /** A redirect takes its priority along. Undefined where that comes from its rule: the next rule may set another. */
  priorityOfRedirect(model: Model, record: ModelRecord, policy: SyncPolicy): number | undefined {
    const { priority = 0, depthPriority = 0, redirectPriority = 0 } = policy;
    if (typeof redirectPriority === "object") return redirectPriority.set;
    const now = effectivePriority(model, record);
    if (redirectPriority === 0 && now === priority - record.depth * depthPriority) return undefined;
    return now + record.depth * depthPriority + redirectPriority;
  },

  /** What was not remembered is not remembered after a redirect either. */
  dedupOfForgotten: (): "check" | "skip" => "skip",

  /** A redirect stays in the epoch that its request named. */
  staysInEpoch: ({ isOnce }: ModelRecord): boolean => isOnce,
};
