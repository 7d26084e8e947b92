/**
 * The crawls of servers that share one Redis: found and created in the service's own hash, so that each server finds those of the others.
 *
 *   I1  What a call may depend on (crawls, default delay, active or not) is read after the call has come.
 *   I2  A server is listed while it renews its entry; one that dies leaves nothing but that entry, which expires.
 */
import { after } from "../../base/clock.ts";
import { type Clock, FrontierError } from "../../index.ts";
import type { RedisQueues, RedisService } from "../../redis.ts";
import type { Crawl } from "./crawl.ts";
import type { CrawlRegistry, Servers } from "./crawl-registry.ts";
import type { Given } from "./given-records.ts";
import { RedisCrawl } from "./redis-crawl.ts";

const DELAY_DEFAULT = 1;
const BEAT_MS = 2_000;
/** A server that has not renewed its entry for so long is not listed any more. */
const NODE_MS = 7_000;

export interface RedisRegistryOptions {
  readonly redis: string | object;
  readonly name: string;
  readonly partitions: number | undefined;
  readonly crawlsMax: number;
  readonly clock: Clock | undefined;
  readonly onFault: (crawl: string, cause: unknown) => void;
}

/** Rejects with what `openRedisFrontier` rejects with. */
export async function openRedisRegistry(options: RedisRegistryOptions): Promise<CrawlRegistry> {
  const { openRedisService } = await import("../../redis.ts");
  const service = await openRedisService(options);
  const registry = new RedisRegistry(options, service);
  await registry.begin().catch(async (cause) => {
    await service.close();
    throw cause;
  });
  return registry;
}

interface Known {
  readonly crawl: RedisCrawl;
  /** Name of its frontier; undefined: not read yet. */
  name: string | undefined;
  queues: Promise<RedisQueues> | undefined;
  /** The same, once they are open. */
  current: RedisQueues | undefined;
}

type State = Awaited<ReturnType<RedisService["state"]>>;

class RedisRegistry implements CrawlRegistry {
  readonly #options: RedisRegistryOptions;
  readonly #service: RedisService;
  readonly #known = new Map<string, Known>();
  #delay = DELAY_DEFAULT;
  /** What this server alone was set to; it holds while `mark` is the service's. */
  #own: { readonly isActive: boolean; readonly mark: string } | undefined;
  #address: string | undefined;
  #stopBeat: () => void = () => undefined;
  #renewing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: RedisRegistryOptions, service: RedisService) {
    this.#options = options;
    this.#service = service;
  }

  async begin(): Promise<void> {
    await this.#renew(true);
  }

  open(id: string): Crawl {
    return this.#entry(id).crawl;
  }

  async find(id: string): Promise<Crawl | undefined> {
    const state = await this.#read();
    return state.crawls.has(id) ? this.#entry(id).crawl : undefined;
  }

  async all(): Promise<Crawl[]> {
    const { crawls } = await this.#read();
    return [...crawls.keys()].map((id) => this.#entry(id).crawl);
  }

  async frontiers(): Promise<Array<[string, Given]>> {
    const { crawls } = await this.#read();
    const all = await Promise.all(
      [...crawls.keys()].map(async (id): Promise<Array<[string, Given]>> => {
        const queues = await this.#queuesOf(this.#entry(id));
        return queues === undefined ? [] : [[id, queues.frontier]];
      }),
    );
    return all.flat();
  }

  async delete(id: string): Promise<number> {
    const crawl = await this.find(id);
    const count = (await crawl?.count({ key: "", text: "", ignoreCase: false })) ?? 0;
    await this.#service.delete(id);
    await this.#service.sweep(await this.#read());
    return count;
  }

  async setDelayDefault(seconds: number): Promise<void> {
    await this.#service.setDelay(seconds);
    for (const crawl of await this.all()) await crawl.delayChanged();
  }

  async isActive(): Promise<boolean> {
    const { isActive, activeMark } = await this.#read();
    return this.#own?.mark === activeMark ? this.#own.isActive : isActive;
  }

  async setActive(isActive: boolean, servers: Servers): Promise<void> {
    if (servers === "this") this.#own = { isActive, mark: (await this.#read()).activeMark };
    else await this.#service.setActive(isActive);
  }

  async join(address: string): Promise<void> {
    this.#address = address;
    await this.#service.join(address, NODE_MS);
  }

  async nodes(): Promise<readonly string[]> {
    if (this.#address === undefined) return [];
    return (await this.#service.join(this.#address, NODE_MS)).nodes;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopBeat();
    await this.#renewing;
    await Promise.allSettled([...this.#known.values()].map((known) => this.#shut(known)));
    await this.#service.leave().catch((cause) => this.#options.onFault("redis", cause));
    await this.#service.close();
  }

  #entry(id: string): Known {
    let known = this.#known.get(id);
    if (known === undefined) {
      const made: Known = {
        name: undefined,
        queues: undefined,
        current: undefined,
        crawl: new RedisCrawl(id, {
          open: () => this.#openQueues(id, made),
          find: () => this.#queuesOf(made),
          hasGone: (queues, cause) => this.#hasGone(made, queues, cause),
          delayDefault: () => this.#delay,
        }),
      };
      known = made;
      this.#known.set(id, known);
    }
    return known;
  }

  /** The queues of a crawl that existed when the state was last read. */
  async #queuesOf(known: Known): Promise<RedisQueues | undefined> {
    const { name } = known;
    if (name === undefined) return undefined;
    known.queues ??= this.#openNamed(known, name);
    return await known.queues;
  }

  async #openQueues(id: string, known: Known): Promise<RedisQueues> {
    if (this.#isClosed)
      throw new FrontierError("FRONTIER_CLOSED", "server: closed (expected: one that is open)");
    if (known.name === undefined) {
      const { crawlsMax } = this.#options;
      const name = await this.#service.nameOf(id, crawlsMax);
      if (name === undefined) {
        const message = `crawls: ${crawlsMax} (expected: fewer, before crawl '${id}' is made)`;
        throw new FrontierError("CRAWLS_FULL", message);
      }
      this.#rename(known, name);
    }
    return (await this.#queuesOf(known)) ?? (await this.#openQueues(id, known));
  }

  async #openNamed(known: Known, name: string): Promise<RedisQueues> {
    try {
      const queues = await this.#service.open(name);
      queues.frontier.on("error", (fault) => this.#options.onFault(known.crawl.id, fault));
      if (known.name === name) known.current = queues;
      return queues;
    } catch (cause) {
      known.queues = undefined;
      throw cause;
    }
  }

  /** Reads the current state; crawls take it over. */
  async #read(): Promise<State> {
    return this.#follow(await this.#service.state());
  }

  #follow(state: State): State {
    this.#delay = state.delay ?? DELAY_DEFAULT;
    for (const [id, name] of state.crawls) this.#rename(this.#entry(id), name);
    for (const [id, known] of this.#known) {
      if (!state.crawls.has(id)) this.#rename(known, undefined);
    }
    return state;
  }

  #rename(known: Known, name: string | undefined): void {
    if (known.name === name) return;
    void this.#shut(known).catch((cause) => this.#options.onFault(known.crawl.id, cause));
    known.name = name;
  }

  /** Closes the frontier of a crawl here. */
  async #shut(known: Known): Promise<void> {
    const { queues } = known;
    known.queues = undefined;
    known.current = undefined;
    await (await queues)?.frontier.close({ discard: true });
  }

  #hasGone(known: Known, queues: RedisQueues, cause: unknown): boolean {
    if (this.#isClosed || (cause as { code?: unknown }).code !== "FRONTIER_CLOSED") return false;
    if (known.current === queues) this.#rename(known, undefined);
    return true;
  }

  /** Renews this server's entry, and continues deletions that dead servers have begun. */
  async #renew(isFirst = false): Promise<void> {
    this.#stopBeat();
    try {
      const state =
        this.#address === undefined
          ? await this.#service.state()
          : await this.#service.join(this.#address, NODE_MS);
      await this.#service.sweep(this.#follow(state));
    } catch (cause) {
      if (isFirst) throw cause;
      this.#options.onFault("redis", cause);
    }
    if (this.#isClosed) return;
    this.#stopBeat = after(
      BEAT_MS,
      () => {
        this.#renewing = this.#renew();
      },
      false,
    );
  }
}
