/**
 * The kernel's half of the ledger (src/frontier/records/ledger.ts): what admit, lease and restore change of a record and count for its
 * rule, where many are done in one crossing. The owner's thread counts for the frontier.
 *
 *   admit   none → pending      enterPending, countPending
 *   lease   pending → leased    enterLease, countLeased (rules in turn; of one rule alone the owner counts all at once)
 *
 *   I1  No other file of the kernel writes a state or a count of a rule.
 */
import {
  RULE_QUEUE_LEASED_WORD,
  RULE_QUEUE_PENDING_WORD,
  RULE_QUEUE_SERVED_WORD,
} from "../../src/layout/records/host";
import {
  RECORD_DEPTH_WORD,
  RECORD_FLAG_QUEUED,
  RECORD_LEASED,
  RECORD_LONE,
  RECORD_NAMED,
  RECORD_PENDING,
  RECORD_STATE_WORD,
} from "../../src/layout/records/record";
import { bump, get, set } from "../batch-row";

const CLAMP_16: u32 = 65_535;

/** The head of a new record: pending, at its first attempt. */
export function enterPending(record: usize, flags: u32): void {
  set(record, RECORD_STATE_WORD, RECORD_PENDING | (flags << 8) | (1 << 16));
}

/** The same of one that stands for its host and carries that one's name. */
export function enterLone(record: usize, flags: u32): void {
  const state: u32 = RECORD_PENDING | RECORD_LONE | RECORD_NAMED;
  set(record, RECORD_STATE_WORD, state | (flags << 8) | (1 << 16));
}

/** It stands in its host's queue, and for its host no longer. */
export function endLone(record: usize): void {
  const state = get(record, RECORD_STATE_WORD) & ~RECORD_LONE;
  set(record, RECORD_STATE_WORD, state | (RECORD_FLAG_QUEUED << 8));
}

/** The head of a record that comes back from a file: state and flags, and its attempts. */
export function enterRestored(record: usize, stateAndFlags: u32, attempts: u32): void {
  set(record, RECORD_STATE_WORD, stateAndFlags | (attempts << 16));
}

/** A pending record stands in its host's queue. */
export function enterQueue(record: usize): void {
  set(record, RECORD_STATE_WORD, get(record, RECORD_STATE_WORD) | (RECORD_FLAG_QUEUED << 8));
}

/** A record handed out once more. */
export function enterLease(record: usize): void {
  const depths = get(record, RECORD_DEPTH_WORD);
  const isNamed = load<u8>(record, RECORD_STATE_WORD << 2) & RECORD_NAMED;
  store<u8>(record, RECORD_LEASED | isNamed, RECORD_STATE_WORD << 2);
  if (depths >>> 16 < CLAMP_16) set(record, RECORD_DEPTH_WORD, depths + (1 << 16));
}

/** One more pending under a rule. */
export function countPending(rule: usize): void {
  bump(rule, RULE_QUEUE_PENDING_WORD);
}

/** One of a rule's pending is leased, and was served. */
export function countLeased(rule: usize): void {
  set(rule, RULE_QUEUE_PENDING_WORD, get(rule, RULE_QUEUE_PENDING_WORD) - 1);
  bump(rule, RULE_QUEUE_LEASED_WORD);
  const served = rule + (RULE_QUEUE_SERVED_WORD << 2);
  store<f64>(served, load<f64>(served) + 1);
}
