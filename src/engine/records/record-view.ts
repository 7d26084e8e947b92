/** Views: what a user sees of a record, as plain data that outlives it. */
import { type Core, ruleOf } from "../../frontier/core.ts";
import type { RecordState } from "../../frontier/records/record-state.ts";
import { recordHost } from "../../frontier/records/record-walk.ts";
import {
  RECORD_FAILED,
  RECORD_FLAG_WHOLE,
  RECORD_LEASED,
  RECORD_PENDING,
  RECORD_RESTING,
  RECORD_WAITING,
  blobBytes,
  blobLength,
  blobStart,
  parentFingerprint,
  recordAttempt,
  recordBlob,
  recordDeliveries,
  recordDepth,
  recordFlags,
  recordParent,
  recordPriority,
} from "../../structures/records/record.ts";
import { recordUrl } from "../../structures/records/kernel-scratch.ts";
import { type Extras, NO_EXTRAS, readTexts, unpackExtras } from "../intake/request-extras.ts";
import type { RequestView } from "../types/frontier-types.ts";

export const STATES: Record<number, RecordState> = {
  [RECORD_PENDING]: "pending",
  [RECORD_WAITING]: "waiting",
  [RECORD_LEASED]: "leased",
  [RECORD_FAILED]: "failed",
  [RECORD_RESTING]: "done",
};

/** The optional part of a record's request. */
export function recordExtras(core: Core, record: number): Extras {
  const blob = recordBlob(core.store, record);
  if (blob === 0) return NO_EXTRAS;
  const size = blobLength(core.store, blob);
  if (size === 0) return NO_EXTRAS;
  const texts = readTexts(core.store.region.views.buffer, blobStart(blob), size);
  return texts ?? unpackExtras(blobBytes(core.store, blob));
}

/** The politeness key that a record's request named itself. */
export function recordHostKey(core: Core, record: number): string | undefined {
  const isWhole = (recordFlags(core.store, record) & RECORD_FLAG_WHOLE) !== 0;
  return isWhole ? recordExtras(core, record).u : undefined;
}

export function recordData(core: Core, record: number, extras: Extras): unknown {
  const { volatileData } = core;
  return volatileData.size === 0 ? extras.d : (volatileData.get(record) ?? extras.d);
}

/** A record as a request view, as events and peek show it. */
export function recordView(core: Core, record: number): RequestView {
  const { store } = core;
  const extras = recordExtras(core, record);
  const data = recordData(core, record, extras);
  const parent = recordParent(store, record);
  return {
    url: recordUrl(core.scratch, record),
    method: extras.m ?? "GET",
    host: recordHost(core, record),
    rule: ruleOf(core, record).id,
    priority: recordPriority(store, record),
    depth: recordDepth(store, record),
    attempt: recordAttempt(store, record),
    deliveries: recordDeliveries(store, record),
    ...(extras.n === undefined ? {} : { handler: extras.n }),
    ...(extras.u === undefined ? {} : { hostKey: extras.u }),
    ...(data === undefined ? {} : { data }),
    ...(parent === 0 ? {} : { parent: parentFingerprint(store, parent) }),
  };
}
