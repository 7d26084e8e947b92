/**
 * Verdicts: one frozen object per outcome, so that a push allocates none. Inside, a verdict is its code.
 */

/** What became of a request. Verdicts are frozen objects, one for each outcome. */
export interface Verdict {
  /**
   * `accepted`: pending now. `deferred`: pending later. `duplicate`: known. `rejected`: refused, see `reason`.
   * `full`: no room now. `closed`: the frontier is closed.
   */
  readonly status: "accepted" | "deferred" | "duplicate" | "rejected" | "full" | "closed";
  /**
   * Why it was refused: `invalid-url`, `scheme`, `too-long`, `too-deep`, `no-rule`, `no-follow`, `budget`, `hook`,
   * `unserializable`, `invalid-request`, `max-found`, `late`; of `full`: `memory`, `disk`, `epochs`.
   */
  readonly reason?: string;
  /** Whether it was accepted or deferred. */
  readonly admitted: boolean;
}

export const VERDICT_ACCEPTED = 0;
export const VERDICT_DEFERRED = 1;
export const VERDICT_DUPLICATE = 2;
export const VERDICT_INVALID_URL = 3;
export const VERDICT_SCHEME = 4;
export const VERDICT_TOO_LONG = 5;
export const VERDICT_TOO_DEEP = 6;
export const VERDICT_BUDGET = 7;
export const VERDICT_UNSERIALIZABLE = 8;
export const VERDICT_HOOK = 9;
export const VERDICT_FULL = 10;
export const VERDICT_FULL_MEMORY = 11;
export const VERDICT_CLOSED = 12;
export const VERDICT_NO_FOLLOW = 13;
export const VERDICT_MAX_FOUND = 14;
export const VERDICT_INVALID_REQUEST = 15;
export const VERDICT_LATE = 16;
export const VERDICT_NO_RULE = 17;
export const VERDICT_FULL_DISK = 18;

export const VERDICTS: readonly Verdict[] = [
  freeze("accepted"),
  freeze("deferred"),
  freeze("duplicate"),
  freeze("rejected", "invalid-url"),
  freeze("rejected", "scheme"),
  freeze("rejected", "too-long"),
  freeze("rejected", "too-deep"),
  freeze("rejected", "budget"),
  freeze("rejected", "unserializable"),
  freeze("rejected", "hook"),
  freeze("full"),
  freeze("full", "memory"),
  freeze("closed"),
  freeze("rejected", "no-follow"),
  freeze("rejected", "max-found"),
  freeze("rejected", "invalid-request"),
  freeze("rejected", "late"),
  freeze("rejected", "no-rule"),
  freeze("full", "disk"),
  freeze("full", "epochs"), // of a frontier on Redis alone
];

/** The verdict of a code. */
export function verdictOf(code: number): Verdict {
  return VERDICTS[code] as Verdict;
}

function freeze(status: Verdict["status"], reason?: string): Verdict {
  const admitted = status === "accepted" || status === "deferred";
  return Object.freeze(reason === undefined ? { status, admitted } : { status, reason, admitted });
}
