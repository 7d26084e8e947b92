/**
 * The accept hook: the user's hook, called for a request that would be admitted but for budgets and room (`FrontierOptions.accept`). It
 * gets the request as it would be admitted; it accepts or refuses, or changes priority and data.
 *
 *   I1  A hook that throws, or whose answer is none, refuses and is reported as a fault: the rest of the batch goes on.
 */
import { argument } from "../../base/argument-checks.ts";
import { INTEGER, kind } from "../../base/fields.ts";
import { misuse, refusePromise } from "../../base/errors.ts";
import { isSerializable } from "../../base/serializable.ts";
import { type Admission, rowLeaseText } from "../../frontier/admission/admission-input.ts";
import { effectivePriority, type RuleState } from "../../frontier/core.ts";
import { parentFingerprint } from "../../structures/records/record.ts";
import { rowHostText } from "../../url/batch/row-fields.ts";
import { addExtras, unpackExtras } from "./request-extras.ts";
import type { IntakeContext } from "./intake-context.ts";
import type { RequestView } from "../types/frontier-types.ts";

interface Answer {
  priority?: number;
  data?: unknown;
}

/** What the hook is asked about: a row of the batch in hand. */
interface HookRequest {
  readonly row: number;
  readonly rule: RuleState;
  readonly admission: Admission;
  /** Handle of the parent's fingerprint, or 0. */
  readonly parent: number;
}

const readAnswer = argument<Answer>("answer", {
  priority: INTEGER,
  data: kind("a value that msgpack can encode", isSerializable),
});

/** The admission as the hook would have it, undefined: refused. */
export function callAcceptHook(intake: IntakeContext, asked: HookRequest): Admission | undefined {
  const { admission } = asked;
  const view = rowView(intake, asked);
  try {
    const answer: unknown = intake.accept?.(view);
    if (answer === true) return admission;
    if (answer === false) return undefined;
    if (answer === undefined) {
      throw misuse("ARGUMENT_INVALID", "answer", answer, "true, false or an object, at once");
    }
    refusePromise("accept", answer, "true, false or an object");
    const { priority, data } = readAnswer(answer);
    admission.priority = priority ?? admission.priority;
    if (data === undefined) return admission;
    admission.blob = addExtras(admission.blob, { d: data });
    admission.volatileData = undefined;
    return admission;
  } catch (cause) {
    intake.events.hookFault("accept", cause, view.url);
    return undefined;
  }
}

function rowView(
  intake: IntakeContext,
  { row, rule, admission, parent }: HookRequest,
): RequestView {
  const { core, rows } = intake;
  const extras = admission.blob === undefined ? {} : unpackExtras(admission.blob);
  return {
    url: rowLeaseText(rule.policy, rows, row),
    method: extras.m ?? "GET",
    host: rowHostText(rows, row),
    rule: rule.id,
    priority: effectivePriority(rule.policy, admission.priority, admission.depth),
    depth: admission.depth,
    attempt: 1,
    deliveries: 0,
    ...(extras.n === undefined ? {} : { handler: extras.n }),
    ...(extras.u === undefined ? {} : { hostKey: extras.u }),
    data: admission.isVolatile ? (admission.volatileData ?? extras.d) : extras.d,
    ...(parent === 0 ? {} : { parent: parentFingerprint(core.store, parent) }),
  };
}
