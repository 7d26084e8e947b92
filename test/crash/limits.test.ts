/**
 * Limits that the system itself enforces: the size of a file, open files, a directory that was removed or may not be written. A limit
 * that this system lacks is reported as skipped.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import { skipUnless } from "../support/skip.ts";

const CHILD = fileURLToPath(new URL("limits-child.mjs", import.meta.url));
const directories: string[] = [];

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "limits-"));
  directories.push(directory);
  return directory;
}

afterEach(() => {
  for (const directory of directories.splice(0))
    rmSync(directory, { recursive: true, force: true });
});

/** Runs the child under a limit; `onLine` may answer each of its lines. Resolves with all lines. */
function run(
  limit: string,
  step: string,
  onLine: (pid: number, answer: (text: string) => void) => void = () => {},
): Promise<Array<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    const command = `${limit}; exec "$0" "$@"`;
    const child = spawn("sh", ["-c", command, process.execPath, CHILD, step, temporary()]);
    let text = "";
    let errors = "";
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    child.stdout.on("data", (chunk) => {
      text += chunk;
      if (String(chunk).includes("\n")) onLine(child.pid ?? 0, (line) => child.stdin.write(line));
    });
    child.on("error", reject);
    child.on("exit", (code) => {
      if (code !== 0) reject(new Error(`the child ended with ${code}: ${errors}`));
      else
        resolve(
          text
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line)),
        );
    });
  });
}

describe("limits of the system", () => {
  beforeEach((context) => skipUnless(context, process.platform === "linux", "not on Linux"));

  it("a file at its size limit refuses pushes, and accepts them when the limit is raised", async (context) => {
    const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;
    skipUnless(context, hasPrlimit, "no `prlimit` of util-linux");
    let isLifted = false;
    // Blocks of 512 bytes: 1.5 MB, more than the room that a journal writes ahead.
    const lines = await run("ulimit -S -f 3000", "size", (pid, answer) => {
      if (isLifted) return;
      isLifted = true;
      spawnSync("prlimit", ["--pid", String(pid), "--fsize=unlimited"]);
      answer("go on\n");
    });
    const [full, after, closed] = lines;
    // Nothing of a batch without room is admitted, and everything before it is still there.
    expect(full).toMatchObject({ full: 500, pending: full?.accepted });
    expect(full?.accepted).toBeGreaterThan(0);
    expect(after).toEqual({ after: 500 });
    expect(closed).toEqual({ closed: true });
  });

  it("without a free descriptor an opening is refused by name, and works once some are free", async () => {
    const [held, opened] = await run("ulimit -n 1024", "files");
    expect(held).toEqual({ held: true, code: "EMFILE" });
    expect(opened).toEqual({ refused: "FILES_EXHAUSTED", status: "accepted" });
  });

  it("a removed directory is reported by the next flush and by pushes after it", async () => {
    const directory = temporary();
    const frontier = await openFrontier({ directory, keepOpen: true });
    frontier.push("http://h.test/1");
    await frontier.flush();
    rmSync(directory, { recursive: true });
    frontier.push("http://h.test/2");
    await expect(frontier.flush()).rejects.toMatchObject({ code: "DISK_GONE" });
    expect(frontier.push("http://h.test/3")).toMatchObject({ status: "full", reason: "disk" });
    expect(frontier.report().pending).toBe(2);
    await expect(frontier.close()).rejects.toMatchObject({ code: "DISK_GONE" });
    await frontier.close({ discard: true }).catch(() => undefined);
  });

  it("a directory that may not be written or read is reported by name, and opens once it may", async (context) => {
    const [told] = await run("ulimit -n 1024", "rights");
    skipUnless(context, told?.kept === undefined, "a root that can be no other user");
    expect(told).toEqual({ readonly: "DISK_READONLY", unreadable: "DISK_READONLY", pending: 1 });
  });
});
