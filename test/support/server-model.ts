/** The naive model of URLFrontier's service: crawls of queues of URLs, on whole seconds. */

/** A URL of a queue. */
export interface ModelUrl {
  readonly url: string;
  readonly createdAt: number;
  /** When it may be handed out. */
  readonly due: number;
  readonly isDone: boolean;
  /** The second in which its lease ends. */
  heldUntil: number;
  readonly note: string;
}

export class ModelQueue {
  readonly urls = new Map<string, ModelUrl>();
  /** undefined: the default. */
  delay: number | undefined;
  blockedUntil = -1;
  /** 0: none. */
  limit = 0;
  /** When it last handed out URLs. */
  producedAt = 0;
  /** Whether a delay, a block or a limit was ever set. */
  isSet = false;

  active(): ModelUrl[] {
    return [...this.urls.values()].filter(({ isDone }) => !isDone);
  }

  inProcess(now: number): number {
    return this.active().filter(({ heldUntil }) => heldUntil > now).length;
  }

  get completed(): number {
    return this.urls.size - this.active().length;
  }

  /** What may be handed out, first due first. */
  due(now: number): ModelUrl[] {
    const due = this.active().filter((url) => url.due <= now && url.heldUntil <= now);
    return due.sort((one, other) => one.due - other.due);
  }

  mayGo(now: number, delayDefault: number, urlsMax: number): boolean {
    if (this.blockedUntil >= now) return false;
    if (this.limit > 0 && this.completed >= this.limit) return false;
    if (this.producedAt + (this.delay ?? delayDefault) >= now) return false;
    return this.inProcess(now) < urlsMax && this.due(now).length > 0;
  }
}

export type ModelCrawl = Map<string, ModelQueue>;

/** What is put: `due` undefined where it was discovered, 0 where it is finished. */
export interface ModelPut {
  readonly crawlID: string;
  readonly queue: string;
  readonly url: string;
  readonly note: string;
  readonly due: number | undefined;
}

/** What GetURLs asks for; `urlsMax` and `queuesMax` may be infinite. */
export interface ModelAsked {
  readonly crawlID: string | undefined;
  readonly key: string;
  readonly urlsMax: number;
}

export class ServerModel {
  readonly crawls = new Map<string, ModelCrawl>();
  delayDefault = 1;
  isActive = true;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  find(crawlID: string): ModelCrawl | undefined {
    return this.crawls.get(crawlID || "DEFAULT");
  }

  /** Puts a URL; its status. */
  put({ crawlID, queue, url, note, due }: ModelPut): "OK" | "SKIPPED" {
    const now = this.#now();
    const { urls } = this.#open(crawlID, queue);
    const before = urls.get(url);
    if (due === undefined && before !== undefined) return "SKIPPED";
    urls.delete(url); // it stands last
    const createdAt = before?.createdAt ?? now;
    urls.set(url, { url, createdAt, due: due ?? now, isDone: due === 0, heldUntil: -1, note });
    return "OK";
  }

  #open(crawlID: string, key: string): ModelQueue {
    const id = crawlID || "DEFAULT";
    const crawl = this.crawls.get(id) ?? new Map<string, ModelQueue>();
    this.crawls.set(id, crawl);
    const queue = crawl.get(key) ?? new ModelQueue();
    crawl.set(key, queue);
    return queue;
  }

  /** Queues that a call may be served from, by crawl and key. */
  queuesFor({ crawlID, key, urlsMax }: ModelAsked): Map<string, ModelQueue> {
    const queues = new Map<string, ModelQueue>();
    if (!this.isActive || (key !== "" && crawlID === undefined)) return queues;
    for (const [id, crawl] of this.crawls) {
      if (crawlID !== undefined && (crawlID || "DEFAULT") !== id) continue;
      for (const [name, queue] of crawl) {
        if (key !== "" && name !== key) continue;
        if (queue.mayGo(this.#now(), this.delayDefault, urlsMax)) {
          queues.set(`${id} ${name}`, queue);
        }
      }
    }
    return queues;
  }

  /** Forgets a queue; how many URLs it held. */
  deleteQueue(crawlID: string, key: string): number {
    const crawl = this.find(crawlID);
    const count = crawl?.get(key)?.urls.size ?? 0;
    crawl?.delete(key);
    return count;
  }

  deleteCrawl(crawlID: string): number {
    const queues = [...(this.find(crawlID)?.values() ?? [])];
    this.crawls.delete(crawlID || "DEFAULT");
    return queues.reduce((sum, { urls }) => sum + urls.size, 0);
  }

  /** Nobody has a lease; a queue without URLs is gone, unless something was set for it. */
  restart(): void {
    this.isActive = true;
    for (const crawl of this.crawls.values()) {
      for (const [key, queue] of [...crawl]) {
        for (const url of queue.urls.values()) url.heldUntil = -1;
        if (queue.urls.size === 0 && !queue.isSet) crawl.delete(key);
      }
    }
  }

  /** Removes URLs of a queue, or of all for an empty key, that came before a second; how many. */
  purge(crawlID: string, key: string, before: number): number {
    let count = 0;
    for (const [name, { urls }] of this.find(crawlID) ?? []) {
      if (key !== "" && name !== key) continue;
      for (const { url, createdAt } of [...urls.values()]) {
        if (createdAt >= before) continue;
        urls.delete(url);
        count++;
      }
    }
    return count;
  }
}
