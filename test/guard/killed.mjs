/**
 * Directories of killed processes: the old package works in a process that is ended by SIGKILL, at an operation or at any moment.
 * Then both packages go on with copies of what it left.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { emptyFolder, Lives } from "./durable.mjs";
import { createGenerator } from "./operations.mjs";
import { optionsOf } from "./options.mjs";
import { createRandom } from "./random.mjs";
import { START_MS } from "./side.mjs";
import { compareTools } from "./tools.mjs";

const CHILD = fileURLToPath(new URL("./killed-child.mjs", import.meta.url));
const MODES = ["sync", { everyMs: 5 }, { everyMs: 100 }, "none"];

/** The program of a killed process, and of its heirs; `operations` are shared by both. */
export async function killedProgram({ packages, seed, operations, note }) {
  const random = createRandom(seed);
  const spec = { ...optionsOf(random, true), durability: MODES[seed % MODES.length] };
  const isEndless = random.once(2);
  const folder = emptyFolder("killed");
  const directory = join(folder, "left");
  const clockFile = join(folder, "clock");
  try {
    const before = Math.ceil(operations * 0.6);
    const program = { spec, seed, operations: before, directory, clockFile, isEndless };
    const left = await runAndKill(program, random.below(40));
    const nowMs = Number(readFileSync(clockFile, "utf8")) || START_MS;
    const lives = new Lives(packages, { folder, spec, seed, nowMs });
    note?.(lives.duel, spec);
    if (!left) return; // it refused its options
    lives.takeOver(directory);
    if (!(await lives.open())) return;
    const next = createGenerator(random);
    for (let at = before; at < operations; at++) await lives.duel.perform(next(lives.duel.leases));
    await lives.duel.settle();
    lives.duel.compareAll();
    await lives.close();
    await compareTools(lives, random);
    await lives.open();
    await lives.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** False: it ended by itself, since its options were refused. */
async function runAndKill(program, afterMs) {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(program)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (text) => {
    said += text;
  });
  child.stdout.once("data", () => setTimeout(() => child.kill("SIGKILL"), afterMs));
  const [code, signal] = await once(child, "exit");
  if (signal === "SIGKILL") return true;
  if (/_INVALID/.test(said)) return false;
  throw new Error(`the process to be killed ended with ${code ?? signal}: ${said}`);
}
