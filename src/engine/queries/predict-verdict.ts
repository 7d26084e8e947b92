/**
 * Predicts the verdict that a push of a request would get now, by the decision of a push (frontier/admission/decide.ts). Nothing is
 * admitted.
 *
 *   I1  `explain` and a push directly after it answer alike, as far as the user's functions answer alike twice.
 */
import { decide } from "../../frontier/admission/decide.ts";
import { VERDICT_FULL_DISK } from "../../frontier/admission/verdicts.ts";
import { callAcceptHook } from "../intake/accept-hook.ts";
import type { IntakeContext } from "../intake/intake-context.ts";
import { keyedAdmission } from "../intake/row-admission.ts";
import { admissionOf } from "../intake/split-request.ts";
import type { RequestInput } from "../types/frontier-types.ts";
import type { Identity } from "./find-identity.ts";

/** What is known of the request that stands in row 0 of the intake context's batch. */
interface Prediction {
  readonly looked: Identity;
  /** What the seen-set holds of its identity, a spilled record in memory; 0: nothing. */
  readonly known: number;
  /** The disk refuses what a push would log. */
  readonly isDiskShut: boolean;
  readonly nowMs: number;
  /** The request's optional part, packed already. */
  readonly packed?: Uint8Array | null | undefined;
}

/** The code of the verdict. */
export function predictVerdict(
  intake: IntakeContext,
  input: RequestInput,
  { looked, known, isDiskShut, nowMs, packed }: Prediction,
): number {
  if (isDiskShut) return VERDICT_FULL_DISK;
  const { rows } = intake;
  const { epoch, override, rule } = looked;
  const asked = { row: 0, override, depth: undefined, packed };
  const admission =
    rule === undefined
      ? admissionOf(input, intake.key, undefined, packed)
      : keyedAdmission(intake, input, { ...asked, rule });
  const hook =
    intake.accept === undefined || rule === undefined
      ? undefined
      : () => callAcceptHook(intake, { row: 0, rule, admission, parent: 0 });
  const found = { rows, row: 0, rule, epoch, admission, known: 0, isAgain: false, unit: undefined };
  const wasBusy = intake.isBusy;
  intake.isBusy = true; // the user's function must not come back in
  try {
    return decide(intake.core, found, { mode: 0, nowMs, isOutside: true, hook }, () => known);
  } finally {
    intake.isBusy = wasBusy;
  }
}
