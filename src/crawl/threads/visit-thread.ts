/**
 * The handler that a worker thread of a crawl runs: a visit with modules of this thread, and calls to the owner for what all threads
 * share.
 *
 * Loaded by the worker pool in each thread; `workerData` names the crawl.
 */
import { extname } from "node:path";
import { threadId, workerData } from "node:worker_threads";
import { createSystemClock } from "../../base/clock.ts";
import { givenOf } from "../../base/plain-copy.ts";
import type { HandlerContext, WorkerLease } from "../../worker.ts";
import { createDownloader } from "../http/downloader.ts";
import { createInflateRoom } from "../http/decoding/inflate-room.ts";
import { createBodyFolder } from "../files.ts";
import { loadPolicyHook } from "../policy/policy-hook.ts";
import { compilePatterns } from "../page/link-patterns.ts";
import type { Visit } from "../report/visit-statistics.ts";
import { createFaultHub } from "../report/fault-stream.ts";
import { registerModules, signingOf } from "../run/load-modules.ts";
import { createModuleRegistry } from "../module-registry.ts";
import { downloaderOptions } from "../run/crawl-options.ts";
import { type CrawlCounters, createCounters } from "../report/crawl-summary.ts";
import { type OwnerChannel, openOwnerChannel } from "./owner-channel.ts";
import type { AskAnswer, CountsPart, ThreadSetup } from "./crawl-messages.ts";
import { createPausedHosts } from "./paused-hosts.ts";
import { visit } from "../run/visit.ts";
import type { VisitContext, VisitedPage, VisitLease } from "../run/visit-context.ts";

interface Thread {
  /** What is the same for every visit. */
  readonly shared: Omit<VisitContext, keyof Asked | "signal" | "onPage" | "onEnding" | "onVisit">;
  readonly hasCookies: boolean;
  readonly channel: OwnerChannel;
}

/** Made at the first lease and kept for the thread's life. */
const made: { thread: Promise<Thread> | undefined } = { thread: undefined };

/** Visits the page of a lease. */
export async function visitInThread(lease: WorkerLease, { signal }: HandlerContext): Promise<void> {
  made.thread ??= createThread(workerData as ThreadSetup);
  const { shared, channel, hasCookies } = await made.thread;
  const { url, deliveries } = lease;
  let page: VisitedPage | undefined;
  const onPage = (visited: VisitedPage): void => {
    if (channel.hasPageListener) page = visited;
  };
  let ended: Visit | undefined;
  const onVisit = (visited: Visit): void => {
    ended = visited;
  };
  const about = asked(channel, hasCookies);
  const context = { ...shared, ...about, signal, onPage, onEnding: () => {}, onVisit };
  const how = await visit(lease as VisitLease, context);
  channel.post({ kind: "end", url, how, page, visit: ended, deliveries });
}

async function createThread(setup: ThreadSetup): Promise<Thread> {
  const counters = createCounters();
  const latencies: number[] = [];
  const histogram = { ...counters.latency, record: (ms: number) => void latencies.push(ms) };
  const own: CrawlCounters = Object.assign(counters, { latency: histogram });
  const modules = createModuleRegistry();
  const channel = openOwnerChannel(setup.channel, {
    takePart: () => partOf(own, latencies),
    onLast: () => modules.close(),
  });
  const room = createInflateRoom();
  const signing = await signingOf(setup.options);
  await registerModules(modules, filesOfThread(setup), () =>
    createDownloader({
      ...downloaderOptions(setup.options),
      ...signing,
      userAgent: setup.userAgent,
      connections: setup.perHost,
      room,
    }),
  );
  const faults = createFaultHub(({ message, type, url, module }) =>
    channel.post({
      kind: "fault",
      type,
      what: message.slice(`crawler error: ${type}: `.length),
      ...givenOf({ url, module }),
    }),
  );
  const { saveBodies } = setup.options;
  const shared = {
    clock: createSystemClock(),
    modules,
    faults,
    counters: own,
    limits: setup.limits,
    patterns: compilePatterns(setup.limits),
    // Refused together with threads (normalize-crawl.ts).
    ...{ traps: undefined, budgets: undefined, isNew: undefined, places: undefined },
    bodies: saveBodies === undefined ? undefined : createBodyFolder(saveBodies, false),
    room,
    userAgent: setup.userAgent,
    policyHook: await loadPolicyHook(setup.options.policy),
    paused: createPausedHosts(setup.paused),
    onNoDownloader: () => {},
    onItem: (item: unknown, url: string) =>
      channel.post({ kind: "item", item: sendable(item), url }),
  };
  return { shared, channel, hasCookies: setup.cookies };
}

type Asked = Pick<VisitContext, "gate" | "isPaused" | "validators" | "sitemapTimes" | "cookies">;

/** A visit's questions to the owner about its URL, and its reports of it. */
function asked(channel: OwnerChannel, hasCookies: boolean): Asked {
  let reply: AskAnswer | undefined;
  return {
    isPaused: undefined,
    gate: {
      statementsFor: () => reply?.statements ?? [],
      async ask(about) {
        reply = await channel.ask({ ...about, kind: "ask" });
        return reply.answer;
      },
    },
    validators: {
      isWanted: () => reply?.validators !== undefined,
      headersFor: () => reply?.validators ?? {},
      contentFor: () => reply?.content,
      offer: ({ url, rule, deliveries }, page) =>
        channel.ask({ kind: "offer", url, rule, deliveries, page }),
    },
    sitemapTimes: {
      async take(reading) {
        const { found = [] } = await channel.ask({ ...reading, kind: "sitemap" });
        return [...found];
      },
    },
    cookies: hasCookies
      ? {
          headerFor: () => reply?.cookie,
          learn: async (url, lines) =>
            (await channel.ask({ kind: "cookies", url, lines })).isKnownAnew,
        }
      : undefined,
  };
}

/** Each thread appends to files of its own: items.jsonl ─▶ items-t3.jsonl, crawl.warc.gz ─▶ crawl-t3.warc.gz. */
function filesOfThread({ options }: ThreadSetup): ThreadSetup["options"] {
  const { items, warc } = options;
  return {
    ...options,
    ...(items === undefined ? {} : { items: ofThread(items, extname) }),
    ...(warc === undefined ? {} : { warc: ofThread(warc, () => ".warc.gz") }),
  };
}

function ofThread<T extends { path: string }>(
  given: string | T,
  endingOf: (path: string) => string,
): T {
  const file = (typeof given === "string" ? { path: given } : given) as T;
  const ending = endingOf(file.path);
  const stem = ending === "" ? file.path : file.path.slice(0, -ending.length);
  return { ...file, path: `${stem}-t${threadId}${ending}` };
}

/** What has been counted since the last time; begins anew. */
function partOf(counters: CrawlCounters, latencies: number[]): CountsPart | undefined {
  const counts: Record<string, number> = {};
  let isSome = latencies.length > 0;
  for (const [name, value] of Object.entries(counters)) {
    if (typeof value !== "number" || value === 0) continue;
    isSome = true;
    counts[name] = value;
    (counters as unknown as Record<string, number>)[name] = 0;
  }
  if (!isSome) return undefined;
  const statuses = { ...counters.statuses };
  for (const status of Object.keys(statuses)) delete counters.statuses[status];
  return { counts, statuses, latencies: latencies.splice(0) };
}

function sendable(item: unknown): unknown {
  try {
    return structuredClone(item);
  } catch {
    return String(item);
  }
}
