/** Admission: what stands at its beginning, for both of its ways (admit-batch.ts, admit-rows.ts). */
import { RECORD_FLAG_WHOLE } from "../../structures/records/record.ts";
import { wordAt } from "../../structures/store.ts";
import {
  BATCH_NO_RULE,
  BATCH_SCHEME,
  BATCH_TOO_DEEP,
  BATCH_TOO_LONG,
  type Rows,
  rowHasUserinfo,
  rowKeyLength,
  rowKeyOffset,
  rowKeyStartsLikeVisit,
  rowKeyText,
  rowPathStart,
  rowVisitLength,
  rowVisitOffset,
  rowVisitText,
} from "../../url/batch/row-fields.ts";
import { matchRows } from "../../url/matching/match-rows.ts";
import { type Core, ruleAt, type RuleState } from "../core.ts";
import type { FrontierPolicy } from "../rules/rule-policy.ts";
import { visitsKey } from "../rules/rule-state.ts";
import {
  VERDICT_INVALID_URL,
  VERDICT_NO_RULE,
  VERDICT_SCHEME,
  VERDICT_TOO_DEEP,
  VERDICT_TOO_LONG,
} from "./verdicts.ts";

/** What a request holds beyond its URL, checked and encoded by the engine. */
export interface Admission {
  /** A verdict already reached (a request that is none): nothing else is looked at. */
  verdict: number | undefined;
  priority: number | undefined;
  depth: number;
  /** Not before this time; UNDATED_MS: at once. */
  dueMs: number;
  /** again: admitted unless it is on its way; a failed one is asked for again. */
  dedup: "check" | "record" | "skip" | "again";
  isStart: boolean;
  maxAttempts: number;
  /** Everything optional, as msgpack; undefined when there is nothing. */
  blob: Uint8Array | undefined;
  isVolatile: boolean;
  /** The epoch that the request names itself. */
  epoch: string | undefined;
  /** The politeness unit that the request names itself. */
  hostKey: string | undefined;
  /** Data of a volatile request that msgpack can not carry. */
  volatileData: unknown;
}

/** The epoch and the packed optional part of each plain URL of a list. */
export interface NamedRows {
  readonly epochs: readonly string[];
  readonly blobs: readonly Uint8Array[];
}

export interface BatchAdmission {
  readonly rows: Rows;
  readonly count: number;
  /** What decides about its rows: MODE_* (admission-mode.ts). */
  readonly mode: number;
  readonly nowMs: number;
  /** From outside: capacity binds. */
  readonly isOutside: boolean;
  /** Depth of plain rows. */
  readonly depth: number;
  /** Handle of the parent fingerprint, or 0. */
  readonly parent: number;
  /** Each row has a parent of its own, which the scratch names; `parent` is that of one of them. */
  readonly hasParents?: boolean;
  /** One per row where the request was more than a URL. */
  readonly admissions: ReadonlyArray<Admission | undefined> | undefined;
  /** What plain rows have beside their URLs, that of row 0 at `codesStart`; undefined: nothing. */
  readonly named?: NamedRows | undefined;
  /** Offset of the rule queue of each row; 0: the rule that takes every URL. */
  readonly rowRules: number;
  /** The user's hook, asked for rows that would be admitted; undefined: refused. */
  readonly hook: ((row: number) => Admission | undefined) | undefined;
  /** Out: the verdict code of row i goes to codes[codesStart + i]. */
  readonly codes: Uint8Array;
  readonly codesStart: number;
  /** Rows whose records are in the log already, since their hosts were on disk; undefined: none. */
  loggedRows?: Set<number>;
}

/** The parent of a row. @hot */
export function parentOfRow(core: Core, intake: BatchAdmission, row: number): number {
  if (intake.hasParents !== true) return intake.parent;
  return wordAt(core.store, (core.scratch.parents >> 2) + row);
}

/**
 * Names the bytes of a row that its record keeps: what follows the host, or all where user info stands before it.
 * They are those of the visit URL, or of the key where the policy wants that one visited.
 */
export function setRowText(core: Core, policy: FrontierPolicy, rows: Rows, row: number): void {
  const { draft } = core;
  const isKey = visitsKey(policy);
  const isSet = (draft.flags & RECORD_FLAG_WHOLE) !== 0; // its unit is its own
  let isWhole = isSet || rowHasUserinfo(rows, row) || policy.by !== "host";
  if (isKey && !isWhole) isWhole = !rowKeyStartsLikeVisit(rows, row, rowPathStart(rows, row));
  const start = isWhole ? 0 : rowPathStart(rows, row);
  if (isWhole) draft.flags |= RECORD_FLAG_WHOLE;
  draft.textOffset = (isKey ? rowKeyOffset(rows, row) : rowVisitOffset(rows, row)) + start;
  draft.textLength = (isKey ? rowKeyLength(rows, row) : rowVisitLength(rows, row)) - start;
}

/** The URL that a lease of this row would carry. */
export function rowLeaseText(policy: FrontierPolicy, rows: Rows, row: number): string {
  return visitsKey(policy) ? rowKeyText(rows, row) : rowVisitText(rows, row);
}

/** Finds every parsed row its rule; offset of the handles of their rule queues, which hold until the next batch. */
export function matchRules(core: Core, rows: Rows, count: number, depth: number): number {
  const { active, matcher } = core;
  const { rules: numbers } = core.scratch;
  const numberOf = (order: number): number => (active[order] as RuleState).handle;
  const maxDepthOf = (order: number): number => (active[order] as RuleState).policy.maxDepth;
  matchRows({ matcher, numbers, numberOf, maxDepthOf }, rows, count, depth);
  return numbers;
}

/** The rule that a row was matched to. @hot */
export function ruleOfRow(core: Core, rowRules: number, row: number): RuleState {
  if (rowRules === 0) return core.plain as RuleState;
  return ruleAt(core, wordAt(core.store, (rowRules >> 2) + row));
}

/** The verdict of a row that the URL room or the rules refused. */
export function refusalOf(status: number): number {
  if (status === BATCH_SCHEME) return VERDICT_SCHEME;
  if (status === BATCH_NO_RULE) return VERDICT_NO_RULE;
  if (status === BATCH_TOO_DEEP) return VERDICT_TOO_DEEP;
  return status === BATCH_TOO_LONG ? VERDICT_TOO_LONG : VERDICT_INVALID_URL;
}
