/** Where a server listens: `localhost` is both loopback addresses. */
import { once } from "node:events";
import {
  type AddressInfo,
  connect as connectSocket,
  createServer,
  type Server as SocketServer,
} from "node:net";
import { expect, it, onTestFinished, type TestContext } from "vitest";
import { type ServeOptions, serve } from "../../src/server.ts";
import { skipUnless } from "../support/skip.ts";
import { connect, found, serving } from "./client.ts";

const LOCAL: ServeOptions = { host: "localhost", port: 0, httpPort: 0 };
const ADDRESSES = ["127.0.0.1", "::1"] as const;

/** Another program on a port; undefined: it cannot listen there. */
async function occupy(host: string, port = 0): Promise<SocketServer | undefined> {
  const server = createServer((socket) => socket.destroy());
  const isThere = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, host, () => resolve(true));
  });
  return isThere ? server : undefined;
}

function release(server: SocketServer | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (server === undefined) resolve();
    else server.close(() => resolve());
  });
}

async function needIpv6(context: TestContext): Promise<void> {
  const server = await occupy("::1");
  await release(server);
  skipUnless(context, server !== undefined, "no loopback address of IPv6 here");
}

it("answers at both loopback addresses as localhost", async (context) => {
  await needIpv6(context);
  const { port, httpPort } = await serving(LOCAL);
  for (const [at, host] of ["127.0.0.1", "[::1]", "localhost"].entries()) {
    const client = connect(port, { host });
    expect(await client.put(found(`http://a.com/${at}`))).toEqual(["OK"]);
    expect(await client.call("CountURLs")).toEqual({ value: at + 1 });
    const health = await fetch(`http://${host}:${httpPort}/healthz`);
    expect([host, health.status]).toEqual([host, 200]);
  }
  const { values } = await connect(port).call<{ values: string[] }>("ListNodes");
  expect(values).toEqual([`localhost:${port}`]);
});

it("answers at no other address than the one that is named", async (context) => {
  await needIpv6(context);
  const { port } = await serving();
  const other = await occupy("::1", port);
  await release(other);
  expect(other).toBeDefined();
});

it("ends connections of both addresses, and leaves both ports free", async (context) => {
  await needIpv6(context);
  const server = await serve({ ...LOCAL, drainMs: 50 });
  const { port, httpPort = 0 } = server;
  const sockets = ADDRESSES.flatMap((host) =>
    [port, httpPort].map((one) => connectSocket({ host, port: one }).resume()),
  );
  for (const socket of sockets) socket.on("error", () => undefined);
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  await Promise.all([server.close(), ...sockets.map((socket) => once(socket, "close"))]);
  for (const host of ADDRESSES) {
    for (const one of [port, httpPort]) {
      const other = await occupy(host, one);
      await release(other);
      expect([host, other !== undefined]).toEqual([host, true]);
    }
  }
});

it.for(ADDRESSES)("refuses a port that another program has at %s", async (host, context) => {
  await needIpv6(context);
  const other = await occupy(host);
  onTestFinished(() => release(other));
  if (other === undefined) throw new Error(`${host}: it has no free port`);
  const { port } = other.address() as AddressInfo;
  for (const ports of [
    { port, httpPort: 0 },
    { port: 0, httpPort: port },
  ]) {
    const started = serve({ host: "localhost", ...ports });
    await expect(started).rejects.toMatchObject({ code: "PORT_IN_USE" });
  }
  const [left] = ADDRESSES.filter((one) => one !== host);
  const free = await occupy(left as string, port);
  await release(free);
  expect(free).toBeDefined();
});
