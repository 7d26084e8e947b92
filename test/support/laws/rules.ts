/** Laws of rules: which one matches a URL, whose share is due, and what a new set does to the old one. */
import type { SyncPolicy } from "../frontier-surface.ts";
import type { ModelRecord, ModelRule } from "../model-state.ts";

/** How closely a rule fits a URL; 0: not by this. */
export interface Fit {
  /** 2: host and port, 1: host. */
  readonly exact: number;
  /** Length of the longest domain. */
  readonly domain: number;
  /** Length of the pattern. */
  readonly pattern: number;
}

export const RULE_LAWS = {
  /** An exact host outranks the longest domain, and that outranks the longest pattern. */
  rankOfFit: ({ exact, domain, pattern }: Fit): number[] => [exact, domain, pattern],

  /** A rule takes URLs of its schemes only. */
  isOfSchemes: (schemes: readonly string[], scheme: string): boolean => schemes.includes(scheme),

  /** The first of several rules that fit equally well wins. */
  compareEqualFits: (a: ModelRule, b: ModelRule): number => a.order - b.order,

  /** A hand-out costs less where the share is larger. */
  costOfHandOut: (rate: number): number => 1 / rate,

  /** A rule that had nothing to hand out saves no share up. */
  passOfReturning: (pass: number, currentPass: number): number => Math.max(pass, currentPass),

  /** A rule that has gone keeps its policy for the leases that are out under it. */
  policyOfGone: ({ policy }: ModelRule): SyncPolicy => policy,

  /** Records move on when their rule has gone. */
  loseRecords: ({ isGone }: ModelRule): boolean => isGone,

  /** A record that no rule takes fails. */
  failsWithoutRule: (_record: ModelRecord): boolean => true,
};
