/**
 * Room `src/integrations/crawlee/storage`: Crawlee's storages on frontiers: which queue is which frontier, and the protocols of
 * versions 3 and 4. May touch what `src/integrations/crawlee` may.
 *
 * QueueRegistry: the request queues of a storage, each a frontier of its own in the storage's directory, opened when it is first asked for.
 *
 *   queue     frontier's name    emptied by purge
 *   default   "default"          yes
 *   named     its name           no, but those that begin with __CRAWLEE_TEMPORARY
 *   alias     "~" and the alias  yes, also what an earlier process left: the default queue's state lists them
 *   unnamed   its id             no
 *
 * The times and the deletions of a queue stand in its frontier's state, and so does the list of aliases.
 *
 *   I1  One entry for each name, whatever its upper and lower case, as in Crawlee; two that ask for it at once get the same one.
 *   I2  A request that was deleted is put as finished, and its id noted: it is not counted and not returned until it is added again.
 */
import { openFrontier, type FrontierOptions } from "../../../index.ts";
import { type Clock, createSystemClock, dateOf } from "../../../base/clock.ts";
import { FrontierError, misuse } from "../../../base/errors.ts";
import type { CrawleeRequest, QueueInfo, StoredRequest } from "../crawlee-types.ts";
import { crawleeFrontier } from "../manager-options.ts";
import { requestId } from "../request-id.ts";
import { type AnyFrontier, RequestStore, type StoreOptions } from "../request-store.ts";

export interface RegistryOptions {
  readonly frontier: FrontierOptions;
  readonly open: (options: FrontierOptions) => Promise<AnyFrontier>;
  readonly priorityOf: StoreOptions["priorityOf"];
  readonly keepHandled: boolean;
}

/**
 * What a storage is asked for by; nothing: the default one.
 *
 * @example
 * await backend.createRequestQueueBackend({ alias: "of-this-run" });
 */
export interface QueueName {
  /**
   * Its id.
   * @defaultValue none
   */
  readonly id?: string | undefined;
  /**
   * Its name: it is kept over runs.
   * @defaultValue none
   */
  readonly name?: string | undefined;
  /**
   * Its alias: it is emptied when a run begins.
   * @defaultValue none
   */
  readonly alias?: string | undefined;
}

/** What a queue keeps in its frontier's state. */
interface QueueState {
  createdAt: number;
  deleted: string[];
  aliases: string[];
}

const STATE = "crawlee";
const DEFAULT = "default";
const ALIAS = "~";
const TEMPORARY = "__CRAWLEE_TEMPORARY";

export class QueueEntry {
  readonly id: string;
  readonly name: string | undefined;
  readonly frontier: AnyFrontier;
  readonly #options: StoreOptions;
  readonly #stores = new Map<string, RequestStore>();
  readonly #createdAt: number;
  readonly #deleted: Set<string>;
  #modifiedAt: number;
  #accessedAt: number;
  isDropped = false;

  constructor(
    { id, name }: { id: string; name: string | undefined },
    frontier: AnyFrontier,
    options: StoreOptions,
  ) {
    const nowMs = options.clock.now();
    this.id = id;
    this.name = name;
    this.frontier = frontier;
    this.#options = options;
    const kept = readState(frontier);
    this.#createdAt = kept.createdAt ?? nowMs;
    this.#deleted = new Set(kept.deleted);
    this.#modifiedAt = nowMs;
    this.#accessedAt = nowMs;
    if (kept.createdAt === undefined) writeState(frontier, { createdAt: nowMs });
  }

  /** Locks are those of one client; clients without a key of their own share theirs. */
  store(clientKey = ""): RequestStore {
    const known = this.#stores.get(clientKey) ?? new RequestStore(this.frontier, this.#options);
    this.#stores.set(clientKey, known);
    return known;
  }

  /** What a client has locked; without a key, what any has. */
  locked(clientKey: string | undefined): StoredRequest[] {
    const stores = clientKey === undefined ? [...this.#stores.values()] : [this.store(clientKey)];
    return stores.flatMap((store) => store.locked());
  }

  get modifiedAt(): Date {
    return dateOf(this.#modifiedAt);
  }

  touch(isChanged: boolean): void {
    this.#accessedAt = this.#options.clock.now();
    if (isChanged) this.#modifiedAt = this.#accessedAt;
  }

  async info(): Promise<QueueInfo> {
    const { totalRequestCount, handledRequestCount, ...counts } = await this.store().counts();
    const deleted = this.#deleted.size;
    return {
      id: this.id,
      ...(this.name === undefined ? {} : { name: this.name }),
      createdAt: dateOf(this.#createdAt),
      modifiedAt: this.modifiedAt,
      accessedAt: dateOf(this.#accessedAt),
      totalRequestCount: totalRequestCount - deleted,
      handledRequestCount: handledRequestCount - deleted,
      ...counts,
    };
  }

  isDeleted(id: string): boolean {
    return this.#deleted.size > 0 && this.#deleted.has(id);
  }

  /** Takes a request out. False: another client has it. */
  async delete(id: string, request: StoredRequest): Promise<boolean> {
    const info = await this.store().finish(request);
    if (info === undefined) return false;
    this.#deleted.add(id);
    writeState(this.frontier, { deleted: [...this.#deleted] });
    return true;
  }

  /** Makes the deleted ones among requests new again, so that adding them adds. */
  async revive(requests: readonly CrawleeRequest[], forefront: boolean): Promise<Set<string>> {
    const revived = new Set<string>();
    if (this.#deleted.size === 0) return revived;
    for (const request of requests) {
      const id = requestId(request.uniqueKey);
      if (!this.#deleted.delete(id)) continue;
      if (request.handledAt) await this.store().finish(request);
      else await this.store().reclaim(request, forefront);
      revived.add(id);
    }
    if (revived.size > 0) writeState(this.frontier, { deleted: [...this.#deleted] });
    return revived;
  }

  async clear(): Promise<void> {
    for (const store of this.#stores.values()) store.forgetLocks();
    await this.frontier.clear();
    this.#deleted.clear();
    writeState(this.frontier, { deleted: [] });
    this.touch(true);
  }

  /** Throws where the queue was dropped. */
  assertThere(): void {
    if (!this.isDropped) return;
    const expected = "a queue that was not dropped; open it anew";
    throw new FrontierError("STATE_INVALID", `queue ${this.id}: gone (expected: ${expected})`);
  }
}

export class QueueRegistry {
  readonly #options: RegistryOptions;
  readonly #clock: Clock;
  readonly #entries = new Map<string, Promise<QueueEntry>>();
  /** Entries that are open, for look-ups that can not wait. */
  readonly #open = new Map<string, QueueEntry>();

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#clock = options.frontier.clock ?? createSystemClock();
  }

  /** An open queue by its id or name, whatever its case. */
  find(idOrName: string): QueueEntry | undefined {
    const wanted = idOrName.toLowerCase();
    for (const entry of this.#open.values()) {
      if (entry.id === idOrName || entry.name?.toLowerCase() === wanted) return entry;
    }
    return undefined;
  }

  /** Open queues, the oldest first. */
  all(): QueueEntry[] {
    return [...this.#open.values()];
  }

  /** A queue, opened where it is not yet. Rejects with `ARGUMENT_INVALID` for a name that reaches out of the directory. */
  async open({ id, name, alias }: QueueName): Promise<QueueEntry> {
    const wanted = id ?? name ?? alias ?? DEFAULT;
    checkName(wanted);
    const known = alias === undefined ? this.find(wanted) : undefined;
    if (known !== undefined) return known;
    const frontierName = alias === undefined ? wanted : ALIAS + alias;
    const key = frontierName.toLowerCase();
    const opening = this.#entries.get(key) ?? this.#openEntry(frontierName, { id, name });
    this.#entries.set(key, opening);
    try {
      const entry = await opening;
      if (alias !== undefined) await this.#noteAlias(alias);
      return entry;
    } catch (error) {
      this.#entries.delete(key);
      throw error;
    }
  }

  async #openEntry(frontierName: string, { id, name }: QueueName): Promise<QueueEntry> {
    const { frontier: given, open, priorityOf, keepHandled } = this.#options;
    const frontier = await open(crawleeFrontier({ ...given, name: frontierName }));
    const own = { id: id ?? requestId(frontierName), name };
    const entry = new QueueEntry(own, frontier, { priorityOf, keepHandled, clock: this.#clock });
    this.#open.set(frontierName.toLowerCase(), entry);
    return entry;
  }

  async #noteAlias(alias: string): Promise<void> {
    if (this.#options.frontier.directory === undefined) return;
    const { frontier } = await this.open({ name: DEFAULT });
    const { aliases = [] } = readState(frontier);
    if (!aliases.includes(alias)) writeState(frontier, { aliases: [...aliases, alias] });
  }

  /** Removes a queue and its files. */
  async drop(entry: QueueEntry): Promise<void> {
    if (entry.isDropped) return;
    entry.isDropped = true;
    for (const [key, open] of this.#open) {
      if (open !== entry) continue;
      this.#open.delete(key);
      this.#entries.delete(key);
    }
    await entry.frontier.close({ discard: true });
  }

  /** Empties the queues of one run: the default one, aliases, and temporary ones. */
  async purge(): Promise<void> {
    if (this.#options.frontier.directory !== undefined) {
      const { frontier } = await this.open({ name: DEFAULT });
      for (const alias of readState(frontier).aliases ?? []) await this.open({ alias });
    }
    for (const [key, entry] of this.#open) {
      const isOfRun = key === DEFAULT || key.startsWith(ALIAS);
      if (isOfRun || key.startsWith(TEMPORARY.toLowerCase())) await entry.clear();
    }
  }

  /** Resolves when every queue is on the disk. */
  async flush(): Promise<void> {
    for (const entry of this.#open.values()) await entry.frontier.flush();
  }

  /** Closes every queue. */
  async close(): Promise<void> {
    const all = this.all();
    this.#open.clear();
    this.#entries.clear();
    for (const entry of all) {
      entry.isDropped = true;
      await entry.frontier.close();
    }
  }
}

/** How a registry opens its queues by default. */
export const openHere = (options: FrontierOptions): Promise<AnyFrontier> => openFrontier(options);

function checkName(name: string): void {
  if (!/[\\/]|^\.{1,2}$/.test(name) && name !== "") return;
  throw misuse("ARGUMENT_INVALID", "name", name, "a name without path segments");
}

/** State is kept by frontiers of this thread alone; others keep the entry's in memory. */
function readState(frontier: AnyFrontier): Partial<QueueState> {
  if (typeof frontier.state === "function") return {};
  return (frontier.state[STATE] as QueueState | undefined) ?? {};
}

function writeState(frontier: AnyFrontier, change: Partial<QueueState>): void {
  if (typeof frontier.state === "function") return;
  frontier.state[STATE] = { ...readState(frontier), ...change };
}
