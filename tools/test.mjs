/**
 * Runs suites: folders of test/, each with its question (STYLE.md §5).
 *
 *   node tools/test.mjs                      every suite but the slow ones
 *   node tools/test.mjs unit model           these suites
 *   node tools/test.mjs unit -t "a full lane"     what looks like a flag and all after it: vitest's
 *   node tools/test.mjs test/unit/url        a path: vitest's filter, as it is
 *
 * Slow suites (stress, crash, simulation) take STRESS_SECONDS; without it they run at CI size.
 * Tests see OUTRIDER_VERIFY=1 (vitest.config.ts).
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { QUICK_SUITES, SLOW_SUITES } from "./suites.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

const hasTests = (folder) =>
  existsSync(`${root}test/${folder}`) &&
  readdirSync(`${root}test/${folder}`, { recursive: true }).some((path) =>
    String(path).endsWith(".test.ts"),
  );

const { chosen, rest } = readArguments(process.argv.slice(2));
const suites = (chosen.length > 0 ? chosen : QUICK_SUITES).filter(hasTests);
for (const folder of chosen.filter((each) => !suites.includes(each)))
  console.log(`test/${folder} has no suite yet: nothing to run there`);

// A path among vitest's arguments is a filter of its own: no suite is added to it unasked.
const hasPath = rest.some((each) => each.includes("/"));
const filters = (hasPath && chosen.length === 0 ? [] : suites).map((name) => `test/${name}/`);
if (suites.length > 0) {
  const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
  const result = spawnSync(process.execPath, [vitest, "run", ...filters, ...rest], {
    cwd: root,
    stdio: "inherit",
  });
  process.exitCode = result.status ?? 1;
}

/** Names of suites first; from the first flag or path on, all is vitest's. */
function readArguments(args) {
  const end = args.findIndex((each) => each.startsWith("-") || each.includes("/"));
  const names = end < 0 ? args : args.slice(0, end);
  const known = [...QUICK_SUITES, ...SLOW_SUITES];
  const wrong = names.find((name) => !known.includes(name));
  if (wrong !== undefined) {
    console.error(`suite: ${wrong} (expected: ${known.join(", ")})`);
    process.exit(2);
  }
  return { chosen: names, rest: end < 0 ? [] : args.slice(end) };
}
