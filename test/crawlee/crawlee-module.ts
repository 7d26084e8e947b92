/** Crawlee as installed in this folder, with the little of its types that the tests use: a checkout without it must type-check. */
import type { CrawleeRequest } from "../../src/crawlee.ts";

export interface CrawlingContext {
  request: CrawleeRequest & {
    userData: Record<string, unknown>;
    pushErrorMessage(error: unknown): void;
  };
  response?: { statusCode?: number; headers: Record<string, string | undefined> };
  body?: unknown;
  enqueueLinks(options: object): Promise<unknown>;
  addRequests(requests: unknown[], options?: object): Promise<unknown>;
}

export interface Crawler {
  run(requests?: unknown[]): Promise<{ requestsFinished: number; requestsFailed: number }>;
  addRequests(requests: unknown[], options?: object): Promise<unknown>;
  autoscaledPool?: { abort(): Promise<void> };
}

type CrawlerClass = new (options: object, configuration?: object) => Crawler;

export interface RequestClass {
  new (options: object): CrawlingContext["request"];
  computeUniqueKey(options: { url: string; method?: string }): string;
}

interface CrawleeModule {
  BasicCrawler: CrawlerClass;
  HttpCrawler: CrawlerClass;
  CheerioCrawler: CrawlerClass;
  RequestManagerTandem: new (list: object, queue: object) => object;
  RequestList: { open(name: null, sources: unknown[]): Promise<object> };
  Configuration: new (options: object) => object;
  Request: RequestClass;
  RequestQueue: QueueClass;
  RequestQueueV1: QueueClass;
  log: { setLevel(level: number): void };
}

/** A `RequestQueue` of Crawlee's. */
export interface Queue {
  id: string;
  name?: string;
  requestLockSecs: number;
  addRequest(request: object, options?: object): Promise<Record<string, unknown>>;
  addRequests(requests: object[], options?: object): Promise<{ processedRequests: object[] }>;
  addRequestsBatched(requests: object[], options?: object): Promise<Record<string, unknown>>;
  fetchNextRequest(): Promise<CrawlingContext["request"] | null>;
  markRequestHandled(request: object): Promise<Record<string, unknown> | null>;
  reclaimRequest(request: object, options?: object): Promise<Record<string, unknown> | null>;
  getRequest(id: string): Promise<CrawlingContext["request"] | null>;
  isEmpty(): Promise<boolean>;
  isFinished(): Promise<boolean>;
  handledCount(): Promise<number>;
  getInfo(): Promise<Record<string, unknown> | undefined>;
  drop(): Promise<void>;
}
interface QueueClass {
  open(name: string | null, options: object): Promise<Queue>;
}

const NAME = "@crawlee/cheerio";

export async function loadCrawlee(): Promise<CrawleeModule> {
  const crawlee = (await import(/* @vite-ignore */ NAME)) as CrawleeModule;
  crawlee.log.setLevel(0);
  return crawlee;
}

/** A configuration of its own, so that tests do not share Crawlee's storages. */
export function memoryOnly(crawlee: CrawleeModule, more: object = {}): object {
  return new crawlee.Configuration({ persistStorage: false, purgeOnStart: false, ...more });
}

/** Sends every host to this machine: the synthetic web is told apart by the Host header. */
export const toLoopback = (_context: unknown, got: { dnsLookup?: unknown }): void => {
  got.dnsLookup = (_name: string, options: unknown, done?: unknown) => {
    const answer = (done ?? options) as (error: null, address: unknown, family?: number) => void;
    if ((options as { all?: boolean }).all) answer(null, [{ address: "127.0.0.1", family: 4 }]);
    else answer(null, "127.0.0.1", 4);
  };
};
