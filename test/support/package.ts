/** Helpers for tests of the package as a whole: its root, its manifest, a Node process inside it. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const packageRoot: string = fileURLToPath(new URL("../..", import.meta.url));

export interface Manifest {
  readonly scripts: Record<string, string>;
  readonly exports: Record<string, string | { types: string; default: string }>;
}

export const manifest: Manifest = JSON.parse(readText("package.json"));

export function readText(path: string): string {
  return readFileSync(`${packageRoot}${path}`, "utf8");
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script with this Node in the package's root, killed at the deadline. */
export function runNode(
  args: string[],
  { env = process.env }: { env?: NodeJS.ProcessEnv } = {},
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: packageRoot, timeout: 540_000, env });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
