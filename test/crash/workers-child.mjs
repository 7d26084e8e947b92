/** Crawls a directory on worker threads until it is killed; prints its progress. */
import { openFrontier } from "../../dist/index.js";
import { WorkerPool } from "../../dist/pool.js";

const [directory, durability] = process.argv.slice(2);
const mode = durability === "sync" ? "sync" : { everyMs: 20 };
const frontier = await openFrontier({ directory, durability: mode });
frontier.push("http://a.test/6/4/");
const handler = new URL("../support/pool-visit.mjs", import.meta.url);
const pool = new WorkerPool({ frontier, handler, threads: 2, concurrency: 8 });
setInterval(() => process.send?.({ done: frontier.report().done }), 5);
await pool.run();
process.send?.({ done: -1 });
