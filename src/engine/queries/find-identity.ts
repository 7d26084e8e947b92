/** Finds one request's place in the identity space, as a push would find it. Changes nothing but the intake context's batch. */
import { type HookFault, isHookFault } from "../../base/errors.ts";
import type { Core, RuleState } from "../../frontier/core.ts";
import { epochNameOf, FOREVER, UNDATED_MS } from "../../frontier/epochs/epoch-policy.ts";
import { saltRow } from "../../frontier/epochs/row-epochs.ts";
import { hashBytes, wordAt } from "../../structures/store.ts";
import { batchHash, batchKey, batchLoad, batchParse } from "../../url/batch/url-batch.ts";
import { identityBytes, isExempt, isKeyOnly, keyOverride } from "../../url/keys/identity-bytes.ts";
import { matchRow } from "../../url/matching/rule-matcher.ts";
import {
  BATCH_OK,
  hashesOffset,
  type Rows,
  rowKeyText,
  rowStatus,
} from "../../url/batch/row-fields.ts";
import type { IntakeContext } from "../intake/intake-context.ts";
import type { RequestInput, PlainRequest } from "../types/frontier-types.ts";

/** A request's place in the identity space: its row in the batch, and its hash when it has an identity. */
export interface Identity {
  readonly status: number;
  /** The rule that takes it. */
  readonly rule: RuleState | undefined;
  readonly lo: number;
  readonly hi: number;
  readonly hasIdentity: boolean;
  /** What the user's function did not give. */
  readonly without: "key" | "epoch" | undefined;
  /** The key that stands in for the URL's. */
  readonly override: string | undefined;
  /** Name of its epoch. */
  readonly epoch: string;
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
  batchParse(batch);
  const rule = rowStatus(rows, 0) === BATCH_OK ? ruleOfFirst(core, rows) : undefined;
  const policy = rule?.key ?? intake.key;
  batchKey(batch, policy);
  batchHash(batch);
  const status = rowStatus(rows, 0);
  const nothing = {
    status,
    rule,
    lo: 0,
    hi: 0,
    hasIdentity: false,
    without: undefined,
    override: undefined,
    epoch: FOREVER,
  };
  if (status !== BATCH_OK) return nothing;
  intake.isBusy = true; // keyOf must not come back in: the batch is in use
  const override = answerOrNull(intake, "keyOf", input.url, keyOverride(input, policy));
  const epoch = answerOrNull(intake, "of", input.url, epochOf(rule, input, nowMs));
  intake.isBusy = false;
  if (override === null) return { ...nothing, without: "key" };
  if (epoch === null) return { ...nothing, override, without: "epoch" };
  if (isExempt(input.method, policy) || input.dedup === "skip") {
    return { ...nothing, override, epoch };
  }
  const at = hashesOffset(rows);
  if (override !== undefined || !isKeyOnly(input, policy)) {
    const key = override ?? rowKeyText(rows, 0);
    hashBytes(core.store, identityBytes(key, input, policy), at);
  }
  saltRow(core, rows, 0, epoch);
  const lo = wordAt(core.store, at >> 2);
  const hi = wordAt(core.store, (at >> 2) + 1);
  return { status, rule, lo, hi, hasIdentity: true, without: undefined, override, epoch };
}

function ruleOfFirst(core: Core, rows: Rows): RuleState | undefined {
  return core.plain ?? core.active[matchRow(core.matcher, rows, 0)];
}

/** What a function of the user's answers; null: nothing, which is told as a fault. */
function answerOrNull<T extends string | undefined>(
  { events }: IntakeContext,
  stage: "keyOf" | "of",
  url: string,
  answer: T | HookFault,
): T | null {
  if (!isHookFault(answer)) return answer;
  events.hookFault(stage, answer.cause, url);
  return null;
}

/** The epoch that a push would put a request into; a fault: the user's function gives none. */
function epochOf(
  rule: RuleState | undefined,
  input: RequestInput,
  nowMs: number,
): string | HookFault {
  if (input.epoch !== undefined) return input.epoch;
  if (rule === undefined) return FOREVER;
  return epochNameOf(rule.policy.epoch, Number(input.notBefore ?? UNDATED_MS), nowMs);
}
