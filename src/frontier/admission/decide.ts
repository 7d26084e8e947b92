/**
 * Decide: the verdict of one request, and nothing else. A push makes what is let in (admit-rows.ts); `explain` and `put` report it
 * (engine/queries/predict-verdict.ts). Rows that the kernel decides in bulk obey the same order (admit-batch.ts).
 *
 *   the request itself ─▶ crawlable, rule ─▶ depth ─▶ epoch ─▶ seen ─▶ hook ─▶ budget ─▶ capacity, disk, memory
 *
 *   I1  Nothing is changed: what the user's functions and `look` do is theirs.
 */
import { hostFind, hostNamed } from "../../structures/hosts/host-table.ts";
import { RECORD_RESTING, recordState } from "../../structures/records/record.ts";
import { wordAt } from "../../structures/store.ts";
import {
  BATCH_OK,
  hostHashesOffset,
  type Rows,
  rowHostText,
  rowStatus,
} from "../../url/batch/row-fields.ts";
import { rowDomain } from "../../url/matching/row-domain.ts";
import type { Core, RuleState } from "../core.ts";
import { FOREVER, isRecrawled } from "../epochs/epoch-policy.ts";
import { mayComeAgain } from "../epochs/recrawl.ts";
import { hasBudget, isBudgeted } from "../politeness/politeness.ts";
import { unitOf } from "../politeness/unit-name.ts";
import { isFinishedValue } from "../records/finished-word.ts";
import { hasReserve } from "../records/memory-reserve.ts";
import type { FrontierPolicy } from "../rules/rule-policy.ts";
import { isDiskFull } from "../scheduling/spill-control.ts";
import { type Admission, refusalOf, rowLeaseText } from "./admission-input.ts";
import { MODE_UNITS } from "./admission-mode.ts";
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
} from "./verdicts.ts";

/** A politeness unit: its host where that is known, and its name where it is not the URL's host. */
export interface Unit {
  readonly host: number;
  readonly name: string | Uint8Array | undefined;
}

/** A row of a batch, what is asked for it, and what is found on the way to its verdict. */
export interface Candidate {
  readonly rows: Rows;
  readonly row: number;
  readonly rule: RuleState | undefined;
  /** Name of its epoch; null: the user's function returned none. */
  readonly epoch: string | null;
  /** The hook may return another one. */
  admission: Admission;
  /** What the seen-set holds of its identity; 0: nothing, or nothing yet. */
  known: number;
  /** It stands in for what is known: its rule crawls again, and its time has come. */
  isAgain: boolean;
  /** Its unit, where it was found already. */
  unit: Unit | undefined;
}

/** What holds for all candidates of a call. */
export interface Deciding {
  /** MODE_*: with MODE_UNITS a unit is found before room is looked for, so that a function of the user's is asked each time. */
  readonly mode: number;
  readonly nowMs: number;
  /** From outside: capacity binds. */
  readonly isOutside: boolean;
  /** The user's hook, asked for rows that would be admitted; undefined: refused. */
  readonly hook: ((row: number) => Admission | undefined) | undefined;
}

/** The code of the verdict. `look` finds what is known of the identity; −1: memory has no room for it. */
export function decide(
  core: Core,
  candidate: Candidate,
  given: Deciding,
  look: (core: Core, candidate: Candidate) => number,
): number {
  const { admission, epoch, row, rows, rule } = candidate;
  if (admission.verdict !== undefined) return admission.verdict;
  const status = rowStatus(rows, row);
  if (status !== BATCH_OK) return refusalOf(status);
  if (rule === undefined) return VERDICT_NO_RULE;
  const { policy } = rule;
  if (admission.depth > policy.maxDepth) return VERDICT_TOO_DEEP;
  if (epoch === null) return VERDICT_HOOK;
  const known = look(core, candidate);
  if (known < 0) return VERDICT_FULL_MEMORY;
  candidate.known = known;
  if (known !== 0) {
    candidate.isAgain = mayReplace(core, candidate, policy, given.nowMs);
    if (!candidate.isAgain && isRefused(admission, known)) return VERDICT_DUPLICATE;
  }
  const asked = given.hook === undefined ? admission : given.hook(row);
  if (asked === undefined) return VERDICT_HOOK;
  candidate.admission = asked;
  const isLimited = isBudgeted(policy);
  if (isLimited || (given.mode & MODE_UNITS) !== 0) {
    candidate.unit = findUnit(core, policy, candidate);
    if (isLimited && !hasBudget(core, policy, candidate.unit.host)) return VERDICT_BUDGET;
  }
  return decideRoom(core, given.isOutside) ?? dueVerdict(asked, given.nowMs);
}

/** The verdict of one more record that finds no room; undefined: it does. */
function decideRoom(core: Core, isOutside: boolean): number | undefined {
  const { pending, waiting } = core.counters;
  if (isOutside && pending + waiting >= core.limits.capacity) return VERDICT_FULL;
  if (isOutside && isDiskFull(core)) return VERDICT_FULL_DISK;
  return hasReserve(core) ? undefined : VERDICT_FULL_MEMORY;
}

/** The verdict of what is let in. */
function dueVerdict({ dueMs }: Admission, nowMs: number): number {
  return dueMs > nowMs ? VERDICT_DEFERRED : VERDICT_ACCEPTED;
}

/** Whether a known identity refuses a request that does not stand in for it. */
function isRefused({ dedup }: Admission, known: number): boolean {
  return dedup === "check" || (dedup === "again" && !isFinishedValue(known));
}

/** Whether a request stands in for what is known of its identity. */
function mayReplace(
  core: Core,
  { admission, epoch, known }: Candidate,
  policy: FrontierPolicy,
  nowMs: number,
): boolean {
  const { dedup } = admission;
  if (!isFinishedValue(known) && recordState(core.store, known) === RECORD_RESTING) {
    // One that is never refused comes at any time, and so do seeds.
    if (dedup === "record" || dedup === "again") return true;
  }
  const isPlain = epoch === FOREVER && admission.epoch === undefined && dedup === "check";
  return isPlain && isRecrawled(policy.epoch) && mayComeAgain(core, known, nowMs);
}

/** The politeness unit of a candidate. */
export function findUnit(
  core: Core,
  policy: FrontierPolicy,
  { admission, rows, row }: Candidate,
): Unit {
  const { hostKey } = admission;
  let name: string | Uint8Array | undefined = hostKey;
  if (hostKey === undefined && policy.by === "host") {
    const hash = (hostHashesOffset(rows) >> 2) + row * 2;
    const host = hostFind(core.hosts, wordAt(core.store, hash), wordAt(core.store, hash + 1));
    return { host, name: undefined };
  }
  if (hostKey === undefined && policy.by === "domain") {
    name = rowDomain(core.domains, rows, row);
  }
  name ??= unitOf(core, policy, rowLeaseText(policy, rows, row), rowHostText(rows, row));
  return { host: hostNamed(core.hosts, name), name };
}
