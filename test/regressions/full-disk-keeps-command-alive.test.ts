/**
 * A crawl whose disk was full at its end printed the error and never ended: its frontier stays open until there is room, and kept the
 * process alive. Before that, a visit that could not be written ended the process with a stack.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { packageRoot } from "../support/package.ts";

it("outrider crawl ends with the disk's error where the disk takes no more", () => {
  const folder = mkdtempSync(join(tmpdir(), "outrider-full-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const seeds = join(folder, "seeds.txt");
  writeFileSync(
    seeds,
    Array.from({ length: 5_000 }, (_, at) => `http://127.0.0.1:1/${at}`).join("\n"),
  );
  const limited = `trap '' XFSZ; ulimit -f 64; exec "$0" "$@"`;
  const words = ["crawl", "--seeds", seeds, "--dir", join(folder, "crawl"), "--allow-private"];
  const child = spawnSync(
    "sh",
    ["-c", limited, process.execPath, `${packageRoot}dist/cli/main.js`, ...words, "--quiet"],
    { encoding: "utf8", timeout: 60_000 },
  );
  expect(child.stderr).toContain("outrider: DISK_FULL: ");
  expect(child.status).toBe(1);
});
