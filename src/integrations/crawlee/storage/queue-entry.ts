/** QueueEntry: an open request queue of a storage: its names, its counts, its clients' stores, and what was deleted from it. */
import { dateOf } from "../../../base/clock.ts";
import { FrontierError } from "../../../base/errors.ts";
import type { CrawleeRequest, QueueInfo, StoredRequest } from "../crawlee-types.ts";
import { requestId } from "../request-id.ts";
import { type AnyFrontier, RequestStore, type StoreOptions } from "../request-store.ts";
import type { QueuePlace } from "./queue-links.ts";

/** What a queue keeps in its frontier's state. */
interface QueueState {
  createdAt: number;
  deleted: string[];
  aliases: string[];
}

interface QueueNames {
  readonly id: string;
  readonly key: string;
  readonly name: string | undefined;
}

const STATE = "crawlee";

export class QueueEntry {
  readonly id: string;
  readonly place: QueuePlace;
  readonly frontier: AnyFrontier;
  readonly #options: StoreOptions;
  readonly #stores = new Map<string, RequestStore>();
  readonly #createdAt: number;
  readonly #deleted: Set<string>;
  #modifiedAt: number;
  #accessedAt: number;
  /** What callers ask for it by: its name, its alias with a tilde, or its id. */
  key: string;
  name: string | undefined;
  isDropped = false;
  isClosed = false;

  constructor(place: QueuePlace, { id, key, name }: QueueNames, options: StoreOptions) {
    const { frontier } = place;
    const nowMs = options.clock.now();
    this.id = id;
    this.key = key;
    this.name = name;
    this.place = place;
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

  /** The store with the lock that a client may end: its own; without a key, whichever client's it is. */
  holder(clientKey: string | undefined, id: string): RequestStore {
    const own = this.store(clientKey);
    if (clientKey !== undefined || own.lease(id) !== undefined) return own;
    return [...this.#stores.values()].find((store) => store.lease(id) !== undefined) ?? own;
  }

  /** What a client has locked; without a key, what any has. */
  locked(clientKey: string | undefined): StoredRequest[] {
    const stores = clientKey === undefined ? [...this.#stores.values()] : [this.store(clientKey)];
    return stores.flatMap((store) => store.locked());
  }

  /** Returns requests whose locks have expired, whichever client had them. */
  async expireLocks(): Promise<void> {
    for (const store of this.#stores.values()) await store.expireLocks();
  }

  /** The same for one request, so that any client can change it. */
  async expireLock(id: string): Promise<void> {
    for (const store of this.#stores.values()) await store.expireLock(id);
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

  /** Throws if the queue was dropped or closed. */
  assertOpen(): void {
    if (!this.isDropped && !this.isClosed) return;
    const expected = "a queue that was not dropped; open it anew";
    throw new FrontierError("STATE_INVALID", `queue ${this.id}: gone (expected: ${expected})`);
  }
}

/** State is kept by frontiers of this thread alone; others keep the entry's in memory. */
export function readState(frontier: AnyFrontier): Partial<QueueState> {
  if (typeof frontier.state === "function") return {};
  return (frontier.state[STATE] as QueueState | undefined) ?? {};
}

export function writeState(frontier: AnyFrontier, change: Partial<QueueState>): void {
  if (typeof frontier.state === "function") return;
  frontier.state[STATE] = { ...readState(frontier), ...change };
}
