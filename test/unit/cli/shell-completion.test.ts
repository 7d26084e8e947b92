/** Completion as a real shell does it. A shell that is not installed is skipped by name. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "../../../src/cli/run-command.ts";
import { createFakeIo } from "../../support/fake-io.ts";
import { type Skipper, skipUnless } from "../../support/skip.ts";

async function scriptOf(shell: string): Promise<string> {
  const io = createFakeIo(undefined);
  expect(await runCommand(["completion", shell], io)).toBe(0);
  return io.text.out;
}

function skipWithout(shell: string, context: Skipper): void {
  const isThere = spawnSync(shell, ["--version"]).error === undefined;
  skipUnless(context, isThere, `no ${shell} on the PATH`);
}

describe("completion", () => {
  it.for([
    ["cr", "crawl"],
    [
      "",
      "crawl demo explain identity stats peek failed visited export import requeue verify compact serve bench completion",
    ],
    ["crawl --max-pag", "--max-pages"],
    ["demo --ho", "--hosts"],
    ["nothing --", ""],
  ] as const)("of 'outrider %s' in bash is '%s'", async ([line, expected], context) => {
    skipWithout("bash", context);
    const words = ["outrider", ...line.split(" ")];
    const ask = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
_outrider; echo "\${COMPREPLY[*]}"`;
    const { stdout, stderr } = spawnSync("bash", ["-c", `${await scriptOf("bash")}\n${ask}`], {
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C" }, // it complains of a locale that is not there
    });
    expect([stdout.trim(), stderr]).toEqual([expected, ""]);
  });

  it("is understood by fish", async (context) => {
    skipWithout("fish", context);
    const ask = `${await scriptOf("fish")}\ncomplete -C 'outrider crawl --max-pag'`;
    const { stdout } = spawnSync("fish", ["-c", ask], { encoding: "utf8" });
    expect(stdout).toContain("--max-pages");
  });

  it("is understood by zsh", async (context) => {
    skipWithout("zsh", context);
    const ask = `compdef() { :; }\n${await scriptOf("zsh")}\nfunctions _outrider`;
    const { stdout, stderr } = spawnSync("zsh", ["-fc", ask], { encoding: "utf8" });
    expect([stdout.includes("--max-pages"), stderr]).toEqual([true, ""]);
  });

  describe("of hostile words", () => {
    const folder = mkdtempSync(join(tmpdir(), "outrider-complete-"));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    /** Each would make a file, end a quotation, or be taken for an option or a pattern. */
    const WORDS = [
      "$(touch made)",
      "`touch made`",
      "'; touch made; '",
      '"; touch made; "',
      "a\ntouch made\n",
      `\${x:=$(touch made)}`,
      "--$(touch made)",
      "-C touch",
      "-F",
      "*",
      "a b\t\\c",
      "\u202e\u009b2J",
      "(touch made)",
      "$((a[$(touch made)]))",
      "~root",
      "|touch made",
    ];
    const shellWord = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
    // A file name can hold all but "/" and NUL.
    for (const word of WORDS) writeFileSync(join(folder, word), "");
    const held = [...WORDS].toSorted();

    it.for(["bash", "zsh", "fish"])("nothing is executed in %s", async (shell, context) => {
      skipWithout(shell, context);
      const script = await scriptOf(shell);
      const fishWord = (word: string): string =>
        `'${word.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
      const places = (word: string): string[][] => [
        [word],
        ["crawl", word],
        [word, "--"],
        ["crawl", word, ""],
      ];
      const asks = WORDS.flatMap(places).map((words) => {
        const line = ["outrider", ...words].map(shellWord).join(" ");
        if (shell === "bash") {
          return `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _outrider`;
        }
        if (shell === "zsh") return `words=(${line}); CURRENT=${words.length + 1}; _outrider`;
        const text = ["outrider", ...words].join(" ");
        return `complete -C ${fishWord(text)} >/dev/null`;
      });
      // Outside of a line editor zsh has none of its functions.
      const stubs =
        shell === "zsh" ? "compdef() { :; }; _describe() { :; }; _files() { :; }\n" : "";
      const { status, stderr } = spawnSync(
        shell,
        ["-c", [stubs + script, ...asks, "true"].join("\n")],
        {
          encoding: "utf8",
          cwd: folder,
          env: { ...process.env, LC_ALL: "C", HOME: folder },
        },
      );
      expect([status, stderr]).toEqual([0, ""]);
      expect(
        readdirSync(folder)
          .filter((name) => !name.startsWith("."))
          .toSorted(),
      ).toEqual(held);
    });
  });

  it("names every flag of every command in every shell, as one word each", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const script = await scriptOf(shell);
      for (const flag of ["max-pages", "allow-private", "per-host"]) expect(script).toContain(flag);
      expect(script.replaceAll("'\\''", "").split("'").length % 2).toBe(1);
    }
  });
});
