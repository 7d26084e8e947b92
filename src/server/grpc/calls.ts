/** Calls with one answer, and what all calls share: the crawls, the node's own state, the metrics. */
import type { Clock } from "../../index.ts";
import { type Crawl, NO_COUNTS, type QueueChange } from "../crawls/crawl.ts";
import type { CrawlRegistry } from "../crawls/crawl-registry.ts";
import { crawlIdOf, missingKey } from "../crawls/missing-key.ts";
import type { ServerMetrics } from "../metrics/server-metrics.ts";
import { CallError, INVALID_ARGUMENT, NOT_FOUND } from "./call-errors.ts";
import {
  EMPTY,
  longBytes,
  queueListBytes,
  readActive,
  readCountUrls,
  readDeleteCrawl,
  readLogLevel,
  readPagination,
  readPurgeUrls,
  readQueue,
  readQueueNumber,
  readUrlStatus,
  statsBytes,
  stringListBytes,
  urlItemBytes,
} from "./messages.ts";

/** What the calls of one server work on. */
export interface Calls {
  readonly metrics: ServerMetrics;
  readonly registry: CrawlRegistry;
  readonly clock: Clock;
  /** All crawls, each time beginning with another one. */
  rotated(): Promise<Crawl[]>;
  isClosing(): boolean;
  fault(call: string, cause: unknown): void;
}

const QUEUES_SIZE_DEFAULT = 100;
const DAY_SECONDS = 86_400;

export type Unary = (calls: Calls, request: Buffer) => Buffer | Promise<Buffer>;

/** The calls with one answer, by name. */
export const UNARY_CALLS = {
  ListNodes: async (calls) => stringListBytes(await calls.registry.nodes()),
  ListCrawls: listCrawls,
  DeleteCrawl: async (calls, request) =>
    longBytes(await calls.registry.delete(crawlIdOf(readDeleteCrawl(request).value))),
  ListQueues: listQueues,
  GetStats: getStats,
  DeleteQueue: async (calls, request) => {
    const { key, crawlID } = readQueue(request);
    const crawl = await queueOwner(calls, key, crawlID);
    return longBytes((await crawl?.deleteQueue(key)) ?? 0);
  },
  BlockQueueUntil: async (calls, request) => {
    const { value: blockedUntil, ...queue } = readQueueNumber(request);
    await changeQueue(calls, queue, { blockedUntil });
    return EMPTY;
  },
  SetActive: async (calls, request) => {
    const { state, local } = readActive(request);
    await calls.registry.setActive(state, local ? "this" : "all");
    return EMPTY;
  },
  GetActive: async (calls) => longBytes(Number(await calls.registry.isActive())),
  SetDelay: async (calls, request) => {
    const { value: delay, ...queue } = readQueueNumber(request);
    if (queue.key === "") await calls.registry.setDelayDefault(delay);
    else await changeQueue(calls, queue, { delay });
    return EMPTY;
  },
  SetLogLevel: (_, request) => {
    readLogLevel(request); // faults alone are reported, whatever the level
    return EMPTY;
  },
  SetCrawlLimit: async (calls, request) => {
    const { value: limit, ...queue } = readQueueNumber(request);
    if (await changeQueue(calls, queue, { limit })) return EMPTY;
    throw new CallError(NOT_FOUND, "CrawlId and Queue combination is not found.");
  },
  GetURLStatus: getUrlStatus,
  CountURLs: async (calls, request) => {
    const { key, crawlID, filter, ignoreCase } = readCountUrls(request);
    const crawl = await calls.registry.find(crawlIdOf(crawlID));
    return longBytes((await crawl?.count({ key, text: filter, ignoreCase })) ?? 0);
  },
  PurgeURLs: async (calls, request) => {
    const { key, crawlID, days } = readPurgeUrls(request);
    // What came in this very second is older than 0 days.
    const before = calls.clock.now() / 1_000 - days * DAY_SECONDS;
    const crawl = await calls.registry.find(crawlIdOf(crawlID));
    return longBytes((await crawl?.purge(key, before)) ?? 0);
  },
} satisfies Record<string, Unary>;

/** The crawl of one queue. An empty key, which means all queues in other calls, names none. */
async function queueOwner(calls: Calls, key: string, id: string): Promise<Crawl | undefined> {
  return key === "" ? undefined : await calls.registry.find(crawlIdOf(id));
}

/** False: there is no such queue. */
async function changeQueue(
  calls: Calls,
  { key, crawlID }: { key: string; crawlID: string },
  change: QueueChange,
): Promise<boolean> {
  const crawl = await queueOwner(calls, key, crawlID);
  return (await crawl?.change(key, change)) === true;
}

async function listCrawls(calls: Calls): Promise<Buffer> {
  const ids: string[] = [];
  for (const crawl of await calls.registry.all()) {
    if ((await crawl.counts("")).queues > 0) ids.push(crawl.id);
  }
  return stringListBytes(ids);
}

async function listQueues(calls: Calls, request: Buffer): Promise<Buffer> {
  const { crawlID, isAll, size, start } = readPagination(request);
  const id = crawlIdOf(crawlID);
  const end = start + (size === 0 ? QUEUES_SIZE_DEFAULT : size);
  const keys: string[] = [];
  let place = 0;
  const crawl = await calls.registry.find(id);
  for (const key of (await crawl?.queues(isAll)) ?? []) {
    if (place >= start) keys.push(key);
    if (++place >= end) break;
  }
  return queueListBytes(keys, start, id);
}

async function getStats(calls: Calls, request: Buffer): Promise<Buffer> {
  const { crawlID, key } = readQueue(request);
  const id = crawlIdOf(crawlID);
  const crawl = await calls.registry.find(id);
  const counts = (await crawl?.counts(key)) ?? NO_COUNTS;
  const { active, completed, inProcess, queues, activeQueues } = counts;
  const named = { completed, active_queues: activeQueues };
  return statsBytes({ size: active, inProcess, counts: named, queues, crawlID: id });
}

async function getUrlStatus(calls: Calls, request: Buffer): Promise<Buffer> {
  const { crawlID, key, url } = readUrlStatus(request);
  const queue = key === "" ? missingKey(url) : key;
  if (queue === undefined) throw new CallError(INVALID_ARGUMENT, `url: '${url}' (expected: a URL)`);
  const crawl = await calls.registry.find(crawlIdOf(crawlID));
  const found = await crawl?.status(url, queue);
  if (crawl === undefined || found === undefined) throw new CallError(NOT_FOUND, "");
  return urlItemBytes({ ...found, crawlID: crawl.id });
}
