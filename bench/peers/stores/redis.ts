/**
 * A Redis server of one's own, for one run: on a socket in a directory that goes with it, its append-only file as durable as asked.
 * The client writes commands as the protocol has them and waits for a call's answers together: pipelined, without a package between.
 *
 *   commands of a call ─▶ one write ─▶ answers: ":<number>" a push, "*<n>" and "$<bytes>" a pop of many
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";

const KEY = "urls";
/** A start that reads back what was written may take this long. */
const START_MS_MAX = 60_000;

export interface RedisList {
  /** RPUSH of each, one command a URL, sent together; resolves when all are answered. */
  push(urls: readonly string[]): Promise<void>;
  /** LPOP of up to `max`. */
  pop(max: number): Promise<string[]>;
  /** The server writes what it has answered and not yet written, and ends: with "everysec" a write waits for a sync under way. */
  close(): Promise<void>;
}

/** Why Redis is missing here; undefined where it is installed. */
export function redisMissing(): string | undefined {
  const { status } = spawnSync("redis-server", ["--version"], { stdio: "ignore" });
  return status === 0 ? undefined : "no redis-server in PATH";
}

/** Starts a server over what the directory holds, and is ready when that is read. `fsync`: Redis's own word. */
export async function openRedis(
  directory: string,
  fsync: "always" | "everysec",
): Promise<RedisList> {
  const path = join(directory, "redis.sock");
  const words = ["--port", "0", "--unixsocket", path, "--dir", directory, "--save", ""];
  const log = ["--appendonly", "yes", "--appendfsync", fsync, "--loglevel", "warning"];
  const server = spawn("redis-server", [...words, ...log], { stdio: "ignore" });
  const socket = await connected(server, path);
  const answers = listen(socket);
  return {
    async push(urls) {
      let text = "";
      for (const url of urls) {
        text += `*3\r\n$5\r\nRPUSH\r\n$4\r\n${KEY}\r\n$${Buffer.byteLength(url)}\r\n${url}\r\n`;
      }
      socket.write(text);
      for (let left = urls.length; left > 0; left--) {
        const line = await answers.line();
        if (!line.startsWith(":")) throw new Error(`RPUSH: ${line}`);
      }
    },
    async pop(max) {
      const count = String(max);
      socket.write(`*3\r\n$4\r\nLPOP\r\n$4\r\n${KEY}\r\n$${count.length}\r\n${count}\r\n`);
      const urls: string[] = [];
      const head = await answers.line();
      if (head === "*-1") return urls;
      for (let left = Number(head.slice(1)); left > 0; left--) {
        await answers.line(); // its length: a URL holds no end of a line
        urls.push(await answers.line());
      }
      return urls;
    },
    async close() {
      socket.destroy();
      server.kill("SIGTERM");
      if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
    },
  };
}

/** A socket to the server once it answers a PING with PONG: not before it has read its file. */
async function connected(server: ChildProcess, path: string): Promise<Socket> {
  const until = Date.now() + START_MS_MAX;
  for (;;) {
    if (server.exitCode !== null) throw new Error(`redis-server ended with ${server.exitCode}`);
    const socket = connect(path);
    const word = await firstWord(socket);
    if (word.startsWith("+PONG")) return socket;
    socket.destroy();
    if (Date.now() > until) throw new Error(`redis-server: ${word || "no answer"}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function firstWord(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once("error", () => resolve(""));
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("data", (data: Buffer) => resolve(data.toString("latin1")));
  });
}

interface Lines {
  line(): string | Promise<string>;
}

/** The lines that a server answers, one after another. */
function listen(socket: Socket): Lines {
  let rest = "";
  let lines: string[] = [];
  let at = 0;
  let wake: (() => void) | undefined;
  socket.once("close", () => wake?.());
  socket.on("error", () => socket.destroy());
  socket.on("data", (data: Buffer) => {
    const parts = (rest + data.toString("latin1")).split("\r\n");
    rest = parts.pop() as string;
    lines = at === lines.length ? parts : [...lines.slice(at), ...parts];
    at = 0;
    wake?.();
  });
  const next = async (): Promise<string> => {
    while (at === lines.length) {
      if (socket.destroyed) throw new Error("redis-server: hung up");
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return lines[at++] as string;
  };
  return { line: () => (at < lines.length ? (lines[at++] as string) : next()) };
}
