/**
 * Fence, limits and bans over this repository (CONTRIBUTING.md, Rules with teeth); the doors have their own check.
 *
 *   node tools/tidy.mjs            findings, one per line; exit 1 when there is one
 */
import { fileURLToPath } from "node:url";
import { checkFiles, WARNINGS } from "./tidy/check.mjs";
import { readTree } from "./tidy/source.mjs";

const files = readTree(fileURLToPath(new URL("..", import.meta.url)));
const findings = checkFiles(files);
const faults = findings.filter((finding) => !WARNINGS.includes(finding.rule));
for (const { rule, path, line, message } of findings) {
  const word = WARNINGS.includes(rule) ? "warning " : "";
  console.log(`${path}:${line}  ${word}${rule}: ${message}`);
}
console.log(`tidy: ${files.length} files, ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
