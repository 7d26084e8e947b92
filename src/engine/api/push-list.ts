/** Pushes of checked requests: those of `push` and `pushMany`, and those of rooms that checked theirs and give all of them the same data. */
import type { PlainRequest } from "../../base/request-types.ts";
import { VERDICT_CLOSED, VERDICT_FULL_DISK } from "../../frontier/admission/verdicts.ts";
import { journalBytesBound, pushList, refuseAll } from "../intake/push-requests.ts";
import { pushResult } from "../intake/push-result.ts";
import { packInput } from "../intake/split-request.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { Frontier, PushResult } from "../types/frontier-types.ts";
import { lifecycleOf } from "./lifecycles.ts";

/** A verdict code for each of them. `packed`: the optional part of each, where it is the same for all. */
export function admitList(
  { durable, intake }: Lifecycle,
  list: readonly PlainRequest[],
  nowMs: number,
  packed?: Uint8Array | null,
): Uint8Array {
  if (durable?.refuses(journalBytesBound(list)) === true) {
    return refuseAll(intake, VERDICT_FULL_DISK, list);
  }
  const context = { nowMs, isOutside: true, depth: undefined, parent: 0, packed };
  return pushList(intake, list, context);
}

/** A request of `pushShared`: no more than these, and both are what `pushMany` takes. */
export interface SharedRequest {
  readonly url: string;
  readonly epoch: string;
}

/** As `pushMany(requests, { data })`, for requests that need no check: their data are packed once. */
export function pushShared(
  frontier: Frontier,
  requests: readonly SharedRequest[],
  data: unknown,
): PushResult {
  const lifecycle = lifecycleOf(frontier);
  if (lifecycle === undefined) return frontier.pushMany(requests, { data });
  const { core, nowMs } = lifecycle.begin();
  if (core === undefined) return pushResult(new Uint8Array(requests.length).fill(VERDICT_CLOSED));
  const codes = admitList(lifecycle, requests, nowMs, packInput({ url: "", data }));
  lifecycle.end(nowMs);
  return pushResult(codes);
}
