/** Commands over a directory: what they say of who has it open, and of options that nobody knows. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCommand } from "../../../../src/cli/run-command.ts";
import { openFrontier } from "../../../../src/index.ts";
import { createFakeIo } from "../../../support/fake-io.ts";

const ROOT = join(import.meta.dirname, "../../../..");

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "outrider-commands-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function command(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = createFakeIo(undefined);
  const code = await runCommand(argv, io);
  return { code, out: io.text.out, err: io.text.err };
}

it("stats says whether somebody has the directory open, and who", async () => {
  const directory = join(folder, "crawl");
  const frontier = await openFrontier({ directory });
  frontier.push("https://a.example/");
  await frontier.flush();
  const open = await command("stats", directory, "--json");
  expect(JSON.parse(open.out)).toMatchObject({ status: "running", owner: process.pid, pending: 1 });
  expect((await command("stats", directory)).out).toContain(`open in    process ${process.pid}\n`);
  await frontier.close();
  const closed = JSON.parse((await command("stats", directory, "--json")).out);
  expect(closed).toMatchObject({ status: "stopped", pending: 1 });
  expect(closed).not.toHaveProperty("owner");
  expect((await command("stats", directory)).out).toMatch(/^status {5}stopped\n/);
});

it("an unknown option is reported as one of the file of --options", async () => {
  const directory = join(folder, "crawl");
  await (await openFrontier({ directory })).close();
  const file = join(folder, "options.json");
  writeFileSync(file, '{ "nonsense": 5 }');
  const { code, err } = await command("stats", directory, "--options", file);
  expect(code).toBe(2);
  expect(err).toMatch(/^outrider: OPTION_INVALID: --options: options\.nonsense: /);
});

it("a package without its kernel is named with its file and what to do", () => {
  const copy = join(folder, "package");
  mkdirSync(copy);
  cpSync(join(ROOT, "dist"), join(copy, "dist"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(copy, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  rmSync(join(copy, "dist/kernel.wasm"));
  const main = join(copy, "dist/cli/main.js");
  const words = ["import", join(folder, "crawl"), "-"];
  const { status, stderr } = spawnSync(process.execPath, [main, ...words], {
    input: "https://a.example/\n",
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toContain("KERNEL_MISSING: ");
  expect(stderr).toContain(join(copy, "dist/kernel.wasm"));
  expect(stderr).toContain("to do: install the package again");
});

it("in a folder of other things a frontier is looked for among its folders, and those that are one are named", async () => {
  writeFileSync(join(folder, "notes.txt"), "mine");
  symlinkSync(join(folder, "nowhere"), join(folder, "dangling"));
  mkdirSync(join(folder, "empty"));
  const { code, err } = await command("stats", folder);
  expect([code, err.split("\n", 1)[0]]).toEqual([
    2,
    `outrider: stats: ${join(folder, "default")}: no frontier`,
  ]);
  await (await openFrontier({ directory: folder, name: "a b" })).close();
  const named = await command("peek", folder);
  expect([named.code, named.err.split("\n", 1)[0]]).toEqual([
    2,
    `outrider: peek: ${join(folder, "default")}: no frontier; there is: a b`,
  ]);
});
