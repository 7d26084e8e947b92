/**
 * Room `src/crawl/shared`: a crawl over a frontier that is elsewhere, on which other processes may work too. Decides what this process
 * keeps of it, and what it sends later. Public entries only.
 */

/**
 * SharedFrontier: what a crawl asks of its frontier, over one whose answers are promises.
 *
 *   leases            taken with what their hosts are like; ended behind (shared-lease.ts)
 *   report            the last one that was read, at most half a second old while it is used
 *   explain           of a small frontier of its own with the same rules: rule, domain and refusals need no other
 *   pause             of this process alone
 *
 *   I1  What is sent is followed: `settle` resolves when nothing is under way, and a call that fails is reported.
 *   I2  The scope is changed by what is made of the rules in force, in one step where the frontier has one: of two processes that begin at
 *       once none takes the other's scope away.
 */
import {
  type AsyncFrontier,
  type AsyncLease,
  type Frontier,
  type FrontierEvents,
  type HostView,
  type Report,
  type RequestLike,
  type Rule,
  openFrontier,
} from "../../index.ts";
import { misuse } from "../../base/errors.ts";
import type { CrawlSettings } from "../run/crawl-options.ts";
import { createSharedHosts, type SharedHosts } from "./shared-host.ts";
import { type SharedLease, sharedLease } from "./shared-lease.ts";

const REPORT_MS = 500;

type RuleChange = (stored: Rule[] | undefined) => { rules: Rule[] | undefined } | undefined;

/** A frontier that changes rules in one step for all processes. */
interface ChangesRules {
  changeRules(make: RuleChange): Promise<void>;
}

interface SharedParts {
  readonly frontier: AsyncFrontier;
  readonly settings: CrawlSettings;
  readonly onFault: (cause: unknown, url?: string) => void;
}

export class SharedFrontier {
  readonly name: string;
  /** The frontier itself. */
  readonly frontier: AsyncFrontier;
  readonly #settings: CrawlSettings;
  readonly #onFault: SharedParts["onFault"];
  readonly #hosts: SharedHosts;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #lens: Frontier;
  #rules: Rule[] | undefined;
  #report!: Report;
  #reportedAt = 0;
  #reading: Promise<void> | undefined;
  #resumed: Promise<void> | undefined;
  #resume: () => void = () => undefined;
  #isDiscarding = false;

  private constructor({ frontier, settings, onFault }: SharedParts, lens: Frontier) {
    this.name = frontier.name;
    this.frontier = frontier;
    this.#settings = settings;
    this.#onFault = onFault;
    this.#lens = lens;
    const { clock, delayMs, perHost } = settings;
    this.#hosts = createSharedHosts({
      ...{ frontier, delayMs, perHost, now: () => clock.now() },
      follow: (call) => this.#follow(call),
    });
  }

  /** Rejects with OPTION_INVALID for options that need the frontier in this thread. */
  static async open(parts: SharedParts): Promise<SharedFrontier> {
    checkShared(parts.settings);
    const { defaults } = parts.settings.frontier;
    const lens = await openFrontier(defaults === undefined ? {} : { defaults });
    const shared = new SharedFrontier(parts, lens);
    await shared.#readRules();
    await shared.#readReport();
    return shared;
  }

  /** The part of a `Frontier` that a crawl uses. */
  asFrontier(): Frontier {
    return this as unknown as Frontier;
  }

  async take(options: { max: number; signal: AbortSignal }): Promise<SharedLease[]> {
    const { signal } = options;
    while (this.#resumed !== undefined && !signal.aborted) {
      const stopped = new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      await Promise.race([this.#resumed, stopped]);
    }
    const leases = await this.frontier.take(options);
    await this.#hosts.read(leases.map((lease) => this.#unitOf(lease)));
    return leases.map((lease) =>
      sharedLease(lease, {
        follow: (call, url) => this.#follow(call, url),
        before: () => this.#hosts.settled(this.#unitOf(lease)),
      }),
    );
  }

  #unitOf({ hostKey, host, url }: AsyncLease): string {
    if (hostKey !== undefined) return hostKey;
    const isByDomain = this.#settings.given.defaults?.politeness?.by === "domain";
    return isByDomain ? (this.#lens.explain(url).domain ?? host) : host;
  }

  pushMany(requests: Iterable<RequestLike>): void {
    void this.#follow(this.frontier.pushMany(requests));
  }

  record(request: RequestLike): ReturnType<AsyncFrontier["record"]> {
    return this.frontier.record(request);
  }

  put(...args: Parameters<AsyncFrontier["put"]>): ReturnType<AsyncFrontier["put"]> {
    return this.frontier.put(...args);
  }

  explain(request: RequestLike): ReturnType<Frontier["explain"]> {
    return this.#lens.explain(request);
  }

  host(key: string): HostView {
    return this.#hosts.of(key);
  }

  rules(): Rule[] | undefined {
    return this.#rules;
  }

  /** Waits until the frontier has them. */
  async changeRules(make: RuleChange): Promise<void> {
    const one = (stored: Rule[] | undefined): ReturnType<RuleChange> => {
      this.#see(stored);
      return make(stored);
    };
    const changing = this.frontier as Partial<ChangesRules>;
    if (changing.changeRules !== undefined) await changing.changeRules(one);
    else {
      const made = one(await this.frontier.rules());
      if (made?.rules !== undefined) await this.frontier.setRules(made.rules);
    }
    await this.#readRules();
  }

  setRules(rules: Rule[], version?: number | string): void {
    this.#see(rules);
    void this.#follow(this.frontier.setRules(rules, version));
  }

  async #readRules(): Promise<void> {
    this.#see(await this.frontier.rules());
  }

  #see(rules: Rule[] | undefined): void {
    this.#rules = rules;
    this.#lens.setRules(rules ?? [{ id: "default" }]);
  }

  report(): Report {
    const { clock } = this.#settings;
    if (clock.now() > this.#reportedAt + REPORT_MS) void this.#follow(this.#readReport());
    return this.#report;
  }

  async #readReport(): Promise<void> {
    this.#reading ??= this.frontier.report().then(
      (report) => {
        this.#report = report;
        this.#reportedAt = this.#settings.clock.now();
        this.#reading = undefined;
      },
      (cause) => {
        this.#reading = undefined;
        throw cause;
      },
    );
    await this.#reading;
  }

  on<E extends keyof FrontierEvents>(
    event: E,
    listener: (payload: FrontierEvents[E]) => void,
  ): () => void {
    return this.frontier.on(event, listener);
  }

  pause(): void {
    this.#resumed ??= new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  resume(): void {
    this.#resumed = undefined;
    this.#resume();
  }

  /** Resolves when nothing that was sent is under way. */
  async settle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async flush(): Promise<void> {
    await this.settle();
    await this.frontier.flush();
    await this.#readReport();
  }

  /** Ends the crawl: sends everything. After a fault it leaves what it could not send. */
  async end(isFault: boolean): Promise<void> {
    this.#isDiscarding = isFault;
    await (isFault ? this.settle() : this.flush());
  }

  /** Closes what is this process's alone; the frontier too where the crawl has opened it. */
  async close(isOurs: boolean): Promise<void> {
    await this.settle();
    await this.#lens.close();
    if (isOurs) await this.frontier.close({ discard: this.#isDiscarding });
  }

  #follow<T>(call: Promise<T>, url?: string): Promise<T | undefined> {
    const followed = call.catch((cause): undefined => {
      this.#onFault(cause, url);
      return undefined;
    });
    this.#underWay.add(followed);
    void followed.then(() => this.#underWay.delete(followed));
    return followed;
  }
}

/** Refuses what needs the frontier in this thread: checks of each link, or rings to other threads. */
function checkShared({ given, threads }: CrawlSettings): void {
  if (threads > 0) {
    const expected = "0 over a frontier that is elsewhere: more processes, in place of threads";
    throw misuse("OPTION_INVALID", "options.threads", threads, expected);
  }
  for (const name of ["traps", "maxPathUrls", "maxQueryUrls"] as const) {
    if (given[name] === undefined || given[name] === false) continue;
    const expected = "no such option over a frontier that is elsewhere";
    throw misuse("OPTION_INVALID", `options.${name}`, given[name], expected);
  }
}

/** Whether a frontier answers by promises. */
export function isElsewhere(frontier: Frontier | AsyncFrontier): frontier is AsyncFrontier {
  return typeof frontier.status === "function";
}
