/** Random calls to a server and to its model, whose answers must be the same. */
import { expect } from "vitest";
import type { Random } from "../../src/base/random.ts";
import { createVirtualClock } from "../../src/index.ts";
import { type Client, found, type Info, type Item, known, type Message } from "../server/client.ts";
import type { Store } from "../server/stores.ts";
import { type ModelQueue, ServerModel } from "./server-model.ts";

export const START_SECOND = 1_800_000_000;
const DAY = 86_400;
const CRAWLS = ["DEFAULT", "other"];
const QUEUES = ["a.com", "b.com", "queue", "none"];

export class ServerDuel {
  readonly clock = createVirtualClock(START_SECOND * 1_000);
  /** What was called, for a failure. */
  readonly log: string[] = [];
  client!: Client;
  readonly #random: Random;
  readonly #model = new ServerModel(() => this.#now);

  constructor(random: Random) {
    this.#random = random;
  }

  get #now(): number {
    return Math.floor(this.clock.now() / 1_000);
  }

  #below(max: number): number {
    return this.#random.below(max);
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#below(list.length)] as T;
  }

  /** Some time passes, and one call is made. */
  async step(): Promise<void> {
    const seconds = this.#one([0, 0, 0, 0, 1, 1, 2, 5, 30, 90, this.#below(20) === 0 ? DAY : 0]);
    if (seconds > 0) this.log.push(`pass ${seconds}`);
    this.clock.advance(seconds * 1_000);
    const calls = [
      ...[this.#put, this.#put, this.#put, this.#putBatch],
      ...[this.#get, this.#get, this.#get, this.#get],
      ...[this.#changeQueue, this.#changeServer, this.#delete, this.#ask],
    ];
    const call = this.#one(calls);
    await call.call(this);
    // What was changed decides what goes out next.
    if (call === this.#changeQueue || call === this.#changeServer) await this.#get();
  }

  /** The server was closed and opened again. */
  restarted(store: Store): void {
    this.log.push("restart");
    if (store === "directory") this.#model.restart();
  }

  async #put(): Promise<void> {
    const items: Message[] = [];
    const expected: string[] = [];
    for (let left = 1 + this.#below(6); left > 0; left--) {
      const host = this.#one(["a.com", "b.com", "c.org", "long-host.example"]);
      const url = this.#one([
        `http://${host}/${this.#below(8)}`,
        `https://${host}:8080/x?${this.#below(4)}`,
        `http://${host}/ä ${this.#below(3)}#f`,
        `ftp://${host}/${this.#below(3)}`,
      ]);
      const key = this.#one(["", "", host, "queue"]);
      const crawlID = this.#one(["", "", "DEFAULT", "other"]);
      const note = this.#one(["", "", `n${this.#below(3)}`]);
      const due = this.#below(3) > 0 ? undefined : this.#dueDate();
      const info = { key, crawlID, metadata: note === "" ? {} : { note: { values: [note] } } };
      items.push(due === undefined ? found(url, info) : known(url, due, info));
      expected.push(this.#model.put({ crawlID, queue: key || host, url, note, due }));
    }
    this.log.push(`put ${JSON.stringify(items)}`);
    expect(await this.client.put(...items)).toEqual(expected);
  }

  /** A date before the crawl began, now, later, or none. */
  #dueDate(): number {
    const now = this.#now;
    const before = START_SECOND - 1 - this.#below(500);
    return this.#one([0, 0, now, now + this.#below(60), now + 1_000, before]);
  }

  async #putBatch(): Promise<void> {
    const items: Message[] = [];
    const expected: string[] = [];
    for (let left = 1 + this.#below(6); left > 0; left--) {
      const queue = this.#one(["a.com", "b.com", "d.com"]);
      const url = `http://${queue}/${this.#below(12)}`;
      items.push({ url });
      expected.push(this.#model.put({ crawlID: "", queue, url, note: "", due: undefined }));
    }
    this.log.push(`batch ${JSON.stringify(items)}`);
    const acks = await this.client.stream<{ statuses: string[] }>("PutDiscovered", [{ items }]);
    expect(acks[0]?.statuses).toEqual(expected);
  }

  async #get(): Promise<void> {
    const most = this.#one([0, 1, 2, 3, 5]);
    const queuesMost = this.#one([0, 0, 1, 2]);
    const delay = this.#one([0, 1, 5, 60]);
    const key = this.#one(["", "", "", "a.com", "queue", "none"]);
    const crawlID = this.#one([undefined, "DEFAULT", "other", ""]);
    const asked = {
      ...{ max_urls_per_queue: most, max_queues: queuesMost, delay_requestable: delay },
      ...(key === "" ? {} : { key }),
      ...(crawlID === undefined ? {} : { crawlID }),
    };
    this.log.push(`get ${JSON.stringify(asked)}`);
    const infos = await this.client.list<Info>("GetURLs", asked);
    this.log.push(`got ${infos.map((one) => `${one.crawlID} ${one.key} ${one.url}`).join(" | ")}`);
    const urlsMax = most || Number.POSITIVE_INFINITY;
    const queues = this.#model.queuesFor({ crawlID, key, urlsMax });
    const groups = new Map<string, Info[]>();
    for (const info of infos) {
      const name = `${info.crawlID} ${info.key}`;
      groups.set(name, [...(groups.get(name) ?? []), info]);
    }
    expect([...queues.keys()]).toEqual(expect.arrayContaining([...groups.keys()]));
    const queuesMax = key === "" && queuesMost > 0 ? queuesMost : queues.size;
    expect(groups.size).toBe(Math.min(queuesMax, queues.size));
    for (const [name, group] of groups) {
      this.#took(queues.get(name) as ModelQueue, group, urlsMax, delay || 30);
    }
  }

  /** A queue handed out URLs: the first due, in their order. */
  #took(queue: ModelQueue, infos: readonly Info[], urlsMax: number, delay: number): void {
    const now = this.#now;
    const due = queue.due(now);
    const dates = infos.map(({ url }) => queue.urls.get(url)?.due);
    expect(dates).toEqual(due.slice(0, urlsMax).map((url) => url.due));
    for (const { url, metadata } of infos) {
      const held = due.find((other) => other.url === url);
      expect(held?.note ?? "none").toBe(metadata.note?.values[0] ?? "");
      if (held !== undefined) held.heldUntil = now + delay;
    }
    queue.producedAt = now;
  }

  async #changeQueue(): Promise<void> {
    const key = this.#one(QUEUES);
    const crawlID = this.#one(["", "other"]);
    const queue = this.#model.find(crawlID)?.get(key);
    const what = this.#one(["BlockQueueUntil", "SetDelay", "SetCrawlLimit"]);
    this.log.push(`${what} ${key} ${crawlID}`);
    if (what === "BlockQueueUntil") {
      const time = this.#one([0, this.#now + this.#below(20), this.#now - 5]);
      await this.client.call(what, { key, crawlID, time });
      if (queue !== undefined) Object.assign(queue, { blockedUntil: time, isSet: true });
    } else if (what === "SetDelay") {
      const delay = this.#one([0, 1, 5, 20]);
      await this.client.call(what, { key, crawlID, delay_requestable: delay });
      if (queue !== undefined) Object.assign(queue, { delay, isSet: true });
    } else {
      const completed = queue?.completed ?? 1;
      const limit = this.#one([0, completed, completed + 1, completed + 2]);
      const done = this.client.call(what, { key, crawlID, limit });
      if (queue === undefined) return await expect(done).rejects.toMatchObject({ code: 5 });
      await done;
      Object.assign(queue, { limit, isSet: true });
    }
  }

  async #changeServer(): Promise<void> {
    if (this.#below(2) === 0) {
      this.#model.delayDefault = this.#one([0, 1, 1, 4]);
      this.log.push(`SetDelay ${this.#model.delayDefault}`);
      await this.client.call("SetDelay", { delay_requestable: this.#model.delayDefault });
    } else {
      this.#model.isActive = this.#below(3) > 0;
      this.log.push(`SetActive ${this.#model.isActive}`);
      await this.client.call("SetActive", { state: this.#model.isActive });
    }
  }

  async #delete(): Promise<void> {
    const key = this.#one(QUEUES);
    const crawlID = this.#one(["", "other"]);
    const what = this.#one(["DeleteQueue", "DeleteQueue", "DeleteCrawl", "PurgeURLs", "none"]);
    const days = this.#below(3);
    const purged = this.#one(["", key]);
    this.log.push(`${what} ${key} ${crawlID} ${purged} ${days}`);
    if (what === "DeleteQueue") {
      const { value } = await this.client.call(what, { key, crawlID });
      expect(value).toBe(this.#model.deleteQueue(crawlID, key));
    } else if (what === "DeleteCrawl") {
      const { value } = await this.client.call(what, { value: crawlID });
      expect(value).toBe(this.#model.deleteCrawl(crawlID));
    } else if (what === "PurgeURLs") {
      const { value } = await this.client.call(what, { key: purged, crawlID, days });
      expect(value).toBe(this.#model.purge(crawlID, purged, this.#now - days * DAY));
    }
  }

  /** What is known of one URL, and how many have a text in them. */
  async #ask(): Promise<void> {
    const crawlID = this.#one(["", "other"]);
    const key = this.#one(QUEUES);
    const queue = this.#model.find(crawlID)?.get(key);
    const url = this.#one([`http://${key}/${this.#below(8)}`, ...(queue?.urls.keys() ?? [])]);
    const stood = queue?.urls.get(url);
    this.log.push(`GetURLStatus ${crawlID} ${key} ${url}`);
    const status = this.client.status(url, key, crawlID);
    if (stood === undefined) await expect(status).rejects.toMatchObject({ code: 5 });
    else expect(shownOf(await status)).toBe(`${key} ${shownUrl(stood)}`);
    const filter = this.#one(["", "http:", "/1", "8080"]);
    const named = this.#one(["", key]);
    const { value } = await this.client.call("CountURLs", { crawlID, key: named, filter });
    const queues = [...(this.#model.find(crawlID) ?? [])];
    const wanted = queues.filter(([name]) => named === "" || name === named);
    const urls = wanted.flatMap(([, { urls: all }]) => [...all.keys()]);
    expect(value).toBe(urls.filter((one) => one.includes(filter)).length);
  }

  /** All that the server keeps. */
  async check(): Promise<void> {
    for (const crawlID of CRAWLS) await this.#checkCrawl(crawlID);
    const { values } = await this.client.call<{ values: string[] }>("ListCrawls");
    const stood = [...this.#model.crawls].filter(([, queues]) => queues.size > 0);
    expect(values.sort()).toEqual(stood.map(([id]) => id).sort());
  }

  async #checkCrawl(crawlID: string): Promise<void> {
    const queues = [...(this.#model.find(crawlID) ?? [])];
    const now = this.#now;
    const sum = (of: (queue: ModelQueue) => number): number =>
      queues.reduce((total, [, queue]) => total + of(queue), 0);
    const active = queues.filter(([, queue]) => queue.active().length > 0);
    expect(await this.client.stats(crawlID)).toEqual({
      size: sum((queue) => queue.active().length),
      inProcess: sum((queue) => queue.inProcess(now)),
      counts: { completed: sum((queue) => queue.completed), active_queues: active.length },
      numberOfQueues: queues.length,
      crawlID,
    });
    expect(await this.#listQueues(crawlID, true)).toEqual(queues.map(([key]) => key).sort());
    const open = active.filter(([, { blockedUntil }]) => blockedUntil < now);
    expect(await this.#listQueues(crawlID, false)).toEqual(open.map(([key]) => key).sort());
    const items = await this.client.list<Item>("ListURLs", { crawlID, size: 10_000 });
    const stood = queues.flatMap(([key, { urls }]) =>
      [...urls.values()].map((url) => `${key} ${shownUrl(url)}`),
    );
    expect(items.map(shownOf).sort()).toEqual(stood.sort());
  }

  async #listQueues(crawlID: string, isAll: boolean): Promise<string[]> {
    const asked = { crawlID, include_inactive: isAll };
    return (await this.client.call<{ values: string[] }>("ListQueues", asked)).values.sort();
  }
}

interface Shown {
  readonly url: string;
  readonly note: string;
  readonly createdAt: number;
  readonly due: number;
}

function shownUrl({ url, note, createdAt, due }: Shown): string {
  return `${url} '${note}' ${createdAt} ${due}`;
}

function shownOf({ creation_date: createdAt, known: item }: Item): string {
  const { info, refetchable_from_date: due } = item as NonNullable<Item["known"]>;
  const note = info.metadata.note?.values[0] ?? "";
  return `${info.key} ${shownUrl({ url: info.url, note, createdAt, due })}`;
}
