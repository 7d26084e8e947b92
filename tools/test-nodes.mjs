/**
 * Runs suites on every Node line that the package supports.
 *
 *   node tools/test-nodes.mjs                     every quick suite, on each line
 *   node tools/test-nodes.mjs unit differential   these suites
 *   NODES=22,24 node tools/test-nodes.mjs unit    these lines
 *
 * The Node that runs this script serves its own line; the others are npm packages of exact versions (nodes.mjs). The package must
 * be built. Other platforms have no such packages: the script reports that, and the suites run only on the present Node. The first line
 * that fails ends the run, so that its failures are the last thing printed.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeOf } from "./nodes.mjs";

const VERSIONS = { 20: "20.20.2", 22: "22.23.3", 24: "24.21.0" };
const ownLine = process.versions.node.split(".")[0];
const lines = (process.env.NODES ?? Object.keys(VERSIONS).join(",")).split(",");
const root = fileURLToPath(new URL("..", import.meta.url));

for (const line of lines) {
  const node = findNode(line);
  if (node === undefined) continue;
  console.log(`\n== Node ${spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim()}`);
  const result = spawnSync(node, [join(root, "tools/test.mjs"), ...process.argv.slice(2)], {
    cwd: root,
    stdio: "inherit",
  });
  if (result.status !== 0) {
    const how = result.signal ?? `exit code ${result.status}`;
    console.error(`\ntest:nodes: the suites failed on Node ${line} (${how}); what failed is above`);
    process.exit(1);
  }
}
console.log(`\ntest:nodes: passed on Node ${lines.join(", ")}`);

/** Path of a Node of this line, installed where needed; undefined: not available here. */
function findNode(line) {
  if (line === ownLine) return process.execPath;
  const version = VERSIONS[line];
  if (version === undefined) {
    console.error(`NODES: ${line} (expected: some of ${Object.keys(VERSIONS).join(", ")})`);
    process.exit(2);
  }
  const node = nodeOf(version);
  if (node === undefined)
    console.log(`\n== Node ${line} SKIPPED: no package of it runs on ${process.platform}`);
  return node;
}
