/**
 * Listening at an address. `localhost` is both of this machine's loopback addresses: which of them a client takes first, and which
 * one a name service has, differs from machine to machine.
 *
 *   127.0.0.1:port ─▶ server ◀─ connections ─ beside ◀─ [::1]:port
 */
import { FrontierError } from "../base/errors.ts";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

export interface Listening {
  readonly port: number;
  /** Takes no new connections; resolves when all of them have ended. */
  close(): Promise<void>;
}

/** Error codes of a machine without IPv6. */
const WITHOUT_IPV6: ReadonlySet<unknown> = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT"]);

export interface ListenOptions {
  /** The option that the port comes from. */
  readonly option: "port" | "httpPort";
  readonly host: string;
  readonly port: number;
  /** Is called where a connection could not be taken. */
  readonly onFault: (cause: unknown) => void;
}

/** Rejects with PORT_IN_USE. */
export async function listenOn(server: Server, options: ListenOptions): Promise<Listening> {
  return await listening(server, options).catch((cause: Error) => {
    const { option, host, port } = options;
    const message = `${option}: ${host}:${port} (expected: a free port): ${cause.message}`;
    throw new FrontierError("PORT_IN_USE", message, cause);
  });
}

async function listening(
  server: Server,
  { host, port, onFault }: ListenOptions,
): Promise<Listening> {
  const isLocal = host === "localhost";
  await bound(server, isLocal ? "127.0.0.1" : host, port);
  const servers = [server];
  const address = server.address() as AddressInfo;
  if (isLocal) {
    try {
      servers.push(await listenBeside(server, address.port));
    } catch (cause) {
      if (!WITHOUT_IPV6.has((cause as { code?: unknown }).code)) {
        await closed(server);
        throw cause;
      }
    }
  }
  for (const one of servers) one.on("error", onFault);
  return {
    port: address.port,
    async close() {
      await Promise.all(servers.map(closed));
    },
  };
}

/** Listens at `::1` and passes its connections to the server. */
async function listenBeside(server: Server, port: number): Promise<Server> {
  // The options that this kind of server needs for its sockets.
  const { allowHalfOpen, noDelay } = server as { allowHalfOpen?: boolean; noDelay?: boolean };
  const beside = createServer({ allowHalfOpen: allowHalfOpen === true, noDelay: noDelay === true });
  beside.on("connection", (socket: Socket) => server.emit("connection", socket));
  beside.maxConnections = server.maxConnections;
  await bound(beside, "::1", port);
  return beside;
}

function bound(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
