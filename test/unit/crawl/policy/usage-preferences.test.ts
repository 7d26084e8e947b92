import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  readContentSignal,
  readContentUsage,
} from "../../../../src/crawl/policy/usage-preferences.ts";

describe("Content-Usage", () => {
  it.each([
    ["train-ai=n, search=y", { "train-ai": "disallow", search: "allow" }],
    ["  train-ai=n\t,\tai-use=y ", { "train-ai": "disallow", "ai-use": "allow" }],
    // The last value of a key counts, parameters do not (vocab-08, 6.5.1 and 6.5.2).
    ["train-ai;allow=n, train-ai=y", { "train-ai": "allow" }],
    ["train-ai=n;scope=(a), search=n", {}],
    ['train-ai=n;why="a, b";to=:YWI=:;at=@1700000000;p=-1.5;q=?0', { "train-ai": "disallow" }],
    ["train-ai=(y n), search=n", { search: "disallow" }],
    ['x=("a";b=1  c);d, search=n', { search: "disallow" }],
    // Values that are no tokens of the vocabulary leave the preference unknown.
    ['train-ai=y, train-ai, search=n, search="n"', {}],
    ["train-ai=no, search=1", {}],
    // Categories that no draft defines say nothing.
    ["bots=n, tdm=n, search=n", { search: "disallow" }],
    // What is no dictionary says nothing at all.
    ["Train-AI=n, search=n", {}],
    ["train-ai=n,", {}],
    ["train-ai=n search=n", {}],
    ["train-ai =n", {}],
    ["(train-ai), search=n", {}],
    ['search=n, a="', {}],
    ["search=n, a=(b", {}],
    ["", {}],
  ])("%s", (text, preferences) => {
    expect(readContentUsage(text)).toEqual(preferences);
  });

  it("is read whatever it holds, in time that grows with its length", () => {
    const lengths = (text: string): number[] => [
      Object.keys(readContentUsage(text)).length,
      Object.keys(readContentSignal(text)).length,
    ];
    fc.assert(fc.property(fc.string(), (text) => lengths(text).every((length) => length <= 32)));
    for (const part of ["a=(", "a;", "a=n,", '"', "a=(b ", ", ", " ", "=", "a b=n,"]) {
      const length = part === "a=n," ? 2 : 0; // "xa" and "a"
      expect(lengths(`x${part.repeat(50_000)}x`)).toEqual([0, length]);
    }
  });
});

describe("Content-Signal", () => {
  it.each([
    ["ai-train=no, search=yes, ai-input=no", { "ai-train": "no", search: "yes", "ai-input": "no" }],
    ["search=yes,ai-train=no,use=reference", { search: "yes", "ai-train": "no", use: "reference" }],
    ["Search = YES ; AI-Train=no", { search: "yes", "ai-train": "no" }],
    ["nonsense, =no, search=yes, a b=no, x=", { search: "yes" }],
    ["__proto__=no", {}],
  ])("%s", (text, signals) => {
    expect(readContentSignal(text)).toEqual(signals);
  });
});
