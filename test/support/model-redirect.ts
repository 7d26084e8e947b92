/** The fields that a redirected request keeps, as simply as possible. */
import type { SyncRequest } from "./frontier-surface.ts";
import { ownsItsIdentity } from "./model-epochs.ts";
import { effectivePriority } from "./model-order.ts";
import { ruleOf } from "./model-rules.ts";
import type { Model, ModelRecord } from "./model-state.ts";

/** The request without its URL and depth. */
export function goingOn(
  model: Model,
  record: ModelRecord,
  target: string,
  status: number,
): Partial<SyncRequest> {
  const { method, start, data, maxAttempts } = record;
  const becomesGet = (status === 303 && method !== "HEAD") || (status < 303 && method === "POST");
  const request: Partial<SyncRequest> = { start };
  if (!becomesGet) request.method = method;
  if (data !== undefined) request.data = data;
  const isSameHost = URL.canParse(target) && new URL(target).host === new URL(record.url).host;
  if (record.hostKey !== undefined && isSameHost) request.hostKey = record.hostKey;
  if (maxAttempts !== undefined) request.maxAttempts = maxAttempts;
  const priority = priorityOf(model, record);
  if (priority !== undefined) request.priority = priority;
  if (!ownsItsIdentity(model, record)) request.dedup = "skip";
  else if (record.isOnce) request.epoch = record.epoch;
  return request;
}

/** Undefined when the priority comes from its rule: the next rule may set another. */
function priorityOf(model: Model, record: ModelRecord): number | undefined {
  const { priority = 0, depthPriority = 0, redirectPriority = 0 } = ruleOf(model, record).policy;
  if (typeof redirectPriority === "object") return redirectPriority.set;
  const now = effectivePriority(model, record);
  if (redirectPriority === 0 && now === priority - record.depth * depthPriority) return undefined;
  return now + record.depth * depthPriority + redirectPriority;
}
