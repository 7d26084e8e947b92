/**
 * Room `src/crawl/threads`: a crawl on worker threads: what a visit asks of the owner, and the owner's answers. Visits
 * themselves are crawl/run's.
 */

/**
 * A crawl on worker threads, the owner's side: runs the pool and makes the decisions that only one thread may make.
 *
 *   pool ─▶ visit-thread × threads      a channel each: asks are answered here, counts and events arrive here
 *
 *   I1  Permits: a page is asked for before it is downloaded, and no more are granted than maxPages leaves. An ask beyond
 *       that is held until a visit ends without a page, or the crawl does.
 */
import { BroadcastChannel } from "node:worker_threads";
import { packageFile } from "../../base/package-files.ts";
import { givenOf } from "../../base/plain-copy.ts";
import { entropyWords } from "../../base/random.ts";
import type { Frontier } from "../../index.ts";
import { WorkerPool } from "../../pool.ts";
import type { GateAnswer } from "../robots/robots-gate.ts";
import { type CrawlOptions, type CrawlSettings, pick } from "../run/crawl-options.ts";
import {
  type AskAnswer,
  type Batch,
  channelOf,
  type CountsPart,
  type Hello,
  type ThreadSetup,
  type ToOwner,
  type ToWorker,
} from "./crawl-messages.ts";
import { createRetriedVisits, type RetriedVisits } from "./retried-visits.ts";
import type { VisitContext } from "../run/visit-context.ts";

export interface CrawlThreadsOptions {
  readonly frontier: Frontier;
  readonly settings: CrawlSettings;
  /** The context of a visit on this thread. */
  readonly context: VisitContext;
  /** Lets visits end and take no more. */
  readonly stop: AbortSignal;
  readonly onBudget: () => void;
  /** Whether `page` has a listener. */
  readonly hasPageListener: () => boolean;
  /** Counts a page while `page` has no listener. */
  readonly onQuietPage: (url: string) => void;
}

type Ask = Extract<ToOwner, { kind: "ask" }>;
type Sitemap = Extract<ToOwner, { kind: "sitemap" }>;
type End = Extract<ToOwner, { kind: "end" }>;

/** A worker that has sent its hello. */
interface Peer {
  /** Id of its thread. */
  readonly worker: number;
  readonly channel: BroadcastChannel;
  /** Answers that cross together. */
  answers: AskAnswer[];
  isDue: boolean;
  onLast: (() => void) | undefined;
}

/** An ask and whose it is. */
type PeerAsk = Ask & {
  readonly peer: Peer;
};

/** A live worker that sends nothing for this time at the end counts as hung. */
const LAST_WORDS_MS = 10_000;

/** Visits on worker threads until the frontier is finished or the crawl is stopped. */
export async function runCrawlThreads(options: CrawlThreadsOptions): Promise<void> {
  const { frontier, settings, context, stop } = options;
  const crawlThreads = new CrawlThreads(options);
  const concurrency = Math.max(1, Math.ceil(settings.concurrency / settings.threads));
  const pool = new WorkerPool({
    frontier,
    handler: packageFile("thread.js"),
    threads: settings.threads,
    concurrency,
    ...pick(settings.given, ["rampMs"]),
    workerData: crawlThreads.setup,
  });
  const living = (): ReadonlySet<number> => new Set(pool.threadIds);
  const off = frontier.on("error", ({ stage }) => {
    if (stage === "worker") crawlThreads.threadsDied(living()); // a thread has died
  });
  const drain = (): void => {
    crawlThreads.refuse();
    void frontier.drain().then(() => leaving.abort());
  };
  const leaving = new AbortController();
  const giveUp = (): void => leaving.abort();
  stop.addEventListener("abort", drain, { once: true });
  context.signal.addEventListener("abort", giveUp, { once: true });
  if (stop.aborted) drain();
  try {
    await pool.run({ signal: leaving.signal });
  } catch (cause) {
    if (!leaving.signal.aborted) throw cause;
  } finally {
    stop.removeEventListener("abort", drain);
    context.signal.removeEventListener("abort", giveUp);
    off();
    await crawlThreads.lastMessages(living());
    await pool.close();
    crawlThreads.close();
  }
}

class CrawlThreads {
  readonly setup: ThreadSetup;
  readonly #options: CrawlThreadsOptions;
  readonly #hall: BroadcastChannel;
  readonly #peers: Peer[] = [];
  readonly #held: PeerAsk[] = [];
  readonly #retried: RetriedVisits;
  /**
   * Pages that were granted and have not ended, and to whom: a page that comes again may be granted before the message of its last end
   * arrives.
   */
  readonly #granted = new Map<string, Peer>();
  #isRefusing = false;

  constructor(options: CrawlThreadsOptions) {
    const { settings, context } = options;
    const { given } = settings;
    const [a = 0, b = 0] = entropyWords(2);
    this.#options = options;
    this.#retried = createRetriedVisits(options.frontier, context.onVisit);
    this.setup = {
      channel: `outrider-crawl-${a}-${b}`,
      options: sentOptions(given),
      userAgent: settings.userAgent,
      perHost: settings.perHost,
      cookies: settings.cookies,
      limits: context.limits,
      paused: context.paused.memory,
    };
    this.#hall = new BroadcastChannel(this.setup.channel);
    this.#hall.onmessage = (event) => this.#onHello((event as { data: Hello }).data);
  }

  /** No more pages: a worker that asks for one releases its lease. */
  refuse(): void {
    this.#isRefusing = true;
    for (const ask of this.#held.splice(0)) this.#answer(ask, "later");
  }

  /** Threads have died: their grants are free for others. */
  threadsDied(living: ReadonlySet<number>): void {
    for (const [url, { worker }] of this.#granted) {
      if (!living.has(worker)) this.#granted.delete(url);
    }
    for (const ask of this.#held.splice(0)) if (living.has(ask.peer.worker)) this.#ask(ask);
  }

  /** Resolves when the messages of ended workers have arrived; dead threads send nothing more. */
  async lastMessages(living: ReadonlySet<number>): Promise<void> {
    const { clock } = this.#options.settings;
    let giveUp = (): void => {};
    const tooLong = new Promise<void>((resolve) => {
      giveUp = clock.schedule(clock.now() + LAST_WORDS_MS, resolve);
    });
    const peers = this.#peers.filter(({ worker }) => living.has(worker));
    const lastBatches = peers.map(
      (peer) =>
        new Promise<void>((resolve) => {
          peer.onLast = resolve;
          send(peer, { kind: "last" });
        }),
    );
    await Promise.race([Promise.all(lastBatches), tooLong]);
    giveUp();
  }

  close(): void {
    this.#retried.close();
    this.#hall.close();
    for (const { channel } of this.#peers) channel.close();
  }

  #onHello({ worker }: Hello): void {
    const channel = new BroadcastChannel(channelOf(this.setup.channel, worker));
    const peer: Peer = { worker, channel, answers: [], isDue: false, onLast: undefined };
    channel.onmessage = (event) => this.#onMessage(peer, (event as { data: Batch }).data);
    this.#peers.push(peer);
    send(peer, { kind: "welcome" });
  }

  #onMessage(peer: Peer, { messages, part, isLast }: Batch): void {
    const { context } = this.#options;
    if (part !== undefined) addPart(context, part);
    for (const message of messages) this.#take(peer, message);
    if (isLast) peer.onLast?.();
  }

  #take(peer: Peer, message: ToOwner): void {
    const { context } = this.#options;
    if (message.kind === "ask") this.#ask({ ...message, peer });
    else if (message.kind === "offer") {
      void context.validators.offer(message, message.page);
      reply(peer, answerTo(message.id), this.#options);
    } else if (message.kind === "cookies") {
      const isKnownAnew = context.cookies?.learn(message.url, message.lines) === true;
      reply(peer, { ...answerTo(message.id), isKnownAnew }, this.#options);
    } else if (message.kind === "sitemap") void this.#takeSitemap(peer, message);
    else if (message.kind === "fault") {
      const { kind: _, ...fault } = message;
      context.faults.report(fault);
    } else if (message.kind === "item") context.onItem(message.item, message.url);
    else if (message.kind === "end") this.#ended(peer, message);
  }

  async #takeSitemap(peer: Peer, { id, url, data, found }: Sitemap): Promise<void> {
    const { context } = this.#options;
    const pushed = await context.sitemapTimes.take({ url, data, found }).catch((cause) => {
      context.faults.report({ type: "scheduler", what: `sitemap: ${String(cause)}`, url, cause });
      return found;
    });
    reply(peer, { ...answerTo(id), found: pushed }, this.#options);
  }

  #ended(peer: Peer, { url, how, page, visit, deliveries }: End): void {
    const { context, settings, onBudget } = this.#options;
    if (visit !== undefined) context.onEnding(visit);
    if (visit?.outcome === "retried") this.#retried.take(visit, deliveries);
    else if (visit !== undefined) context.onVisit(visit);
    if (page !== undefined) context.onPage(page);
    else if (how === "page") this.#options.onQuietPage(url);
    if (this.#granted.get(url) === peer) this.#granted.delete(url);
    if (context.counters.pages >= settings.maxPages) onBudget();
    else if (this.#held.length > 0) for (const ask of this.#held.splice(0)) this.#ask(ask);
  }

  #ask(ask: PeerAsk): void {
    const { context, settings } = this.#options;
    if (this.#isRefusing) {
      this.#answer(ask, "later");
      return;
    }
    const isPage = !ask.isSitemap;
    if (isPage && context.counters.pages + this.#granted.size >= settings.maxPages) {
      this.#held.push(ask);
      return;
    }
    if (isPage) this.#granted.set(ask.url, ask.peer);
    const { gate } = context;
    const known = gate === undefined ? "allowed" : gate.known?.(ask);
    if (gate === undefined || known !== undefined) {
      this.#answer(ask, known ?? "allowed");
      return;
    }
    gate.ask(ask).then(
      (answer) => this.#answer(ask, answer),
      () => this.#answer(ask, "later"),
    );
  }

  #answer({ peer, id, url, rule }: PeerAsk, answer: GateAnswer): void {
    const { context } = this.#options;
    const { validators: known } = context;
    const validators = known.isWanted(rule) ? known.headersFor(url, rule) : undefined;
    const content = known.contentFor(url, rule);
    const cookie = context.cookies?.headerFor(url);
    const statements = context.gate?.statementsFor(url) ?? [];
    reply(
      peer,
      { ...answerTo(id), answer, statements, validators, content, cookie },
      this.#options,
    );
  }
}

/** The answer to a message that needs only an acknowledgement. */
function answerTo(id: number): AskAnswer {
  const nothing = {
    validators: undefined,
    content: undefined,
    cookie: undefined,
    isKnownAnew: false,
  };
  return { id, answer: "allowed", statements: [], ...nothing };
}

/** Answers of one turn cross together. */
function reply(peer: Peer, answer: AskAnswer, { hasPageListener }: CrawlThreadsOptions): void {
  peer.answers.push(answer);
  if (peer.isDue) return;
  peer.isDue = true;
  queueMicrotask(() => {
    const list = peer.answers;
    peer.answers = [];
    peer.isDue = false;
    send(peer, { kind: "answers", list, hasPageListener: hasPageListener() });
  });
}

function send({ channel }: Peer, message: ToWorker): void {
  channel.postMessage(message);
}

/** What a worker makes its modules of: values that can be sent, paths where modules are named. */
function sentOptions(given: CrawlOptions): CrawlOptions {
  const paths = (list: readonly unknown[] | undefined): string[] | undefined => list?.map(String);
  const sent = pick(given, [
    "allowPrivate",
    "dial",
    "http2",
    "ca",
    "proxy",
    "maxBytes",
    "headers",
    "timeouts",
    "items",
    "saveBodies",
    "warc",
    "identity",
  ]);
  const { downloaders, analyzers, pipelines, policy } = given;
  const modules = { analyzers: paths(analyzers), pipelines: paths(pipelines) };
  const named = { ...modules, downloaders: paths(downloaders), policy: policy && String(policy) };
  return { ...sent, ...givenOf(named) };
}

function addPart({ counters }: VisitContext, { counts, statuses, latencies }: CountsPart): void {
  const open = counters as unknown as Record<string, number>;
  for (const [name, value] of Object.entries(counts)) open[name] = (open[name] ?? 0) + value;
  for (const [status, count] of Object.entries(statuses)) {
    counters.statuses[status] = (counters.statuses[status] ?? 0) + count;
  }
  for (const ms of latencies) counters.latency.record(ms);
}
