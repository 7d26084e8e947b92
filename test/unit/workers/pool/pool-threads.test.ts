/** Threads of a pool as Piscina starts and ends them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";

/** Ends many threads at once while they load their task. */
const ENDS_MANY = `
import { openFrontier } from "outrider";
import { WorkerPool } from "outrider/pool";
const frontier = await openFrontier();
frontier.push("http://a.test/");
const pool = new WorkerPool({ frontier, handler: "data:text/javascript,", threads: 24 });
const run = pool.run().catch(() => undefined);
await new Promise((resolve) => setTimeout(resolve, 200));
await pool.close();
await run;
await frontier.close();
console.log("alive");
`;

describe("threads of a pool", () => {
  it("are ended while they load, without effect on the process", async () => {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", ENDS_MANY], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let told = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (told += text));
    await once(child, "close");
    expect(told).toBe("alive\n");
  });
});
