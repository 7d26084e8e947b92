/** A private redis-server of a test: its own process and directory, on a socket or a loopback port. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";

/** Why tests that need the program are skipped; undefined: it is there. */
export const WITHOUT_REDIS: string | undefined = hasProgram() ? undefined : "no redis-server here";

const START_MS_MAX = 120_000;

export interface RedisServer {
  /** Its socket: what `openRedisFrontier({ redis })` takes. */
  readonly socket: string;
  /** Its loopback port; 0: it listens on the socket alone. */
  readonly port: number;
  readonly directory: string;
  /** The process that runs now. */
  readonly pid: number;
  /** Sends it a command over a connection of its own. */
  call(...words: readonly string[]): Promise<unknown>;
  /** Ends the process by this signal and waits until it is gone. The directory stays. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again in the same directory, after `kill`. */
  start(): Promise<void>;
  /** Ends the process and deletes its directory. */
  close(): Promise<void>;
}

export interface RedisServerOptions {
  /** Further settings, as on its command line: `{ appendonly: "yes" }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Loopback port; 0: none. */
  readonly port?: number;
  /** Of its environment, beside what this process has. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a server and waits until it answers. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const { settings = {}, port = 0 } = options;
  const env = { ...process.env, ...options.env };
  const directory = mkdtempSync(join(tmpdir(), "redis-"));
  const socket = join(directory, "redis.sock");
  const all = {
    port: String(port),
    bind: "127.0.0.1",
    unixsocket: socket,
    dir: directory,
    save: "",
    "maxmemory-policy": "noeviction",
    ...settings,
  };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
  let child: ChildProcess | undefined;
  const kill = async (signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
    if (child === undefined) return;
    const ended = child;
    child = undefined;
    const over = new Promise((resolve) => ended.once("exit", resolve));
    if (ended.exitCode !== null || ended.signalCode !== null) return;
    ended.kill(signal);
    await over;
  };
  const start = async (): Promise<void> => {
    child = spawn("redis-server", args, { stdio: "ignore", env });
    await untilAnswers(socket, child);
  };
  const close = async (): Promise<void> => {
    await kill();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (cause) {
    await close();
    throw cause;
  }
  return {
    socket,
    port,
    directory,
    get pid() {
      return child?.pid ?? 0;
    },
    call: (...words) => callOnce(socket, words),
    kill,
    start,
    close,
  };
}

async function callOnce(socket: string, [name = "", ...args]: readonly string[]): Promise<unknown> {
  const client = new Redis({ path: socket, maxRetriesPerRequest: 0, retryStrategy: null });
  client.on("error", () => undefined);
  try {
    return await client.call(name, ...args);
  } finally {
    client.disconnect();
  }
}

async function untilAnswers(socket: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS_MAX;
  while (!(await answers(socket))) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
    if (Date.now() > deadline)
      throw new Error(`redis-server did not answer within ${START_MS_MAX} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Whether PING gives PONG; a server that still loads its files gives an error. */
function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const link = connect(socket, () => link.write("PING\r\n"));
    link.once("data", (data) => {
      link.destroy();
      resolve(data.toString().startsWith("+PONG"));
    });
    link.once("error", () => resolve(false));
  });
}

function hasProgram(): boolean {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
