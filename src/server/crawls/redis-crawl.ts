/**
 * RedisCrawl: a crawl over a frontier on Redis that several servers share, each of which answers any call.
 *
 *   queue key   ─▶ `hostKey`; a URL is one for each queue
 *   due queue   ◀─ a script, which chooses a queue and records its hand-out in one step for all servers
 *   held URL    ─▶ a lease in Redis: the server that receives its result ends it
 *
 *   I1  Nothing about a URL or a queue is kept here.
 *   I2  A crawl that another server has deleted is made anew by what is put into it, and is empty to all other calls.
 */
import { FrontierError, type RecordView, type RequestInput } from "../../index.ts";
import type { KnownRequest, QueueFacts, QueueLease, RedisQueues } from "../../redis.ts";
import { FAILED, OK, SKIPPED } from "../grpc/messages.ts";
import { countMatching, NO_COUNTS, textMatcher } from "./crawl.ts";
import type {
  Crawl,
  FoundUrl,
  KnownUrl,
  QueueChange,
  QueueCounts,
  SendUrls,
  StoredUrl,
  UrlFilter,
  UrlsAsked,
} from "./crawl.ts";
import { dueOf, named, reservedOf } from "./reserved-metadata.ts";
import { keyOf, pastPriority, storedOf, viewOf } from "./stored-url.ts";
import { carriedUrl, isPlainUrl, packData, unpackData } from "./url-data.ts";

/** How a crawl gets its queues. */
export interface QueueAccess {
  /** Creates them if they are missing. */
  open(): Promise<RedisQueues>;
  /** undefined: there is no such crawl. */
  find(): Promise<RedisQueues | undefined>;
  /** Whether a call failed because the crawl was deleted: the next one finds it again. */
  hasGone(queues: RedisQueues, cause: unknown): boolean;
  /** Seconds between two hand-outs of a queue without a delay of its own, as last read. */
  delayDefault(): number;
}

/** Attempts of a put while other servers delete the crawl. */
const TRIES_MAX = 5;
const HAND_OUT = /^[0-9a-f]{16}$/;
const NAMES = { of: (lease: object): string => (lease as QueueLease).token };
const STATUSES = { kept: OK, over: SKIPPED, refused: SKIPPED, full: FAILED };

export class RedisCrawl implements Crawl {
  readonly id: string;
  readonly #access: QueueAccess;
  #activeQueues = { mark: "", count: 0 };
  /** When this server first put into the crawl; undefined: not yet. */
  #began: number | undefined;

  constructor(id: string, access: QueueAccess) {
    this.id = id;
    this.#access = access;
  }

  async #put<T>(act: (queues: RedisQueues) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const queues = await this.#access.open();
      this.#began ??= secondOf(queues);
      try {
        return await act(queues);
      } catch (cause) {
        if (!this.#access.hasGone(queues, cause) || tries === TRIES_MAX) throw cause;
      }
    }
  }

  async #ifFound<T>(none: T, act: (queues: RedisQueues) => Promise<T>): Promise<T> {
    const queues = await this.#access.find();
    if (queues === undefined) return none;
    try {
      return await act(queues);
    } catch (cause) {
      if (this.#access.hasGone(queues, cause)) return none;
      throw cause;
    }
  }

  discover(urls: readonly FoundUrl[]): Promise<Uint8Array> {
    return this.#put(async (queues) => {
      const statuses = new Uint8Array(urls.length).fill(SKIPPED);
      const createdAt = secondOf(queues);
      const requests: RequestInput[] = [];
      const places: number[] = [];
      for (const [place, found] of urls.entries()) {
        const hostKey = keyOf(found);
        const { isWrong, notBefore, priority } = reservedOf(found.metadata);
        if (hostKey === undefined || isWrong) continue;
        const isPlain = isPlainUrl(found.url, found.hostEnd);
        const url = carriedUrl(found.url, isPlain);
        requests.push({
          url,
          hostKey,
          data: packData(found, isPlain, createdAt, 0),
          priority,
          notBefore,
        });
        places.push(place);
      }
      const result = await queues.frontier.pushMany(requests);
      for (const [index, place] of places.entries()) {
        const { admitted, status } = result.verdict(index);
        if (admitted) statuses[place] = OK;
        else if (status === "closed") throw new FrontierError("FRONTIER_CLOSED", "crawl: deleted");
        else if (status === "full") statuses[place] = FAILED;
      }
      return statuses;
    });
  }

  putKnown(urls: readonly KnownUrl[]): Promise<Uint8Array> {
    return this.#put(async (queues) => {
      const statuses = new Uint8Array(urls.length).fill(SKIPPED);
      const list: Array<{ place: number; known: KnownUrl; request: RequestInput }> = [];
      for (const [place, known] of urls.entries()) {
        const hostKey = keyOf(known);
        const { isWrong, lease } = reservedOf(known.metadata);
        const isOver = lease !== undefined && !HAND_OUT.test(lease);
        if (hostKey === undefined || isWrong || isOver) continue;
        const url = carriedUrl(known.url, isPlainUrl(known.url, known.hostEnd));
        list.push({ place, known, request: { url, hostKey } });
      }
      const before = await queues.find(list.map(({ request }) => request));
      const second = secondOf(queues);
      const times = { second, began: this.#began ?? second };
      const made = list.map(({ known, request }, at) =>
        knownRequest(known, request, before[at], times),
      );
      for (const [at, answer] of (await queues.putKnown(made)).entries()) {
        statuses[(list[at] as { place: number }).place] = STATUSES[answer];
      }
      return statuses;
    });
  }

  serveQueues(queuesMax: number, asked: UrlsAsked, send: SendUrls): Promise<number> {
    return this.#ifFound(0, async (queues) => {
      const what = this.#asked(queuesMax, asked);
      return (await sendAll(queues, queues.serve(what), { asked, send, gap: what.gap })).queues;
    });
  }

  serveQueue(key: string, asked: UrlsAsked, send: SendUrls): Promise<number> {
    return this.#ifFound(0, async (queues) => {
      const what = this.#asked(1, asked);
      const leases = queues.serveOne(key, what);
      return (await sendAll(queues, leases, { asked, send, gap: what.gap })).urls;
    });
  }

  #asked(queues: number, { urlsMax, delay }: UrlsAsked) {
    return { queues, urls: urlsMax, leaseMs: delay * 1_000, gap: this.#access.delayDefault() };
  }

  queues(isAll: boolean): Promise<string[]> {
    return this.#ifFound<string[]>([], async (queues) => {
      const second = secondOf(queues);
      const all: QueueFacts[] = [];
      for await (const slice of queues.views()) {
        all.push(...slice.filter((one) => isAll || (one.active > 0 && one.blockedUntil < second)));
      }
      return all.sort((a, b) => a.order - b.order).map(({ key }) => key);
    });
  }

  counts(key: string): Promise<QueueCounts> {
    return this.#ifFound<QueueCounts>(NO_COUNTS, async (queues) => {
      if (key === "") {
        const { mark, ...sums } = await queues.sums();
        return { ...sums, activeQueues: await this.#countActive(queues, mark) };
      }
      const found = await queues.view(key);
      if (found === undefined) return NO_COUNTS;
      const { active, completed, inProcess } = found;
      return { active, completed, inProcess, queues: 1, activeQueues: Number(active > 0) };
    });
  }

  /** Queues with URLs that are not finished: a pass over all of them after each change. */
  async #countActive(queues: RedisQueues, mark: string): Promise<number> {
    if (this.#activeQueues.mark !== mark) {
      let count = 0;
      for await (const slice of queues.views())
        count += slice.filter(({ active }) => active > 0).length;
      this.#activeQueues = { mark, count };
    }
    return this.#activeQueues.count;
  }

  change(key: string, change: QueueChange): Promise<boolean> {
    const gap = this.#access.delayDefault();
    return this.#ifFound(false, (queues) => queues.change(key, change, gap));
  }

  delayChanged(): Promise<void> {
    const gap = this.#access.delayDefault();
    return this.#ifFound(undefined, (queues) => queues.followDelay(gap));
  }

  status(url: string, key: string): Promise<StoredUrl | undefined> {
    return this.#ifFound<StoredUrl | undefined>(undefined, async (queues) => {
      const [view] = await queues.find([{ url: carriedUrl(url, isPlainUrl(url)), hostKey: key }]);
      return view === undefined ? undefined : viewOf(view, key, url);
    });
  }

  async *urls(filter: UrlFilter): AsyncGenerator<StoredUrl> {
    const queues = await this.#access.find();
    if (queues === undefined) return;
    const isWanted = textMatcher(filter);
    try {
      for await (const slice of queues.records(filter.key)) {
        for (const view of slice) {
          const stored = viewOf(view, view.hostKey ?? view.host ?? "", view.url ?? "");
          if (isWanted(stored.url)) yield stored;
        }
      }
    } catch (cause) {
      if (!this.#access.hasGone(queues, cause)) throw cause;
    }
  }

  count(filter: UrlFilter): Promise<number> {
    return countMatching(this, filter);
  }

  deleteQueue(key: string): Promise<number> {
    return this.#ifFound(0, (queues) => queues.remove(key));
  }

  async deleteAll(): Promise<number> {
    return await this.#ifFound(0, async (queues) => {
      const { active, completed } = await queues.sums();
      await queues.frontier.clear();
      return active + completed;
    });
  }

  purge(key: string, before: number): Promise<number> {
    const isOld = ({ data }: RecordView): boolean => unpackData(data).createdAt < before;
    return this.#ifFound(0, (queues) => queues.drop(key, isOld));
  }
}

function secondOf(queues: RedisQueues): number {
  return Math.floor(queues.now() / 1_000);
}

function knownRequest(
  known: KnownUrl,
  request: RequestInput,
  before: RecordView | undefined,
  { second, began }: { second: number; began: number },
): KnownRequest {
  const reserved = reservedOf(known.metadata);
  const { due, dueAt } = dueOf(known, reserved);
  const createdAt = before === undefined ? second : unpackData(before.data).createdAt;
  const data = packData(known, isPlainUrl(known.url, known.hostEnd), createdAt, due);
  const hasFailed = reserved.failure !== undefined && due === 0;
  return {
    request: { ...request, data, ...pastPriority(due, began) },
    dueAt,
    token: reserved.lease ?? "",
    reason: hasFailed ? reserved.failure || "failed" : "",
  };
}

/** Sends leases as they come; what a client that has gone does not take goes back. */
async function sendAll(
  queues: RedisQueues,
  slices: AsyncIterable<QueueLease[]>,
  { asked, send, gap }: { asked: UrlsAsked; send: SendUrls; gap: number },
): Promise<{ queues: number; urls: number }> {
  const keys = new Set<string>();
  let urls = 0;
  for await (const leases of slices) {
    if (asked.isGone()) {
      await queues.leases.giveBack(leases, keys, gap);
      break;
    }
    for (const { key } of leases) keys.add(key);
    urls += leases.length;
    await send(
      leases.map((lease) => named(storedOf(lease.key, lease.url, lease.data), lease, NAMES)),
    );
    if (asked.isGone()) break;
  }
  return { queues: keys.size, urls };
}
