/**
 * Drivers in languages that are compiled: made once into build/bench/peers/<name>, and anew when a source of ours or what it is
 * compiled against has changed.
 *
 *   bench/peers/<name>/drive.*  +  what an environment variable names  ──compiler──▶  build/bench/peers/<name>
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../harness/machine.ts";

export interface Compilation {
  readonly name: string;
  readonly sources: readonly string[];
  /** What it depends on besides: another value compiles again. */
  readonly against: string;
  /** The compiler's words; it writes into `folder`. */
  command(folder: string): readonly [string, ...string[]];
  readonly environment?: Readonly<Record<string, string>>;
}

/** The folder of a driver that is compiled; throws what the compiler says. */
export function compiled({ name, sources, against, command, environment }: Compilation): string {
  const folder = join(ROOT, "build/bench/peers", `${name}-compiled`);
  const stamp = join(folder, "made-of.txt");
  const made = [against, ...sources.map((path) => readFileSync(path, "utf8"))].join("\n");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === made) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const [compiler, ...words] = command(folder);
  const env = { ...process.env, ...environment };
  const { status, stderr, error } = spawnSync(compiler, words, { encoding: "utf8", env });
  if (status !== 0) throw new Error(`${name}: ${error?.message ?? stderr}`);
  writeFileSync(stamp, made);
  return folder;
}

/** Whether a program answers here. */
export function hasProgram(program: string, word: string): boolean {
  return spawnSync(program, [word], { stdio: "ignore" }).status === 0;
}
