/**
 * Directories of killed processes: the old package works in a process that is ended by SIGKILL, at an operation or at any moment.
 * Then both packages go on with copies of what it left.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { emptyFolder, Lives } from "./durable.mjs";
import { createGenerator } from "./operations.mjs";
import { optionsOf } from "./options.mjs";
import { SCRATCH } from "./packages.mjs";
import { createRandom } from "./random.mjs";
import { START_MS } from "./side.mjs";
import { compareTools } from "./tools.mjs";

const CHILD = fileURLToPath(new URL("./killed-child.mjs", import.meta.url));
const MODES = ["sync", { everyMs: 5 }, { everyMs: 100 }, "none"];

/**
 * The program of a killed process, then that of its heirs. Where the process was killed at any moment, a second run leaves other files:
 * those of a difference are kept, and GUARD_LEFT=<folder> takes them for what was left.
 */
export async function killedProgram({ packages, seed, operations, note }) {
  const random = createRandom(seed);
  const spec = { ...optionsOf(random, true), durability: MODES[seed % MODES.length] };
  const before = random.between(40, 200);
  const isEndless = random.once(2);
  const afterMs = random.below(40);
  const folder = emptyFolder("killed");
  const left = process.env.GUARD_LEFT ?? join(folder, "left");
  const program = { spec, seed, operations: before, left, isEndless };
  try {
    if (process.env.GUARD_LEFT === undefined && !(await runAndKill(program, afterMs))) return;
    const nowMs = Number(readFileSync(join(left, "clock"), "utf8")) || START_MS;
    const lives = new Lives(packages, { folder, spec, seed, nowMs, performed: before });
    note?.(lives.duel, spec);
    await inherit(lives, { left, random, operations });
  } catch (cause) {
    if (isEndless && process.env.GUARD_LEFT === undefined) {
      const kept = join(SCRATCH, `left-${seed}`);
      cpSync(left, kept, { recursive: true });
      cause.message += `\n  GUARD_LEFT=${kept} has what was left`;
    }
    throw cause;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Both go on with copies of what was left; then they close, and open once more. */
async function inherit(lives, { left, random, operations }) {
  const { duel } = lives;
  lives.takeOver(join(left, "directory"));
  await compareTools(lives, random);
  if (!(await lives.open())) return;
  const next = createGenerator(random);
  while (duel.performed < operations) await lives.perform(next(duel.leases));
  await duel.settle();
  duel.compareAll();
  await lives.close();
  if (lives.spec.snapshots !== undefined) lives.takeOver(lives.sides[0].directory);
  await lives.open();
  await lives.close();
}

/** False: it ended by itself, since its options were refused. */
async function runAndKill(program, afterMs) {
  mkdirSync(program.left, { recursive: true });
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
