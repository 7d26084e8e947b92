/** The system's processes, as the lock needs them. /proc reports most of it; without /proc, a running pid counts as the owner. */
import { hostname } from "node:os";
import { linkTarget, readText } from "../files.ts";
import type { ProcessTable } from "./directory-lock.ts";

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
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // another user's, and alive
  }
  // A process that has ended keeps its number until its parent collects it, and some parents never do.
  const { state, threads } = statOf(pid);
  return !(state === "Z" && threads === "1");
}

function startedOf(pid: number): string {
  return statOf(pid).started;
}

/**
 * Fields 3, 20 and 22 of stat, after the name, which may contain anything up to the last bracket; "" where the system does not report
 * them.
 */
function statOf(pid: number): Record<"state" | "threads" | "started", string> {
  const stat = readText(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", threads: fields[17] ?? "", started: fields[19] ?? "" };
}
