/** Random calls of the protocol against a naive model of URLFrontier's service: what each answers, and what is left. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/base/random.ts";
import { createVirtualClock } from "../../src/index.ts";
import {
  type Client,
  connect,
  found,
  type Info,
  type Item,
  known,
  serving,
} from "../server/client.ts";
import { storeOptions, STORES } from "../server/stores.ts";

const START_SECOND = 1_800_000_000;
const DAY = 86_400;
const STEPS = Number(process.env.STEPS ?? 100);
const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

interface Url {
  readonly url: string;
  createdAt: number;
  due: number;
  isDone: boolean;
  heldUntil: number;
  note: string;
}

class Queue {
  readonly urls = new Map<string, Url>();
  delay: number | undefined;
  blockedUntil = -1;
  limit = 0;
  producedAt = 0;

  active(): Url[] {
    return [...this.urls.values()].filter(({ isDone }) => !isDone);
  }

  inProcess(now: number): number {
    return this.active().filter(({ heldUntil }) => heldUntil > now).length;
  }

  get completed(): number {
    return this.urls.size - this.active().length;
  }

  due(now: number): Url[] {
    const due = this.active().filter((url) => url.due <= now && url.heldUntil <= now);
    return due.sort((one, other) => one.due - other.due);
  }

  mayGo(now: number, delayDefault: number, max: number): boolean {
    if (this.blockedUntil >= now) return false;
    if (this.limit > 0 && this.completed >= this.limit) return false;
    if (this.producedAt + (this.delay ?? delayDefault) >= now) return false;
    return this.inProcess(now) < max && this.due(now).length > 0;
  }
}

type Crawl = Map<string, Queue>;

describe.each(STORES)("the calls of a server in %s", (store) => {
  it(`answer as a naive model does (SEED=${SEED})`, { timeout: 600_000 }, async (context) => {
    const random = createRandom(SEED);
    const below = (max: number): number => random.below(max);
    const one = <T>(list: readonly T[]): T => list[below(list.length)] as T;
    const clock = createVirtualClock(START_SECOND * 1_000);
    const server = await serving({ clock, ...(await storeOptions(store, context)) });
    const client: Client = connect(server.port);
    const crawls = new Map<string, Crawl>();
    let delayDefault = 1;
    let isActive = true;
    const log: string[] = [];
    const now = (): number => Math.floor(clock.now() / 1_000);
    const crawlOf = (id: string): Crawl | undefined => crawls.get(id || "DEFAULT");

    const put = async (): Promise<void> => {
      const items: object[] = [];
      const expected: string[] = [];
      for (let left = 1 + below(6); left > 0; left--) {
        const host = one(["a.com", "b.com", "c.org", "long-host.example"]);
        const url = one([
          `http://${host}/${below(8)}`,
          `https://${host}:8080/x?${below(4)}`,
          `http://${host}/ä ${below(3)}#f`,
          `ftp://${host}/${below(3)}`,
        ]);
        const key = one(["", "", host, "queue"]);
        const crawlID = one(["", "", "DEFAULT", "other"]);
        const note = one(["", "", `n${below(3)}`]);
        const metadata = note === "" ? {} : { note: { values: [note] } };
        const info = { key, crawlID, metadata };
        const id = crawlID || "DEFAULT";
        if (!crawls.has(id)) crawls.set(id, new Map());
        const crawl = crawls.get(id) as Crawl;
        const name = key || host;
        if (!crawl.has(name)) crawl.set(name, new Queue());
        const queue = crawl.get(name) as Queue;
        const before = queue.urls.get(url);
        const base = { url, createdAt: before?.createdAt ?? now(), heldUntil: -1, note };
        if (below(3) > 0) {
          items.push(found(url, info));
          expected.push(before === undefined ? "OK" : "SKIPPED");
          if (before === undefined) queue.urls.set(url, { ...base, due: now(), isDone: false });
        } else {
          const due = one([
            0,
            0,
            now(),
            now() + below(60),
            now() + 1_000,
            START_SECOND - 1 - below(500),
          ]);
          items.push(known(url, due, info));
          expected.push("OK");
          queue.urls.delete(url);
          queue.urls.set(url, { ...base, due, isDone: due === 0 });
        }
      }
      log.push(`put ${JSON.stringify(items)}`);
      expect(await client.put(...(items as never[]))).toEqual(expected);
    };

    const batch = async (): Promise<void> => {
      const items: object[] = [];
      const expected: string[] = [];
      for (let left = 1 + below(6); left > 0; left--) {
        const host = one(["a.com", "b.com", "d.com"]);
        const url = `http://${host}/${below(12)}`;
        const crawl = crawls.get("DEFAULT") ?? new Map<string, Queue>();
        crawls.set("DEFAULT", crawl);
        const queue = crawl.get(host) ?? new Queue();
        crawl.set(host, queue);
        items.push({ url });
        expected.push(queue.urls.has(url) ? "SKIPPED" : "OK");
        if (!queue.urls.has(url)) {
          const fresh = { url, createdAt: now(), heldUntil: -1, note: "", due: now() };
          queue.urls.set(url, { ...fresh, isDone: false });
        }
      }
      log.push(`batch ${JSON.stringify(items)}`);
      const acks = await client.stream<{ statuses: string[] }>("PutDiscovered", [
        { items } as never,
      ]);
      expect(acks[0]?.statuses).toEqual(expected);
    };

    const get = async (): Promise<void> => {
      const max = one([0, 1, 2, 3, 5]);
      const queuesMax = one([0, 0, 1, 2]);
      const delay = one([0, 1, 5, 60]);
      const key = one(["", "", "", "a.com", "queue", "none"]);
      const crawlID = one([undefined, "DEFAULT", "other", ""]);
      const asked = {
        max_urls_per_queue: max,
        max_queues: queuesMax,
        delay_requestable: delay,
        ...(key === "" ? {} : { key }),
        ...(crawlID === undefined ? {} : { crawlID }),
      };
      log.push(`get ${JSON.stringify(asked)}`);
      const infos = await client.list<Info>("GetURLs", asked);
      log.push(`got ${infos.map((info) => `${info.crawlID} ${info.key} ${info.url}`).join(" | ")}`);
      const most = max === 0 ? Number.POSITIVE_INFINITY : max;
      const may: Array<[string, string, Queue]> = [];
      if (isActive && !(key !== "" && crawlID === undefined)) {
        for (const [id, crawl] of crawls) {
          if (crawlID !== undefined && (crawlID || "DEFAULT") !== id) continue;
          for (const [name, queue] of crawl) {
            if (key !== "" && name !== key) continue;
            if (queue.mayGo(now(), delayDefault, most)) may.push([id, name, queue]);
          }
        }
      }
      const groups = new Map<string, Info[]>();
      for (const info of infos) {
        const name = `${info.crawlID} ${info.key}`;
        groups.set(name, [...(groups.get(name) ?? []), info]);
      }
      const names = may.map(([id, name]) => `${id} ${name}`);
      expect(names).toEqual(expect.arrayContaining([...groups.keys()]));
      const queues = key !== "" || queuesMax === 0 ? may.length : Math.min(queuesMax, may.length);
      expect(groups.size).toBe(queues);
      for (const [id, name, queue] of may) {
        const given = groups.get(`${id} ${name}`);
        if (given === undefined) continue;
        const due = queue.due(now());
        const expected = due.slice(0, most);
        const dates = given.map(({ url }) => queue.urls.get(url)?.due);
        expect(dates).toEqual(expected.map((url) => url.due));
        for (const { url, metadata } of given) {
          const held = due.find((other) => other.url === url);
          expect(held?.note ?? "none").toBe(metadata.note?.values[0] ?? "");
          (held as Url).heldUntil = now() + (delay || 30);
        }
        queue.producedAt = now();
      }
    };

    const change = async (): Promise<void> => {
      const key = one(["a.com", "b.com", "queue", "none"]);
      const crawlID = one(["", "other"]);
      const queue = crawlOf(crawlID)?.get(key);
      const what = below(8);
      log.push(`change ${what} ${key} ${crawlID}`);
      if (what === 0) {
        const time = one([0, now() + below(20), now() - 5]);
        await client.call("BlockQueueUntil", { key, crawlID, time });
        if (queue !== undefined) queue.blockedUntil = time;
      } else if (what === 1) {
        const delay = one([0, 1, 5, 20]);
        await client.call("SetDelay", { key, crawlID, delay_requestable: delay });
        if (queue !== undefined) queue.delay = delay;
      } else if (what === 2) {
        delayDefault = one([0, 1, 1, 4]);
        await client.call("SetDelay", { delay_requestable: delayDefault });
      } else if (what === 3) {
        const limit = one([0, 0, 1, 2, 5]);
        const done = client.call("SetCrawlLimit", { key, crawlID, limit });
        if (queue === undefined) await expect(done).rejects.toMatchObject({ code: 5 });
        else await done;
        if (queue !== undefined) queue.limit = limit;
      } else if (what === 4) {
        isActive = below(3) > 0;
        await client.call("SetActive", { state: isActive });
      } else if (what === 5 && below(3) === 0) {
        const { value } = await client.call("DeleteQueue", { key, crawlID });
        expect(value).toBe(queue?.urls.size ?? 0);
        crawlOf(crawlID)?.delete(key);
      } else if (what === 6 && below(5) === 0) {
        const crawl = [...(crawlOf(crawlID)?.values() ?? [])];
        const { value } = await client.call("DeleteCrawl", { value: crawlID });
        expect(value).toBe(crawl.reduce((sum, { urls }) => sum + urls.size, 0));
        crawls.delete(crawlID || "DEFAULT");
      } else if (what === 7 && below(4) === 0) {
        const days = below(3);
        const named = one(["", key]);
        let count = 0;
        for (const [name, { urls }] of crawlOf(crawlID) ?? []) {
          if (named !== "" && name !== named) continue;
          for (const { url, createdAt } of [...urls.values()]) {
            if (createdAt >= now() - days * DAY) continue;
            urls.delete(url);
            count++;
          }
        }
        const { value } = await client.call("PurgeURLs", { key: named, crawlID, days });
        expect(value).toBe(count);
      }
    };

    const check = async (): Promise<void> => {
      for (const id of ["DEFAULT", "other"]) {
        const crawl = crawls.get(id) ?? new Map<string, Queue>();
        const queues = [...crawl];
        const sum = (of: (queue: Queue) => number): number =>
          queues.reduce((total, [, queue]) => total + of(queue), 0);
        expect(await client.stats(id)).toEqual({
          size: sum((queue) => queue.active().length),
          inProcess: sum((queue) => queue.inProcess(now())),
          counts: {
            completed: sum((queue) => queue.completed),
            active_queues: queues.filter(([, queue]) => queue.active().length > 0).length,
          },
          numberOfQueues: queues.length,
          crawlID: id,
        });
        const list = async (isAll: boolean): Promise<string[]> => {
          const asked = { crawlID: id, include_inactive: isAll };
          return (await client.call<{ values: string[] }>("ListQueues", asked)).values.sort();
        };
        expect(await list(true)).toEqual(queues.map(([name]) => name).sort());
        const open = queues.filter(
          ([, queue]) => queue.active().length > 0 && queue.blockedUntil < now(),
        );
        expect(await list(false)).toEqual(open.map(([name]) => name).sort());
        const items = await client.list<Item>("ListURLs", { crawlID: id, size: 10_000 });
        const shown = items.map(({ creation_date, known: item }) => {
          const { info, refetchable_from_date } = item as NonNullable<Item["known"]>;
          const note = info.metadata.note?.values[0] ?? "";
          return `${info.key} ${info.url} ${note} ${creation_date} ${refetchable_from_date}`;
        });
        const stood = queues.flatMap(([name, { urls }]) =>
          [...urls.values()].map(
            ({ createdAt, due, note, url }) => `${name} ${url} ${note} ${createdAt} ${due}`,
          ),
        );
        expect(shown.sort()).toEqual(stood.sort());
      }
    };

    const calls = [put, put, put, batch, get, get, get, get, change, change];
    try {
      for (let step = 0; step < STEPS; step++) {
        const pass = one([0, 0, 0, 0, 1, 1, 2, 5, 30, 90, below(20) === 0 ? DAY : 0]);
        if (pass > 0) log.push(`pass ${pass}`);
        clock.advance(pass * 1_000);
        await one(calls)();
        if (step % 5 === 0) await check();
      }
      await check();
    } catch (cause) {
      console.log(log.slice(-30).join("\n"));
      throw cause;
    }
  });
});
