/**
 * Runs suites: folders of test/, each with its question (CONTRIBUTING.md, Tests).
 *
 *   node tools/test.mjs                      what finds most faults soonest; prints what it left out
 *   node tools/test.mjs --full               every suite but the slow ones, whole, at full sizes
 *   node tools/test.mjs --rest               of these, what the first line left out: long files, random ones, and what it may have skipped
 *   node tools/test.mjs unit model           these suites, whole, at full sizes
 *   node tools/test.mjs unit -t "a full lane"     what looks like a flag and all after it: vitest's
 *   node tools/test.mjs test/unit/url        a path: vitest's filter, as it is
 *
 * OUTRIDER_TEST_SIZE=quick has the random tests of any of these take a fifth of their length, and --rest leave out those that ran so.
 *
 * Slow suites (stress, crash, simulation) take STRESS_SECONDS; without it they run at CI size. A suite with a package.json of its own has
 * its packages installed first. Tests see OUTRIDER_VERIFY=1 (vitest.config.ts).
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { dependsOn } from "./depends-on.mjs";
import { LONG_TESTS, QUICK_SUITES, SLOW_SUITES } from "./suites.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

const testsOf = (folder) =>
  existsSync(`${root}test/${folder}`)
    ? readdirSync(`${root}test/${folder}`, { recursive: true })
        .map((path) => `test/${folder}/${path}`)
        .filter((path) => path.endsWith(".test.ts") && !path.includes("/node_modules/"))
    : [];
const hasTests = (folder) => testsOf(folder).length > 0;
/** Whether all of a suite is left out, so that its packages are not needed. */
const isLong = (folder, long) => testsOf(folder).every((path) => long.includes(path));

const { chosen, rest, isFull, isRest } = readArguments(process.argv.slice(2));
const suites = (chosen.length > 0 ? chosen : QUICK_SUITES).filter(hasTests);
for (const folder of chosen.filter((each) => !suites.includes(each)))
  console.log(`test/${folder} has no suite yet: nothing to run there`);

// A path before the first flag is a filter of its own: no suite is added to it unasked.
const flag = rest.findIndex((each) => each.startsWith("-"));
const hasPath = (flag < 0 ? rest : rest.slice(0, flag)).length > 0;
const isQuick = !isFull && !isRest && chosen.length === 0 && !hasPath;
const filters = (hasPath && chosen.length === 0 ? [] : suites).map((name) => `test/${name}/`);
if (suites.length > 0) {
  const long = isQuick ? longFiles() : [];
  const repeated = isRest ? suites.flatMap(testsOf).filter((path) => !isOfRest(path)) : long;
  if (!hasPath) for (const suite of suites) if (!isLong(suite, long)) installPackages(suite);
  const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
  const left = repeated.flatMap((file) => ["--exclude", file]);
  const result = spawnSync(process.execPath, [vitest, "run", ...filters, ...left, ...rest], {
    cwd: root,
    stdio: "inherit",
    env: { OUTRIDER_TEST_SIZE: isQuick ? "quick" : "full", ...process.env },
  });
  process.exitCode = result.status ?? 1;
  if (isQuick) printLeftOut();
}

/** The long files; one that is not there is a fault of the list, which would then leave out nothing. */
function longFiles() {
  const files = LONG_TESTS.flatMap((each) => each.files);
  const gone = files.find((file) => !existsSync(root + file));
  if (gone === undefined) return files;
  console.error(`LONG_TESTS: ${gone} (expected: a file; correct tools/suites.mjs)`);
  process.exit(2);
}

/** Whether `--rest` runs a file: it is long, it is longer than in the first run, or it skips what a machine lacks. */
function isOfRest(path) {
  const isLonger = process.env.OUTRIDER_TEST_SIZE !== "quick";
  const changing = [
    ...(isLonger ? [`${root}test/support/size.ts`] : []),
    `${root}test/support/skip.ts`,
  ];
  return longFiles().includes(path) || changing.some((file) => dependsOn(root + path, file));
}

function printLeftOut() {
  console.log("\nLeft out of this run, which takes random tests at a fifth of their length:");
  for (const { what, files } of LONG_TESTS) console.log(`  ${what} (${files.length} files)`);
  console.log("  npm run test:full          these, and everything at full length");
  console.log("  npm run test:rest          these, and the random tests at full length");
  console.log("  npm run test:crash         processes killed at any point, disks that fail");
  console.log("  npm run test:stress        real threads");
  console.log("  npm run test:simulation    the whole engine under one seed");
  console.log("  bash .ci/run               all of it");
}

/** Installs what a suite's own package.json names, where it is not there yet. */
function installPackages(suite) {
  const folder = `${root}test/${suite}`;
  if (!existsSync(`${folder}/package.json`) || existsSync(`${folder}/node_modules`)) return;
  console.log(`installing the packages of test/${suite}`);
  const words = existsSync(`${folder}/package-lock.json`) ? ["ci"] : ["install", "--no-save"];
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund"];
  const { status } = spawnSync("npm", [...words, ...flags], { cwd: folder, stdio: "inherit" });
  if (status === 0) return;
  console.error(`test/${suite}: its packages could not be installed`);
  process.exit(1);
}

/** `--full`, `--rest` or names of suites first; from the first flag or path on, all is vitest's. */
function readArguments(args) {
  const isFull = args[0] === "--full";
  const isRest = args[0] === "--rest";
  const words = isFull || isRest ? args.slice(1) : args;
  const end = words.findIndex((each) => each.startsWith("-") || each.includes("/"));
  const names = end < 0 ? words : words.slice(0, end);
  const known = [...QUICK_SUITES, ...SLOW_SUITES];
  const wrong = names.find((name) => !known.includes(name));
  if (wrong !== undefined) {
    console.error(`suite: ${wrong} (expected: ${known.join(", ")})`);
    process.exit(2);
  }
  return { chosen: names, rest: end < 0 ? [] : words.slice(end), isFull, isRest };
}
