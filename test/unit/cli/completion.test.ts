/** Completion as a real shell does it. A shell that is not installed is skipped by name. */
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../../src/cli/run.ts";
import { createFakeIo } from "../../support/fake-io.ts";

async function scriptOf(shell: string): Promise<string> {
  const io = createFakeIo(undefined);
  expect(await runCommand(["completion", shell], io)).toBe(0);
  return io.text.out;
}

/** Whether a shell is on this machine, told where it is not. */
function has(shell: string): boolean {
  const isThere = spawnSync(shell, ["--version"]).error === undefined;
  if (!isThere) console.log(`SKIPPED: no ${shell} here`);
  return isThere;
}

describe("completion", () => {
  it.skipIf(!has("bash")).each([
    ["cr", "crawl"],
    ["", "crawl demo explain stats peek export import requeue verify compact bench completion"],
    ["crawl --max-p", "--max-pages"],
    ["demo --ho", "--hosts"],
    ["nothing --", ""],
  ])("of 'outrider %s' in bash is '%s'", async (line, expected) => {
    const words = ["outrider", ...line.split(" ")];
    const ask = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
_outrider; echo "\${COMPREPLY[*]}"`;
    const { stdout, stderr } = spawnSync("bash", ["-c", `${await scriptOf("bash")}\n${ask}`], {
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C" }, // it complains of a locale that is not there
    });
    expect([stdout.trim(), stderr]).toEqual([expected, ""]);
  });

  it.skipIf(!has("fish"))("is understood by fish", async () => {
    const ask = `${await scriptOf("fish")}\ncomplete -C 'outrider crawl --max-p'`;
    const { stdout } = spawnSync("fish", ["-c", ask], { encoding: "utf8" });
    expect(stdout).toContain("--max-pages");
  });

  it.skipIf(!has("zsh"))("is understood by zsh", async () => {
    const ask = `compdef() { :; }\n${await scriptOf("zsh")}\nfunctions _outrider`;
    const { stdout, stderr } = spawnSync("zsh", ["-fc", ask], { encoding: "utf8" });
    expect([stdout.includes("--max-pages"), stderr]).toEqual([true, ""]);
  });

  it("names every flag of every command in every shell, as one word each", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const script = await scriptOf(shell);
      for (const flag of ["max-pages", "allow-private", "per-host"]) expect(script).toContain(flag);
      expect(script.replaceAll("'\\''", "").split("'").length % 2).toBe(1);
    }
  });
});
