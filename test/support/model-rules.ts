/**
 * Rules of the naive model: compares every rule for every URL, every record for every share.
 *
 *   match     exact host, then longest domain, then longest pattern, then order of the set
 *   shares    the rule with the lowest pass goes, pass += 1 / rate; one that had nothing to hand out starts at the
 *             current pass, or at its own if that is higher
 *   swap      same id, same politeness and start order: takes the new policy; otherwise pending records move to the rule of
 *             that id, else to the one that matches, else they fail
 */
import type { SyncPolicy, SyncRule } from "./frontier-surface.ts";
import { placeKinds } from "./model-groups.ts";
import type { Laws } from "./model-laws.ts";
import {
  failRecord,
  isPolite,
  type Model,
  type ModelRecord,
  type ModelRule,
} from "./model-state.ts";

export function matchRule(model: Model, url: URL): ModelRule | undefined {
  const fits = activeRules(model).flatMap((rule) => {
    const place = specificity(model.laws, rule.match ?? {}, url);
    return place === undefined ? [] : [{ rule, place }];
  });
  fits.sort((a, b) => compare(b.place, a.place) || model.laws.compareEqualFits(a.rule, b.rule));
  return fits[0]?.rule;
}

export function ruleOf(model: Model, record: ModelRecord): ModelRule {
  return model.rules.find((rule) => rule.serial === record.rule) as ModelRule;
}

export function activeRules(model: Model): ModelRule[] {
  return model.rules.filter((rule) => !rule.isGone).sort((a, b) => a.order - b.order);
}

/** The rule whose turn it is among those that could hand something out. */
export function chooseRule(model: Model, eligible: ReadonlySet<ModelRule>): ModelRule | undefined {
  for (const rule of model.rules) {
    if (eligible.has(rule) && !rule.wasEligible) {
      rule.pass = model.laws.passOfReturning(rule.pass, model.currentPass);
    }
    rule.wasEligible = eligible.has(rule);
  }
  return [...eligible].sort((a, b) => a.pass - b.pass || a.order - b.order)[0];
}

export function chargeRule(model: Model, rule: ModelRule): void {
  model.currentPass = rule.pass;
  rule.pass += model.laws.costOfHandOut(rule.rate);
  rule.served += 1;
}

export function setModelRules(model: Model, rules: readonly SyncRule[]): void {
  const before = activeRules(model);
  for (const rule of before) {
    rule.isGone = true;
    rule.policy = model.laws.policyOfGone(rule);
  }
  for (const [order, given] of rules.entries()) {
    const { id, match, share, ...own } = given;
    const policy: SyncPolicy = { ...model.options.defaults, ...own };
    const rate = (100 + (share?.weight ?? 0)) / (share?.priority ?? 1);
    const old = before.find((rule) => rule.id === id);
    if (old !== undefined && standsAlike(old.policy, policy)) {
      Object.assign(old, { policy, match, rate, order, isGone: false });
      continue;
    }
    const serial = model.nextRule++;
    const { pass = 0, served = 0 } = old ?? {};
    const state = { pass, served, wasEligible: false, isGone: false };
    model.rules.push({ serial, id, policy, match, rate, order, ...state });
  }
  placeKinds(
    model,
    activeRules(model).map(({ policy }) => policy),
  );
  adoptAll(model);
}

/** Records that returned to a rule that has gone, or whose rule goes now. */
export function adoptAll(model: Model): void {
  for (const record of model.records) {
    if (record.state !== "pending" && record.state !== "waiting") continue;
    const rule = ruleOf(model, record);
    if (!model.laws.loseRecords(rule)) continue;
    const same = activeRules(model).find(({ id }) => id === rule.id);
    const next = same ?? matchRule(model, new URL(record.url));
    if (next !== undefined) record.rule = next.serial;
    else {
      record.rule = 0;
      if (model.laws.failsWithoutRule(record)) failRecord(model, record, "no-rule");
    }
  }
}

function standsAlike(a: SyncPolicy, b: SyncPolicy): boolean {
  if (isPolite(a) !== isPolite(b) || Boolean(a.startLast) !== Boolean(b.startLast)) return false;
  if (groupsText(a) !== groupsText(b)) return false;
  return !a.startLast || (a.order ?? "fifo") === (b.order ?? "fifo");
}

/** Kinds, delays and limits of groups; all functions of our programs have the same text. */
function groupsText({ politeness }: SyncPolicy): string {
  return JSON.stringify(politeness?.groups ?? [], (_, value) =>
    typeof value === "function" ? "own" : value,
  );
}

/** How closely a rule fits, as its rank; undefined: no match. */
function specificity(
  laws: Laws,
  match: NonNullable<SyncRule["match"]>,
  url: URL,
): number[] | undefined {
  const { hosts = [], domains = [], pattern, schemes = ["http", "https"] } = match;
  if (!laws.isOfSchemes(schemes, url.protocol.slice(0, -1))) return undefined;
  if (pattern !== undefined && !new RegExp(pattern).test(url.href)) return undefined;
  const exact = hosts.includes(url.host) ? 2 : hosts.includes(url.hostname) ? 1 : 0;
  const under = domains.filter((one) => `.${url.hostname}`.endsWith(`.${one}`));
  if (hosts.length + domains.length > 0 && exact === 0 && under.length === 0) return undefined;
  const domain = exact > 0 ? 0 : Math.max(0, ...under.map(({ length }) => length));
  return laws.rankOfFit({ exact, domain, pattern: pattern?.length ?? 0 });
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [at, one] of a.entries()) if (one !== b[at]) return one - (b[at] as number);
  return 0;
}
