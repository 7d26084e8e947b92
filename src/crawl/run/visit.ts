/**
 * One visit: a lease goes through gate, downloader, analyzer and pipeline, and ends in exactly one of done, retry, fail
 * and release. Shaped like a handler of a worker pool: `visit(lease, context)`.
 *
 *   gate: later ───────────▶ release        no downloader ─▶ release, and the crawl waits for one
 *   gate: no, over budget ─▶ fail           transient fault, 408 425 429 5xx ─▶ retry, Retry-After kept
 *   3xx ─▶ redirect, done                   other faults and statuses ─▶ fail
 *   2xx ─▶ analyze ─▶ items ─▶ done({ found })      304 ─▶ done, unchanged
 *
 *   I1  Items are handed over before the page is done: a crash repeats items, it loses none.
 *   I2  Whatever a module throws ends here, as a typed fault; the lease still gets its one end.
 */
import { givenOf } from "../../base/plain-copy.ts";
import { hostNumber } from "../threads/paused-hosts.ts";
import { RETRY_STATUSES, retryAfterMs as retryAfterIn } from "../../base/time/duration.ts";
import { fingerprint, type Outcome, type RequestInput } from "../../index.ts";
import { DownloadError, downloadError } from "../http/download-error.ts";
import type { RoomShare } from "../http/decoding/inflate-room.ts";
import type { Chosen, Download, Exchange } from "../module-registry.ts";
import { isFeedType } from "../robots/feed.ts";
import {
  isSitemapBody,
  isSitemapPath,
  readSitemap,
  SITEMAP_BYTES_MAX,
  SITEMAP_HANDLER,
} from "../robots/sitemap.ts";
import {
  type Answered,
  textOf,
  typeOf,
  type VisitContext,
  type VisitEnd,
  type VisitLease,
  withVisit,
} from "./visit-context.ts";
import { processPage } from "./process-page.ts";

const NOT_MODIFIED = 304;
/** Besides those that are tried again; of a redirect it is the next request that waits. */
const TOO_LARGE = 413;
/** No request was made, so the host needs no pause. */
const UNVISITED: Outcome = Object.freeze({ visited: false });

/** Reasons that have another name than what the gate answers. */
const REFUSED_BY_GATE: Readonly<Record<string, string>> = Object.freeze({
  "over-budget": "budget",
  disallowed: "robots",
  unreachable: "robots-unreachable",
});

/** Visits the page of one lease and ends the lease. Never throws. */
export async function visit(lease: VisitLease, context: VisitContext): Promise<VisitEnd> {
  const end = await visitLease(lease, context);
  context.traps?.ended(lease.url, end !== "back");
  return end;
}

async function visitLease(given: VisitLease, context: VisitContext): Promise<VisitEnd> {
  const lease = withVisit(given, context);
  const isSitemap = lease.handler === SITEMAP_HANDLER;
  const room = context.room.share();
  try {
    if (!isSitemap && lease.depth > 0) {
      let end = endAsTrap(lease, context);
      // The lease is kept meanwhile, unless deeper URLs go first: each hand-out counts toward the frontier's `maxDeliveries`.
      for (; end === "wait"; end = endAsTrap(lease, context))
        if (await context.traps?.nextEnd()) return back(lease);
      if (end !== undefined) return end;
      if (isPostponed(lease, context)) return "back";
    }
    const { gate } = context;
    if (gate !== undefined) {
      const asked = { url: lease.url, rule: lease.rule, isSitemap };
      const answer = gate.known?.(asked) ?? (await gate.ask(asked));
      if (answer === "later") return back(lease);
      if (answer !== "allowed") {
        if (answer === "disallowed" || answer === "unreachable") context.counters.disallowed++;
        lease.fail(REFUSED_BY_GATE[answer] ?? answer, UNVISITED);
        return "other";
      }
    }
    const chosen = context.modules.choose("downloader");
    if (chosen === undefined) {
      context.faults.report({
        type: "scheduler",
        what: "no downloader is registered",
        url: lease.url,
      });
      lease.release();
      context.onNoDownloader();
      return "back";
    }
    const answer = await download(lease, context, { chosen, room });
    if (typeof answer === "string") return answer;
    return await finishByStatus(lease, context, { answer, room });
  } catch (cause) {
    // A broken invariant of ours, or a frontier that was closed meanwhile: reported, and the lease is released.
    context.faults.report({ type: "scheduler", what: textOf(cause), url: lease.url, cause });
    lease.retry({ reason: "scheduler" });
    return "other";
  } finally {
    room.end();
  }
}

/**
 * Ends the lease of a URL that is left or set aside, or whose page is visited by another URL; undefined: it is visited. "wait": it depends on
 * visits that are under way.
 */
function endAsTrap(lease: VisitLease, context: VisitContext): VisitEnd | "wait" | undefined {
  const { traps, places, counters, patterns } = context;
  if (traps === undefined || places === undefined) return undefined;
  const { url, rule } = lease;
  const isRedirected = lease.redirects > 0;
  const verdict = traps.leaseOf({ url, rule, isRedirected, isAside: () => places.isAside(url) });
  if (verdict === "wait") return verdict;
  if (verdict === "aside" && places.setAside(url, () => lease.release())) return "back";
  if (verdict !== "visit") lease.fail("trap", UNVISITED);
  else {
    // A site that redirected here would do so again.
    const plain = isRedirected ? undefined : traps.plainOf(url);
    if (plain === undefined || patterns?.refusal(plain) !== undefined) return undefined;
    // Refused, for want of memory or of a rule: then this URL is visited.
    const answer = lease.redirect(plain);
    if (answer === "full" || answer === "rejected") return undefined;
    lease.done({ outcome: UNVISITED });
  }
  counters.trapped++;
  return "other";
}

/** Whether others go first: visits of its kind have shown nothing, or only what others show as well. */
function isPostponed(lease: VisitLease, { traps, places }: VisitContext): boolean {
  const doubt = lease.redirects > 0 ? 0 : (traps?.doubtOf(lease.url) ?? 0);
  return doubt > 0 && places?.postpone(lease.url, doubt, () => lease.release()) === true;
}

/** Counts a visit without a page for its kind. Statuses that are tried again do not count. */
function watchMissed(lease: VisitLease, { traps, isNew }: VisitContext, target?: string): void {
  if (lease.depth > 0) traps?.missed(lease.url, target, isNew ?? (() => false));
}

function back(lease: VisitLease): VisitEnd {
  lease.release();
  return "back";
}

/** The answer, or how the lease ended where there is none. While the connection was made its host may have asked another visit for a pause. */
async function download(
  lease: VisitLease,
  context: VisitContext,
  { chosen, room }: { readonly chosen: Chosen<"downloader">; readonly room: RoomShare },
): Promise<Download | VisitEnd> {
  const isSitemap = lease.handler === SITEMAP_HANDLER;
  const { types } = context.limits;
  const pause = pauseOf(lease, context);
  let isCompleted = false;
  let refused: { readonly cause: unknown } | undefined;
  const onExchange = async (exchange: Exchange): Promise<void> => {
    try {
      await context.modules.archive(exchange);
    } catch (cause) {
      refused = { cause };
      throw cause;
    }
  };
  chosen.accepted();
  try {
    const answer = await chosen.module.download({
      url: lease.url,
      method: lease.method,
      headers: headersOf(lease, context),
      ...(lease.body === undefined ? {} : { body: lease.body }),
      ...(isSitemap ? { maxBytes: SITEMAP_BYTES_MAX, room } : {}),
      signal: context.signal,
      ...(context.modules.isArchiving ? { onExchange } : {}),
      mayBegin: pause.mayBegin,
      accepts: (status, headers) => {
        pause.take({ status, headers });
        const isTaken = isSitemap || types === undefined || status >= 300;
        return isTaken || types.includes(typeOf(headers)) || mayBeListSeed(lease, headers);
      },
    });
    checkDownload(answer);
    isCompleted = true;
    return answer;
  } catch (cause) {
    if (context.signal.aborted || pause.isOn) return back(lease);
    if (refused !== undefined) {
      const { url } = lease;
      const what = `archive: ${textOf(refused.cause)}`;
      context.faults.report({ type: "pipeline", what, url, cause: refused.cause });
      lease.retry({ reason: "pipeline" });
      return "other";
    }
    const fault =
      cause instanceof TypeError
        ? new DownloadError("protocol", cause.message, cause)
        : downloadError(cause);
    const { url } = lease;
    context.faults.report({
      type: "downloader",
      what: fault.message,
      url,
      module: chosen.id,
      cause: fault,
    });
    const { outcome } = pause;
    if (fault.isTransient) lease.retry({ reason: fault.fault, ...(outcome && { outcome }) });
    else lease.fail(fault.fault, outcome);
    return "other";
  } finally {
    chosen.ended(isCompleted);
  }
}

/** The pauses of a download: one that another visit of its host was asked for, and the one that its own answer asks for. */
function pauseOf(
  lease: VisitLease,
  context: VisitContext,
): {
  readonly mayBegin: () => boolean;
  /** Reads what the headers ask for. */
  readonly take: (answer: Pick<Download, "status" | "headers">) => void;
  /** Whether the download was not begun. */
  readonly isOn: boolean;
  /** What the headers asked for, whatever became of the body. */
  readonly outcome: Outcome | undefined;
} {
  const { clock, paused } = context;
  const host = hostNumber(lease.hostKey ?? lease.host);
  let isOn = false;
  let outcome: Outcome | undefined;
  return {
    mayBegin() {
      isOn = paused.isPaused(host, clock.now()) || context.isPaused?.(lease.url) === true;
      return !isOn;
    },
    take(answer) {
      const retryAfterMs = askedToWaitMs(answer, context);
      if (retryAfterMs === undefined) return;
      outcome = { retryAfterMs };
      paused.pause(host, retryAfterMs, clock.now());
    },
    get isOn() {
      return isOn;
    },
    get outcome() {
      return outcome;
    },
  };
}

/** Headers of the request itself replace those of its page. */
function headersOf(lease: VisitLease, context: VisitContext): Record<string, string> {
  const known = context.validators.headersFor(lease.url, lease.rule);
  const cookie = context.cookies?.headerFor(lease.url);
  const { auth } = context.limits;
  const isOurs = auth?.origins.includes(new URL(lease.url).origin) === true;
  return {
    ...known,
    ...(cookie === undefined ? {} : { cookie }),
    ...(isOurs ? { authorization: auth.value } : {}),
    ...lease.headers,
  };
}

/** A user's downloader may return anything. */
function checkDownload(answer: Download): void {
  if (Number.isInteger(answer?.status) && Buffer.isBuffer(answer.body) && answer.headers) return;
  throw new DownloadError("protocol", "download() did not return a Download");
}

async function finishByStatus(
  lease: VisitLease,
  context: VisitContext,
  { answer, room }: { readonly answer: Download; readonly room: RoomShare },
): Promise<VisitEnd> {
  const { counters } = context;
  const { status } = answer;
  counters.statuses[status] = (counters.statuses[status] ?? 0) + 1;
  counters.bytes += answer.bytes;
  counters.latency.record(answer.latencyMs);
  const outcome = outcomeOf(answer, context);
  const set = answer.headers["set-cookie"];
  const hasCookies = context.cookies !== undefined && set !== undefined;
  const isKnownAnew = hasCookies && (await context.cookies.learn(lease.url, [set].flat()));
  if (status === NOT_MODIFIED) {
    counters.notModified++;
    lease.done({ outcome: { ...outcome, changed: false } });
    return "other";
  }
  if (status >= 200 && status < 300) {
    if (answer.isTruncated) counters.truncated++;
    if (lease.handler === SITEMAP_HANDLER || isListSeed(lease, answer))
      return sitemap(lease, context, { answer, outcome, room });
    return processPage(lease, context, { answer, outcome });
  }
  const location = answer.headers.location;
  if (status >= 300 && status < 400 && typeof location === "string") {
    return redirect(lease, context, { answer, location, outcome, isKnownAnew });
  }
  if (RETRY_STATUSES.includes(status)) lease.retry({ reason: `status ${status}`, outcome });
  else {
    watchMissed(lease, context);
    lease.fail(`status ${status}`, outcome);
  }
  return "other";
}

interface Redirecting extends Answered {
  readonly location: string;
  /** A cookie came with it that was not there before. */
  readonly isKnownAnew: boolean;
}

function redirect(lease: VisitLease, context: VisitContext, given: Redirecting): VisitEnd {
  const { answer, location, outcome, isKnownAnew } = given;
  const { counters, limits, clock } = context;
  counters.redirects++;
  const target = URL.canParse(location, lease.url) ? new URL(location, lease.url) : undefined;
  if (target === undefined || lease.redirects >= limits.maxRedirects) {
    lease.fail(target === undefined ? "bad-location" : "redirects", outcome);
    return "other";
  }
  target.hash = "";
  if (isKnownAnew && target.href === lease.url) {
    // It identifies clients by a cookie, and is shown to those that send it back.
    lease.retry({ reason: "redirects", outcome });
    return "other";
  }
  // As a seed is visited in any case, so is what it leads to.
  if (lease.depth > 0 && context.patterns?.refusal(target.href) !== undefined) {
    counters.excluded++;
    lease.done({ outcome });
    return "other";
  }
  const waitMs = retryAfterOf(answer, context);
  const { status } = answer;
  if (target.href !== lease.url) watchMissed(lease, context, target.href);
  lease.redirect(target.href, {
    status,
    ...(isKnownAnew && isRedirectLoop(lease, target.href) ? { dedup: "record" as const } : {}),
    ...(waitMs === undefined ? {} : { notBefore: clock.now() + waitMs }),
  });
  lease.done({ outcome });
  return "other";
}

/**
 * Whether a page redirects to another page that sets a cookie and redirects back: then it is requested once more, although it was seen.
 * `maxRedirects` bounds sites that never stop. Under a rule with keys of its own the fingerprint differs, and such a page fails.
 */
function isRedirectLoop({ redirects, parent }: VisitLease, url: string): boolean {
  return redirects > 0 && parent === fingerprint(url);
}

/** A seed that is a feed or a sitemap: its entries are visited. One that pages link to is a page of another type. */
function isListSeed({ depth, url }: VisitLease, { headers, body }: Download): boolean {
  const type = typeOf(headers);
  return depth === 0 && (isFeedType(type) || (isSitemapPath(url, type) && isSitemapBody(body)));
}

/** Whether a seed may be one, before its body is read. */
function mayBeListSeed({ depth, url }: VisitLease, headers: Download["headers"]): boolean {
  const type = typeOf(headers);
  return depth === 0 && (isFeedType(type) || isSitemapPath(url, type));
}

async function sitemap(
  lease: VisitLease,
  context: VisitContext,
  { answer, outcome, room }: Answered & { readonly room: RoomShare },
): Promise<VisitEnd> {
  try {
    await room.take(SITEMAP_BYTES_MAX, context.signal);
    const { url, data } = lease;
    const type = String(answer.headers["content-type"] ?? "");
    const listed = withoutExcluded(await readSitemap(answer.body, url, type), context);
    room.end();
    const found = await context.sitemapTimes.take({ url, data, found: listed });
    context.counters.sitemaps++;
    lease.done({ found, outcome });
  } catch (cause) {
    if (context.signal.aborted) return back(lease);
    context.faults.report({
      type: "analyzer",
      what: textOf(cause),
      url: lease.url,
      module: "sitemap",
      cause,
    });
    lease.fail("sitemap", outcome);
  }
  return "other";
}

/** A sitemap that another one names is read, whatever it is called. */
function withoutExcluded(found: readonly RequestInput[], context: VisitContext): RequestInput[] {
  const { patterns, counters } = context;
  return found.filter(({ url, handler }) => {
    const isLeft = handler !== SITEMAP_HANDLER && patterns?.refusal(String(url)) !== undefined;
    if (isLeft) counters.excluded++;
    return !isLeft;
  });
}

function outcomeOf(answer: Download, context: VisitContext): Outcome {
  const waitMs = askedToWaitMs(answer, context);
  return {
    status: answer.status,
    latencyMs: answer.latencyMs,
    bytes: answer.bytes,
    changed: true,
    ...givenOf({ address: answer.address, retryAfterMs: waitMs }),
  };
}

/** How long the host of an answer asks for a pause. */
function askedToWaitMs(
  answer: Pick<Download, "status" | "headers">,
  context: VisitContext,
): number | undefined {
  const { status } = answer;
  const isAsked = RETRY_STATUSES.includes(status) || status === TOO_LARGE;
  return isAsked ? retryAfterOf(answer, context) : undefined;
}

function retryAfterOf(
  { headers }: Pick<Download, "headers">,
  { clock, limits }: VisitContext,
): number | undefined {
  const ms = retryAfterIn(headers, clock.now());
  return ms === undefined ? undefined : Math.min(ms, limits.maxRetryAfterMs);
}
