import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { cruise, type ICruiseResult, type IFlattenedRuleSet } from "dependency-cruiser";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const fixtures = fileURLToPath(new URL("fixtures/doors/", import.meta.url));
const config = createRequire(import.meta.url)("../../.dependency-cruiser.cjs");
const ruleSet = { forbidden: config.forbidden } as IFlattenedRuleSet;
const ruleNames: string[] = config.forbidden.map((rule: { name: string }) => rule.name);
const { enhancedResolveOptions, ...options } = config.options;

/** Names of the rules that the tree at `baseDir` breaks, each once. */
async function brokenRules(baseDir: string, folders: string[]): Promise<string[]> {
  const answer = await cruise(
    folders,
    { ...options, baseDir, ruleSet, validate: true },
    enhancedResolveOptions,
  );
  const { summary } = answer.output as ICruiseResult;
  return [...new Set(summary.violations.map((violation) => violation.rule.name))];
}

const foldersOf = (tree: string): string[] => readdirSync(`${fixtures}${tree}`);

/** An optional package can only be reached from the core through a room that must not use it. */
const alsoBroken: Record<string, string[]> = { "no-optional": ["persistence-packages"] };

describe("doors", () => {
  it("every rule has a bad tree and every bad tree has a rule", () => {
    const trees = readdirSync(fixtures).filter((tree) => tree !== "good");
    expect(trees.sort()).toEqual([...ruleNames].sort());
  });

  it.each(ruleNames)("the bad tree of %s is caught, by that rule", async (rule) => {
    const broken = await brokenRules(`${fixtures}${rule}`, foldersOf(rule));
    expect(broken.sort()).toEqual([rule, ...(alsoBroken[rule] ?? [])].sort());
  });

  it("a tree that uses every door as the table allows breaks no rule", async () => {
    expect(await brokenRules(`${fixtures}good`, foldersOf("good"))).toEqual([]);
  });

  it("this repository breaks no rule", async () => {
    const there = new Set(readdirSync(root));
    const folders = ["src", "assembly", "bench", "examples"].filter((name) => there.has(name));
    expect(await brokenRules(root, folders)).toEqual([]);
  });
});
