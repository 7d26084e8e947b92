/** Debian's python3-grpcio, with stubs that its own compiler makes from a definition. */
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onTestFinished, type TestContext } from "vitest";
import { skipUnless } from "../support/skip.ts";

const PYTHON = "/usr/bin/python3";
const run = promisify(execFile);

/** The definition that the package ships. */
export const DEFINITION = readFileSync(
  fileURLToPath(new URL("../../docs/urlfrontier.proto", import.meta.url)),
  "utf8",
);

function hasGrpc(): boolean {
  try {
    execFileSync(PYTHON, ["-c", "import grpc, grpc_tools.protoc"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Runs a program of this folder with a folder of stubs and its arguments; what it prints, read as JSON. */
export async function runPython(
  context: TestContext,
  definition: string,
  program: string,
  ...args: string[]
): Promise<unknown> {
  skipUnless(context, hasGrpc(), "python3-grpcio or python3-grpc-tools is not installed");
  const folder = mkdtempSync(join(tmpdir(), "outrider-stubs-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const proto = join(folder, "urlfrontier.proto");
  // Debian's compiler is older than `optional`, which changes nothing on the wire.
  writeFileSync(proto, definition.replaceAll(/^ {2}optional /gm, "  "));
  const outs = [`--python_out=${folder}`, `--grpc_python_out=${folder}`];
  await run(PYTHON, ["-m", "grpc_tools.protoc", "-I", folder, ...outs, proto]);
  const path = fileURLToPath(new URL(program, import.meta.url));
  const { stdout } = await run(PYTHON, [path, folder, ...args]);
  return JSON.parse(stdout);
}
