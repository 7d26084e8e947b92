/** The driver of peers that run in Node: child.js <peer> <mode> <workload> <file for polled URLs> <directory>. */
import { writeSync } from "node:fs";
import { drive, type Mode } from "./driver.ts";
import { peerOf } from "./index.ts";

const [name, mode, workload, polledFile, directory] = process.argv.slice(2) as string[];
const answer = await drive(peerOf(name as string), {
  mode: mode as Mode,
  workload: workload as string,
  polledFile: polledFile as string,
  directory: directory as string,
});
writeSync(1, `\n${JSON.stringify(answer)}\n`);
if (mode === "fill") process.kill(process.pid, "SIGKILL");
