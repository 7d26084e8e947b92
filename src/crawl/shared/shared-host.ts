/**
 * SharedHost: a host of a frontier that is elsewhere, as a crawl reads and changes it: reads return at once what was read last, and
 * changes are sent in the background.
 */
import type { AsyncFrontier, HostView } from "../../index.ts";

type Facts = {
  -readonly [K in keyof Omit<HostView, "blockUntil" | "hold" | "unhold">]: HostView[K];
};

/** Hosts that are remembered; more are forgotten, the oldest first. */
const HOSTS_MAX = 10_000;
/** Older answers are read again for the next caller. */
const FRESH_MS = 500;

export interface SharedHosts {
  of(key: string): HostView;
  /** Reads hosts, before their leases are worked on. */
  read(keys: Iterable<string>): Promise<void>;
  /** Resolves when all settings of a host have reached the frontier. */
  settled(key: string): Promise<void>;
}

interface Known {
  readonly facts: Facts;
  readAt: number;
  /** Changes that are being sent to the frontier, in order. */
  writes: Promise<unknown>;
}

export interface SharedHostsParts {
  readonly frontier: Pick<AsyncFrontier, "host">;
  readonly now: () => number;
  /** The delay that every host has at least. */
  readonly delayMs: number;
  readonly perHost: number;
  /** Reports the failure of a call whose answer is not awaited here. */
  readonly follow: <T>(call: Promise<T>) => Promise<T | undefined>;
}

export function createSharedHosts(parts: SharedHostsParts): SharedHosts {
  const { frontier, now, follow } = parts;
  const hosts = new Map<string, Known>();
  const known = (key: string): Known => {
    let host = hosts.get(key);
    if (host === undefined) {
      if (hosts.size >= HOSTS_MAX) hosts.delete(hosts.keys().next().value as string);
      host = { facts: factsOf(key, parts), readAt: 0, writes: Promise.resolve() };
      hosts.set(key, host);
    }
    return host;
  };
  const read = async (key: string): Promise<void> => {
    const host = known(key);
    host.readAt = now();
    const { writes } = host;
    await writes;
    const facts = await frontier.host(key).view();
    // A setting made meanwhile is newer.
    if (host.writes === writes) Object.assign(host.facts, facts);
  };
  const write = (key: string, call: () => Promise<unknown>): void => {
    const host = known(key);
    host.writes = follow(host.writes.then(call));
  };
  /** Never sooner than it is blocked by others. */
  const block = async (key: string, untilMs: number): Promise<void> => {
    const host = frontier.host(key);
    const { blockedUntil } = await host.view();
    if (blockedUntil < untilMs) await host.blockUntil(untilMs);
  };
  return {
    read: async (keys) => {
      await Promise.all(Array.from(new Set(keys), read));
    },
    settled: async (key) => {
      await hosts.get(key)?.writes;
    },
    of(key) {
      const host = known(key);
      if (now() > host.readAt + FRESH_MS) void follow(read(key));
      const { facts } = host;
      const view = Object.create(facts, {
        delayMs: {
          get: () => facts.delayMs,
          set(delayMs: number) {
            facts.delayMs = delayMs;
            write(key, () => frontier.host(key).set({ delayMs }));
          },
        },
        limit: {
          get: () => facts.limit,
          set(limit: number) {
            facts.limit = limit;
            write(key, () => frontier.host(key).set({ limit }));
          },
        },
      });
      return Object.assign(view, {
        blockUntil(at: number | Date) {
          const untilMs = Number(at);
          facts.blockedUntil = Math.max(facts.blockedUntil, untilMs);
          write(key, () => block(key, untilMs));
        },
        hold: () => write(key, () => frontier.host(key).hold()),
        unhold: () => write(key, () => frontier.host(key).unhold()),
      }) as HostView;
    },
  };
}

/** Of a host that was not read yet. */
function factsOf(key: string, { delayMs, perHost }: SharedHostsParts): Facts {
  return {
    key,
    ...{ delayMs, limit: perHost, leased: 0, readyAt: 0, blockedUntil: 0 },
    ...{ held: false, failures: 0, admitted: 0, bytes: 0 },
  };
}
