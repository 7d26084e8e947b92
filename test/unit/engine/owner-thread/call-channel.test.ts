/** Who waits for the owner's thread, in a process that has nothing else to do. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";

/** An owner with little memory dies of the leases that it hands out, and of nothing that its caller holds on to. */
const OUTLIVES = `
const { setFlagsFromString } = require("node:v8");
async function main() {
  const { openFrontierThread } = await import("outrider");
  setFlagsFromString("--max-old-space-size=48");
  const frontier = await openFrontierThread();
  setFlagsFromString("--max-old-space-size=0");
  for (let page = 0; ; page += 1_000) {
    const urls = Array.from({ length: 1_000 }, (_, at) => "http://a.test/" + (page + at));
    await frontier.pushMany(urls);
    await frontier.pollMany(1_000);
  }
}
main().catch(({ code }) => console.log(code));
`;

describe("the line to an owner's thread", () => {
  it("keeps a process alive until the thread's death was detected (I3)", async () => {
    const child = spawn(process.execPath, ["--eval", OUTLIVES], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    let told = "";
    child.stdout.on("data", (text) => (told += text));
    const [code] = await once(child, "close");
    expect([code, told]).toEqual([0, "FRONTIER_CLOSED\n"]);
  });
});
