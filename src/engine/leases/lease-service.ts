/**
 * Room `src/engine/leases`: leases out and results in: the fence against late and repeated results, found links,
 * redirects. The rules of retry and expiry are in frontier/leases.
 */

/**
 * LeaseService: hands out leases and applies their results. The deadline of every result is checked first: one that comes after
 * the deadline, twice, or after close changes nothing, is reported as late, and is counted.
 */
import {
  checkExtension,
  checkText,
  readList,
  readOutcome,
  readRetry,
} from "../../base/argument-checks.ts";
import { FrontierError, misuse } from "../../base/errors.ts";
import { isMadeBy } from "../../base/type-guards.ts";
import { type Core, ruleOf, type SteppedMs } from "../../frontier/core.ts";
import {
  countLate,
  extend,
  fail,
  finishKept,
  isLive,
  leaseChosen,
  leaseNext,
  release,
  retry,
} from "../../frontier/leases/leases.ts";
import { evictAfter } from "../../frontier/politeness/host-eviction.ts";
import { TURNS_MAX } from "../../frontier/scheduling/rule-shares.ts";
import {
  endMany,
  endOne,
  leaseMany,
  leaseOne,
  openNext,
} from "../../frontier/leases/bulk-leases.ts";
import type { Outcome } from "../../frontier/rules/rule-policy.ts";
import { spillOverBudget } from "../../frontier/scheduling/spill-control.ts";
import { peekRecords } from "../../frontier/scheduling/peek.ts";
import { touchNext } from "../../frontier/scheduling/schedule.ts";
import {
  VERDICT_CLOSED,
  VERDICT_INVALID_REQUEST,
  VERDICT_LATE,
  VERDICT_NO_FOLLOW,
  type Verdict,
  verdictOf,
} from "../../frontier/admission/verdicts.ts";
import {
  parentCreate,
  parentPrintOffset,
  parentRelease,
  isPlainRecord,
  recordAttempt,
  recordDeliveries,
  recordDepth,
  recordParent,
  recordPriority,
} from "../../structures/records/record.ts";
import { recordUrl, SCRATCH_ROWS, scratchUrls } from "../../structures/records/kernel-scratch.ts";
import type { Extras } from "../intake/request-extras.ts";
import { journalBytesBound, pushList, refuse } from "../intake/push-requests.ts";
import { type Found, readResult, withBad } from "./read-result.ts";
import { type LeaseActions, storeFingerprint, RecordLease } from "./record-lease.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import { DONE_LATE, DONE_PLAIN, doneResult } from "../intake/push-result.ts";
import { readRedirect, redirected } from "./redirect.ts";
import type { NormalPolicy } from "../../url/keys/key-policy.ts";
import { absoluteLink } from "../../url/parsing/page-links.ts";
import type {
  DoneResult,
  LeaseResult,
  RedirectChange,
  RequestView,
  RetryOptions,
} from "../types/frontier-types.ts";
import { recordData, recordExtras, recordView } from "../records/record-view.ts";

/** Hand-outs whose memory is touched at once. */
const TOUCHED_RULES = 64;
/** After this many calls of the kernel that returned fewer leases than that, the rest of a batch goes one by one. */
const MISSES_MAX = 4;
const MANY_MIN = 16;
/** Leases whose records are read at once where rules take turns, while they are in the nearer caches from their hand-out. */
const READ_ROWS = 128;

/** Room that one result wants in the journal beside its children. */
export const RESULT_BYTES = 512;
/** The same for one that may fail, with its reason and the page that it was found on. */
const FAILURE_BYTES = 8_192;

export class LeaseService implements LeaseActions {
  readonly #lifecycle: Lifecycle;
  readonly #print: (url: string, extras: Extras, key: NormalPolicy | undefined) => string;
  readonly #maxFound: number;

  constructor(
    lifecycle: Lifecycle,
    maxFound: number,
    print: (url: string, extras: Extras, key: NormalPolicy | undefined) => string,
  ) {
    this.#lifecycle = lifecycle;
    this.#print = print;
    this.#maxFound = maxFound;
  }

  /** At most `max` leases at `nowMs`, in order. */
  take(core: Core, max: number, nowMs: SteppedMs): RecordLease[] {
    const leases: RecordLease[] = [];
    const rows = core.sole === undefined ? READ_ROWS : SCRATCH_ROWS;
    let misses = 0;
    while (leases.length < max) {
      const from = leases.length;
      const end = Math.min(max, from + rows);
      while (leases.length < end) {
        const made = misses < MISSES_MAX ? this.#takeMany(core, leases, end, nowMs) : 0;
        if (made < MANY_MIN) misses++;
        if (leases.length === end) break;
        if (made === TURNS_MAX) continue; // it did not stop at one that is not plain
        // Most often one of them was not plain, and the next ones are again.
        const next = made < MANY_MIN ? end : leases.length + 1;
        if (!this.#takeNext(core, leases, next, nowMs)) break;
      }
      this.#readAll(core, leases, from, nowMs);
      if (leases.length < end) break;
    }
    evictAfter(core, leases.length, nowMs);
    spillOverBudget(core, nowMs); // a poll may have brought hosts back
    return leases;
  }

  /** The next lease at `nowMs`, for `leaseMs`. */
  takeOne(core: Core, nowMs: SteppedMs, leaseMs: number): RecordLease | undefined {
    const lease = new RecordLease(this);
    const isOut = leaseOne(core, nowMs, lease, leaseMs);
    if (isOut) {
      lease.url = recordUrl(core.scratch, lease.record);
      this.#read(core, lease, nowMs);
    }
    evictAfter(core, isOut ? 1 : 0, nowMs);
    spillOverBudget(core, nowMs);
    return isOut ? lease : undefined;
  }

  /** At most `max` leases of one host, or of any for 0, for a time of their own. */
  takeChosen(
    core: Core,
    max: number,
    chosen: { host: number; leaseMs: number },
    nowMs: SteppedMs,
  ): RecordLease[] {
    const leases: RecordLease[] = [];
    try {
      for (let lease = new RecordLease(this); leases.length < max; lease = new RecordLease(this)) {
        if (!leaseChosen(core, chosen, nowMs, lease)) break;
        leases.push(lease);
      }
    } catch (error) {
      keepMade(leases, error);
    }
    this.#readAll(core, leases, 0, nowMs);
    evictAfter(core, leases.length, nowMs);
    spillOverBudget(core, nowMs);
    return leases;
  }

  /** Leases up to `end` as far as the kernel can hand them out; how many. */
  #takeMany(core: Core, leases: RecordLease[], end: number, nowMs: SteppedMs): number {
    const make = (): RecordLease => new RecordLease(this);
    try {
      return leaseMany(core, nowMs, end - leases.length, { leases, make });
    } catch (error) {
      keepMade(leases, error);
      return 0;
    }
  }

  /** The next leases one by one, a few of them; false: no more may go. Throws the error of memory or disk where there are none yet. */
  #takeNext(core: Core, leases: RecordLease[], end: number, nowMs: SteppedMs): boolean {
    const count = Math.min(TOUCHED_RULES, end - leases.length);
    openNext(core, count);
    touchNext(core, count);
    try {
      for (let index = 0; index < count; index++) {
        const lease = new RecordLease(this);
        if (!leaseNext(core, nowMs, lease)) return false;
        leases.push(lease);
      }
    } catch (error) {
      keepMade(leases, error);
      return false;
    }
    return true;
  }

  /** What `take` would return. */
  peek(core: Core, max: number, nowMs: SteppedMs): RequestView[] {
    const room = core.limits.maxLeases - core.counters.leased;
    return peekRecords(core, Math.min(max, room), nowMs).map((record) => {
      const view = recordView(core, record);
      return { ...view, deliveries: view.deliveries + 1 };
    });
  }

  /** Arguments whose reading may run the caller's code are read before the call opens. */
  done(lease: RecordLease, result: LeaseResult): DoneResult {
    const { outcome, errors, sifted } = readResult(result, lease.url);
    const { core, nowMs } = this.#lifecycle.begin();
    if (!this.#isLive(core, lease, nowMs)) return this.#late(core, DONE_LATE);
    this.#lifecycle.durable?.need(
      sifted === undefined ? RESULT_BYTES : RESULT_BYTES + journalBytesBound(sifted.good),
    );
    const family =
      sifted === undefined || sifted.size === 0 ? undefined : this.#family(core, lease);
    try {
      endOne(core, lease, outcome, nowMs);
    } catch (error) {
      if (family !== undefined && family.parent !== 0) parentRelease(core.store, family.parent);
      throw error;
    }
    const answer =
      family === undefined || sifted === undefined
        ? DONE_PLAIN
        : this.#admit(core, lease, { sifted, family, nowMs });
    for (const cause of errors) {
      this.#lifecycle.events.fault({ kind: "user", stage: "done", cause, url: lease.url });
    }
    evictAfter(core, 1, nowMs);
    this.#lifecycle.end(nowMs);
    return answer;
  }

  /** Ends a lease whose record stays with its data, as after a `put` of the same; false: not so here, and nothing changed. */
  doneKept(lease: RecordLease): boolean {
    const { core, nowMs } = this.#lifecycle.begin();
    // Full records are kept in the archive.
    if (this.#lifecycle.settings.records === "full") return false;
    if (!this.#isLive(core, lease, nowMs) || core.seen.mode === "bloom") return false;
    this.#lifecycle.durable?.need(RESULT_BYTES);
    if (!finishKept(core, lease, nowMs)) return false;
    evictAfter(core, 1, nowMs);
    this.#lifecycle.end(nowMs);
    return true;
  }

  /** Reads the record of a lease anew; false: it is over. */
  reopen(lease: RecordLease): boolean {
    const { core, nowMs } = this.#lifecycle.begin();
    if (!this.#isLive(core, lease, nowMs)) return false;
    lease.url = recordUrl(core.scratch, lease.record);
    lease.extras = recordExtras(core, lease.record);
    lease.data = recordData(core, lease.record, lease.extras);
    return true;
  }

  /** Batch form without children; how many were not late. */
  doneMany(leases: unknown): number {
    const list = readList(leases, "leases", "a list of leases");
    for (let index = 0; index < list.length; index++) {
      if (isMadeBy(list[index], RecordLease)) continue;
      throw misuse("ARGUMENT_INVALID", `leases[${index}]`, list[index], "a lease");
    }
    const { core, nowMs } = this.#lifecycle.begin();
    this.#lifecycle.durable?.need(RESULT_BYTES * (list.length + 1));
    if (core === undefined) return 0;
    const own = list as readonly RecordLease[];
    const late = own.map(({ leases }) => leases !== this);
    const count = endMany(core, own, late, nowMs);
    evictAfter(core, count, nowMs);
    this.#lifecycle.end(nowMs);
    return count;
  }

  retry(lease: RecordLease, options: RetryOptions): "requeued" | "failed" | "late" {
    const { delayMs, priority, reason, outcome } = readRetry(options);
    const { core, nowMs } = this.#lifecycle.begin();
    if (!this.#isLive(core, lease, nowMs)) return this.#late(core, "late");
    this.#lifecycle.durable?.need(FAILURE_BYTES);
    const { failures } = this.#lifecycle.intake;
    failures.status = outcome?.status;
    const answer = retry(core, lease, { delayMs, priority, reason, outcome }, nowMs);
    failures.status = undefined;
    this.#lifecycle.end(nowMs);
    return answer;
  }

  fail(lease: RecordLease, reason: string | undefined, given: Outcome | undefined): boolean {
    checkText(reason, "reason");
    const outcome = readOutcome(given);
    const { core, nowMs } = this.#lifecycle.begin();
    if (!this.#isLive(core, lease, nowMs)) return this.#late(core, false);
    this.#lifecycle.durable?.need(FAILURE_BYTES);
    const { failures } = this.#lifecycle.intake;
    failures.status = outcome?.status;
    fail(core, lease, { reason, outcome }, nowMs);
    failures.status = undefined;
    this.#lifecycle.end(nowMs);
    return true;
  }

  release(lease: RecordLease): boolean {
    const { core, nowMs } = this.#lifecycle.begin();
    if (!this.#isLive(core, lease, nowMs)) return this.#late(core, false);
    this.#release(core, lease, nowMs);
    return true;
  }

  dispose(lease: RecordLease): void {
    const { core, nowMs } = this.#lifecycle.begin();
    if (this.#isLive(core, lease, nowMs)) this.#release(core, lease, nowMs);
  }

  redirect(lease: RecordLease, url: string, given: RedirectChange | undefined): Verdict {
    if (typeof url !== "string") throw misuse("ARGUMENT_INVALID", "url", url, "a string");
    const asked = { ...readRedirect(given), url: absoluteLink(url, lease.url) };
    const { core, nowMs } = this.#lifecycle.begin();
    if (!this.#isLive(core, lease, nowMs))
      return this.#late(core, verdictOf(core === undefined ? VERDICT_CLOSED : VERDICT_LATE));
    this.#lifecycle.durable?.need(journalBytesBound([asked.url]));
    const { intake } = this.#lifecycle;
    const request = redirected(intake, lease, asked, nowMs);
    const parent = this.#parentOf(core, lease);
    const depth = recordDepth(core.store, lease.record);
    const redirects = lease.redirects + 1;
    let codes: Uint8Array;
    try {
      codes = pushList(intake, [request], { nowMs, isOutside: false, depth, parent, redirects });
    } finally {
      this.#leaveParent(core, parent, lease);
    }
    this.#lifecycle.end(nowMs);
    return verdictOf(codes[0] as number);
  }

  extend(lease: RecordLease, ms: number): boolean {
    checkExtension(ms);
    const { core, nowMs } = this.#lifecycle.begin();
    if (!this.#isLive(core, lease, nowMs)) return this.#late(core, false);
    lease.deadline = extend(core, lease, ms);
    this.#lifecycle.end(nowMs);
    return true;
  }

  fingerprint(lease: RecordLease): string {
    return this.#print(lease.url, lease.extras, lease.key);
  }

  #isLive(core: Core | undefined, lease: RecordLease, nowMs: number): core is Core {
    return core !== undefined && lease.leases === this && isLive(core, lease, nowMs);
  }

  #release(core: Core, lease: RecordLease, nowMs: number): void {
    this.#lifecycle.durable?.need(RESULT_BYTES);
    release(core, lease, nowMs);
    this.#lifecycle.end(nowMs);
  }

  #late<T>(core: Core | undefined, answer: T): T {
    if (core !== undefined) countLate(core);
    return answer;
  }

  /** What children inherit, read while the page's record exists; the parent is held for them. */
  #family(core: Core, lease: RecordLease): Family {
    const { follow } = ruleOf(core, lease.record).policy;
    const parent = follow ? this.#parentOf(core, lease) : 0;
    return { depth: recordDepth(core.store, lease.record) + 1, parent, follow };
  }

  /** Children of a page: depth and parent are set by the engine. */
  #admit(core: Core, lease: RecordLease, admitting: Admitting): DoneResult {
    const { sifted, family, nowMs } = admitting;
    const { intake, events } = this.#lifecycle;
    const { good, bad } = sifted;
    for (const { cause } of bad) {
      events.fault({ kind: "request", stage: "found", cause, url: lease.url });
    }
    refuse(intake, VERDICT_INVALID_REQUEST, bad.length);
    let codes: Uint8Array;
    const { depth, parent, follow } = family;
    if (follow) {
      codes = pushList(intake, good, { depth, parent, nowMs, isOutside: false }, this.#maxFound);
      this.#leaveParent(core, parent, lease);
    } else {
      codes = new Uint8Array(good.length).fill(VERDICT_NO_FOLLOW);
      refuse(intake, VERDICT_NO_FOLLOW, good.length, good);
    }
    return doneResult(bad.length === 0 ? codes : withBad(codes, bad));
  }

  #parentOf(core: Core, lease: RecordLease): number {
    const { store } = core;
    const parent = parentCreate(store, lease.fingerprint);
    if (parent !== 0) return parent;
    throw new FrontierError("MEMORY_FULL", "memory: exhausted (expected: room for a parent)");
  }

  /** Its children hold it from now on. */
  #leaveParent(core: Core, parent: number, { url }: RecordLease): void {
    this.#lifecycle.intake.failures.notePage(core, parent, url);
    parentRelease(core.store, parent);
  }

  /** Reads the records of leases from `from` on: their URLs in one gather. */
  #readAll(core: Core, leases: RecordLease[], from: number, nowMs: number): void {
    const { scratch } = core;
    for (let start = from; start < leases.length; ) {
      const urls = scratchUrls(scratch, leases, start);
      if (urls.length === 0) urls.push(recordUrl(scratch, (leases[start] as RecordLease).record));
      for (const url of urls) (leases[start++] as RecordLease).url = url;
    }
    for (let at = from; at < leases.length; at++)
      this.#read(core, leases[at] as RecordLease, nowMs);
  }

  /** Reads a lease's record, its URL apart. */
  #read(core: Core, lease: RecordLease, nowMs: number): void {
    const { store } = core;
    const { record } = lease;
    lease.priority = recordPriority(store, record);
    lease.depth = recordDepth(store, record);
    lease.attempt = recordAttempt(store, record);
    lease.deliveries = recordDeliveries(store, record);
    const rule = ruleOf(core, record);
    lease.rule = rule.id;
    lease.key = rule.key;
    lease.deadline = nowMs + lease.givenMs;
    if (isPlainRecord(store, record)) return;
    const parent = recordParent(store, record);
    if (parent !== 0) storeFingerprint(lease, store.region.views.i32, parentPrintOffset(parent));
    lease.extras = recordExtras(core, record);
    lease.data = recordData(core, record, lease.extras);
  }
}

/** What children have from their page. */
interface Family {
  readonly depth: number;
  /** Handle of the page's fingerprint, or 0. */
  readonly parent: number;
  /** Its rule takes what is found. */
  readonly follow: boolean;
}

interface Admitting {
  readonly sifted: Found;
  readonly family: Family;
  readonly nowMs: number;
}

/** Leases that were made go out; the next poll throws the error of memory or disk. */
function keepMade(leases: readonly RecordLease[], error: unknown): void {
  if (leases.length === 0 || !(error instanceof FrontierError)) throw error;
}
