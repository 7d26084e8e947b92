/**
 * A reporter of vitest for what was not checked: it prints every skipped test and every part of a test that was left out, with the reason, and
 * counts them. A run fails on
 *
 *   - a test that was skipped without a reason (`it.skip`, `it.skipIf`, `it.todo`; test/support/skip.ts is the way);
 *   - a skip that is not on the list, where OUTRIDER_SKIPS names one (.ci/run: .ci/skips.txt).
 *
 * A line of the list is `file: reason`; empty lines and lines that begin with # are comments. OUTRIDER_SKIPS_SEEN names a file to which the
 * skips are added, for a summary of several runs.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { relative } from "node:path";

/** The skips that a list allows, as the reporter writes them. */
export function readSkipList(text) {
  const lines = text.split("\n").map((line) => line.trim());
  return new Set(lines.filter((line) => line !== "" && !line.startsWith("#")));
}

export default class SkipReporter {
  #vitest;

  onInit(vitest) {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules) {
    // A name given by hand leaves the other tests out, and that is its purpose.
    if (this.#vitest.config.testNamePattern !== undefined) return;
    const root = this.#vitest.config.root;
    const skips = modules.flatMap((module) => skipsOf(module, relative(root, module.moduleId)));
    if (skips.length === 0) return;
    const list = process.env.OUTRIDER_SKIPS;
    const allowed = list === undefined ? undefined : readSkipList(readFileSync(list, "utf8"));
    const faults = skips.filter(({ file, reason }) => {
      return reason === undefined || allowed?.has(`${file}: ${reason}`) === false;
    });
    console.log(`\nNot checked here: ${skips.length}`);
    for (const { file, name, reason } of skips) console.log(`  ${file}: ${reason} (${name})`);
    const seen = process.env.OUTRIDER_SKIPS_SEEN;
    if (seen !== undefined)
      appendFileSync(seen, skips.map(({ file, reason }) => `${file}: ${reason}\n`).join(""));
    for (const { file, name, reason } of faults) {
      const why =
        reason === undefined
          ? "skipped without a reason (expected: skipUnless of test/support/skip.ts)"
          : `"${reason}" is not on the list of skips ` +
            `(expected: the line '${file}: ${reason}' in ${list}, or a machine that has it)`;
      console.error(`FAULT ${file} > ${name}: ${why}`);
    }
    if (faults.length > 0) process.exitCode = 1;
  }
}

/** What a file's tests left out: skipped tests, and annotations of those that ran. */
function skipsOf(module, file) {
  return [...module.children.allTests()].flatMap((test) => {
    const name = test.fullName;
    const result = test.result();
    const parts = test.annotations().filter(({ type }) => type === "left out");
    const skips = parts.map(({ message }) => ({ file, name, reason: message }));
    if (result.state === "skipped") skips.push({ file, name, reason: result.note || undefined });
    return skips;
  });
}
