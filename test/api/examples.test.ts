import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { packageRoot, readText, runNode } from "../support/package.ts";

/** Arguments that keep an example at its CI size. */
const SMALL: Record<string, string[]> = { "million.mjs": ["20000"] };
const examples = [
  ...readdirSync(`${packageRoot}examples`).filter((name) => name.endsWith(".mjs")),
  "worker-crawler/main.mjs",
];

describe("examples", () => {
  it.each(examples)("%s runs to its end without a word of error", async (name) => {
    const outcome = await runNode([`examples/${name}`, ...(SMALL[name] ?? [])]);
    expect(outcome.stderr).toBe("");
    expect(outcome.code).toBe(0);
    expect(outcome.stdout).not.toBe("");
  });

  it("the million example off a terminal draws no escape sequence", async () => {
    const { stdout } = await runNode(["examples/million.mjs", "5000"]);
    expect(stdout).not.toContain("\r");
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toMatch(/^known already +1,000$/m);
  });

  it("the worker crawler is under 40 lines, visits all 400 pages, and stands in its guide", async () => {
    const main = readText("examples/worker-crawler/main.mjs");
    const visit = readText("examples/worker-crawler/visit.mjs");
    expect(main.split("\n").length + visit.split("\n").length).toBeLessThan(40 + 2);
    const body = main.slice(main.indexOf("const frontier ="), main.indexOf("site.close();"));
    const guide = readText("docs/guides/workers.md");
    expect(guide).toContain(body);
    expect(guide).toContain(visit);
    const { stdout } = await runNode(["examples/worker-crawler/main.mjs"]);
    expect(stdout).toBe("400 pages, 400 links to pages known already\n");
  });

  it("the first example and the first block of README are the same", () => {
    expect(readText("README.md")).toContain(`\`\`\`js\n${readText("examples/first.mjs")}\`\`\``);
  });
});
