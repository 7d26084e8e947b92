/**
 * A link that can be cut, slowed and stalled: a TCP proxy on loopback in front of a server. What was sent is delivered in order and whole, or the
 * connection breaks, as a network does it.
 */
import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";

export interface LinkProxy {
  readonly port: number;
  /** Connections that were asked for, those included that were refused. */
  readonly connections: number;
  /** Bytes that went through, both ways. */
  readonly bytes: number;
  /** Delays every byte by so many milliseconds, each way. */
  slow(ms: number): void;
  /** Breaks every connection, and refuses new ones until `mend`. */
  cut(): void;
  /** Delivers nothing, with connections left open, until `mend`. */
  stall(): void;
  /** The link as it was. */
  mend(): void;
  close(): Promise<void>;
}

type Target = { readonly path: string } | { readonly port: number };

/** Opens the proxy on a free port of the loopback. */
export async function openLinkProxy(target: Target): Promise<LinkProxy> {
  const sockets = new Set<Socket>();
  const held = new Set<() => void>();
  const state: LinkState = {
    ...{ delayMs: 0, isCut: false, isStalled: false, bytes: 0, connections: 0 },
    held,
  };
  const add = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
    forward(socket, other, state);
  };
  const server = createServer((client) => {
    state.connections++;
    if (state.isCut) return void client.destroy();
    const upstream = connect(target as { port: number });
    add(client, upstream);
    add(upstream, client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const resume = (): void => {
    state.isStalled = false;
    for (const resolve of held) resolve();
    held.clear();
  };
  return {
    port: (server.address() as { port: number }).port,
    get connections() {
      return state.connections;
    },
    get bytes() {
      return state.bytes;
    },
    slow: (ms) => {
      state.delayMs = ms;
    },
    cut: () => {
      state.isCut = true;
      breakAll();
    },
    stall: () => {
      state.isStalled = true;
    },
    mend: () => {
      state.isCut = false;
      state.delayMs = 0;
      resume();
    },
    close: async () => {
      resume();
      breakAll();
      server.close();
      await once(server, "close");
    },
  };
}

interface LinkState {
  delayMs: number;
  isCut: boolean;
  isStalled: boolean;
  bytes: number;
  connections: number;
  /** What goes on when the link is no longer stalled. */
  readonly held: Set<() => void>;
}

/** Delivers what comes, in order, as late as the link is slow. */
function forward(from: Socket, to: Socket, state: LinkState): void {
  let last = Promise.resolve();
  from.on("data", (data) => {
    state.bytes += data.length;
    const due = performance.now() + state.delayMs;
    last = last.then(async () => {
      await over(due);
      while (state.isStalled) await new Promise<void>((resolve) => state.held.add(resolve));
      if (!to.destroyed) to.write(data);
    });
  });
}

/** A proxy before each node of a cluster, and where an ioredis `Cluster` finds them: its option `natMap`. */
export async function openLinkProxies(nodes: ReadonlyArray<{ readonly port: number }>): Promise<{
  readonly proxies: readonly LinkProxy[];
  readonly natMap: Record<string, { host: string; port: number }>;
}> {
  const proxies: LinkProxy[] = [];
  const natMap: Record<string, { host: string; port: number }> = {};
  for (const { port } of nodes) {
    const proxy = await openLinkProxy({ port });
    proxies.push(proxy);
    natMap[`127.0.0.1:${port}`] = { host: "127.0.0.1", port: proxy.port };
  }
  return { proxies, natMap };
}

async function over(due: number): Promise<void> {
  const left = due - performance.now();
  if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
}
