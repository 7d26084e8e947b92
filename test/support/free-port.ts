/**
 * A port of the loopback for a server of another program, which cannot be asked for one that is free. It is none of those that the system
 * gives out by itself, from 32,768 on Linux and from 49,152 elsewhere: any connection or server could take such a one before the program does,
 * or while it is away.
 */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

const PORT_MIN = 10_000;
const PORT_END = 32_768;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORT_MIN, PORT_END);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
