/** Finds one request's place in the identity space, as a push would find it. Changes nothing but the intake context's batch. */
import type { PlainRequest } from "../../base/request-types.ts";
import { isHookFault } from "../../base/errors.ts";
import type { Core, RuleState } from "../../frontier/core.ts";
import { epochNameOf, FOREVER, UNDATED_MS } from "../../frontier/epochs/epoch-policy.ts";
import { saltRow } from "../../frontier/epochs/row-epochs.ts";
import { wordAt } from "../../structures/store.ts";
import { batchHash, batchKey, batchLoad, batchParse } from "../../url/batch/url-batch.ts";
import { isExempt } from "../../url/keys/identity-bytes.ts";
import { matchRow } from "../../url/matching/rule-matcher.ts";
import { BATCH_OK, hashesOffset, type Rows, rowStatus } from "../../url/batch/row-fields.ts";
import type { IntakeContext } from "../intake/intake-context.ts";
import { hashIdentity, overrideOf } from "../intake/row-admission.ts";
import type { RequestInput } from "../types/frontier-types.ts";

/** A request's place in the identity space: its row in the batch, and its hash when it has an identity. */
export interface Identity {
  readonly status: number;
  /** The rule that takes it. */
  readonly rule: RuleState | undefined;
  readonly lo: number;
  readonly hi: number;
  readonly hasIdentity: boolean;
  /** The key that replaces the URL's; null: the user's function returned none. */
  readonly override: string | undefined | null;
  /** Name of its epoch; null: the user's function returned none. */
  readonly epoch: string | null;
}

/** Parses, keys and hashes one checked request into row 0 of the intake context's batch. */
export function findIdentity(
  intake: IntakeContext,
  request: PlainRequest,
  nowMs: number,
): Identity {
  const { batch, core, rows } = intake;
  const input: RequestInput = typeof request === "string" ? { url: request } : request;
  batchLoad(batch, [input.url], 0);
  const parsed = batchParse(batch);
  const rule = rowStatus(rows, 0) === BATCH_OK ? ruleOfFirst(core, rows) : undefined;
  const policy = rule?.key ?? intake.key;
  batchHash(batchKey(parsed, policy));
  const status = rowStatus(rows, 0);
  const nothing = {
    status,
    rule,
    lo: 0,
    hi: 0,
    hasIdentity: false,
    override: undefined,
    epoch: FOREVER,
  };
  if (status !== BATCH_OK) return nothing;
  intake.isBusy = true; // keyOf must not come back in: the batch is in use
  const override = overrideOf(intake, input, policy);
  const epoch = epochOf(intake, rule, input, nowMs);
  intake.isBusy = false;
  const hasNone = isExempt(input.method, policy) || input.dedup === "skip";
  if (hasNone || override === null || epoch === null) return { ...nothing, override, epoch };
  hashIdentity(intake, input, { row: 0, policy, override });
  saltRow(core, rows, 0, epoch);
  const at = hashesOffset(rows) >> 2;
  const lo = wordAt(core.store, at);
  return { status, rule, lo, hi: wordAt(core.store, at + 1), hasIdentity: true, override, epoch };
}

function ruleOfFirst(core: Core, rows: Rows): RuleState | undefined {
  return core.plain ?? core.active[matchRow(core.matcher, rows, 0)];
}

/** The epoch that a push would put a request into; null: the user's function returned none, which is reported. */
function epochOf(
  { events }: IntakeContext,
  rule: RuleState | undefined,
  input: RequestInput,
  nowMs: number,
): string | null {
  if (input.epoch !== undefined) return input.epoch;
  if (rule === undefined) return FOREVER;
  const epoch = epochNameOf(rule.policy.epoch, Number(input.notBefore ?? UNDATED_MS), nowMs);
  if (!isHookFault(epoch)) return epoch;
  events.hookFault("of", epoch.cause, input.url);
  return null;
}
