import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { expect, it } from "vitest";
import { systemProcesses } from "../../../../src/persistence/directory/process-table.ts";
import { skipUnless } from "../../../support/skip.ts";

it("this process runs, and began at its recorded start", () => {
  const { self, isRunning, startedOf } = systemProcesses();
  expect(isRunning(self.pid)).toBe(true);
  expect(startedOf(self.pid)).toBe(self.started);
});

it("a process that has ended does not run, even when its parent never collects it", async (context) => {
  skipUnless(context, process.platform === "linux", "reads /proc of Linux");
  // The shell becomes a program without known children; only then may the child end, or the shell would collect it.
  const parent = spawn("sh", ["-c", "cat <&3 >/dev/null & echo $!; exec sleep 60"], {
    stdio: ["ignore", "pipe", "ignore", "pipe"],
  });
  try {
    const [said] = (await once(parent.stdout as Readable, "data")) as [Buffer];
    const pid = Number(said.toString("utf8"));
    await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, "utf8")).toBe("sleep\n");
    (parent.stdio[3] as Writable).end();
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "utf8")).toMatch(/\) Z /);
    expect(systemProcesses().isRunning(pid)).toBe(false);
    expect(systemProcesses().isRunning(parent.pid as number)).toBe(true);
  } finally {
    parent.kill("SIGKILL");
    await once(parent, "exit");
  }
});
