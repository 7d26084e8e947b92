/** Bytes 0x9B and 0x9D of a server's `Content-Encoding` reached a terminal as the commands CSI and OSC. */
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "../../src/cli/run-command.ts";
import { type Io, processIo } from "../../src/cli/io.ts";
import { packageRoot, runNode } from "../support/package.ts";

const COMMANDS = "\x9b2J\x9d0;owned\x9c";
/** All that a terminal takes for a command, or that turns the order of letters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** The process's own streams, kept as text. */
function createIo(wrote: string[]): Io {
  const stream = { on: () => {}, write: (text: string) => wrote.push(text) } as never;
  return processIo({ stdout: stream, stderr: stream, env: {} });
}

const closers: Array<() => void> = [];
afterAll(() => {
  for (const close of closers) close();
});

/** A server that names an encoding of bytes that are commands to a terminal. */
async function openHostileServer(): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      const head = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: a, b, c, ${COMMANDS}\r\n`;
      socket.end(Buffer.from(`${head}Content-Length: 1\r\nConnection: close\r\n\r\nx`, "latin1"));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe("text of strangers on a terminal", () => {
  it("a header of control characters is shown by its codes", async () => {
    const url = await openHostileServer();
    const argv = ["crawl", url, "--allow-private", "--no-robots", "--delay", "0", "--no-progress"];
    const { stderr, stdout } = await runNode([`${packageRoot}dist/cli/main.js`, ...argv]);
    expect(stderr).toContain("\\u009b2J\\u009d0;owned\\u009c");
    expect(stdout + stderr).not.toMatch(CONTROL);
  });

  it.each(["\x9b2J", "\x1b]0;x\x07", "a\rb", "\u202egnp.exe", "\u2066x"])(
    "an unknown command %j, and a file's name, are answered without it",
    async (word) => {
      const wrote: string[] = [];
      const io = createIo(wrote);
      await runCommand([word], io);
      await runCommand(["stats", word], io);
      await runCommand(["explain", `http://a.example/${word}`, `--${word}`], io);
      await runCommand(["explain", word], io);
      await runCommand(["explain", word, "--json"], io);
      expect(wrote.length).toBeGreaterThan(4);
      expect(wrote.join("")).not.toMatch(CONTROL);
    },
  );

  it("JSON keeps its meaning: what is shown by its code is read back as it was", async () => {
    const wrote: string[] = [];
    const io = createIo(wrote);
    const value = { text: "a\x9b\u202e\u2028\x7f\ud800b", "\x9d": "\n\t" };
    io.out(`${JSON.stringify(value)}\n`);
    expect(wrote.join("")).not.toMatch(CONTROL);
    expect(JSON.parse(wrote.join(""))).toEqual(value);
  });
});
