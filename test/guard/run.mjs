/**
 * The differential of the package as it is with the one that was packed before the house was rebuilt.
 *
 *   node test/guard/run.mjs                                   all kinds, GUARD_OPERATIONS (10⁶) in sum, SEED (1)
 *   node test/guard/run.mjs --kind memory --seed 7 --operations 431     one program, up to one operation
 *   node test/guard/run.mjs --mutants                         each mutant: what caught it
 *
 * Prints seed and counts; at a difference the last operations, both answers and the call that repeats it. Exit 1 then.
 */
import { parseArgs } from "node:util";
import { runGuard, runMutants, runProgram } from "./guard.mjs";

const { values } = parseArgs({
  options: {
    kind: { type: "string" },
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
    await runGuard({ operations, seed, say });
    return;
  }
  const count = await runProgram({
    kind: values.kind,
    seed: Number(values.seed) >>> 0,
    operations: Number(values.operations ?? 1_000),
  });
  say(`${values.kind}: no difference in ${count} operations`);
}
