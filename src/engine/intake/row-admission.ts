/** Requests in rows of the batch in hand: the identity of each, and the Admission that the rooms below decide about. */
import { isHookFault } from "../../base/errors.ts";
import { type Admission, ruleOfRow } from "../../frontier/admission/admission-input.ts";
import { VERDICT_DUPLICATE, VERDICT_HOOK } from "../../frontier/admission/verdicts.ts";
import type { RuleState } from "../../frontier/core.ts";
import { hashBytes } from "../../structures/store.ts";
import {
  BATCH_OK,
  hashesOffset,
  rowIsRewritten,
  rowKeyText,
  rowStatus,
} from "../../url/batch/row-fields.ts";
import { identityBytes, isKeyOnly, keyOverride } from "../../url/keys/identity-bytes.ts";
import type { NormalPolicy } from "../../url/keys/key-policy.ts";
import { callAcceptHook } from "./accept-hook.ts";
import type { IntakeContext, PushContext } from "./intake-context.ts";
import { addExtras } from "./request-extras.ts";
import { asksDigests, isInDigests } from "./scrapy-digests.ts";
import { admissionOf } from "./split-request.ts";
import type { RequestInput } from "../types/frontier-types.ts";

/** A row of the batch in hand. */
interface RowContext {
  readonly row: number;
  readonly context: PushContext;
  readonly rowRules: number;
  /** The request's optional part, packed already. */
  readonly packed?: Uint8Array | null | undefined;
}

/** The Admission of a row; writes the hash of an identity that is more than the URL's key. */
export function admissionOfRow(
  intake: IntakeContext,
  input: RequestInput,
  { row, context, rowRules, packed }: RowContext,
): Admission {
  const { core, key, rows } = intake;
  const { depth } = context;
  if (rowStatus(rows, row) !== BATCH_OK) return admissionOf(input, key, depth, packed);
  const rule = ruleOfRow(core, rowRules, row);
  const override = overrideOf(intake, input, rule.key);
  if (override !== null) hashIdentity(intake, input, { row, policy: rule.key, override });
  const admission = keyedAdmission(intake, input, { row, rule, override, depth, packed });
  if (context.isAgain === true) admission.dedup = "again";
  if (override === null) return admission;
  const kept = keyToKeep(intake, input, { row, policy: rule.key, override });
  if (kept !== undefined) admission.blob = addExtras(admission.blob, { k: kept });
  if (context.redirects !== undefined) {
    admission.blob = addExtras(admission.blob, { r: context.redirects });
  }
  return admission;
}

/** The key that replaces the URL's. Undefined: none does. Null: the user's function returned none, which is reported. */
export function overrideOf(
  { events }: IntakeContext,
  input: RequestInput,
  policy: NormalPolicy,
): string | undefined | null {
  const override = keyOverride(input, policy);
  if (!isHookFault(override)) return override;
  events.hookFault("keyOf", override.cause, input.url);
  return null;
}

interface KeyedRow {
  readonly row: number;
  readonly policy: NormalPolicy;
  readonly override: string | undefined;
}

/** Writes the hash of an identity that is more than its URL's key. */
export function hashIdentity(
  { core, rows }: IntakeContext,
  input: RequestInput,
  { row, policy, override }: KeyedRow,
): void {
  if (override === undefined && isKeyOnly(input, policy)) return;
  const bytes = identityBytes(override ?? rowKeyText(rows, row), input, policy);
  hashBytes(core.store, bytes, hashesOffset(rows) + row * 8);
}

/** What is decided about a request whose rule and key are known. `override`: as `overrideOf` has it. */
export function keyedAdmission(
  { rows, visited }: IntakeContext,
  input: RequestInput,
  asked: {
    row: number;
    rule: RuleState;
    override: string | undefined | null;
    depth: number | undefined;
    packed: Uint8Array | null | undefined;
  },
): Admission {
  const { depth, override, packed, row, rule } = asked;
  const admission = admissionOf(input, rule.key, depth, packed);
  if (override === null) admission.verdict ??= VERDICT_HOOK;
  if (override !== undefined || visited === undefined || !asksDigests(admission, rule)) {
    return admission;
  }
  // Another program saw it.
  if (isInDigests(visited, input, rowKeyText(rows, row))) admission.verdict ??= VERDICT_DUPLICATE;
  return admission;
}

/** The key that a request was admitted under, if it cannot be made from what a lease carries. */
function keyToKeep(
  { rows }: IntakeContext,
  input: RequestInput,
  { override, policy, row }: KeyedRow,
): string | undefined {
  if (input.key !== undefined) return undefined; // kept already
  if (override !== undefined) return override; // keyOf may read fields that no lease has
  if (policy.profile === "canonical") return undefined;
  const isOther = policy.visit === "canonical" || rowIsRewritten(rows, row);
  return isOther ? rowKeyText(rows, row) : undefined;
}

/** Asks the user's hook about a row that would be admitted; undefined: refused. */
export function acceptRow(
  intake: IntakeContext,
  { row, context, rowRules }: RowContext,
  given: Admission | undefined,
): Admission | undefined {
  const rule = ruleOfRow(intake.core, rowRules, row);
  const admission = given ?? admissionOf({ url: "" }, rule.key, context.depth);
  return callAcceptHook(intake, { row, rule, admission, parent: context.parent });
}
