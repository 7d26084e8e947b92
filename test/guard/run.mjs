/**
 * The differential of the package as it is with the one that was packed before it was restructured.
 *
 *   node test/guard/run.mjs                                   all kinds, GUARD_OPERATIONS (10⁶) in sum, SEED (1): a process for each
 *                                                             kind, as many at once as the machine has cores
 *   node test/guard/run.mjs --kinds memory,threads            these, in this process
 *   node test/guard/run.mjs --kind memory --seed 7 --operations 431     one program, up to one operation
 *   node test/guard/run.mjs --mutants                         each mutant: what caught it
 *
 * Prints seed and counts; at a difference the last operations, both answers and the call that repeats it. Exit 1 then.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { KIND_NAMES, runGuard, runMutants, runProgram } from "./guard.mjs";

const { values } = parseArgs({
  options: {
    kind: { type: "string" },
    kinds: { type: "string" },
    seed: { type: "string" },
    operations: { type: "string" },
    mutants: { type: "boolean" },
  },
});
const say = (line) => console.log(line);
try {
  await main();
} catch (cause) {
  console.error(cause.message);
  process.exitCode = 1;
}

async function main() {
  if (values.mutants) {
    await runMutants(say);
    return;
  }
  if (values.kind === undefined) {
    const operations = Number(values.operations ?? process.env.GUARD_OPERATIONS ?? 1_000_000);
    const seed = Number(values.seed ?? process.env.SEED ?? 1) >>> 0;
    if (values.kinds === undefined) await runEach(operations, seed);
    else await runGuard({ operations, seed, say, kinds: values.kinds.split(",") });
    return;
  }
  const count = await runProgram({
    kind: values.kind,
    seed: Number(values.seed) >>> 0,
    operations: Number(values.operations ?? 1_000),
  });
  say(`${values.kind}: no difference in ${count} operations`);
}

/** Runs each kind in a process of its own, at most one a core at once; prints what each printed as it ends. */
async function runEach(operations, seed) {
  const left = [...KIND_NAMES];
  const failed = [];
  const next = async () => {
    for (let kind = left.shift(); kind !== undefined; kind = left.shift())
      if (!(await runKind(kind, operations, seed))) failed.push(kind);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, next));
  if (failed.length > 0) throw new Error(`guard: a difference in ${failed.join(", ")}, see above`);
  say(`guard: no difference in any kind, ${operations} operations in sum`);
}

/** Whether the packages answered alike. */
async function runKind(kind, operations, seed) {
  const words = ["--kinds", kind, "--operations", operations, "--seed", seed].map(String);
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...words]);
  const printed = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (part) => printed.push(part));
  const [code] = await once(child, "close");
  process.stdout.write(Buffer.concat(printed));
  return code === 0;
}
