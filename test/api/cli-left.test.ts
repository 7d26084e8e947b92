/** Who reads a command's answer may leave before its end. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openFrontier } from "../../src/index.ts";
import { packageRoot } from "../support/package.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-left-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("a command whose reader leaves ends with 130 and says nothing", async () => {
  const frontier = await openFrontier({ directory: folder });
  // Far more than a pipe holds.
  frontier.pushMany(Array.from({ length: 20_000 }, (_, at) => `http://a.test/${at}`));
  await frontier.close();
  const program = join(packageRoot, "dist/cli/main.js");
  const child = spawn(process.execPath, [program, "export", folder], { cwd: packageRoot });
  let err = "";
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  child.stdout.once("data", () => child.stdout.destroy());
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect([code, err]).toEqual([130, ""]);
});
