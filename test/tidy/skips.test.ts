/** What keeps a test from checking nothing, each rule on a test that breaks it: vitest.config.ts, test/support/setup.ts, tools/skips.mjs. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { packageRoot, readText, runNode } from "../support/package.ts";

const FIXTURES = "test/tidy/fixtures/tests";
const folder = mkdtempSync(join(tmpdir(), "outrider-skips-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs one fixture, with a list of skips or without one. */
async function play(name: string, list?: string): Promise<{ code: number | null; output: string }> {
  const seen = join(folder, "seen.txt");
  writeFileSync(seen, "");
  const env: NodeJS.ProcessEnv = { ...process.env, OUTRIDER_SKIPS_SEEN: seen };
  delete env.OUTRIDER_SKIPS;
  if (list !== undefined) {
    env.OUTRIDER_SKIPS = join(folder, "list.txt");
    writeFileSync(env.OUTRIDER_SKIPS, list);
  }
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config"];
  const config = `${FIXTURES}/vitest.config.ts`;
  const { code, stdout, stderr } = await runNode([...vitest, config, `/${name}.test.ts`], { env });
  return { code, output: `${stdout}${stderr}${readFileSync(seen, "utf8")}` };
}

describe("a run of tests", () => {
  it.each([
    ["no-expectation", "expected any number of assertion, but got none"],
    ["only", "Unexpected .only modifier"],
    ["no-rows", "each: a table without rows (expected: at least one)"],
    [
      "no-reason",
      "FAULT test/tidy/fixtures/tests/no-reason.test.ts > has no reason: skipped without a reason",
    ],
  ])("fails on %s", async (name, said) => {
    const { code, output } = await play(name);
    expect(output).toContain(said);
    expect(code).toBe(1);
  });

  it("passes where tests expect something, and names nothing", async () => {
    const { code, output } = await play("good", "");
    expect([code, output.includes("Not checked here")]).toEqual([0, false]);
  });

  it("prints and counts what was skipped or left out, with the reason", async () => {
    const { code, output } = await play("reason");
    expect(code).toBe(0);
    expect(output).toContain("Not checked here: 2\n");
    for (const [reason, name] of [
      ["no moon", "is skipped"],
      ["no sun", "leaves a part out"],
    ])
      expect(output).toContain(`  ${FIXTURES}/reason.test.ts: ${reason} (${name})\n`);
    expect(output).toContain(`\n${FIXTURES}/reason.test.ts: no sun\n`);
  });

  it("fails on a skip that is not on the list that .ci/run gives, and passes when it is", async () => {
    const line = `${FIXTURES}/reason.test.ts: no moon\n`;
    const { code, output } = await play("reason", `# a comment\n\n${line}`);
    expect(code).toBe(1);
    expect(output).toContain(`the line '${FIXTURES}/reason.test.ts: no sun' in ${folder}`);
    expect(output).not.toContain(`"no moon" is not on the list`);
    expect((await play("reason", `${line}${FIXTURES}/reason.test.ts: no sun\n`)).code).toBe(0);
  });
});

describe("modules of test/support", () => {
  it("register no hook of their own: files share them, and the first alone would have it", () => {
    const names = readdirSync(`${packageRoot}test/support`).filter((name) => name.endsWith(".ts"));
    expect(names.length).toBeGreaterThan(50);
    const hooked = names.filter((name) =>
      /^(before|after)(Each|All)\(/m.test(readText(`test/support/${name}`)),
    );
    expect(hooked).toEqual([]);
  });
});

describe("the lists of skips", () => {
  it.each([".ci/skips.txt", ".ci/skips-bare.txt"])("%s names files that are there", (list) => {
    const lines = readText(list)
      .split("\n")
      .filter((line) => /^[^#]/.test(line));
    expect(lines).not.toEqual([]);
    for (const line of lines) {
      const [file = "", reason = ""] = line.split(": ");
      expect(readText(file).length).toBeGreaterThan(0);
      expect(reason).not.toBe("");
    }
  });
});
