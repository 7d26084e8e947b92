/**
 * The crawls of a server: each one is a frontier of its own, created when it is first used and found again at the next start.
 *
 *   directory/server        the names of the crawls and the default delay, as the state of a small frontier
 *   directory/crawl-<name>  one frontier each; the name in hexadecimal where it is no plain word, or its hash where that is too long
 *
 *   I1  A crawl is opened once, however many calls ask for it at the same time.
 *   I2  A crawl's name is stored before its first URL.
 */
import {
  type Clock,
  fingerprint,
  FrontierError,
  type Frontier,
  type FrontierOptions,
  openFrontier,
} from "../../index.ts";
import type { Crawl, Soon } from "./crawl.ts";
import type { Given } from "./given-records.ts";
import { LocalCrawl } from "./local-crawl.ts";
import { ROOM_ANY } from "./queue-table.ts";

const DELAY_DEFAULT = 1;
/** Attempts and hand-outs are the client's to count. */
const MANY = 2 ** 31 - 1;
/** Longest hexadecimal part of a name; a frontier's name has at most 200 characters. */
const NAME_LENGTH_MAX = 192;
/** Least lease time that the protocol can ask for; each lease has its own. */
const LEASE_MS = 1_000;

export interface RegistryOptions {
  /** No directory: memory only. */
  readonly directory: string | undefined;
  readonly durability: FrontierOptions["durability"];
  readonly crawlsMax: number;
  readonly clock: Clock | undefined;
  readonly now: () => number;
  readonly onFault: (crawl: string, cause: unknown) => void;
}

/** All servers of the crawls, or only the one that was called, until all are set again. */
export type Servers = "all" | "this";

/** What is set for all crawls, and which servers serve them. */
export interface Control {
  /** Whether GetURLs of this server answers anything. */
  isActive(): Soon<boolean>;
  setActive(isActive: boolean, servers: Servers): Soon<void>;
  /** This server listens at an address from now on. */
  join(address: string): Soon<void>;
  /** Addresses of all servers of these crawls. */
  nodes(): Soon<readonly string[]>;
}

export interface CrawlRegistry extends Control {
  /** The crawl of an id, created if it does not exist. Rejects with CRAWLS_FULL at the most crawls. */
  open(id: string): Soon<Crawl>;
  /** An existing crawl. */
  find(id: string): Soon<Crawl | undefined>;
  all(): Soon<Crawl[]>;
  frontiers(): Soon<Array<[id: string, frontier: Given]>>;
  delete(id: string): Promise<number>;
  setDelayDefault(seconds: number): Soon<void>;
  close(): Promise<void>;
}

/** The control of a server that is the only one of its crawls. */
export function createControl(): Control {
  let isOn = true;
  const addresses: string[] = [];
  return {
    isActive: () => isOn,
    setActive(isActive) {
      isOn = isActive;
    },
    join(address) {
      addresses.push(address);
    },
    nodes: () => addresses,
  };
}

interface Opened {
  readonly crawl: Crawl;
  readonly frontier: Frontier;
}

/** Opens the registry and all crawls that it names. */
export async function openRegistry(options: RegistryOptions): Promise<CrawlRegistry> {
  const registry = new LocalRegistry(options, await openNames(options));
  await registry.openStored();
  return Object.assign(registry, createControl());
}

/** The frontier that keeps the names. */
async function openNames({ directory, durability }: RegistryOptions): Promise<Frontier> {
  return await openFrontier({ name: "server", keepOpen: true, directory, durability });
}

class LocalRegistry implements Omit<CrawlRegistry, keyof Control> {
  readonly #options: RegistryOptions;
  readonly #names: Frontier;
  readonly #opened = new Map<string, Opened>();
  readonly #opening = new Map<string, Promise<Crawl>>();
  /** Deleted ones whose files are not gone yet. */
  readonly #closing = new Map<string, Promise<void>>();
  #isClosed = false;

  constructor(options: RegistryOptions, names: Frontier) {
    this.#options = options;
    this.#names = names;
  }

  get #stored(): string[] {
    this.#names.state.crawls ??= [];
    return this.#names.state.crawls as string[];
  }

  async openStored(): Promise<void> {
    try {
      for (const id of [...this.#stored]) await this.open(id);
    } catch (cause) {
      await this.close();
      throw cause;
    }
  }

  open(id: string): Crawl | Promise<Crawl> {
    const opened = this.#opened.get(id);
    if (opened !== undefined) return opened.crawl;
    const opening = this.#opening.get(id) ?? this.#make(id);
    this.#opening.set(id, opening);
    const settle = (): void => {
      this.#opening.delete(id);
    };
    opening.then(settle, settle);
    return opening;
  }

  async #make(id: string): Promise<Crawl> {
    const { clock, crawlsMax, directory, durability, now, onFault } = this.#options;
    if (this.#isClosed)
      throw new FrontierError("FRONTIER_CLOSED", "server: closed (expected: one that is open)");
    if (this.#opened.size + this.#opening.size >= crawlsMax) {
      const message = `crawls: ${crawlsMax} (expected: fewer, before crawl '${id}' is made)`;
      throw new FrontierError("CRAWLS_FULL", message);
    }
    if (!this.#stored.includes(id)) this.#stored.push(id);
    await this.#names.flush(); // I2: what an earlier call could not write, too
    await this.#closing.get(id);
    const frontier = await openFrontier({
      ...{ name: directoryName(id), directory, durability, clock },
      keepOpen: true,
      leaseMs: LEASE_MS,
      maxDeliveries: MANY,
      defaults: {
        key: { profile: "url" },
        maxAttempts: MANY,
        politeness: { perHost: ROOM_ANY },
      },
    });
    frontier.on("error", (fault) => onFault(id, fault));
    const crawl = new LocalCrawl(id, { frontier, now, delayDefault: () => this.delayDefault });
    this.#opened.set(id, { crawl, frontier });
    return crawl;
  }

  find(id: string): Crawl | undefined {
    return this.#opened.get(id)?.crawl;
  }

  all(): Crawl[] {
    return [...this.#opened.values()].map(({ crawl }) => crawl);
  }

  frontiers(): Array<[string, Frontier]> {
    return [...this.#opened].map(([id, { frontier }]) => [id, frontier]);
  }

  async delete(id: string): Promise<number> {
    const opened = this.#opened.get(id);
    if (opened === undefined) return 0;
    const count = opened.crawl.deleteAll(); // at once: what comes from now on is the next crawl's
    this.#opened.delete(id);
    const names = this.#stored;
    names.splice(names.indexOf(id), 1);
    const closing = opened.frontier
      .close({ discard: true }) // what is known of its hosts too
      .then(() => this.#names.flush())
      .finally(() => this.#closing.delete(id));
    this.#closing.set(id, closing);
    await closing;
    return await count;
  }

  get delayDefault(): number {
    const { delay } = this.#names.state;
    return typeof delay === "number" ? delay : DELAY_DEFAULT;
  }

  setDelayDefault(seconds: number): void {
    this.#names.state.delay = seconds;
    for (const { crawl } of this.#opened.values()) crawl.delayChanged();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#opening.values(), ...this.#closing.values()]);
    await Promise.all(this.frontiers().map(([, frontier]) => frontier.close()));
    await this.#names.close();
  }
}

/** A name that cannot be a hexadecimal one. */
const PLAIN = /^(?!x([0-9a-f]{2})+$)[\w-][\w.-]{0,79}$/;

/** A name for a directory: letters, digits, dots and dashes as they are, others by their bytes. */
function directoryName(id: string): string {
  if (PLAIN.test(id)) return `crawl-${id}`;
  const bytes = Buffer.from(id, "utf8").toString("hex");
  return `crawl-${bytes.length > NAME_LENGTH_MAX ? `~${fingerprint(bytes)}` : `x${bytes}`}`;
}
