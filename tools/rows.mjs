/**
 * Lists the rows of the ancestors' table that no test stands for.
 *
 *   node tools/rows.mjs        exit code 1 if a row has neither a test nor a reason, or a test has no row
 *
 * `test/ancestors/rows.json` names every row: "" where a test of `test/ancestors` must stand for it, else what
 * it waits for (disk, threads, redis). A test stands for the row that its title begins with: "W12: …".
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const FOLDER = fileURLToPath(new URL("../test/ancestors/", import.meta.url));
const TITLE = /^([A-Z](?:-B)?\d+):/;
/** What a row may wait for instead of a test here. */
export const REASONS = ["disk", "threads", "redis"];

/** { missing: rows without test or reason, waiting: [row, reason] without a test, unknown: titles of no row }. */
export function compareRows(rows, titles) {
  const tested = new Set();
  const unknown = [];
  for (const title of titles) {
    const row = TITLE.exec(title)?.[1];
    if (row === undefined || !(row in rows)) unknown.push(title);
    else tested.add(row);
  }
  const untested = Object.entries(rows).filter(([row]) => !tested.has(row));
  return {
    tested: [...tested],
    missing: untested.filter(([, reason]) => !REASONS.includes(reason)).map(([row]) => row),
    waiting: untested.filter(([, reason]) => REASONS.includes(reason)),
    unknown,
  };
}

/** The titles of all `it(…)` and `it.each(…)(…)` of a test file, as far as they are written out. */
export function titlesOf(path, text) {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const titles = [];
  const visit = (node) => {
    const isIt = ts.isCallExpression(node) && /^it\b/.test(node.expression.getText(tree));
    const title = isIt ? node.arguments[0] : undefined;
    if (title !== undefined && ts.isStringLiteralLike(title)) titles.push(title.text);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return titles;
}

export function readRows() {
  return JSON.parse(readFileSync(`${FOLDER}rows.json`, "utf8"));
}

export function readTitles() {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".test.ts") && name !== "rows.test.ts")
    .flatMap((name) => titlesOf(name, readFileSync(FOLDER + name, "utf8")));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { tested, missing, waiting, unknown } = compareRows(readRows(), readTitles());
  console.log(`${tested.length} rows have tests`);
  for (const reason of REASONS) {
    const left = waiting.filter(([, given]) => given === reason).map(([row]) => row);
    if (left.length > 0) console.log(`left to ${reason}: ${left.join(" ")}`);
  }
  for (const row of missing) console.log(`no test: ${row}`);
  for (const title of unknown) console.log(`no such row: ${title}`);
  process.exitCode = missing.length + unknown.length > 0 ? 1 : 0;
}
