/**
 * Room `src/integrations/redis/service`: several servers of a protocol on one Redis as one service: which crawls there are, what is set for all,
 * which servers are alive, and the queues of a crawl. Decides nothing about URLs. May touch the rooms beside it.
 */

/**
 * RedisService: what servers of one name share, in one hash (lua/service-1.lua). A crawl is a frontier of its own.
 *
 *   <prefix>:{<name>}:service      crawls, settings, servers
 *   frontier <name>:<crawl>        a crawl; with ~<number> where it was deleted before, or its id is no plain word
 *
 *   I1  A crawl that is deleted leaves the hash first; its frontier's name is never reused, and any server then deletes its keys.
 */
import type { Clock } from "../../../base/clock.ts";
import { FrontierError, misuse } from "../../../base/errors.ts";
import type { RedisCommands } from "../redis-options.ts";
import { closeUnused, dropPartitions, openOn } from "../open-redis-frontier.ts";
import { commandsOf } from "../server/clients.ts";
import { partitionKeys } from "../server/partition-keys.ts";
import { checkServers } from "../server/server-checks.ts";
import { ServerLink } from "../server/server-link.ts";
import { MACHINE, randomBytes } from "../server/waiting.ts";
import { RedisQueues } from "./queues.ts";

const GIVE_UP_MS = 30_000;
/** Attempts and hand-outs are the client's to count. */
const MANY = 2 ** 31 - 1;
/** Least lease time that the protocol can ask for; each lease has its own. */
const LEASE_MS = 1_000;
const NAME = /^[^{}]{1,100}$/;
const PLAIN_ID = /^[\w-][\w.-]{0,79}$/;

export interface RedisServiceOptions {
  readonly redis: string | object;
  /** Servers of one name are one service. */
  readonly name: string;
  /** Of crawls that are made from now on. */
  readonly partitions: number | undefined;
  readonly clock: Clock | undefined;
}

export interface ServiceState {
  readonly isActive: boolean;
  /** Differs after each `setActive`. */
  readonly activeMark: string;
  /** Seconds; undefined: never set. */
  readonly delay: number | undefined;
  /** Frontiers by the ids of their crawls, in the order of their making. */
  readonly crawls: ReadonlyMap<string, string>;
  readonly nodes: readonly string[];
  /** Frontiers that are being deleted. */
  readonly gone: readonly string[];
}

/** Opens the service of a name, made where it is not there yet. Rejects as `openRedisFrontier` does. @internal */
export async function openRedisService(options: RedisServiceOptions): Promise<RedisService> {
  if (!NAME.test(options.name)) {
    const expected = "1 to 100 characters without braces";
    throw misuse("ARGUMENT_INVALID", "options.name", options.name, expected);
  }
  const commands = await commandsOf(options.redis);
  try {
    await checkServers(commands, GIVE_UP_MS);
    const service = new RedisService(commands, options);
    await service.state();
    return service;
  } catch (cause) {
    await closeUnused(commands);
    throw cause;
  }
}

/** @internal */
export class RedisService {
  readonly #commands: RedisCommands;
  /** For frontiers: the connections are the service's. */
  readonly #shared: RedisCommands;
  readonly #options: RedisServiceOptions;
  readonly #link: ServerLink;
  readonly #node = randomBytes(2).toString("hex");

  constructor(commands: RedisCommands, options: RedisServiceOptions) {
    this.#commands = commands;
    this.#shared = { ...commands, close: async () => undefined };
    this.#options = options;
    this.#link = this.#linkOf([[`${PREFIX}:{${options.name}}:service`]]);
  }

  #linkOf(keys: readonly (readonly string[])[]): ServerLink {
    const { clock } = this.#options;
    const now = (): string => (clock === undefined ? "" : String(clock.now()));
    return new ServerLink({ commands: this.#commands, keys, now, giveUpMs: GIVE_UP_MS });
  }

  /** Everything that servers share, as it is now. */
  async state(): Promise<ServiceState> {
    return (await this.#ask("read")).state;
  }

  /** Registers this server, or renews it, for so many milliseconds of the Redis server's clock. */
  async join(address: string, lastsMs: number): Promise<ServiceState> {
    return (await this.#ask("join", this.#node, address, String(lastsMs))).state;
  }

  async leave(): Promise<void> {
    await this.#ask("leave", this.#node);
  }

  async setActive(isActive: boolean): Promise<void> {
    const mark = randomBytes(8).toString("hex");
    await this.#ask("set", "active", isActive ? "1" : "0", "mark", mark);
  }

  async setDelay(seconds: number): Promise<void> {
    await this.#ask("set", "delay", String(seconds));
  }

  /** The name of a crawl's frontier, given where it has none; undefined: there are as many crawls as may be. */
  async nameOf(id: string, crawlsMax: number): Promise<string | undefined> {
    const plain = PLAIN_ID.test(id) ? id : "";
    const { name } = await this.#ask(
      ...["crawl", id, `${this.#options.name}:`, plain, String(crawlsMax)],
    );
    return name === "" ? undefined : name;
  }

  /** Opens the frontier of a crawl. One that is there keeps the partitions that it was made with. */
  async open(name: string): Promise<RedisQueues> {
    const { clock, partitions } = this.#options;
    const given = {
      ...{ redis: this.#shared, name, clock, keepOpen: true },
      ...{ leaseMs: LEASE_MS, maxDeliveries: MANY },
      defaults: {
        key: { profile: "url" as const },
        maxAttempts: MANY,
        politeness: { perHost: MANY },
      },
    };
    const on = await openOn(this.#shared, { ...given, partitions }, true).catch((cause) => {
      if (!(cause instanceof FrontierError) || cause.code !== "PROFILE_MISMATCH") throw cause;
      return openOn(this.#shared, given, true);
    });
    return new RedisQueues(on, () => clock?.now() ?? MACHINE.now());
  }

  /** Takes a crawl out; its frontier's keys go with `sweep`. */
  async delete(id: string): Promise<void> {
    await this.#ask("delete", id);
  }

  /** Deletes the keys of frontiers whose crawls are deleted. */
  async sweep({ gone }: ServiceState): Promise<void> {
    for (const name of gone) {
      const [key = ""] = partitionKeys(PREFIX, name, 0);
      const partitions = Number(
        await this.#link.retry(() => this.#commands.call(key, "HGET", [key, "partitions"])),
      );
      const each = Array.from({ length: partitions }, (_, at) => partitionKeys(PREFIX, name, at));
      await dropPartitions(this.#linkOf(each));
      await this.#ask("swept", name);
    }
  }

  async close(): Promise<void> {
    await this.#link.close(() => this.#commands.close());
  }

  async #ask(...args: string[]): Promise<{ name: string; state: ServiceState }> {
    const [name, fields] = await this.#link.run("service", 0, args);
    return { name: String(name), state: stateOf(fields as unknown[]) };
  }
}

const PREFIX = "outrider";

function stateOf(fields: readonly unknown[]): ServiceState {
  const all = new Map<string, string>();
  for (let at = 0; at < fields.length; at += 2) all.set(String(fields[at]), String(fields[at + 1]));
  const named = (kind: string): Array<[string, string]> =>
    [...all]
      .filter(([field]) => field.startsWith(`${kind}:`))
      .map(([field, value]) => [field.slice(2), value]);
  const crawls = named("c")
    .map(([id, value]) => ({
      id,
      order: Number.parseInt(value, 10),
      name: value.replace(/^\d+ /, ""),
    }))
    .sort((a, b) => a.order - b.order);
  const delay = all.get("delay");
  return {
    isActive: all.get("active") !== "0",
    activeMark: all.get("mark") ?? "",
    delay: delay === undefined ? undefined : Number(delay),
    crawls: new Map(crawls.map(({ id, name }) => [id, name])),
    nodes: [...new Set(named("n").map(([, value]) => value.replace(/^\S+ /, "")))].sort(),
    gone: named("t").map(([name]) => name),
  };
}
