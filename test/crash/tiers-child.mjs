/**
 * One life of a frontier with little memory: pushes numbered URLs, works them off and prints what is flushed, until it is killed.
 *
 *   node tiers-child.mjs <directory> <next number to push> <seed>
 *
 * Lines: "pushed <n>": all below n are durable; "done <n>": this many are done, durably.
 */
import { writeSync } from "node:fs";
import { openFrontier } from "../../dist/index.js";

const [directory, start, seed] = process.argv.slice(2);
let state = Number(seed) >>> 0;
const random = (below) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state % below;
};
const frontier = await openFrontier({
  ...{ directory, keepOpen: true, memoryBytes: 150_000 },
  seen: { memoryBytes: 200_000 },
  durability: { everyMs: 5 },
  snapshots: { everyBytes: 300_000 },
});
let next = Number(start);
for (;;) {
  const urls = Array.from({ length: 50 + random(400) }, () => `http://h${next % 7}.test/${next++}`);
  frontier.pushMany(urls);
  frontier.done(frontier.pollMany(random(urls.length)));
  if (random(3) === 0) {
    await frontier.flush();
    const { done } = frontier.report();
    writeSync(1, `pushed ${next}\ndone ${done}\n`);
  } else await new Promise((resolve) => setImmediate(resolve));
}
