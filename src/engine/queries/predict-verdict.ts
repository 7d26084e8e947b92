/**
 * Predicts the verdict that a push of a request would get now. Nothing is admitted, and what admission asks is asked here in the
 * same order (push-requests.ts, frontier/admission/admit-rows.ts):
 *
 *   disk ─▶ data ─▶ crawlable, rule ─▶ key ─▶ seen elsewhere ─▶ depth ─▶ epoch ─▶ seen ─▶ accept ─▶ budget ─▶ capacity, memory
 *
 *   I1  `explain` and a push right behind it say the same, as far as the user's functions answer alike twice.
 */
import {
  type Admission,
  hasReserve,
  refusalOf,
  rowLeaseText,
} from "../../frontier/admission/admission-input.ts";
import type { Core, RuleState } from "../../frontier/core.ts";
import { isRecrawled } from "../../frontier/epochs/epoch-policy.ts";
import { hasBudget, isBudgeted } from "../../frontier/politeness/politeness.ts";
import { mayComeAgain } from "../../frontier/epochs/recrawl.ts";
import { isDiskFull } from "../../frontier/scheduling/spill-control.ts";
import { unitOf } from "../../frontier/politeness/politeness-unit.ts";
import {
  VERDICT_ACCEPTED,
  VERDICT_BUDGET,
  VERDICT_DEFERRED,
  VERDICT_DUPLICATE,
  VERDICT_FULL,
  VERDICT_FULL_DISK,
  VERDICT_FULL_MEMORY,
  VERDICT_HOOK,
  VERDICT_NO_RULE,
  VERDICT_TOO_DEEP,
} from "../../frontier/admission/verdicts.ts";
import { hostNamed } from "../../structures/hosts/host-table.ts";
import { BATCH_OK, rowHostText, rowKeyText } from "../../url/batch/row-fields.ts";
import { callAcceptHook } from "../intake/accept-hook.ts";
import type { IntakeContext } from "../intake/intake-context.ts";
import type { Identity } from "./find-identity.ts";
import { admissionOf } from "../intake/split-request.ts";
import type { RequestInput } from "../types/frontier-types.ts";
import { asksDigests, isInDigests } from "../intake/scrapy-digests.ts";

/** What is known of the request that stands in row 0 of the intake context's batch. */
interface Prediction {
  readonly looked: Identity;
  /** What the seen-set says of its identity, a spilled record in memory; 0: nothing. */
  readonly known: number;
  /** The disk refuses what a push would say. */
  readonly isDiskShut: boolean;
  readonly nowMs: number;
}

/** The code of the verdict. */
export function predictVerdict(
  intake: IntakeContext,
  input: RequestInput,
  foreseen: Prediction,
): number {
  const { looked, known, isDiskShut, nowMs } = foreseen;
  const { status, rule } = looked;
  if (isDiskShut) return VERDICT_FULL_DISK;
  const admission = admissionOf(input, rule?.key ?? intake.key, undefined);
  if (admission.verdict !== undefined) return admission.verdict;
  if (status !== BATCH_OK) return refusalOf(status);
  if (rule === undefined) return VERDICT_NO_RULE;
  if (looked.without === "key") return VERDICT_HOOK;
  if (isElsewhere(intake, input, looked, admission)) return VERDICT_DUPLICATE;
  if (admission.depth > rule.policy.maxDepth) return VERDICT_TOO_DEEP;
  if (looked.without === "epoch") return VERDICT_HOOK;
  if (known !== 0 && isRefusedAgain(intake.core, { rule, admission, known }, nowMs)) {
    return VERDICT_DUPLICATE;
  }
  return ofNew(intake, rule, admission, nowMs);
}

/** Of one that is new, or may come again. */
function ofNew(
  intake: IntakeContext,
  rule: RuleState,
  admission: Admission,
  nowMs: number,
): number {
  const { core } = intake;
  if (intake.accept !== undefined && !isAccepted(intake, rule, admission)) return VERDICT_HOOK;
  if (isBudgeted(rule.policy) && isSpent(intake, rule)) return VERDICT_BUDGET;
  const { pending, waiting } = core.counters;
  if (pending + waiting >= core.limits.capacity) return VERDICT_FULL;
  if (isDiskFull(core)) return VERDICT_FULL_DISK;
  if (!hasReserve(core)) return VERDICT_FULL_MEMORY;
  return admission.dueMs > nowMs ? VERDICT_DEFERRED : VERDICT_ACCEPTED;
}

/** Whether another program saw it. */
function isElsewhere(
  { rows, visited }: IntakeContext,
  input: RequestInput,
  { override, rule }: Identity,
  admission: Admission,
): boolean {
  if (visited === undefined || override !== undefined || rule === undefined) return false;
  return asksDigests(admission, rule) && isInDigests(visited, input, rowKeyText(rows, 0));
}

/** Whether what is known of its identity stands in its way. */
function isRefusedAgain(
  core: Core,
  { rule, admission, known }: { rule: RuleState; admission: Admission; known: number },
  nowMs: number,
): boolean {
  if (admission.dedup !== "check") return false;
  if (admission.epoch !== undefined || !isRecrawled(rule.policy.epoch)) return true;
  return !mayComeAgain(core, known, nowMs);
}

function isAccepted(intake: IntakeContext, rule: RuleState, admission: Admission): boolean {
  intake.isBusy = true; // the user's function must not come back in
  try {
    return callAcceptHook(intake, { row: 0, rule, admission, parent: 0 }) !== undefined;
  } finally {
    intake.isBusy = false;
  }
}

/** Whether the host of the request has nothing left of its rule's budget. */
function isSpent({ core, rows }: IntakeContext, { policy }: RuleState): boolean {
  const unit = unitOf(core, policy, rowLeaseText(policy, rows, 0), rowHostText(rows, 0));
  return !hasBudget(core, policy, hostNamed(core.hosts, unit));
}
