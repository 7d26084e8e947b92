/** The process that is killed: works on one directory and prints what has been flushed. */
import { writeSync } from "node:fs";
import { openFrontier } from "../../dist/index.js";
import { childrenOf, SEEDS } from "./crash-load.mjs";

const [directory, durability] = process.argv.slice(2);
const isSync = durability === "sync";
const frontier = await openFrontier({
  directory,
  durability: isSync ? "sync" : { everyMs: 5 },
  snapshots: { everyBytes: 20_000, keep: 2 },
  leaseMs: 60_000,
});
const say = (lines) => lines.length > 0 && writeSync(1, `${lines.join("\n")}\n`);
const said = [];

frontier.pushMany(SEEDS);
said.push(...SEEDS.map((url) => `A ${url}`));
for (let round = 0; ; round++) {
  const leases = frontier.pollMany(1 + (round % 7));
  for (const lease of leases) {
    const found = childrenOf(lease.url);
    lease.done({ found });
    said.push(`D ${lease.url}`, ...found.map((url) => `A ${url}`));
    if (isSync) say(said.splice(0));
  }
  if (leases.length === 0) {
    // All is done: the next round of the same pages, in a place of its own.
    // Printed first: killed between the two, it would have discarded what was never reported.
    writeSync(1, "X\n");
    await frontier.close({ discard: true });
    process.exit(0);
  }
  if (!isSync && round % 5 === 0) {
    await frontier.flush();
    say(said.splice(0));
  } else if (round % 11 === 0) await new Promise((resolve) => setImmediate(resolve));
}
