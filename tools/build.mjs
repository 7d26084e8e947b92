/**
 * Builds the package: the kernels with asc and the modules with tsc into build/plain/, and the bundle of these into dist/.
 *
 *   node tools/build.mjs            everything
 *   node tools/build.mjs kernel     the kernels alone
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = (name) => fileURLToPath(new URL(`../node_modules/${name}`, import.meta.url));
const onlyKernel = process.argv[2] === "kernel";

function run(script, args) {
  const result = spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: "inherit" });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

if (!onlyKernel)
  rmSync(new URL("../build/plain", import.meta.url), { recursive: true, force: true });
for (const target of ["debug", "release"]) {
  run(bin("assemblyscript/bin/asc.js"), ["--config", "asconfig.json", "--target", target]);
}
if (!onlyKernel) {
  run(bin("typescript/bin/tsc"), ["-p", "tsconfig.build.json"]);
  run(fileURLToPath(new URL("bundle.mjs", import.meta.url)), []);
}
