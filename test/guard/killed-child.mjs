/**
 * The process that is killed: a program of the old package on one directory. It kills itself after its last operation, or works until
 * it is killed. Its time stands in a file beside the directory, and what it was told in none.
 */
import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Duel } from "./duel.mjs";
import { createGenerator } from "./operations.mjs";
import { loadPackage, oldFolder } from "./packages.mjs";
import { createRandom, fixEntropy } from "./random.mjs";
import { withoutVolatile } from "./renames.mjs";
import { Side } from "./side.mjs";

const { spec, seed, operations, left, isEndless } = JSON.parse(process.argv[2]);
fixEntropy();
const side = new Side(await loadPackage(oldFolder(), "old"), { isDurable: true });
const duel = new Duel([side], seed);
const clock = openSync(join(left, "clock"), "w");
const noteTime = () => writeSync(clock, String(side.clock.now()).padStart(20), 0);
noteTime();
await side.open(spec, { directory: join(left, "directory") });
const next = createGenerator(createRandom(seed), { skip: ["drain", "pause"] });
for (let at = 0; isEndless || at < operations; at++) {
  await duel.perform(withoutVolatile(next(duel.leases)));
  noteTime();
  if (isEndless && at === operations) process.stdout.write("at work\n");
}
process.kill(process.pid, "SIGKILL");
for (;;); // nothing more is done, whenever the signal comes
