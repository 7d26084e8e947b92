/** explain answers as a push directly after it, whatever decides: rules, keys, epochs, hooks that fail, budgets, room. */
import { describe, expect, it } from "vitest";
import { createRandom, type Random } from "../../../../src/base/random.ts";
import type {
  FrontierOptions,
  RequestLike,
  Rule,
} from "../../../../src/engine/types/frontier-types.ts";
import { openBench } from "../../../support/bench-frontier.ts";
import { stressRounds, testSeed } from "../../../support/seed.ts";

const HOSTS = ["a.com", "b.com", "c.org"];

/** A number that a text always gives: the user's functions answer alike twice. */
function chanceOf(text: string): number {
  let sum = 7;
  for (const letter of text) sum = (sum * 31 + letter.charCodeAt(0)) % 1_009;
  return sum;
}

function wayward(url: string): string {
  const chance = chanceOf(url);
  if (chance % 7 === 0) throw new Error("wayward");
  if (chance % 7 === 1) return undefined as unknown as string;
  return `unit-${chance % 5}`;
}

const KEYS: NonNullable<Rule["key"]>[] = [
  {},
  { keyOf: ({ url }) => wayward(url) },
  { profile: "url" },
  { exemptMethods: ["POST"] },
  { dropParams: ["s"] },
];

const EPOCHS: NonNullable<Rule["epoch"]>[] = [
  "forever",
  { of: (timeMs) => wayward(`${timeMs}`) },
  { calendar: "hour" },
  { every: 50 },
  { version: 3 },
];

function ruleOf(random: Random, id: string): Rule {
  const rule: Rule = { id };
  if (random.below(3) > 0) {
    const pattern = `/${random.below(3)}`;
    rule.match =
      random.below(2) === 0 ? { hosts: [HOSTS[random.below(3)] as string] } : { pattern };
  }
  if (random.below(2) === 0) rule.key = KEYS[random.below(KEYS.length)] as Rule["key"] & object;
  if (random.below(2) === 0)
    rule.epoch = EPOCHS[random.below(EPOCHS.length)] as Rule["epoch"] & object;
  if (random.below(3) === 0) rule.maxDepth = random.below(3);
  if (random.below(3) === 0) {
    rule.politeness = { budget: { urls: 1 + random.below(6) } };
    if (random.below(2) === 0) rule.politeness.by = random.below(2) === 0 ? "domain" : wayward;
  }
  return rule;
}

function optionsOf(random: Random): FrontierOptions {
  const rules = Array.from({ length: random.below(4) }, (_, at) => ruleOf(random, `r${at}`));
  const options: FrontierOptions = { capacity: 2 + random.below(40) };
  if (rules.length > 0) options.rules = rules;
  else {
    const { id, match, ...defaults } = ruleOf(random, "d");
    options.defaults = defaults;
  }
  if (random.below(2) === 0) {
    options.accept = ({ url, depth }) => {
      const chance = chanceOf(url) % 6;
      if (chance === 0) throw new Error("no");
      if (chance === 1) return undefined as unknown as boolean;
      return chance === 2 ? { priority: depth } : chance !== 3;
    };
  }
  return options;
}

function requestOf(random: Random, nowMs: number): RequestLike {
  const host = HOSTS[random.below(3)];
  const url = `http://${host}/${random.below(3)}?s=${random.below(4)}`;
  switch (random.below(12)) {
    case 0:
      return { url, method: "POST" };
    case 1:
      return { url, depth: random.below(4) };
    case 2:
      return { url, dedup: random.below(2) === 0 ? "record" : "skip" };
    case 3:
      return { url, notBefore: nowMs + random.below(100) - 20 };
    case 4:
      return { url, epoch: random.below(2) === 0 ? "forever" : "own" };
    case 5:
      return { url, key: `k${random.below(4)}` };
    case 6:
      return {
        url: random.below(3) === 0 ? "x:y" : url,
        data: () => 1,
        volatile: random.below(2) === 0,
      };
    case 7:
      return "not a url";
    default:
      return url;
  }
}

describe("explain", () => {
  it("answers as a push directly after it, and changes nothing of that", () => {
    const base = testSeed("explain against push");
    const rounds = stressRounds(20, 20);
    for (let round = 0; round < rounds; round++) {
      const seed = (base + round) >>> 0;
      const random = createRandom(seed);
      const { frontier, clock, check } = openBench(optionsOf(random));
      for (let step = 0; step < 60; step++) {
        const request = requestOf(random, clock.now());
        const { verdict } = frontier.explain(request);
        expect({ seed, step, verdict: frontier.push(request) }).toEqual({ seed, step, verdict });
        if (random.below(4) === 0) frontier.poll()?.done();
        if (random.below(6) === 0) clock.advance(random.below(40));
      }
      check();
    }
  });
});
