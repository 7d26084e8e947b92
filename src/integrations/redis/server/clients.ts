/**
 * Room `src/integrations/redis/server`: the server as the frontier uses it: clients of other packages, scripts, keys, packing, retries.
 * Decides nothing about crawling. May touch base and its own package.
 */

/**
 * Adapters: the commands that the frontier needs, over clients of other packages. Each sends commands raw and returns bulk texts as
 * `Buffer`.
 *
 *   text, plain options   ioredis, loaded here, ended with the frontier
 *   ioredis, iovalkey     `callBuffer`; a `Cluster` lists its masters by `nodes`
 *   node-redis            `sendCommand`; a cluster's takes the key first, and its masters are `masters`
 *   RedisCommands         as it is
 */
import { after } from "../../../base/clock.ts";
import { FrontierError, misuse } from "../../../base/errors.ts";
import { hasFunction, isObject } from "../../../base/type-guards.ts";
import type { RedisCommands } from "../redis-options.ts";
import { chance } from "./waiting.ts";

type Argument = string | Uint8Array;
type Listener = (channel: string, message: string) => void;

/** The part of ioredis and iovalkey that is used. */
interface IoClient {
  callBuffer(...args: unknown[]): Promise<unknown>;
  call(...args: unknown[]): Promise<unknown>;
  duplicate(...args: unknown[]): IoClient;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: string, listener: (...args: never[]) => void): unknown;
  nodes?(role: string): IoClient[];
  disconnect(): void;
}

/** The part of node-redis that is used. */
interface NodeClient {
  sendCommand(...args: unknown[]): Promise<unknown>;
  duplicate(): NodeClient;
  connect(): Promise<unknown>;
  subscribe(
    channel: string,
    listener: (message: string, channel: string) => void,
  ): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  destroy?(): unknown;
  disconnect?(): unknown;
  on(event: string, listener: (cause: unknown) => void): unknown;
  readonly masters?: ReadonlyArray<{ client?: NodeClient | Promise<NodeClient> }>;
  nodeClient?(node: unknown): NodeClient | Promise<NodeClient>;
}

/** Commands over whatever was given. Rejects with OPTION_INVALID for what is no client, UNSUPPORTED without ioredis. */
export async function commandsOf(given: unknown): Promise<RedisCommands> {
  if (typeof given === "string" && given !== "") return await openIoredis(given);
  if (!isObject(given)) throw notClient(given);
  if (hasFunction(given, "callBuffer")) return overIoredis(given as unknown as IoClient);
  if (hasFunction(given, "sendCommand")) return overNodeRedis(given as unknown as NodeClient);
  if (hasFunction(given, "call") && hasFunction(given, "nodes")) {
    return given as unknown as RedisCommands;
  }
  return await openIoredis(given);
}

function notClient(given: unknown): FrontierError {
  const expected = "a URL, the path of a socket, options of ioredis, or a client";
  return misuse("OPTION_INVALID", "options.redis", given, expected);
}

async function openIoredis(given: string | object): Promise<RedisCommands> {
  let module: { Redis: new (...args: unknown[]) => IoClient };
  try {
    module = (await import("ioredis")) as unknown as typeof module;
  } catch (cause) {
    const message = "ioredis: missing (expected: `npm install ioredis`, or a client of your own)";
    throw new FrontierError("UNSUPPORTED", message, { cause });
  }
  const own = {
    // The frontier tries again with the same batch id, and ends that after `giveUpMs`.
    ...{ maxRetriesPerRequest: 1, connectTimeout: 5_000, enableAutoPipelining: false },
    retryStrategy: (times: number) => Math.min(times * 50, 1_000),
  };
  const address = typeof given === "string" ? given.replace(/^unix:\/\//, "") : undefined;
  const client =
    address === undefined
      ? new module.Redis({ ...own, ...(given as object) })
      : new module.Redis(address, own);
  client.on("error", () => undefined); // the call that fails rejects
  const commands = overIoredis(client);
  return {
    ...commands,
    close: async () => {
      await commands.close();
      client.disconnect();
    },
  };
}

/** A connection that subscribes. It can be ended at any time, even before the server has answered. */
interface ListeningClient {
  add(channel: string): Promise<unknown>;
  drop(channel: string): Promise<unknown>;
  end(): void;
}

/** Listeners of channels over one connection of its own. */
function createListening(open: () => ListeningClient) {
  const listeners = new Map<string, Set<(message: string) => void>>();
  let opened: ListeningClient | undefined;
  return {
    close: async () => {
      try {
        opened?.end();
      } catch {
        // It has ended by itself.
      }
    },
    deliver: (channel: string, message: string): void => {
      for (const listener of listeners.get(channel) ?? []) listener(message);
    },
    missed: (): void => {
      for (const list of listeners.values()) for (const listener of list) listener(MISSED);
    },
    async subscribe(channel: string, listener: (message: string) => void) {
      opened ??= open();
      const { add, drop } = opened;
      // A channel counts as taken once the server has agreed: a call that failed may be made again.
      if (!listeners.has(channel)) await add(channel);
      const list = listeners.get(channel) ?? new Set();
      list.add(listener);
      listeners.set(channel, list);
      return async () => {
        if (!list.delete(listener) || list.size > 0) return;
        listeners.delete(channel);
        drop(channel).catch(() => undefined);
      };
    },
  };
}

const LISTEN_AGAIN_MS = 500;
/** What listeners get once they are subscribed again. */
const MISSED = "";

/**
 * Listens to the server, or to one node of a cluster, since each has the messages of all; where that connection ends, over another one
 * after a while. By itself ioredis would subscribe again without a catch, which ends a process whose connection fails twice, and its
 * `Cluster` would try the next node at once, in a tight loop while they refuse.
 */
function listenToNode(client: IoClient, deliver: Listener): ListeningClient {
  const channels = new Set<string>();
  let own: IoClient | undefined;
  let isOver = false;
  let cancel: () => void = () => undefined;
  const startLater = (): void => {
    own = undefined;
    if (!isOver) cancel = after(LISTEN_AGAIN_MS, start, false);
  };
  const start = (): void => {
    const nodes = client.nodes?.("all") ?? [client];
    const node = nodes[Math.floor(chance() * nodes.length)];
    if (node === undefined) {
      startLater();
      return;
    }
    const next = node.duplicate({ lazyConnect: false, retryStrategy: null });
    own = next;
    next.on("error", () => undefined);
    next.on("message", deliver as never);
    next.on("end", startLater);
    for (const channel of channels) {
      const again = next.subscribe(channel).then(() => deliver(channel, MISSED));
      again.catch(() => next.disconnect());
    }
  };
  start();
  return {
    add: async (channel) => {
      if (own === undefined) throw new Error("connection is closed"); // passing: it is tried again
      await own.subscribe(channel);
      channels.add(channel);
    },
    drop: async (channel) => {
      channels.delete(channel);
      await own?.unsubscribe(channel);
    },
    end: () => {
      isOver = true;
      cancel();
      own?.disconnect();
    },
  };
}

function overIoredis(client: IoClient): RedisCommands {
  const listening = createListening(() => listenToNode(client, listening.deliver));
  return {
    call: (_key, name, args) => client.callBuffer(name, ...args),
    subscribe: listening.subscribe,
    nodes: async () =>
      (client.nodes?.("master") ?? [client]).map(
        (node) => (name: string, args: readonly string[]) => node.call(name, ...args),
      ),
    close: listening.close,
  };
}

/** Bulk texts as bytes: the option of version 4, and that of 5, where `$` is the type of bulk texts. */
const AS_BYTES = { returnBuffers: true, typeMapping: { 36: Buffer } };

function overNodeRedis(client: NodeClient): RedisCommands {
  const isCluster = client.masters !== undefined;
  const send = (node: NodeClient, args: readonly Argument[]): Promise<unknown> =>
    node.sendCommand(asBuffers(args), AS_BYTES);
  const listening = createListening(() => {
    const own = client.duplicate();
    own.on("error", () => undefined);
    own.on("ready", listening.missed);
    let connected: Promise<unknown> | undefined;
    return {
      add: async (channel) => {
        connected ??= own.connect().catch((cause) => {
          connected = undefined;
          throw cause;
        });
        await connected;
        await own.subscribe(channel, (message) => listening.deliver(channel, message));
      },
      drop: (channel) => own.unsubscribe(channel),
      // `close` would wait for answers.
      end: () => void (own.destroy ?? own.disconnect)?.call(own),
    };
  });
  return {
    call: (key, name, args) =>
      isCluster
        ? client.sendCommand(key, false, asBuffers([name, ...args]), AS_BYTES)
        : send(client, [name, ...args]),
    subscribe: listening.subscribe,
    nodes: async () => {
      const masters = client.masters ?? [];
      const nodes = isCluster
        ? await Promise.all(masters.map((master) => master.client ?? client.nodeClient?.(master)))
        : [client];
      return nodes.map(
        (node) => async (name: string, args: readonly string[]) =>
          textOf(await send(node as NodeClient, [name, ...args])),
      );
    },
    close: listening.close,
  };
}

/** Version 4 takes texts and `Buffer`s, and no other bytes. */
function asBuffers(args: readonly Argument[]): Array<string | Buffer> {
  return args.map((one) =>
    typeof one === "string" ? one : Buffer.from(one.buffer, one.byteOffset, one.byteLength),
  );
}

function textOf(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(textOf);
  return Buffer.isBuffer(answer) ? answer.toString() : answer;
}
