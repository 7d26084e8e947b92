/**
 * DomainThrottle: 429s, Retry-After and crawl delays into the clocks of hosts. The frontier keeps the clocks, for any number of hosts;
 * this object keeps only what a series of refusals depends on, for the hosts that refuse now.
 *
 *   refused ─▶ blocked until now + delay ─▶ refused again: delay doubled, up to maxDelayMs
 *                 │ refused meanwhile: the same event, nothing changes      └▶ served for a second delay: forgotten
 *
 *   delay = Retry-After, up to maxRetryAfterMs; without it baseDelayMs × 2^(refusals in a row − 1)
 *
 *   I1  A host's state is dropped when it serves again, so that memory is bounded by the hosts that refuse.
 *   I2  A host is stalled while it refuses: its first refusal since it served is that long ago, its last one is not.
 *   I3  With a least time between visits of a domain, `mustWait` blocks the hosts whose turn comes too early, one by one: a domain's hosts
 *       are known no sooner. Only domains whose time is not over are kept.
 */
import type { Explanation } from "../../index.ts";
import type { Clock } from "../../base/clock.ts";
import { type AnyFrontier, isElsewhere } from "./request-store.ts";
import { isLater } from "./soon.ts";

export interface ThrottleLimits {
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  readonly maxRetryAfterMs: number;
  readonly maxStallMs: number;
}

interface Refusals {
  count: number;
  untilMs: number;
  /** A refusal from then on starts a new series. */
  forgottenAtMs: number;
  /** The first refusal since it served; undefined: it served since. */
  sinceMs: number | undefined;
  lastMs: number;
}

export class DomainThrottle {
  readonly #frontier: AnyFrontier;
  readonly #clock: Pick<Clock, "now">;
  readonly #limits: ThrottleLimits;
  readonly #refusing = new Map<string, Refusals>();
  /** Least time between two visits of any host, and of any registrable domain. */
  #floorMs = 0;
  #domainFloorMs = 0;
  /** Until when each domain waits, the first to end first. */
  readonly #domains = new Map<string, number>();
  /** Clocks that are being set, on a frontier that is elsewhere. */
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(frontier: AnyFrontier, clock: Pick<Clock, "now">, limits: ThrottleLimits) {
    this.#frontier = frontier;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** A host refused a request because it came too soon. */
  refused(url: string, retryAfterMs: number | null | undefined): boolean {
    const host = hostOf(url);
    if (host === undefined) return false;
    const nowMs = this.#clock.now();
    const { baseDelayMs, maxDelayMs, maxRetryAfterMs } = this.#limits;
    const known = this.#refusing.get(host);
    const isAsked = retryAfterMs !== null && retryAfterMs !== undefined && retryAfterMs >= 0;
    const series = { sinceMs: known?.sinceMs ?? nowMs, lastMs: nowMs };
    if (known !== undefined && nowMs < known.untilMs && !isAsked) {
      Object.assign(known, series);
      return true;
    }
    const count = known === undefined || nowMs >= known.forgottenAtMs ? 1 : known.count + 1;
    const doubled = Math.min(baseDelayMs * 2 ** Math.min(count - 1, 30), maxDelayMs);
    const delayMs = isAsked ? Math.min(retryAfterMs, maxRetryAfterMs) : doubled;
    const untilMs = Math.max(nowMs + delayMs, known?.untilMs ?? 0);
    this.#refusing.set(host, { count, untilMs, forgottenAtMs: untilMs + delayMs, ...series });
    this.#set(url, (key) => this.#frontier.host(key).blockUntil(untilMs));
    return true;
  }

  /** Least time between two visits of a host, beside what the rules ask for. */
  delay(url: string, delayMs: number): boolean {
    if (hostOf(url) === undefined || !(delayMs >= 0)) return false;
    this.#set(url, (key) => this.#raiseDelay(key, delayMs));
    return true;
  }

  #raiseDelay(key: string, delayMs: number): void | Promise<void> {
    const host = this.#frontier.host(key);
    if ("set" in host) {
      return host.view().then((view) => host.set({ delayMs: Math.max(view.delayMs, delayMs) }));
    }
    host.delayMs = Math.max(host.delayMs, delayMs);
  }

  /** Least time between two visits of each host from now on. */
  delayEverywhere(delayMs: number): void {
    this.#floorMs = Math.max(this.#floorMs, delayMs);
  }

  /** The same of each registrable domain. False: the frontier is elsewhere, and its other processes would not wait. */
  delayDomains(delayMs: number): boolean {
    if (isElsewhere(this.#frontier)) return false;
    this.#domainFloorMs = Math.max(this.#domainFloorMs, delayMs);
    return true;
  }

  /** Whether a request that was fetched comes too early for its domain: its host is blocked until then. */
  mustWait(url: string): boolean {
    if (this.#domainFloorMs === 0) return false;
    const nowMs = this.#clock.now();
    for (const [domain, dueMs] of this.#domains) {
      if (dueMs > nowMs) break;
      this.#domains.delete(domain);
    }
    const { host = "", domain = host } = this.#frontier.explain(url) as Explanation;
    const waitsMs = this.#domains.get(domain);
    const untilMs = waitsMs ?? nowMs + this.#domainFloorMs;
    this.#domains.set(domain, untilMs);
    void this.#frontier.host(host).blockUntil(untilMs);
    return waitsMs !== undefined;
  }

  /** A request was handed out. */
  dispatched(url: string): void {
    if (this.#floorMs === 0 || !this.delay(url, this.#floorMs)) return;
    const untilMs = this.#clock.now() + this.#floorMs;
    this.#set(url, (key) => this.#frontier.host(key).blockUntil(untilMs));
  }

  /** A request was served. */
  served(url: string): void {
    if (this.#refusing.size === 0) return;
    const host = hostOf(url) ?? "";
    const known = this.#refusing.get(host);
    if (known === undefined) return;
    known.sinceMs = undefined;
    if (this.#clock.now() >= known.untilMs) this.#refusing.delete(host);
  }

  /** Hosts that have refused everything for too long (I2). */
  stalled(): string[] {
    const oldest = this.#clock.now() - this.#limits.maxStallMs;
    return [...this.#refusing].flatMap(([host, { sinceMs = Infinity, lastMs }]) =>
      sinceMs <= oldest && lastMs >= oldest ? host : [],
    );
  }

  /** Resolves when the clocks are set. */
  async settled(): Promise<void> {
    await this.#underWay;
  }

  /** The key is the frontier's: rules may put several hosts, or a part of one, under one clock. */
  #set(url: string, change: (key: string) => void | Promise<void>): void {
    const explained = this.#frontier.explain(url);
    if (!isLater(explained)) {
      void change(explained.host ?? (hostOf(url) as string));
      return;
    }
    const changed = explained.then(({ host }) => change(host ?? (hostOf(url) as string)));
    this.#underWay = Promise.all([this.#underWay, changed.catch(() => undefined)]);
  }
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}
