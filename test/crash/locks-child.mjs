/** One of several processes that compete for one directory: writes H each time that it held the lock, and X for an error. */
import { closeSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { openFrontier } from "../../dist/index.js";

const [directory, mark] = process.argv.slice(2);
const say = (line) => writeSync(1, `${line}\n`);

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/\) [ZX] /.test(stat);
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Creates the mark under the lock: no other live process may have created it. */
function marked() {
  for (;;) {
    try {
      const file = openSync(mark, "wx");
      writeSync(file, String(process.pid));
      closeSync(file);
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const pid = Number(readFileSync(mark, "utf8"));
    if (pid > 0 && isAlive(pid)) say(`X two have it: ${pid} and ${process.pid}`);
    unlinkSync(mark);
  }
}

say("begun");
for (;;) {
  try {
    const frontier = await openFrontier({ directory, durability: "none" });
    marked();
    await new Promise((resolve) => setImmediate(resolve));
    unlinkSync(mark);
    say("H");
    await frontier.close({ discard: false });
  } catch (error) {
    if (error.code !== "FRONTIER_LOCKED") say(`X ${error.stack}`);
  }
  await new Promise((resolve) => setImmediate(resolve));
}
