/**
 * The native control (bench/native/control.c) as a child process, where the machine has a C compiler: it does rounds of
 * the same work on request, and reports how long they took.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The source as it stands, and where its program goes: this file runs from build/. */
const SOURCE = fileURLToPath(new URL("../../../bench/native/control.c", import.meta.url));
const FOLDER = fileURLToPath(new URL("../native/", import.meta.url));
const FLAGS = ["-O3", "-march=native"];

export interface NativeRound {
  /** Nanoseconds of one operation. */
  readonly lookup: number;
  readonly insert: number;
  readonly asked: number;
  readonly found: number;
  readonly fresh: number;
}

export interface NativeControl {
  round(): Promise<NativeRound>;
  close(): void;
}

export function nativeMissing(): string | undefined {
  const { error } = spawnSync("cc", ["--version"], { stdio: "ignore" });
  return error === undefined ? undefined : "no C compiler";
}

export async function openNative(kind: "table" | "bloom", bytes: number): Promise<NativeControl> {
  mkdirSync(FOLDER, { recursive: true });
  const program = `${FOLDER}control-${process.pid}`;
  const { status } = spawnSync("cc", [...FLAGS, "-o", program, SOURCE], { stdio: "inherit" });
  if (status !== 0) throw new Error("native: the control does not compile");
  const child = spawn(program, [kind, String(bytes)], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = linesOf(child.stdout);
  await lines();
  return {
    async round() {
      child.stdin.write("\n");
      return JSON.parse(await lines()) as NativeRound;
    },
    close: () => child.stdin.end(),
  };
}

/** The next line of a stream, each time it is asked for. */
function linesOf(stream: NodeJS.ReadableStream): () => Promise<string> {
  const iterator = stream.setEncoding("utf8")[Symbol.asyncIterator]();
  let rest = "";
  return async () => {
    while (!rest.includes("\n")) {
      const { value, done } = await iterator.next();
      if (done === true) throw new Error("native: the control ended");
      rest += String(value);
    }
    const end = rest.indexOf("\n");
    const line = rest.slice(0, end);
    rest = rest.slice(end + 1);
    return line;
  };
}
