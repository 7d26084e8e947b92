/** Pushes of checked requests: those of `push` and `pushMany`, and those of rooms that have checked theirs. */
import type { PlainRequest } from "../../base/request-types.ts";
import type { NamedRows } from "../../frontier/admission/admission-input.ts";
import { VERDICT_CLOSED } from "../../frontier/admission/verdicts.ts";
import { journalBytesBound, pushList, refuseForDisk } from "../intake/push-requests.ts";
import { pushResult } from "../intake/push-result.ts";
import { packExtras, packList } from "../intake/request-extras.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { Frontier, PushResult } from "../types/frontier-types.ts";
import { lifecycleOf } from "./lifecycles.ts";

/** A verdict code for each of them. `named`: what each has beside its URL, where the list is URLs alone. */
export function admitList(
  { durable, intake }: Lifecycle,
  list: readonly PlainRequest[],
  nowMs: number,
  named?: NamedRows,
): Uint8Array {
  if (durable?.refuses(journalBytesBound(list)) === true) {
    return refuseForDisk(intake, list);
  }
  const context = { nowMs, isOutside: true, depth: undefined, parent: 0, named };
  return pushList(intake, list, context);
}

const NOTHING = new Uint8Array(0);

/** What is pushed for each of some URLs, at its place: no more than this, and `pushMany` takes all of it. */
export interface NamedUrls {
  readonly urls: readonly string[];
  readonly epochs: readonly string[];
  readonly data: readonly unknown[];
}

/** As `pushMany` of requests that need no check, whose data are plain. They are packed once where the same ones follow each other. */
export function pushNamed(frontier: Frontier, { urls, epochs, data }: NamedUrls): PushResult {
  const lifecycle = lifecycleOf(frontier);
  if (lifecycle === undefined) {
    return frontier.pushMany(
      urls.map((url, at) => ({ url, epoch: epochs[at] as string, data: data[at] })),
    );
  }
  const { core, nowMs } = lifecycle.begin();
  if (core === undefined) return pushResult(new Uint8Array(urls.length).fill(VERDICT_CLOSED));
  const codes = admitList(lifecycle, urls, nowMs, { epochs, blobs: blobsOf(data) });
  lifecycle.end(nowMs);
  return pushResult(codes);
}

function blobsOf(data: readonly unknown[]): Uint8Array[] {
  const blobs: Uint8Array[] = [];
  let blob: Uint8Array = NOTHING;
  for (let at = 0; at < data.length; at++) {
    if (at === 0 || data[at] !== data[at - 1])
      blob = packList(data[at]) ?? packExtras({ d: data[at] }, "plain");
    blobs.push(blob);
  }
  return blobs;
}
