/** A client of a frontier whose answers a test holds back, swallows or replaces; it counts what is under way. */
import { Redis } from "ioredis";
import { scriptOf, type ScriptName } from "../../src/integrations/redis/server/scripts.ts";
import type { RedisCommands } from "../../src/redis.ts";

export interface SteeredClient extends RedisCommands {
  /** Script calls so far, the most that were under way at once, and how often it was closed. */
  readonly counts: { calls: number; underWay: number; most: number; closes: number };
  /** No call and no `close` settles from now on. Nothing is sent. */
  mute(): void;
  /** What the answers of a script pass through on their way; undefined: nothing any more. */
  divert(name: ScriptName, pass: ((answer: unknown) => unknown) | undefined): void;
  end(): void;
}

/** A promise, and what fulfils it. */
export function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}

/** A client of a server on a socket. */
export function steeredClient(socket: string): SteeredClient {
  const client = new Redis(socket);
  client.on("error", () => undefined);
  const counts = { calls: 0, underWay: 0, most: 0, closes: 0 };
  const diverted = new Map<string, (answer: unknown) => unknown>();
  let isMute = false;
  const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
  return {
    counts,
    call: async (_key, name, args) => {
      if (isMute) return await never();
      counts.calls++;
      counts.most = Math.max(counts.most, ++counts.underWay);
      try {
        const answer = await client.callBuffer(name, ...(args as string[]));
        return (await diverted.get(String(args[0]))?.(answer)) ?? answer;
      } finally {
        counts.underWay--;
      }
    },
    nodes: async () => [(name, args) => client.call(name, ...args)],
    subscribe: async () => async () => undefined,
    close: () => {
      counts.closes++;
      return isMute ? never() : Promise.resolve();
    },
    mute: () => {
      isMute = true;
    },
    divert: (name, pass) => {
      const { sha, text } = scriptOf(name);
      for (const key of [sha, text]) {
        if (pass === undefined) diverted.delete(key);
        else diverted.set(key, pass);
      }
    },
    end: () => client.disconnect(),
  };
}
