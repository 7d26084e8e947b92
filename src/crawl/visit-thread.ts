/**
 * The handler that a worker thread of a crawl runs: a visit, its modules made here, what belongs to all asked of the owner.
 *
 * Loaded by the worker pool in each thread; `workerData` says for which crawl.
 */
import { BroadcastChannel, threadId, workerData } from "node:worker_threads";
import type { HandlerContext, WorkerLease } from "../worker.ts";
import { createDownloader } from "./download.ts";
import { createFaultHub } from "./faults.ts";
import type { GateAnswer } from "./gate.ts";
import { registerModules } from "./load-modules.ts";
import { createModuleRegistry } from "./modules.ts";
import { downloaderOptions } from "./options.ts";
import { type CrawlCounters, createCounters } from "./summary.ts";
import type { CountsPart, ThreadSetup, ToOwner, ToWorker } from "./thread-protocol.ts";
import type { ValidatorHeaders } from "./validators.ts";
import { visit } from "./visit.ts";
import type { VisitContext, VisitLease } from "./visit-context.ts";

interface Thread {
  readonly context: Omit<VisitContext, "signal">;
  readonly tell: (message: ToOwner) => void;
  readonly counters: CrawlCounters;
  readonly latencies: number[];
}

/** Made at the first lease and kept for the thread's life. */
const made: { thread: Promise<Thread> | undefined } = { thread: undefined };

async function visitInThread(lease: WorkerLease, { signal }: HandlerContext): Promise<void> {
  made.thread ??= createThread(workerData as ThreadSetup);
  const thread = await made.thread;
  const how = await visit(lease as VisitLease, { ...thread.context, signal });
  thread.tell({ kind: "end", url: lease.url, how, part: partOf(thread) });
}

export { visitInThread as default, visitInThread as sitemap };

async function createThread(setup: ThreadSetup): Promise<Thread> {
  const channel = new BroadcastChannel(setup.channel);
  channel.unref();
  const tell = (message: ToOwner): void => channel.postMessage(message);
  const asked = new Map<number, (answer: ToWorker) => void>();
  channel.onmessage = (event) => {
    const message = (event as { data: ToWorker | ToOwner }).data;
    if (message.kind !== "answer" || message.worker !== threadId) return;
    asked.get(message.id)?.(message);
    asked.delete(message.id);
  };
  let serial = 0;
  const hops = new Map<string, number>();
  const validators = new Map<string, ValidatorHeaders>();
  const ask = async (url: string, rule: string): Promise<GateAnswer> => {
    const id = ++serial;
    const answered = new Promise<ToWorker>((resolve) => asked.set(id, resolve));
    tell({ kind: "ask", worker: threadId, id, url, rule });
    const answer = await answered;
    if (answer.hops > 0) hops.set(url, answer.hops);
    validators.set(url, answer.validators);
    return answer.answer;
  };
  const modules = createModuleRegistry();
  await registerModules(modules, itemsOfThread(setup), () =>
    createDownloader({
      ...downloaderOptions(setup.options),
      userAgent: setup.userAgent,
      connections: setup.perHost,
    }),
  );
  const counters = createCounters();
  const latencies: number[] = [];
  const histogram = { ...counters.latency, record: (ms: number) => void latencies.push(ms) };
  const own: CrawlCounters = Object.assign(counters, { latency: histogram });
  const faults = createFaultHub(({ message, type, url, module }) =>
    tell({
      kind: "fault",
      type,
      what: message.slice(`crawler error: ${type}: `.length),
      ...(url === undefined ? {} : { url }),
      ...(module === undefined ? {} : { module }),
    }),
  );
  const context = {
    modules,
    faults,
    counters: own,
    gate: { ask },
    validators: validatorsOfOwner(validators, tell),
    hops: {
      get(url: string) {
        const count = hops.get(url) ?? 0;
        hops.delete(url);
        return count;
      },
      set: (url: string, count: number) => tell({ kind: "hop", url, hops: count }),
    },
    limits: setup.limits,
    onNoDownloader: () => {},
    onPage: (page: Parameters<VisitContext["onPage"]>[0]) => tell({ kind: "page", page }),
    onItem: (item: unknown, url: string) => tell({ kind: "item", item: sendable(item), url }),
  };
  return { context, tell, counters: own, latencies };
}

/** Validators as the owner's answers told them; what is learned is told to the owner. */
function validatorsOfOwner(
  told: Map<string, ValidatorHeaders>,
  tell: Thread["tell"],
): VisitContext["validators"] {
  return {
    headersFor(url) {
      const headers = told.get(url) ?? {};
      told.delete(url);
      return headers;
    },
    learn: (url, validators) => tell({ kind: "learn", url, validators }),
  };
}

/** Each thread appends to a file of its own: items.jsonl ─▶ items-t3.jsonl. */
function itemsOfThread({ options }: ThreadSetup): ThreadSetup["options"] {
  const { items } = options;
  if (items === undefined) return options;
  const file = typeof items === "string" ? { path: items } : items;
  const dot = file.path.lastIndexOf(".");
  const cut = dot > file.path.lastIndexOf("/") ? dot : file.path.length;
  const path = `${file.path.slice(0, cut)}-t${threadId}${file.path.slice(cut)}`;
  return { ...options, items: { ...file, path } };
}

/** What has been counted since the last time; begins anew. */
function partOf({ counters, latencies }: Thread): CountsPart {
  const counts: Record<string, number> = {};
  for (const [name, value] of Object.entries(counters)) {
    if (typeof value !== "number" || value === 0) continue;
    counts[name] = value;
    (counters as unknown as Record<string, number>)[name] = 0;
  }
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
