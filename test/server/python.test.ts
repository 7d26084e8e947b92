/** Debian's python3-grpcio, with stubs that its own compiler makes from the definition, against the server. */
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { skipUnless } from "../support/skip.ts";
import { serving } from "./client.ts";

const PYTHON = "/usr/bin/python3";
const PROTO = fileURLToPath(new URL("../../docs/urlfrontier.proto", import.meta.url));
const CLIENT = fileURLToPath(new URL("client.py", import.meta.url));
const run = promisify(execFile);

function hasGrpc(): boolean {
  try {
    execFileSync(PYTHON, ["-c", "import grpc, grpc_tools.protoc"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

it("a Python client crawls with it: puts, gets, updates, lists, and counts", async (context) => {
  skipUnless(context, hasGrpc(), "python3-grpcio or python3-grpc-tools is not installed");
  const folder = mkdtempSync(join(tmpdir(), "outrider-stubs-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // Debian's compiler is older than `optional`, which changes nothing on the wire.
  const definition = readFileSync(PROTO, "utf8").replaceAll(/^ {2}optional /gm, "  ");
  writeFileSync(join(folder, "urlfrontier.proto"), definition);
  const outs = [`--python_out=${folder}`, `--grpc_python_out=${folder}`];
  const proto = join(folder, "urlfrontier.proto");
  await run(PYTHON, ["-m", "grpc_tools.protoc", "-I", folder, ...outs, proto]);
  const { port } = await serving();
  const { stdout } = await run(PYTHON, [CLIENT, folder, `127.0.0.1:${port}`]);
  expect(JSON.parse(stdout)).toEqual({
    acks: [
      ["1", "OK"],
      ["http://a.com/2", "OK"],
      ["3", "SKIPPED"],
      ["4", "OK"],
    ],
    batch: ["b", ["OK", "SKIPPED"]],
    crawled: 41,
    metadata: { from: ["a", "b"] },
    stats: { size: 1, inProcess: 0, completed: 42, queues: 2 },
    queues: ["b.com"],
    missing: "NOT_FOUND",
    listed: 43,
  });
});
