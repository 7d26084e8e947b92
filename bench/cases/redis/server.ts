/**
 * A Redis server of the case's own: on a socket in a folder that goes with it, without persistence, on default settings else. It runs before
 * all others where the system lets it, because its slow log counts wall time: on few cores that would be the time of its clients.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";

/** Counters of the server, and what lies in it. */
export interface ServerCounts {
  /** Seconds of its processor. */
  readonly cpuSeconds: number;
  readonly commands: number;
  readonly scripts: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly memoryBytes: number;
}

export interface BenchServer {
  readonly socket: string;
  counts(): Promise<ServerCounts>;
  /**
   * Milliseconds under which 99 % of its calls stayed since it was last asked, of those that took more than 100 µs. A script is one call,
   * whatever it calls.
   */
  slowP99Ms(): Promise<number>;
  /** Bytes of the keys whose names match a pattern. */
  bytesOf(pattern: string): Promise<number>;
  close(): Promise<void>;
}

/** Number, time, microseconds, arguments. */
type SlowCall = [number, number, number, string[]];

export async function openClient(socket: string): Promise<Redis> {
  const client = new Redis({ path: socket, lazyConnect: true });
  await client.connect();
  return client;
}

export async function openServer(): Promise<BenchServer> {
  const directory = mkdtempSync(join(tmpdir(), "bench-redis-"));
  const socket = join(directory, "redis.sock");
  const settings = ["--port", "0", "--unixsocket", socket, "--dir", directory, "--save", ""];
  const log = ["--slowlog-log-slower-than", "100", "--slowlog-max-len", "100000"];
  const policy = ["--maxmemory-policy", "noeviction"];
  const server = spawn("redis-server", [...settings, ...log, ...policy], { stdio: "ignore" });
  const client = new Redis({ path: socket, retryStrategy: () => 10 });
  client.on("error", () => undefined);
  await client.ping();
  try {
    setPriority(server.pid as number, constants.priority.PRIORITY_HIGHEST);
  } catch {
    // Only some users may.
  }
  const slow: number[] = [];
  // The log keeps arguments of its calls: it goes before memory is measured.
  const readSlow = async (): Promise<void> => {
    const entries = (await client.call("SLOWLOG", "GET", "-1")) as SlowCall[];
    await client.call("SLOWLOG", "RESET");
    const scripts = entries.filter(([, , , [name = ""]]) => /^eval/i.test(name));
    for (const [, , micros] of scripts.length > 0 ? scripts : entries) slow.push(micros);
  };
  return {
    socket,
    async counts() {
      await readSlow();
      return countsOf(await client.info("everything"));
    },
    async slowP99Ms() {
      await readSlow();
      const times = slow.splice(0).sort((a, b) => a - b);
      return (times[Math.floor(times.length * 0.99)] ?? 0) / 1_000;
    },
    async bytesOf(pattern) {
      let bytes = 0;
      for (const key of await client.keys(pattern))
        bytes += Number(await client.call("MEMORY", "USAGE", key, "SAMPLES", "0"));
      return bytes;
    },
    async close() {
      client.disconnect();
      await ended(server);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function ended(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const over = once(server, "exit");
  server.kill("SIGKILL");
  await over;
}

function countsOf(info: string): ServerCounts {
  const value = (name: string): number =>
    Number(new RegExp(`^${name}:([0-9.]+)`, "m").exec(info)?.[1] ?? 0);
  const scripts = [...info.matchAll(/^cmdstat_(?:evalsha|eval|fcall):calls=(\d+)/gm)];
  return {
    cpuSeconds: value("used_cpu_user") + value("used_cpu_sys"),
    commands: value("total_commands_processed"),
    scripts: scripts.reduce((sum, [, calls]) => sum + Number(calls), 0),
    bytesIn: value("total_net_input_bytes"),
    bytesOut: value("total_net_output_bytes"),
    memoryBytes: value("used_memory"),
  };
}
