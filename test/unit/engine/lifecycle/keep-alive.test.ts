/** The option keepOpen holds the process, on its own thread too, until the frontier is closed. */
import { mkdirSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { packageRoot, runNode } from "../../../support/package.ts";

/** Runs a script that can import the package by name; what it printed. */
async function printed(name: string, code: string): Promise<string> {
  const folder = `${packageRoot}build/keep-alive`;
  mkdirSync(folder, { recursive: true });
  const file = `${folder}/${name}.mjs`;
  writeFileSync(file, code);
  const { stdout, stderr } = await runNode([file]);
  return stdout + stderr;
}

/** A wait that keeps no process alive ends only where something else does. */
const script = (open: string, options: string): string => `
  import { openFrontier, openFrontierThread } from "outrider";
  const frontier = await ${open}(${options});
  setTimeout(async () => {
    console.log("lives");
    await frontier.close();
    console.log("closed");
  }, 100).unref();
`;

for (const open of ["openFrontier", "openFrontierThread"]) {
  it(`${open} with keepOpen keeps the process alive until close`, async () => {
    expect(await printed(`${open}-kept`, script(open, "{ keepOpen: true }"))).toBe(
      "lives\nclosed\n",
    );
  });

  it(`${open} without it does not`, async () => {
    expect(await printed(`${open}-free`, script(open, "{}"))).toBe("");
  });
}
