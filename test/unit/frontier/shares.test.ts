import { describe, expect, it } from "vitest";
import { createRule, type RuleState } from "../../../src/frontier/core.ts";
import { normalizeRulePolicy } from "../../../src/frontier/policy.ts";
import {
  createShares,
  type Shares,
  sharesCharge,
  sharesJoin,
  sharesLeave,
  sharesRefund,
  verifyShares,
} from "../../../src/frontier/shares.ts";
import { createRandom } from "../../../src/base/random.ts";
import { normalizePolicy } from "../../../src/url/policy.ts";
import { testSeed } from "../../support/seed.ts";

describe("shares", () => {
  it("give every rule its rate over many hand-outs", () => {
    const rates = [110, 100 / 3, 50, 1];
    const { shares, rules } = listed(rates);
    const served = rules.map(() => 0);
    for (let n = 0; n < 100_000; n++) {
      const { order } = go(shares);
      served[order] = (served[order] as number) + 1;
    }
    const sum = rates.reduce((a, b) => a + b, 0);
    for (const [index, rate] of rates.entries()) {
      const due = (100_000 * rate) / sum;
      expect(Math.abs((served[index] as number) - due)).toBeLessThanOrEqual(2);
    }
    verifyShares(shares);
  });

  it("break ties by the order of the rules", () => {
    const { shares } = listed([10, 10, 10]);
    const orders = Array.from({ length: 6 }, () => go(shares).order);
    expect(orders).toEqual([0, 1, 2, 0, 1, 2]);
  });

  it("give no credit for absence and forgive no debt (I2)", () => {
    const { shares, rules } = listed([100, 100]);
    const [a, b] = rules as [RuleState, RuleState];
    sharesLeave(shares, b);
    for (let n = 0; n < 50; n++) go(shares);
    sharesJoin(shares, b);
    const next = Array.from({ length: 4 }, () => go(shares).order);
    expect(next.filter((order) => order === 0).length).toBe(2);
    sharesLeave(shares, a);
    const { pass } = a;
    sharesJoin(shares, a);
    expect(a.pass).toBe(pass);
  });

  it("agree with a search through all rules, whatever joins, leaves and is refunded", () => {
    const random = createRandom(testSeed("shares"));
    const { shares, rules } = listed(Array.from({ length: 20 }, () => 1 + random.below(200)));
    for (let n = 0; n < 5_000; n++) {
      const rule = rules[random.below(rules.length)] as RuleState;
      if (random.below(3) === 0) sharesLeave(shares, rule);
      else sharesJoin(shares, rule);
      const best = rules
        .filter(({ place }) => place >= 0)
        .sort((x, y) => x.pass - y.pass || x.order - y.order)[0];
      expect(shares.heap[0]).toBe(best);
      if (best === undefined) continue;
      const { pass } = best;
      sharesCharge(shares, best);
      if (random.below(4) === 0) {
        sharesRefund(shares, best, shares.passBefore, shares.currentBefore);
        expect(best.pass).toBe(pass);
      }
      verifyShares(shares);
    }
  });
});

function listed(rates: readonly number[]): { shares: Shares; rules: RuleState[] } {
  const shares = createShares();
  const policy = normalizeRulePolicy({}, "policy");
  const key = normalizePolicy();
  const rules = rates.map((rate, index) =>
    createRule({ id: `r${index}`, index, handle: 0, policy, key, order: index, rate }),
  );
  for (const rule of rules) sharesJoin(shares, rule);
  return { shares, rules };
}

function go(shares: Shares): RuleState {
  const rule = shares.heap[0] as RuleState;
  sharesCharge(shares, rule);
  return rule;
}
