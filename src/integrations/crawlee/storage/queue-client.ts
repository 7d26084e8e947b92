/**
 * QueueClient: a request queue of version 3, in the protocol of both its `RequestQueue` classes.
 *
 *   RequestQueue (the default)   listAndLockHead ─▶ prolongRequestLock, getRequest ─▶ updateRequest, deleteRequestLock
 *   RequestQueueV1               listHead ─▶ getRequest ─▶ updateRequest; what is in progress only it keeps
 *
 *   listAndLockHead     pollMany: the lock is a lease
 *   listHead            peek: nothing is locked; then what this client has locked, or any where it has no key
 *   prolongRequestLock  extend; a request that is due and not locked is locked then
 *   updateRequest       handledAt is set: done · not set: due again, and unlocked
 *   queueHasLockedRequests   true while anything is not handled: also what waits for a clock keeps a crawler going. Left out at the end,
 *                       as by Crawlee's own storage: the class then reads the head once more
 *
 *   I1  A lock that has expired ends nothing: the request is another client's by then, or due again. Until it is, its client can prolong it.
 */
import { misuse, FrontierError } from "../../../base/errors.ts";
import { isObject } from "../../../base/type-guards.ts";
import type {
  BatchResult,
  CrawleeRequest,
  OperationOptions,
  ProcessedRequest,
  QueueInfo,
  StoredRequest,
} from "../crawlee-types.ts";
import type { QueueEntry } from "./queue-entry.ts";
import type { QueueRegistry } from "./queue-registry.ts";
import { requestId } from "../request-id.ts";
import type { Added, RequestStore } from "../request-store.ts";

const HEAD = 100;
const LOCKED_MOST = 25;

interface HeadOptions {
  limit?: number | undefined;
}
interface LockOptions extends HeadOptions {
  lockSecs: number;
  forefront?: boolean | undefined;
}
interface Head {
  limit: number;
  queueModifiedAt: Date;
  hadMultipleClients: boolean;
  items: StoredRequest[];
}
interface LockedHead extends Head {
  lockSecs: number;
  queueHasLockedRequests?: true;
}
interface ClientOptions {
  clientKey?: string | undefined;
  client?: object;
}
type Done = Omit<ProcessedRequest, "uniqueKey">;

export class QueueClient {
  readonly id: string;
  /** The storage, under the name that clients of Crawlee's own storage have for it. */
  readonly client: object | undefined;
  readonly #registry: QueueRegistry;
  readonly #clientKey: string | undefined;

  constructor(registry: QueueRegistry, id: string, { clientKey, client }: ClientOptions = {}) {
    this.#registry = registry;
    this.id = id;
    this.client = client;
    this.#clientKey = clientKey;
  }

  async get(): Promise<(QueueInfo & { userId: string; stats: object }) | undefined> {
    const entry = this.#registry.find(this.id);
    if (entry === undefined) return undefined;
    entry.touch(false);
    return infoOf(await entry.info());
  }

  /** Renames the queue; its id stays. Rejects with `STATE_INVALID` where a queue has that name. Other fields are ignored, as by Crawlee's own. */
  async update({ name }: { name?: string } = {}): Promise<QueueInfo> {
    const entry = this.#entry();
    if (name !== undefined && typeof name !== "string")
      throw misuse("ARGUMENT_INVALID", "name", name, "a string");
    if (name !== undefined) await this.#registry.rename(entry, name);
    return infoOf(await entry.info());
  }

  async delete(): Promise<void> {
    const entry = this.#registry.find(this.id);
    if (entry !== undefined) await this.#registry.drop(entry);
  }

  async addRequest(request: CrawleeRequest, options: OperationOptions = {}): Promise<Done> {
    const { processedRequests } = await this.batchAddRequests([request], options);
    const [first] = processedRequests;
    if (first === undefined) {
      const expected = "less than the frontier's capacity";
      throw new FrontierError(
        "MEMORY_FULL",
        `request ${request.url}: no room (expected: ${expected})`,
      );
    }
    const { uniqueKey: _, ...done } = first;
    return done;
  }

  async batchAddRequests(
    requests: readonly CrawleeRequest[],
    { forefront = false }: OperationOptions = {},
  ): Promise<BatchResult> {
    const entry = this.#entry();
    for (const request of requests) checkRequest(request);
    entry.touch(true);
    const revived = await entry.revive(requests, forefront);
    const added = await this.#store(entry).addMany(requests, forefront);
    const result: BatchResult = { processedRequests: [], unprocessedRequests: [] };
    for (const [index, { refusal, ...each }] of added.entries()) {
      const isNew = revived.has(each.requestId);
      const processed = isNew
        ? { ...each, wasAlreadyPresent: false, wasAlreadyHandled: false }
        : each;
      if (refusal === undefined) result.processedRequests.push(processed);
      else refuse(result, requests[index] as CrawleeRequest, { ...each, refusal });
    }
    return result;
  }

  async getRequest(id: string): Promise<StoredRequest | undefined> {
    const entry = this.#entry();
    if (entry.isDeleted(id)) return undefined;
    return await this.#store(entry).get(id);
  }

  async updateRequest(request: CrawleeRequest, options: OperationOptions = {}): Promise<Done> {
    const entry = this.#entry();
    checkRequest(request);
    const id = requestId(request.uniqueKey);
    await entry.expireLock(id);
    const store = entry.holder(this.#clientKey, id);
    const isThere = store.lease(id) !== undefined || (await store.isHandled(id)) !== undefined;
    if (!isThere || entry.isDeleted(id)) return await this.addRequest(request, options);
    entry.touch(true);
    const forefront = options.forefront === true;
    const info = request.handledAt
      ? await store.finish(request)
      : await store.reclaim(request, forefront);
    return {
      requestId: id,
      wasAlreadyPresent: true,
      wasAlreadyHandled: info?.wasAlreadyHandled ?? false,
    };
  }

  async deleteRequest(id: string): Promise<void> {
    const entry = this.#entry();
    await entry.expireLock(id);
    const stored = entry.isDeleted(id) ? undefined : await this.#store(entry).get(id);
    if (stored === undefined) return;
    await entry.holder(this.#clientKey, id).unlock(id, false);
    entry.touch(await entry.delete(id, stored));
  }

  async listHead({ limit = HEAD }: HeadOptions = {}): Promise<Head> {
    const entry = this.#entry();
    entry.touch(false);
    await entry.expireLocks();
    const due = await this.#store(entry).due(limit);
    const items = [...due, ...entry.locked(this.#clientKey)].slice(0, limit);
    // The older class takes an empty head that has not changed lately for the end; what waits for a clock is not.
    const isWaiting = items.length === 0 && !(await this.#store(entry).isFinished());
    if (isWaiting) entry.touch(true);
    return { limit, hadMultipleClients: false, queueModifiedAt: entry.modifiedAt, items };
  }

  async listAndLockHead({ limit = LOCKED_MOST, lockSecs }: LockOptions): Promise<LockedHead> {
    if (!(limit <= LOCKED_MOST)) throw misuse("ARGUMENT_INVALID", "limit", limit, "at most 25");
    checkSeconds(lockSecs);
    const entry = this.#entry();
    const store = this.#store(entry);
    await entry.expireLocks();
    const locked = await store.fetchMany(limit, lockSecs * 1_000);
    const isFinished = locked.length === 0 && (await store.isFinished());
    return {
      ...{ limit, lockSecs, hadMultipleClients: false },
      ...(isFinished ? {} : { queueHasLockedRequests: true }),
      queueModifiedAt: entry.modifiedAt,
      items: locked,
    };
  }

  async prolongRequestLock(
    id: string,
    { lockSecs, forefront }: LockOptions,
  ): Promise<{ lockExpiresAt: Date }> {
    checkSeconds(lockSecs);
    const entry = this.#entry();
    const store = entry.holder(this.#clientKey, id);
    const ms = lockSecs * 1_000;
    let lockExpiresAt = await store.prolong(id, ms, forefront);
    if (lockExpiresAt === undefined && !entry.isDeleted(id)) {
      await entry.expireLock(id);
      lockExpiresAt = await this.#store(entry).lock(id, ms, forefront);
    }
    if (lockExpiresAt !== undefined) return { lockExpiresAt };
    throw await this.#notLocked(entry, id, true);
  }

  async deleteRequestLock(id: string, { forefront = false }: OperationOptions = {}): Promise<void> {
    const entry = this.#entry();
    const isUnlocked = await entry.holder(this.#clientKey, id).unlock(id, forefront);
    if (!isUnlocked) throw await this.#notLocked(entry, id);
  }

  async #notLocked(entry: QueueEntry, id: string, isToProlong = false): Promise<FrontierError> {
    const handled = entry.isDeleted(id) ? undefined : await this.#store(entry).isHandled(id);
    const known = handled && isToProlong ? "has already been handled" : "is not locked";
    const state = handled === undefined ? "not found" : known;
    const fault = `Request with ID ${id} ${state} in queue ${entry.name ?? entry.id}`;
    return new FrontierError("STATE_INVALID", `${fault} (expected: locked by this client)`);
  }

  #store(entry: QueueEntry): RequestStore {
    return entry.store(this.#clientKey);
  }

  #entry(): QueueEntry {
    const entry = this.#registry.find(this.id);
    if (entry !== undefined) return entry;
    const fault = `Request queue with id: ${this.id} does not exist.`;
    throw new FrontierError("STATE_INVALID", `${fault} (expected: opened by getOrCreate)`);
  }
}

/** What a rule refuses will never be visited: to Crawlee it is handled. What finds no room is for its caller to add again. */
function refuse(result: BatchResult, { url }: CrawleeRequest, added: Added): void {
  const { uniqueKey, refusal, ...each } = added;
  if (refusal?.status === "full") result.unprocessedRequests.push({ uniqueKey, url });
  else {
    const handled = { wasAlreadyPresent: true, wasAlreadyHandled: true };
    result.processedRequests.push({ ...each, uniqueKey, ...handled });
  }
}

export function infoOf(info: QueueInfo): QueueInfo & {
  userId: string;
  stats: object;
  hadMultipleClients: boolean;
} {
  return { ...info, userId: "1", stats: {}, hadMultipleClients: false };
}

/** Throws REQUEST_INVALID before anything of a batch is added. */
function checkRequest(request: CrawleeRequest): void {
  if (!isObject(request)) throw misuse("REQUEST_INVALID", "request", request, "an object");
  const { url, uniqueKey, id } = request;
  const isCrawlable = typeof url === "string" && URL.canParse(url) && /^https?:/i.test(url.trim());
  if (!isCrawlable) throw misuse("REQUEST_INVALID", "request.url", url, "an http or https URL");
  if (typeof uniqueKey !== "string") {
    throw misuse("REQUEST_INVALID", "request.uniqueKey", uniqueKey, "a string");
  }
  if (id === undefined || id === requestId(uniqueKey)) return;
  const fault = "Request ID does not match its uniqueKey.";
  const expected = `expected: request.id: ${requestId(uniqueKey)}`;
  throw new FrontierError("REQUEST_INVALID", `${fault} (${expected})`);
}

function checkSeconds(secs: unknown): void {
  if (typeof secs === "number" && secs > 0) return;
  throw misuse("ARGUMENT_INVALID", "lockSecs", secs, "seconds, a number above 0");
}
