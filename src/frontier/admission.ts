/** Admission: what stands at its beginning, for both of its ways (admit.ts, admit-each.ts). */
import { RECORD_FLAG_WHOLE } from "../structures/record.ts";
import {
  BATCH_SCHEME,
  BATCH_TOO_LONG,
  type Rows,
  rowHasUserinfo,
  rowPathStart,
  rowVisitLength,
  rowVisitOffset,
} from "../url/rows.ts";
import type { Core } from "./core.ts";
import { VERDICT_INVALID_URL, VERDICT_SCHEME, VERDICT_TOO_LONG } from "./verdict.ts";

/** What a request says beyond its URL, checked and encoded by the engine. */
export interface Admission {
  /** A verdict already reached (a request that is none): nothing else is looked at. */
  verdict: number | undefined;
  priority: number | undefined;
  depth: number;
  /** Not before this time; 0: now. */
  dueMs: number;
  dedup: "check" | "record" | "skip";
  isStart: boolean;
  maxAttempts: number;
  /** Everything optional, as msgpack; undefined when there is nothing. */
  blob: Uint8Array | undefined;
  isVolatile: boolean;
  /** Data of a volatile request that msgpack can not carry. */
  volatileData: unknown;
}

export interface Intake {
  readonly rows: Rows;
  readonly count: number;
  readonly nowMs: number;
  /** From outside: capacity binds. */
  readonly isOutside: boolean;
  /** Depth of plain rows. */
  readonly depth: number;
  /** Handle of the parent fingerprint, or 0. */
  readonly parent: number;
  /** One per row where the request was more than a URL. */
  readonly admissions: ReadonlyArray<Admission | undefined> | undefined;
  /** The user's hook, asked for rows that would be admitted; undefined: refused. */
  readonly hook: ((row: number) => Admission | undefined) | undefined;
  /** Out: the verdict code of row i goes to codes[codesStart + i]. */
  readonly codes: Uint8Array;
  readonly codesStart: number;
}

/** Most pages a batch and the structures it grows can ask for: 16 MiB kept free for transitions of what is in. */
const RESERVE_PAGES = 256;

/** Whether the region has room beyond what the transitions of its records may need. */
export function hasReserve(core: Core): boolean {
  const { region } = core.store;
  return region.pageCountMax - region.pagesUsed > RESERVE_PAGES;
}

/** Names the bytes of a row that its record keeps: what follows the host, or all where user info stands before it. */
export function setRowText(core: Core, rows: Rows, row: number): void {
  const { draft } = core;
  const isWhole = rowHasUserinfo(rows, row) || core.rule.policy.by !== "host";
  const start = isWhole ? 0 : rowPathStart(rows, row);
  if (isWhole) draft.flags |= RECORD_FLAG_WHOLE;
  draft.textOffset = rowVisitOffset(rows, row) + start;
  draft.textLength = rowVisitLength(rows, row) - start;
}

/** The verdict of a row that the URL room refused. */
export function refusalOf(status: number): number {
  if (status === BATCH_SCHEME) return VERDICT_SCHEME;
  return status === BATCH_TOO_LONG ? VERDICT_TOO_LONG : VERDICT_INVALID_URL;
}
