/**
 * RuleState: one rule as the core works with it: its policy and its counts. Owner: the frontier's thread.
 *
 *   what every request, hand-out and end touches   words of its rule queue (layout/records/host.ts), read there by handle
 *   whose turn it is                               columns of the shares, by index (rule-shares.ts)
 *   the rest                                       this object, which the hot path leaves alone
 *
 *   I1  The words hold what the policy holds: `takePolicy` writes both.
 */
import {
  RULE_AGAIN,
  RULE_BACKOFF,
  RULE_GONE,
  RULE_LIFO,
  RULE_POLITE,
  RULE_PUSHED,
  RULE_QUEUE_DONE_WORD,
  RULE_QUEUE_FLAGS_WORD,
  RULE_QUEUE_LEASED_WORD,
  RULE_QUEUE_MAX_DEPTH_WORD,
  RULE_QUEUE_PENDING_WORD,
  RULE_QUEUE_PER_DEPTH_WORD,
  RULE_QUEUE_PRIORITY_WORD,
  RULE_QUEUE_SERVED_WORD,
  RULE_SHARED,
  RULE_START_LAST,
  RULE_LONE,
} from "../../structures/hosts/host-table.ts";
import { float, setFloat, setWord, type Store, word } from "../../structures/store.ts";
import type { NormalPolicy } from "../../url/keys/key-policy.ts";
import type { FrontierPolicy } from "./rule-policy.ts";

const WORD_MAX = 0xffff_ffff;
/** The order of gone rules: behind all of a set, no two alike. */
const GONE_ORDER = 2 ** 30;

/** What makes a rule. */
interface RuleParts {
  readonly id: string;
  readonly index: number;
  /** Handle of its rule queue. */
  readonly handle: number;
  readonly policy: FrontierPolicy;
  readonly key: NormalPolicy;
  /** Where it stands among the rules of its set. */
  readonly order: number;
  /** Its share: (100 + weight) / priority. */
  readonly rate: number;
}

export class RuleState {
  readonly id: string;
  key: NormalPolicy;
  policy: FrontierPolicy;
  readonly index: number;
  readonly handle: number;
  order: number;
  rate: number;
  /** The host queue that a sweep reads next. */
  cursor = 0;
  /** Counts of its records, which the ledger alone writes; of `resting`: done, and coming again by themselves. */
  readonly waiting: number = 0;
  readonly resting: number = 0;
  readonly failed: number = 0;
  /** Nothing names it: its index waits for another rule. */
  isSpare = false;
  /** The last set that it was kept in, counted by `core.installs`; 0: none but the one that it came with. */
  keptIn = 0;
  /** A plain field: sets of very many rules are made in one call. */
  private readonly store: Store;

  constructor(store: Store, parts: RuleParts) {
    this.store = store;
    this.id = parts.id;
    this.key = parts.key;
    this.policy = parts.policy;
    this.index = parts.index;
    this.handle = parts.handle;
    this.order = parts.order;
    this.rate = parts.rate;
  }

  /** No longer of the set: what is left of it is adopted by other rules. */
  get isGone(): boolean {
    return (word(this.store, this.handle, RULE_QUEUE_FLAGS_WORD) & RULE_GONE) !== 0;
  }

  set isGone(isGone: boolean) {
    const flags = word(this.store, this.handle, RULE_QUEUE_FLAGS_WORD) & ~RULE_GONE;
    setWord(this.store, this.handle, RULE_QUEUE_FLAGS_WORD, isGone ? flags | RULE_GONE : flags);
  }

  get pending(): number {
    return word(this.store, this.handle, RULE_QUEUE_PENDING_WORD);
  }

  get leased(): number {
    return word(this.store, this.handle, RULE_QUEUE_LEASED_WORD);
  }

  get done(): number {
    return float(this.store, this.handle, RULE_QUEUE_DONE_WORD);
  }

  get served(): number {
    return float(this.store, this.handle, RULE_QUEUE_SERVED_WORD);
  }
}

/** Where a rule of no set stands among rules of the same pass. */
export function goneOrder(index: number): number {
  return GONE_ORDER + index;
}

/** A rule with nothing under it yet: its rule queue is clear. */
export function createRule(store: Store, parts: RuleParts): RuleState {
  const rule = new RuleState(store, parts);
  writePolicy(store, parts.handle, parts.policy);
  return rule;
}

/** The rule goes on under this policy, key, share and place in the set, which it is of. */
export function takePolicy(
  store: Store,
  rule: RuleState,
  { policy, key, rate }: Pick<RuleParts, "policy" | "key" | "rate">,
  order: number,
): void {
  rule.policy = policy;
  rule.key = key;
  rule.order = order;
  rule.rate = rate;
  writePolicy(store, rule.handle, policy);
}

function writePolicy(store: Store, handle: number, policy: FrontierPolicy): void {
  setWord(store, handle, RULE_QUEUE_FLAGS_WORD, flagsOf(policy));
  setFloat(store, handle, RULE_QUEUE_PRIORITY_WORD, policy.priority);
  setFloat(store, handle, RULE_QUEUE_PER_DEPTH_WORD, policy.depthPriority);
  setWord(store, handle, RULE_QUEUE_MAX_DEPTH_WORD, Math.min(policy.maxDepth, WORD_MAX));
}

/**
 * Whether leases carry the key. That of profile `url` is the pushed string, which need not be ASCII nor a URL as
 * the parser writes it: its rows name what is visited in its place (url/keys/dedup-key.ts).
 */
export function visitsKey({ key }: FrontierPolicy): boolean {
  return key?.visit === "canonical" && key.profile !== "url";
}

/** RULE_* of a rule of the set. */
export function flagsOf(policy: FrontierPolicy): number {
  return (
    (policy.isPolite ? RULE_POLITE : 0) |
    (policy.isLifo ? RULE_LIFO : 0) |
    (policy.startLast ? RULE_START_LAST : 0) |
    (policy.epoch.kind === "again" ? RULE_AGAIN : 0) |
    (policy.hostBackoff === undefined ? 0 : RULE_BACKOFF) |
    (visitsKey(policy) ? 0 : RULE_PUSHED) |
    (policy.isPolite && policy.freshGap > 0 ? RULE_SHARED : 0) |
    (standsForHost(policy) ? RULE_LONE : 0)
  );
}

/** Whether the only record of a host that was never visited may stand for it (structures/hosts/lone-host.ts). */
function standsForHost({ isPolite, groups, freshGap, by }: FrontierPolicy): boolean {
  return isPolite && groups.length === 0 && freshGap === 0 && by === "host";
}
