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
 */
import type { Clock } from "../../base/clock.ts";
import type { AnyFrontier } from "./request-store.ts";
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
  servedAtMs: number;
}

export class DomainThrottle {
  readonly #frontier: AnyFrontier;
  readonly #clock: Pick<Clock, "now">;
  readonly #limits: ThrottleLimits;
  readonly #refusing = new Map<string, Refusals>();
  /** Least time between two visits of any host. */
  #floorMs = 0;
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
    if (known !== undefined && nowMs < known.untilMs && !isAsked) return true;
    const count = known === undefined || nowMs >= known.forgottenAtMs ? 1 : known.count + 1;
    const doubled = Math.min(baseDelayMs * 2 ** Math.min(count - 1, 30), maxDelayMs);
    const delayMs = isAsked ? Math.min(retryAfterMs, maxRetryAfterMs) : doubled;
    const untilMs = Math.max(nowMs + delayMs, known?.untilMs ?? 0);
    const servedAtMs = known?.servedAtMs ?? nowMs;
    this.#refusing.set(host, { count, untilMs, forgottenAtMs: untilMs + delayMs, servedAtMs });
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
    known.servedAtMs = this.#clock.now();
    if (known.servedAtMs >= known.untilMs) this.#refusing.delete(host);
  }

  /** Hosts that have refused everything for too long. */
  stalled(): string[] {
    const oldest = this.#clock.now() - this.#limits.maxStallMs;
    return [...this.#refusing].flatMap(([host, known]) => (known.servedAtMs <= oldest ? host : []));
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
