/** Runs programs of every kind on both packages, so many operations of each. */
import { durableProgram } from "./durable.mjs";
import { functionsProgram } from "./functions.mjs";
import { killedProgram } from "./killed.mjs";
import { memoryProgram, wrongOptions } from "./memory.mjs";
import { MUTANTS, mutated } from "./mutants.mjs";
import { poolProgram } from "./pools.mjs";
import { bothPackages, lostExports } from "./packages.mjs";
import { fixEntropy, seedOf } from "./random.mjs";
import { threadProgram } from "./threads.mjs";

// A report asks for the size of the heap, which costs ten times what the rest of it does, and is not compared.
const memory = process.memoryUsage();
process.memoryUsage = Object.assign(() => memory, { rss: () => memory.rss });

fixEntropy();

/** Per kind: what runs it, its share of the operations, and the operations of one program. */
const KINDS = {
  memory: { run: memoryProgram, share: 0.45, length: 3_000 },
  durable: { run: durableProgram, share: 0.05, length: 1_500 },
  killed: { run: killedProgram, share: 0.005, length: 250 },
  functions: { run: functionsProgram, share: 0.471, length: 10_000 },
  threads: { run: threadProgram, share: 0.02, length: 2_000 },
  pools: { run: poolProgram, share: 0.000_02, length: 3 },
  options: { run: wrongOptions, share: 0.004, length: 1_000 },
};

/** The kinds, the longest first. */
export const KIND_NAMES = Object.keys(KINDS);

/** The operations of some kinds; the counts by kind. Throws at the first difference, with the way to repeat it. */
export async function runGuard({
  operations,
  seed,
  say = () => undefined,
  kinds = Object.keys(KINDS),
}) {
  say(`guard: SEED=${seed} GUARD_OPERATIONS=${operations}`);
  const packages = await bothPackages();
  const lost = lostExports(packages);
  if (lost.length > 0)
    throw new Error(`exports: ${lost.join(", ")} (expected: in the new package)`);
  const counts = {};
  for (const kind of kinds) {
    const start = performance.now();
    const { share, length } = KINDS[kind];
    const wanted = Math.ceil(operations * share);
    let count = 0;
    let programs = 0;
    while (count < wanted) {
      const programSeed = seedOf(seed, kind, programs++);
      count += await runProgram({
        kind,
        seed: programSeed,
        operations: Math.min(length, wanted - count),
        packages,
      });
    }
    counts[kind] = count;
    const seconds = ((performance.now() - start) / 1_000).toFixed(1);
    say(`${kind.padEnd(10)} ${count} operations, ${programs} programs, ${seconds} s`);
  }
  const all = Object.values(counts).reduce((sum, one) => sum + one, 0);
  say(`guard: no difference in ${all} operations`);
  return counts;
}

/** Programs that a mutant may live through; the tenth must have caught it. */
const TRIES = 10;

/** Runs every mutant of the new package; throws where one is not caught. */
export async function runMutants(say) {
  const [old, now] = await bothPackages();
  for (const [name, { kind }] of Object.entries(MUTANTS)) {
    const packages = [old, mutated(now, name)];
    const caught = await firstDifference(kind, packages);
    if (caught === undefined)
      throw new Error(`mutant: ${name} (expected: a difference in ${kind})`);
    const { program, operation, what } = caught;
    const place = `${kind} program ${program}, operation ${operation}`;
    say(`${name.padEnd(42)} caught by ${place}: ${what}`);
  }
  say(`guard: ${Object.keys(MUTANTS).length} mutants caught`);
}

async function firstDifference(kind, packages) {
  for (let program = 0; program < TRIES; program++) {
    try {
      await runProgram({
        kind,
        seed: seedOf(1, kind, program),
        operations: Math.min(KINDS[kind].length, 1_000),
        packages,
      });
    } catch (error) {
      if (error.cause?.name !== "Difference") throw error;
      return { program, operation: error.operation, what: error.cause.message.split("\n")[0] };
    }
  }
  return undefined;
}

/** One program; how many operations it had. */
export async function runProgram({ kind, seed, operations, packages }) {
  let running;
  let options;
  try {
    await KINDS[kind].run({
      packages: packages ?? (await bothPackages()),
      ...{ seed, operations },
      note: (duel, spec) => {
        running = duel;
        options = spec;
      },
    });
  } catch (cause) {
    const story = storyOf({ kind, seed, running, options, cause });
    throw Object.assign(new Error(story, { cause }), { operation: running?.performed });
  }
  return running?.performed ?? operations;
}

function storyOf({ kind, seed, running, options, cause }) {
  const at = running?.performed ?? 0;
  return [
    `${cause.name === "Difference" ? cause.message : (cause.stack ?? cause)}`,
    `at operation ${at} of the ${kind} program ${seed}; repeat it with`,
    `  node test/guard/run.mjs --kind ${kind} --seed ${seed} --operations ${at}`,
    `options: ${JSON.stringify(options)}`,
    "the last operations:",
    ...(running?.log ?? []).map((line) => `  ${line}`),
  ].join("\n");
}
