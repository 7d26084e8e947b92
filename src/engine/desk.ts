/**
 * Desk: hands out leases and takes their results. Every result is judged by the clock first: one that comes after
 * the deadline, twice, or after close changes nothing, says so and is counted.
 */
import { FrontierError, misuse } from "../base/errors.ts";
import type { Core } from "../frontier/core.ts";
import {
  countLate,
  done,
  extend,
  fail,
  isLive,
  learn,
  leaseNext,
  release,
  retry,
} from "../frontier/leases.ts";
import type { Outcome } from "../frontier/policy.ts";
import { type HandOut, handOut, undoHandOut } from "../frontier/schedule.ts";
import {
  VERDICT_CLOSED,
  VERDICT_INVALID_REQUEST,
  VERDICT_LATE,
  VERDICT_NO_FOLLOW,
  type Verdict,
  verdictOf,
} from "../frontier/verdict.ts";
import {
  parentCreate,
  parentFingerprint,
  parentRelease,
  isPlainRecord,
  recordAttempt,
  recordDeliveries,
  recordDepth,
  recordParent,
  recordPriority,
} from "../structures/record.ts";
import { recordUrl, SCRATCH_ROWS, scratchHandle, scratchUrls } from "../structures/scratch.ts";
import type { Extras } from "./codec.ts";
import { pushList } from "./intake.ts";
import { type DoneRequest, type LeaseDesk, RecordLease, type RetryOptions } from "./lease.ts";
import type { Life } from "./life.ts";
import { DONE_LATE, DONE_PLAIN, doneResult } from "./push-result.ts";
import { checkRequest } from "./request.ts";
import type { DoneResult, RequestLike, RequestView } from "./types.ts";
import { recordData, recordExtras, recordView } from "./view.ts";

/** Longest extension: a year; a lease is no way to keep a record for ever. */
const EXTEND_MS_MAX = 31_536_000_000;

function emptyHandOut(): HandOut {
  return { record: 0, sequence: 0, turnBefore: 0, readyAtBefore: 0, readyAtSet: 0 };
}

export class Desk implements LeaseDesk {
  readonly #life: Life;
  readonly #print: (url: string, extras: Extras) => string;
  readonly #maxFound: number;

  constructor(life: Life, maxFound: number, print: (url: string, extras: Extras) => string) {
    this.#life = life;
    this.#print = print;
    this.#maxFound = maxFound;
  }

  /** At most `max` leases at `nowMs`, in order. */
  take(core: Core, max: number, nowMs: number): RecordLease[] {
    const leases: RecordLease[] = [];
    let lease = new RecordLease(this);
    while (leases.length < max) {
      const from = leases.length;
      const end = Math.min(max, from + SCRATCH_ROWS);
      while (leases.length < end && leaseNext(core, nowMs, lease)) {
        leases.push(lease);
        lease = new RecordLease(this);
      }
      this.#dress(core, leases, from, nowMs);
      if (leases.length < end) break;
    }
    return leases;
  }

  /** What `take` would give: hands out and undoes, in reverse, as if nothing had been. */
  peek(core: Core, max: number, nowMs: number): RequestView[] {
    const outs: HandOut[] = [];
    const room = core.limits.maxLeases - core.counters.leased;
    while (outs.length < Math.min(max, room)) {
      const out = emptyHandOut();
      if (!handOut(core, nowMs, out)) break;
      outs.push(out);
    }
    const views = outs.map(({ record }) => {
      const view = recordView(core, record);
      return { ...view, deliveries: view.deliveries + 1 };
    });
    for (const out of outs.reverse()) undoHandOut(core, out, nowMs);
    return views;
  }

  done(lease: RecordLease, result: DoneRequest): DoneResult {
    const { core, nowMs } = this.#life.begin();
    if (!this.#isLive(core, lease, nowMs)) return this.#late(core, DONE_LATE);
    checkOutcome(result.outcome);
    const list = result.found === undefined ? undefined : listOf(result.found);
    const family =
      list === undefined || list.length === 0 ? undefined : this.#family(core, lease, nowMs);
    learn(core, lease, result.outcome, nowMs);
    done(core, lease, nowMs);
    const answer = family === undefined ? DONE_PLAIN : this.#admit(core, lease, list ?? [], family);
    this.#tellErrors(lease, result.errors);
    this.#life.end(nowMs);
    return answer;
  }

  /** Batch form without children; how many were not late. */
  doneMany(leases: Iterable<RecordLease>): number {
    const { core, nowMs } = this.#life.begin();
    let count = 0;
    for (const lease of leases) {
      if (!this.#isLive(core, lease, nowMs)) {
        if (core !== undefined) countLate(core);
        continue;
      }
      learn(core as Core, lease, undefined, nowMs);
      done(core as Core, lease, nowMs);
      count++;
    }
    this.#life.end(nowMs);
    return count;
  }

  retry(lease: RecordLease, options: RetryOptions): "requeued" | "failed" | "late" {
    const { core, nowMs } = this.#life.begin();
    checkRetry(options);
    if (!this.#isLive(core, lease, nowMs)) return this.#late(core, "late");
    const { delayMs, priority, reason, outcome } = options;
    const answer = retry(core, lease, { delayMs, priority, reason, outcome }, nowMs);
    this.#life.end(nowMs);
    return answer;
  }

  fail(lease: RecordLease, reason: string | undefined, outcome: Outcome | undefined): boolean {
    const { core, nowMs } = this.#life.begin();
    checkOutcome(outcome);
    if (!this.#isLive(core, lease, nowMs)) return this.#late(core, false);
    fail(core, lease, { reason, outcome }, nowMs);
    this.#life.end(nowMs);
    return true;
  }

  release(lease: RecordLease): boolean {
    const { core, nowMs } = this.#life.begin();
    if (!this.#isLive(core, lease, nowMs)) return this.#late(core, false);
    release(core, lease, nowMs);
    this.#life.end(nowMs);
    return true;
  }

  redirect(lease: RecordLease, url: string): Verdict {
    const { core, nowMs } = this.#life.begin();
    if (typeof url !== "string") throw misuse("ARGUMENT_INVALID", "url", url, "a string");
    if (!this.#isLive(core, lease, nowMs))
      return this.#late(core, verdictOf(core === undefined ? VERDICT_CLOSED : VERDICT_LATE));
    const parent = this.#parentOf(core, lease);
    const depth = recordDepth(core.store, lease.record);
    const { gate } = this.#life;
    const codes = pushList(gate, [url], { nowMs, isOutside: false, depth, parent });
    parentRelease(core.store, parent);
    this.#life.end(nowMs);
    return verdictOf(codes[0] as number);
  }

  extend(lease: RecordLease, ms: number): boolean {
    if (!(ms > 0 && ms <= EXTEND_MS_MAX)) {
      throw misuse("ARGUMENT_INVALID", "ms", ms, `more than 0, at most ${EXTEND_MS_MAX}`);
    }
    const { core, nowMs } = this.#life.begin();
    if (!this.#isLive(core, lease, nowMs)) return this.#late(core, false);
    lease.deadline = extend(core, lease, ms);
    this.#life.end(nowMs);
    return true;
  }

  fingerprint(url: string, extras: Extras): string {
    return this.#print(url, extras);
  }

  #isLive(core: Core | undefined, lease: RecordLease, nowMs: number): core is Core {
    return core !== undefined && lease.desk === this && isLive(core, lease, nowMs);
  }

  #late<T>(core: Core | undefined, answer: T): T {
    if (core !== undefined) countLate(core);
    return answer;
  }

  /** What children inherit, read while the page's record exists; the parent is held for them. */
  #family(core: Core, lease: RecordLease, nowMs: number): Family {
    const depth = recordDepth(core.store, lease.record) + 1;
    return { depth, parent: this.#parentOf(core, lease), nowMs };
  }

  /** Children of a page: depth and parent are the engine's to say. */
  #admit(core: Core, lease: RecordLease, list: readonly unknown[], family: Family): DoneResult {
    const { good, bad } = this.#sift(lease, list);
    const { follow } = core.rule.policy;
    const codes = follow
      ? pushList(this.#life.gate, good, { ...family, isOutside: false }, this.#maxFound)
      : new Uint8Array(good.length).fill(VERDICT_NO_FOLLOW);
    parentRelease(core.store, family.parent);
    return doneResult(bad.length === 0 ? codes : withBad(codes, bad));
  }

  /** Found things that are no requests are told as errors; the others are processed. */
  #sift(lease: RecordLease, list: readonly unknown[]): { good: RequestLike[]; bad: number[] } {
    const bad: number[] = [];
    const good: RequestLike[] = [];
    for (let index = 0; index < list.length; index++) {
      const one = list[index];
      if (typeof one !== "string") {
        try {
          checkRequest(one, `found[${index}]`);
        } catch (cause) {
          this.#life.events.fault({ kind: "request", stage: "found", cause, url: lease.url });
          bad.push(index);
          continue;
        }
      }
      good.push(one as RequestLike);
    }
    return { good, bad };
  }

  #parentOf(core: Core, lease: RecordLease): number {
    const parent = parentCreate(core.store, lease.fingerprint);
    if (parent !== 0) return parent;
    throw new FrontierError("MEMORY_FULL", "memory: exhausted (expected: room for a parent)");
  }

  #tellErrors(lease: RecordLease, errors: unknown[] | undefined): void {
    for (const cause of errors ?? []) {
      this.#life.events.fault({ kind: "user", stage: "done", cause, url: lease.url });
    }
  }

  /** Reads the records of leases from `from` on: their URLs in one gather. */
  #dress(core: Core, leases: RecordLease[], from: number, nowMs: number): void {
    const { scratch, store } = core;
    const deadlineMs = nowMs + core.limits.leaseMs;
    for (let start = from; start < leases.length; ) {
      for (let at = start; at < leases.length; at++) {
        scratchHandle(scratch, at - start, (leases[at] as RecordLease).record);
      }
      const urls = scratchUrls(scratch, leases.length - start);
      if (urls.length === 0) urls.push(recordUrl(scratch, (leases[start] as RecordLease).record));
      for (const url of urls) (leases[start++] as RecordLease).url = url;
    }
    for (let at = from; at < leases.length; at++) {
      const lease = leases[at] as RecordLease;
      const { record } = lease;
      lease.priority = recordPriority(store, record);
      lease.depth = recordDepth(store, record);
      lease.attempt = recordAttempt(store, record);
      lease.deliveries = recordDeliveries(store, record);
      lease.rule = core.rule.id;
      lease.deadline = deadlineMs;
      if (isPlainRecord(store, record)) continue;
      const parent = recordParent(store, record);
      if (parent !== 0) lease.parentPrint = parentFingerprint(store, parent);
      lease.extras = recordExtras(core, record);
      lease.data = recordData(core, record, lease.extras);
    }
  }
}

interface Family {
  readonly depth: number;
  readonly parent: number;
  readonly nowMs: number;
}

function listOf(found: Iterable<RequestLike>): readonly unknown[] {
  if (Array.isArray(found)) return found;
  if (typeof found === "object" && found !== null && Symbol.iterator in found) return [...found];
  throw misuse("ARGUMENT_INVALID", "found", found, "a list of URLs or requests");
}

/** Puts the verdicts of things that were no requests back where they stood. */
function withBad(codes: Uint8Array, bad: readonly number[]): Uint8Array {
  const all = new Uint8Array(codes.length + bad.length);
  const isBad = new Set(bad);
  let next = 0;
  for (let index = 0; index < all.length; index++) {
    all[index] = isBad.has(index) ? VERDICT_INVALID_REQUEST : (codes[next++] as number);
  }
  return all;
}

function checkRetry({ delayMs, priority, reason, outcome }: RetryOptions): void {
  if (delayMs !== undefined && !(Number.isFinite(delayMs) && delayMs >= 0)) {
    throw misuse("ARGUMENT_INVALID", "delayMs", delayMs, "a finite number of at least 0");
  }
  if (priority !== undefined && !Number.isSafeInteger(priority)) {
    throw misuse("ARGUMENT_INVALID", "priority", priority, "a safe integer");
  }
  if (reason !== undefined && typeof reason !== "string") {
    throw misuse("ARGUMENT_INVALID", "reason", reason, "a string");
  }
  checkOutcome(outcome);
}

function checkOutcome(outcome: unknown): void {
  if (outcome === undefined) return;
  if (typeof outcome !== "object" || outcome === null) {
    throw misuse("ARGUMENT_INVALID", "outcome", outcome, "an object");
  }
}
