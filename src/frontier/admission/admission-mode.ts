/**
 * AdmissionMode: what the rows of a batch are asked beyond their own bytes and the seen-set. One bit for each cause; no bit: the kernel
 * alone decides, and makes what is new.
 *
 *   of the rules       EPOCHS UNITS BUDGETS AGAIN KEYS     computed when a set of rules is installed
 *   of hooks           HOOK DIGESTS                        when they are set
 *   of listeners       ACCEPTED REFUSED                    when one comes or goes
 *   of the batch       REQUESTS TIGHT                      once for each batch
 *
 *   path                        taken where the mode has
 *   made in bulk                none of the bits of the two paths below
 *   marked in bulk, made each   MODE_EACH, and none of MODE_ROWS
 *   decided row by row          a bit of MODE_ROWS
 *
 * Rows that name their epochs themselves (named-rows.ts) are made in bulk with MODE_EPOCHS too.
 */
import { isExempt } from "../../url/keys/identity-bytes.ts";
import type { NormalPolicy } from "../../url/keys/key-policy.ts";
import type { Core } from "../core.ts";
import { hasReserve } from "../records/memory-reserve.ts";
import type { FrontierPolicy } from "../rules/rule-policy.ts";
import { isDiskFull } from "../scheduling/spill-control.ts";

/** `accepted` has a listener: each record is shown as it is made. */
export const MODE_ACCEPTED = 1;
/** Some plain row is in another epoch than forever: its hash is salted first. */
export const MODE_EPOCHS = 2;
/** Some politeness unit is not the URL's host. */
export const MODE_UNITS = 4;
/** Some host has a budget. */
export const MODE_BUDGETS = 8;
/** A function names epochs, or what is done may come again. */
export const MODE_AGAIN = 16;
/** Room on disk, in memory or within the capacity may not last for the batch, or it is too deep. */
export const MODE_TIGHT = 32;
/** The user's hook is asked. */
export const MODE_HOOK = 64;
/** Some request of the batch is more than a URL. */
export const MODE_REQUESTS = 128;
/** Some key cannot be made by the kernel, or from a lease's URL. */
export const MODE_KEYS = 256;
/** Digests of another program are looked at. */
export const MODE_DIGESTS = 512;
/** `duplicate` or `rejected` has a listener. */
export const MODE_REFUSED = 1024;

/** Each request of the batch has an Admission, strings too. */
export const MODE_ADMISSIONS = MODE_REQUESTS | MODE_KEYS | MODE_DIGESTS;
/** The kernel marks identities, and records are made one by one. */
export const MODE_EACH = MODE_ACCEPTED | MODE_EPOCHS;
/** Rows are decided one by one. */
export const MODE_ROWS =
  MODE_ADMISSIONS | MODE_UNITS | MODE_BUDGETS | MODE_AGAIN | MODE_TIGHT | MODE_HOOK;
/** Links are shown as strings: the results of workers are applied one by one. */
export const MODE_SHOWN = MODE_KEYS | MODE_DIGESTS | MODE_HOOK | MODE_REFUSED;
/** More than the seen-set decides about a link that a rule takes: workers do not drop duplicates. */
export const MODE_UNSURE = MODE_EPOCHS | MODE_BUDGETS | MODE_AGAIN | MODE_HOOK;

/** The bits of one rule. */
export function modeOfRule(
  { by, budgetUrls, budgetBytes, epoch }: FrontierPolicy,
  key: NormalPolicy,
): number {
  let mode = by === "host" ? 0 : MODE_UNITS;
  if (budgetUrls < Number.POSITIVE_INFINITY || budgetBytes < Number.POSITIVE_INFINITY) {
    mode |= MODE_BUDGETS;
  }
  if (epoch.kind === "of" || epoch.kind === "again") mode |= MODE_AGAIN;
  if (epoch.kind !== "forever" && epoch.kind !== "again") mode |= MODE_EPOCHS;
  const isKept = key.keyOf !== undefined || isExempt(undefined, key) || key.profile !== "canonical";
  return isKept ? mode | MODE_KEYS : mode;
}

/** MODE_TIGHT where not all of `count` rows may find room, or they are too deep for the one rule that takes them. */
export function tightness(
  core: Core,
  { count, depth, isOutside }: { count: number; depth: number; isOutside: boolean },
): number {
  const { counters, limits, plain, spilling } = core;
  // Where rules are matched, a row that is too deep for its own is refused there.
  let isTight = plain !== undefined && depth > plain.policy.maxDepth;
  isTight ||= isOutside && counters.pending + counters.waiting + count > limits.capacity;
  isTight ||= !hasReserve(core) || (spilling !== undefined && isDiskFull(core));
  return isTight ? MODE_TIGHT : 0;
}
