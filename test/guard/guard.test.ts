/**
 * The package as it is does what the one did that was packed before it was restructured (guard.mjs). This is the quick size;
 * `npm run test:guard` drives 10⁶ operations.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { testSeed } from "../support/seed.ts";

const OPERATIONS = 20_000;
const run = promisify(execFile);

async function guard(args: string[]): Promise<string> {
  const script = fileURLToPath(new URL("./run.mjs", import.meta.url));
  const { stdout } = await run(process.execPath, [script, ...args], { maxBuffer: 2 ** 26 });
  return stdout;
}

test("old and new package give the same answers, events and reports in seeded programs over every call", async () => {
  const seed = testSeed("guard");
  const printed = await guard(["--seed", String(seed), "--operations", String(OPERATIONS)]);
  console.log(printed);
  // A line for each kind.
  const counts = [...printed.matchAll(/no difference in (\d+) operations/g)];
  const count = counts.reduce((sum, [, each]) => sum + Number(each), 0);
  expect(count).toBeGreaterThanOrEqual(OPERATIONS);
});

test("each mutant of the new package is caught", async () => {
  const printed = await guard(["--mutants"]);
  console.log(printed);
  expect(printed).toMatch(/guard: 14 mutants caught/);
});
