/** The system's processes, as the lock asks about them. /proc says most of it; without one a living pid is believed. */
import { hostname } from "node:os";
import { linkTarget, readText } from "./files.ts";
import type { ProcessTable } from "./lock.ts";

export function systemProcesses(): ProcessTable {
  return {
    self: {
      pid: process.pid,
      started: startedOf(process.pid),
      boot: readText("/proc/sys/kernel/random/boot_id").trim(),
      space: linkTarget("/proc/self/ns/pid"),
      host: hostname(),
    },
    isRunning,
    startedOf,
  };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // somebody else's, and alive
  }
}

/** The 22nd field of stat, behind the name that may hold anything up to the last bracket. */
function startedOf(pid: number): string {
  const stat = readText(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}
