import { describe, expect, it } from "vitest";
import {
  createShares,
  isListed,
  type Shares,
  sharesAdd,
  sharesCharge,
  sharesFirst,
  sharesJoin,
  sharesLeave,
  sharesRefund,
  sharesReturn,
  sharesTurns,
  TURNS_MAX,
  verifyShares,
} from "../../../../src/frontier/scheduling/rule-shares.ts";
import { createRandom } from "../../../../src/base/random.ts";
import { testSeed } from "../../../support/seed.ts";

describe("shares", () => {
  it("give every rule its rate over many hand-outs", () => {
    const rates = [110, 100 / 3, 50, 1];
    const { shares } = listed(rates);
    const served = rates.map(() => 0);
    for (let n = 0; n < 100_000; n++) {
      const order = go(shares);
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
    const orders = Array.from({ length: 6 }, () => go(shares));
    expect(orders).toEqual([0, 1, 2, 0, 1, 2]);
  });

  it("give no credit for absence and forgive no debt (I2)", () => {
    const { shares } = listed([100, 100]);
    const [a, b] = [0, 1];
    sharesLeave(shares, b);
    for (let n = 0; n < 50; n++) go(shares);
    sharesJoin(shares, b);
    const next = Array.from({ length: 4 }, () => go(shares));
    expect(next.filter((order) => order === 0).length).toBe(2);
    sharesLeave(shares, a);
    const pass = shares.passes[a];
    sharesJoin(shares, a);
    expect(shares.passes[a]).toBe(pass);
  });

  it("close the gaps of the line where rules leave and come back behind one that stays", () => {
    const { shares } = listed([100, 100, 100, 100]);
    for (let n = 1; n <= 200; n++) {
      const rule = 1 + (n % 3);
      sharesLeave(shares, rule);
      shares.passes[rule] = n;
      sharesJoin(shares, rule);
      verifyShares(shares);
      expect(sharesFirst(shares)).toBe(0);
    }
  });

  it("agree with a search through all rules, whatever joins, leaves and is refunded", () => {
    const random = createRandom(testSeed("shares"));
    const { shares, rules } = listed(Array.from({ length: 20 }, () => 1 + random.below(200)));
    for (let n = 0; n < 5_000; n++) {
      const rule = random.below(rules.length);
      if (random.below(3) === 0) sharesLeave(shares, rule);
      else sharesJoin(shares, rule);
      const passOf = (index: number): number => shares.passes[index] as number;
      const best = rules
        .filter((index) => isListed(shares, index))
        .sort((x, y) => passOf(x) - passOf(y) || x - y)[0];
      expect(sharesFirst(shares)).toBe(best ?? -1);
      if (best === undefined) continue;
      const pass = passOf(best);
      sharesCharge(shares, best);
      if (random.below(4) === 0) {
        sharesRefund(shares, best, shares.passBefore, shares.currentBefore);
        expect(passOf(best)).toBe(pass);
      }
      verifyShares(shares);
    }
  });

  it("take turns as they would be charged one by one, and take back those that were not", () => {
    const random = createRandom(testSeed("turns of shares"));
    for (let round = 0; round < 30; round++) {
      const count = 1 + random.below(40);
      const isEven = random.below(3) > 0;
      const rates = Array.from({ length: count }, () => (isEven ? 100 : 1 + random.below(200)));
      const [many, single] = [listed(rates).shares, listed(rates).shares];
      for (let step = 0; step < 60; step++) {
        const rule = random.below(count);
        const change = random.below(3) === 0 ? sharesLeave : sharesJoin;
        for (const shares of [many, single]) change(shares, rule);
        const out = [...sharesTurns(many, random.below(TURNS_MAX + 9))];
        const turns = out.length;
        const kept = random.below(2) === 0 ? turns : random.below(turns + 1);
        const expected = Array.from({ length: kept }, () => go(single));
        expect(out.slice(0, kept)).toEqual(expected);
        if (kept < turns) sharesReturn(many, turns, kept);
        verifyShares(many);
        expect([...many.passes]).toEqual([...single.passes]);
        expect([many.current, sharesFirst(many)]).toEqual([single.current, sharesFirst(single)]);
      }
    }
  });
});

function listed(rates: readonly number[]): { shares: Shares; rules: number[] } {
  const shares = createShares();
  const rules = rates.map((rate, index) => {
    sharesAdd(shares, { index, handle: index, order: index, rate });
    return index;
  });
  for (const rule of rules) sharesJoin(shares, rule);
  return { shares, rules };
}

function go(shares: Shares): number {
  const rule = sharesFirst(shares);
  sharesCharge(shares, rule);
  return rule;
}
