/** The fields that a redirected request keeps, as simply as possible. */
import type { SyncRequest } from "./frontier-surface.ts";
import { ownsItsIdentity } from "./model-epochs.ts";
import { ruleOf } from "./model-rules.ts";
import type { Model, ModelRecord } from "./model-state.ts";

/** The request without its URL and depth. */
export function goingOn(
  model: Model,
  record: ModelRecord,
  target: string,
  status: number,
): Partial<SyncRequest> {
  const { laws } = model;
  const { method, start, maxAttempts } = record;
  const request: Partial<SyncRequest> = { start };
  if (!laws.becomesGet(method, status)) request.method = method;
  const data = laws.dataOfRedirect(record);
  if (data !== undefined) request.data = data;
  const isSameHost = URL.canParse(target) && new URL(target).host === new URL(record.url).host;
  if (record.hostKey !== undefined && isSameHost) request.hostKey = record.hostKey;
  if (maxAttempts !== undefined) request.maxAttempts = maxAttempts;
  const priority = laws.priorityOfRedirect(model, record, ruleOf(model, record).policy);
  if (priority !== undefined) request.priority = priority;
  if (!ownsItsIdentity(model, record)) request.dedup = laws.dedupOfForgotten();
  else if (laws.staysInEpoch(record)) request.epoch = record.epoch;
  return request;
}
