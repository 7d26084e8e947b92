/**
 * Filters of the calls that are about many records, as types. A field that is `undefined` is refused by name
 * (`ARGUMENT_INVALID`): a variable that was never set must not widen a filter to everything.
 */
import type { RequestLike } from "../../base/request-types.ts";
import type { RecordState } from "../../frontier/records/record-state.ts";

/**
 * Which records `records` returns.
 *
 * @example
 * for (const { url } of frontier.records({ state: "failed" })) console.log(url);
 */
export interface RecordsFilter {
  /**
   * Records in this state.
   * @defaultValue any live one
   */
  state?: RecordState;
  /**
   * Records under this rule.
   * @defaultValue any
   */
  rule?: string;
  /**
   * Records of this host.
   * @defaultValue any
   */
  host?: string;
}

/**
 * Which records `requeue` makes pending. At least one field must be there, so that nothing is requeued by mistake.
 *
 * @example
 * frontier.requeue({ host: "example.org" }); // its failed records
 */
export interface RequeueFilter {
  /**
   * Which records.
   * @defaultValue "failed"
   */
  state?: "failed" | "done";
  /**
   * Records under this rule.
   * @defaultValue any
   */
  rule?: string;
  /**
   * Records of this host.
   * @defaultValue any
   */
  host?: string;
  /**
   * Failed records with this reason, as `RecordView.failure` has it. Those whose reason is no longer kept are left
   * out.
   * @defaultValue any
   */
  reason?: string;
  /**
   * True, and no other field: every failed record.
   * @defaultValue false
   */
  all?: boolean;
}

/**
 * Which pending records `remove` takes out. At least one field must be there, so that nothing is deleted by mistake.
 *
 * @example
 * frontier.remove({ host: "trap.example", pattern: "/calendar/" });
 */
export interface RemoveFilter {
  /**
   * Records of this host.
   * @defaultValue any
   */
  host?: string;
  /**
   * Records under this rule.
   * @defaultValue any
   */
  rule?: string;
  /**
   * ECMAScript regular expression on the URL. Reads what is spilled.
   * @defaultValue any
   */
  pattern?: string;
  /**
   * True, and no other field: every pending record.
   * @defaultValue false
   */
  all?: boolean;
}

/**
 * What `forget` makes new: one epoch, one URL, or everything. `epoch` and `request` exclude each other.
 *
 * @example
 * frontier.forget({ epoch: "2026-10-31" });
 */
export interface ForgetFilter {
  /**
   * Name of the epoch.
   * @defaultValue all
   */
  epoch?: string;
  /**
   * One URL, whatever its state, with its record and data; a leased one stays. Returns 1, or 0 where nothing changed.
   * @defaultValue all
   */
  request?: RequestLike;
}
