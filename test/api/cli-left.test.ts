/** Who reads a command's answer may leave before its end, and where it is written may take no more. */
import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openFrontier } from "../../src/index.ts";
import { packageRoot } from "../support/package.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-left-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = join(packageRoot, "dist/cli/main.js");

it("a command whose reader ends exits with 130 and prints nothing", async () => {
  const frontier = await openFrontier({ directory: folder });
  // Far more than a pipe holds.
  frontier.pushMany(Array.from({ length: 20_000 }, (_, at) => `http://a.test/${at}`));
  await frontier.close();
  const child = spawn(process.execPath, [program, "export", folder], { cwd: packageRoot });
  let err = "";
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  child.stdout.once("data", () => child.stdout.destroy());
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect([code, err]).toEqual([130, ""]);
});

it("a command whose answer can not be written ends with 1 and one line, and complaints that can not with its own code", () => {
  const closed = openSync(program, "r"); // takes no bytes
  try {
    const answer = spawnSync(process.execPath, [program, "--version"], {
      stdio: ["ignore", closed, "pipe"],
      encoding: "utf8",
    });
    expect([answer.status, answer.stderr]).toEqual([
      1,
      expect.stringMatching(/^outrider: standard output: EBADF[^\n]*\n$/),
    ]);
    const complaint = spawnSync(process.execPath, [program, "stats"], {
      stdio: ["ignore", "pipe", closed],
    });
    expect(complaint.status).toBe(2);
  } finally {
    closeSync(closed);
  }
});
