/**
 * The servers that are measured, each in a process of its own:
 *
 *   outrider, stub   server-child.js
 *   urlfrontier      Serve.java, compiled against the class path that URLFRONTIER_CLASSPATH names (../../peers/urlfrontier/README.md)
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../../harness/machine.ts";
import { compiled } from "../../peers/compiled.ts";
import { urlfrontierPeer } from "../../peers/urlfrontier/adapter.ts";

const CHILD = fileURLToPath(new URL("./server-child.js", import.meta.url));
const SERVE = join(ROOT, "bench/cases/server/Serve.java");
export const PEER = "urlfrontier";

export interface ServerProcess {
  readonly child: ChildProcess;
  readonly port: number;
  /** Microseconds of the processor that it has taken so far, with its threads; NaN where Linux is missing. */
  cpuUs(): number;
}

/** Why a server cannot run here. */
export function missing(side: string): string | undefined {
  return side === PEER ? urlfrontierPeer.missing() : undefined;
}

export async function startServer(side: string): Promise<ServerProcess> {
  const [program, ...words] = side === PEER ? peerCommand() : [process.execPath, CHILD, side];
  const child = spawn(program as string, words, { stdio: ["pipe", "pipe", "inherit"] });
  const port = await new Promise<number>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${side}: ended with ${code}`)));
    child.stdout?.once("data", (text) => resolve(Number(text)));
  });
  return { child, port, cpuUs: () => cpuUsOf(child.pid) };
}

function peerCommand(): string[] {
  const given = process.env.URLFRONTIER_CLASSPATH as string;
  const folder = compiled({
    name: `${PEER}-server`,
    sources: [SERVE],
    against: given,
    command: (target) => ["javac", "-nowarn", "-cp", given, "-d", target, SERVE],
  });
  return ["java", "-cp", `${folder}:${given}`, "Serve"];
}

/** Linux counts in hundredths of a second. */
const TICK_US = 10_000;

function cpuUsOf(pid: number | undefined): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_US;
  } catch {
    return Number.NaN;
  }
}
