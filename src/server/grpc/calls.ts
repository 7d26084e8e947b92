/** Calls with one answer, and what all calls share: the crawls, the node's own state, the metrics. */
import type { Crawl, QueueCounts } from "../crawls/crawl.ts";
import { crawlIdOf, missingKey } from "../crawls/missing-key.ts";
import type { ServerMetrics } from "../metrics/server-metrics.ts";
import { CallError, INVALID_ARGUMENT, NOT_FOUND } from "./call-errors.ts";
import {
  booleanBytes,
  EMPTY,
  longBytes,
  queueListBytes,
  readActive,
  readBlockQueue,
  readCountUrls,
  readCrawlLimit,
  readDeleteCrawl,
  readLogLevel,
  readPagination,
  readPurgeUrls,
  readQueue,
  readQueueDelay,
  readUrlStatus,
  statsBytes,
  stringListBytes,
  urlItemBytes,
} from "./messages.ts";

/** What the calls of one server work on. */
export interface Calls {
  readonly metrics: ServerMetrics;
  /** The crawl of an id, made where it is missing. */
  crawl(id: string): Crawl | Promise<Crawl>;
  find(id: string): Crawl | undefined;
  all(): Crawl[];
  /** All of them, each time beginning with another one. */
  rotated(): Crawl[];
  deleteCrawl(id: string): Promise<number>;
  setDelayDefault(seconds: number): void;
  isActive(): boolean;
  setActive(state: boolean): void;
  setLogLevel(name: string, level: number): void;
  isClosing(): boolean;
  nodes(): readonly string[];
  /** Seconds since 1970. */
  second(): number;
  monotonic(): number;
  fault(call: string, cause: unknown): void;
}

const QUEUES_SIZE_DEFAULT = 100;
const DAY_SECONDS = 86_400;

type Unary = (calls: Calls, request: Buffer) => Buffer | Promise<Buffer>;

/** The calls with one answer, by name. */
export const UNARY_CALLS = {
  ListNodes: (calls) => stringListBytes(calls.nodes()),
  ListCrawls: listCrawls,
  DeleteCrawl: async (calls, request) =>
    longBytes(await calls.deleteCrawl(crawlIdOf(readDeleteCrawl(request).value))),
  ListQueues: listQueues,
  GetStats: getStats,
  DeleteQueue: async (calls, request) => {
    const { key, crawlID } = readQueue(request);
    return longBytes((await calls.find(crawlIdOf(crawlID))?.deleteQueue(key)) ?? 0);
  },
  BlockQueueUntil: async (calls, request) => {
    const { key, crawlID, time } = readBlockQueue(request);
    await calls.find(crawlIdOf(crawlID))?.change(key, { blockedUntil: time });
    return EMPTY;
  },
  SetActive: (calls, request) => {
    calls.setActive(readActive(request).state);
    return EMPTY;
  },
  GetActive: (calls) => booleanBytes(calls.isActive()),
  SetDelay: async (calls, request) => {
    const { key, crawlID, delay } = readQueueDelay(request);
    if (key === "") calls.setDelayDefault(delay);
    else await calls.find(crawlIdOf(crawlID))?.change(key, { delay });
    return EMPTY;
  },
  SetLogLevel: (calls, request) => {
    const { package: name, level } = readLogLevel(request);
    calls.setLogLevel(name, level);
    return EMPTY;
  },
  SetCrawlLimit: async (calls, request) => {
    const { key, crawlID, limit } = readCrawlLimit(request);
    const isFound = await calls.find(crawlIdOf(crawlID))?.change(key, { limit });
    if (isFound === true) return EMPTY;
    throw new CallError(NOT_FOUND, "CrawlId and Queue combination is not found.");
  },
  GetURLStatus: getUrlStatus,
  CountURLs: async (calls, request) => {
    const { key, crawlID, filter, ignoreCase } = readCountUrls(request);
    const crawl = calls.find(crawlIdOf(crawlID));
    return longBytes((await crawl?.count({ key, text: filter, ignoreCase })) ?? 0);
  },
  PurgeURLs: async (calls, request) => {
    const { key, crawlID, days } = readPurgeUrls(request);
    const before = calls.second() - days * DAY_SECONDS;
    return longBytes((await calls.find(crawlIdOf(crawlID))?.purge(key, before)) ?? 0);
  },
} satisfies Record<string, Unary>;

async function listCrawls(calls: Calls): Promise<Buffer> {
  const ids: string[] = [];
  for (const crawl of calls.all()) {
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
  for (const key of (await calls.find(id)?.queues(isAll)) ?? []) {
    if (place >= start) keys.push(key);
    if (++place >= end) break;
  }
  return queueListBytes(keys, { total: 0, start, crawlID: id });
}

const NO_COUNTS: QueueCounts = {
  active: 0,
  completed: 0,
  inProcess: 0,
  queues: 0,
  activeQueues: 0,
};

async function getStats(calls: Calls, request: Buffer): Promise<Buffer> {
  const { crawlID, key } = readQueue(request);
  const id = crawlIdOf(crawlID);
  const counts = (await calls.find(id)?.counts(key)) ?? NO_COUNTS;
  const { active, completed, inProcess, queues, activeQueues } = counts;
  const named = { completed, active_queues: activeQueues };
  return statsBytes({ size: active, inProcess, counts: named, queues, crawlID: id });
}

async function getUrlStatus(calls: Calls, request: Buffer): Promise<Buffer> {
  const { crawlID, key, url } = readUrlStatus(request);
  const queue = key === "" ? missingKey(url) : key;
  if (queue === undefined) throw new CallError(INVALID_ARGUMENT, `url: '${url}' (expected: a URL)`);
  const crawl = calls.find(crawlIdOf(crawlID));
  const found = await crawl?.status(url, queue);
  if (crawl === undefined || found === undefined) throw new CallError(NOT_FOUND, "");
  return urlItemBytes({ ...found, crawlID: crawl.id });
}
