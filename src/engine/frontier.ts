/**
 * MemoryFrontier: the public Frontier in one process and in memory. Each method checks its arguments, opens a call,
 * lets the rooms below decide, and closes the call. Owner: the thread that opened it.
 */
import { misuse } from "../base/errors.ts";
import {
  forgetAll,
  liveRecord,
  removeRecords,
  requeueFailed,
  updateRecord,
} from "../frontier/steer.ts";
import { step } from "../frontier/leases.ts";
import { VERDICT_CLOSED, type Verdict, verdictOf } from "../frontier/verdict.ts";
import type { RecordState } from "../frontier/walk.ts";
import { Desk } from "./desk.ts";
import { EventHub } from "./events.ts";
import { hostView } from "./host-view.ts";
import { pushList } from "./intake.ts";
import { explain, lookUp, recordOf, recordsOf } from "./knowing.ts";
import type { RecordLease } from "./lease.ts";
import { Life } from "./life.ts";
import type { Settings } from "./options.ts";
import { pushFrom } from "./push-from.ts";
import { pushResult } from "./push-result.ts";
import { reportOf } from "./report.ts";
import { checkDefaults, checkRequest, requestOf, timeMs } from "./request.ts";
import { createRuntime, type RuntimeHooks } from "./runtime.ts";
import type {
  Explanation,
  Frontier,
  FrontierEvents,
  FrontierStatus,
  HostView,
  Lease,
  PushResult,
  RecordView,
  Report,
  RequestInput,
  RequestLike,
  RequestView,
} from "./types.ts";
import { nameCore } from "./verify.ts";
import { fingerprintOf } from "./url-functions.ts";

/** Most leases peek tells. */
const PEEK_MAX = 1_000;

export class MemoryFrontier implements Frontier {
  readonly name: string;
  state: Record<string, unknown> = {};
  readonly #settings: Settings;
  readonly #events = new EventHub();
  readonly #life: Life;
  readonly #desk: Desk;
  readonly #hooks: RuntimeHooks;

  constructor(settings: Settings) {
    this.name = settings.name;
    this.#settings = settings;
    const life = new Life(settings, this.#events);
    this.#life = life;
    this.#hooks = { events: this.#events, failure: (nowMs) => life.failure(nowMs) };
    this.#desk = new Desk(life, settings.maxFound, (url, extras) =>
      fingerprintOf(requestOf(url, extras), settings.key),
    );
    const runtime = createRuntime(settings, this.#hooks);
    nameCore(this, () => life.need().core);
    life.start(runtime, (core, max, nowMs) => this.#desk.take(core, max, nowMs));
  }

  get status(): FrontierStatus {
    return this.#life.statusNow();
  }

  push(request: RequestLike): Verdict {
    checkRequest(request);
    const { core, nowMs } = this.#life.begin();
    if (core === undefined) return verdictOf(VERDICT_CLOSED);
    const codes = this.#admit([request], nowMs);
    this.#life.end(nowMs);
    return verdictOf(codes[0] as number);
  }

  pushMany(requests: Iterable<RequestLike>, defaults?: Partial<RequestInput>): PushResult {
    const list = listOf(requests);
    if (defaults !== undefined) checkDefaults(defaults, "defaults");
    for (let index = 0; index < list.length; index++) {
      if (typeof list[index] !== "string") checkRequest(list[index], `requests[${index}]`);
    }
    const { core, nowMs } = this.#life.begin();
    if (core === undefined) {
      return pushResult(new Uint8Array(list.length).fill(VERDICT_CLOSED));
    }
    const given = defaults === undefined ? list : list.map((one) => withDefaults(one, defaults));
    const codes = this.#admit(given, nowMs);
    this.#life.end(nowMs);
    return pushResult(codes);
  }

  pushFrom(
    source: AsyncIterable<RequestLike> | Iterable<RequestLike>,
    options: { batch?: number; signal?: AbortSignal } = {},
  ): Promise<PushResult> {
    return pushFrom(this, this.#life, source, options);
  }

  poll(): Lease | undefined {
    return this.#life.poll(1)[0];
  }

  pollMany(max: number): Lease[] {
    return this.#life.poll(countOf(max, "max"));
  }

  take(options: { max?: number; timeoutMs?: number; signal?: AbortSignal } = {}): Promise<Lease[]> {
    const { max = 1, timeoutMs, signal } = options;
    if (timeoutMs !== undefined && !(timeoutMs >= 0)) {
      throw misuse("ARGUMENT_INVALID", "timeoutMs", timeoutMs, "a number of at least 0");
    }
    const wait = timeoutMs === Number.POSITIVE_INFINITY ? undefined : timeoutMs;
    return this.#life.take(positiveOf(max, "max"), wait, signal);
  }

  peek(max = 1): RequestView[] {
    const { core, nowMs } = this.#life.need();
    const most = Math.min(countOf(max, "max"), PEEK_MAX);
    step(core, nowMs);
    const views = this.status === "running" ? this.#desk.peek(core, most, nowMs) : [];
    this.#life.end(nowMs);
    return views;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Lease, void, undefined> {
    for (;;) {
      const leases = await this.take();
      if (leases.length === 0) return;
      yield* leases;
    }
  }

  done(leases: Iterable<Lease>): number {
    return this.#desk.doneMany(leases as Iterable<RecordLease>);
  }

  record(request: RequestLike): RecordView | undefined {
    checkRequest(request);
    const { core, nowMs } = this.#life.need();
    step(core, nowMs);
    const view = recordOf(this.#life.gate, request);
    this.#life.end(nowMs);
    return view;
  }

  records(
    filter: { state?: RecordState; rule?: string; host?: string } = {},
  ): Iterable<RecordView> {
    const { core, nowMs } = this.#life.need();
    const { state } = filter;
    const known = ["pending", "waiting", "leased", "failed"];
    if (state !== undefined && !known.includes(state)) {
      throw misuse("ARGUMENT_INVALID", "filter.state", state, `one of ${known.join(", ")}`);
    }
    step(core, nowMs);
    this.#life.end(nowMs);
    return recordsOf(core, filter);
  }

  explain(request: RequestLike): Explanation {
    checkRequest(request);
    const { core, nowMs } = this.#life.need();
    step(core, nowMs);
    const answer = explain(this.#life.gate, request, {
      status: this.status,
      nowMs,
      fingerprint: () => fingerprintOf(request, this.#settings.key),
    });
    this.#life.end(nowMs);
    return answer;
  }

  nextDueAt(): number | undefined {
    const { core, nowMs } = this.#life.need();
    step(core, nowMs);
    this.#life.end(nowMs);
    return this.#life.dueAt(core, nowMs);
  }

  report(): Report {
    const { core, nowMs } = this.#life.need();
    step(core, nowMs);
    this.#life.end(nowMs);
    const { status, startedAt } = this.#life;
    return reportOf(core, { status, startedAt, nowMs, droppedEvents: this.#events.dropped });
  }

  on<E extends keyof FrontierEvents>(
    event: E,
    listener: (payload: FrontierEvents[E]) => void,
  ): () => void {
    if (!EventHub.isEvent(event)) {
      throw misuse("ARGUMENT_INVALID", "event", event, "the name of an event");
    }
    if (typeof listener !== "function") {
      throw misuse("ARGUMENT_INVALID", "listener", listener, "a function");
    }
    const off = this.#events.on(event, listener as (payload: never) => void);
    const { nowMs } = this.#life.begin();
    this.#life.end(nowMs);
    return off;
  }

  host(key: string): HostView {
    if (typeof key !== "string" || key === "") {
      throw misuse("ARGUMENT_INVALID", "key", key, "a host such as 'example.com'");
    }
    this.#life.need();
    return hostView(this.#life, key.toLowerCase());
  }

  update(request: RequestLike, change: { priority?: number; notBefore?: number | Date }): boolean {
    checkRequest(request);
    checkDefaults(change, "change");
    const { core, nowMs } = this.#life.need();
    step(core, nowMs);
    const { hasIdentity, lo, hi } = lookUp(this.#life.gate, request);
    const record = hasIdentity ? liveRecord(core, lo, hi) : 0;
    const { priority, notBefore } = change;
    const dueMs = notBefore === undefined ? undefined : timeMs(notBefore, "change.notBefore");
    const isChanged = record !== 0 && updateRecord(core, record, { priority, dueMs }, nowMs);
    this.#life.end(nowMs);
    return isChanged;
  }

  requeue(filter: { state?: "failed" | "done"; rule?: string; host?: string } = {}): number {
    if (filter.state !== undefined && filter.state !== "failed") {
      throw misuse("UNSUPPORTED", "filter.state", filter.state, "'failed' in this version");
    }
    const { core, nowMs } = this.#life.need();
    step(core, nowMs);
    const count = requeueFailed(core, { rule: filter.rule, host: filter.host }, nowMs);
    this.#life.end(nowMs);
    return count;
  }

  remove(filter: { host?: string; rule?: string; pattern?: string } = {}): number {
    const { host, rule, pattern } = filter;
    const { core, nowMs } = this.#life.need();
    const expression = pattern === undefined ? undefined : expressionOf(pattern);
    step(core, nowMs);
    const count = removeRecords(core, { host, rule, pattern: expression }, nowMs);
    this.#life.end(nowMs);
    return count;
  }

  forget(filter: { epoch?: string } = {}): number {
    if (filter.epoch !== undefined) {
      throw misuse("UNSUPPORTED", "filter.epoch", filter.epoch, "none in this version");
    }
    const { core, nowMs } = this.#life.need();
    const count = forgetAll(core);
    this.#life.end(nowMs);
    return count;
  }

  clear(): void {
    const { core, nowMs } = this.#life.need();
    this.#life.replace(createRuntime(this.#settings, this.#hooks, { core, nowMs }));
    this.#life.end(nowMs);
  }

  pause(): void {
    this.#life.pause();
  }

  resume(): void {
    this.#life.resume();
  }

  async drain(): Promise<void> {
    await this.#life.drain();
  }

  /** In memory nothing can be made durable; what was said is already as safe as it gets. */
  async flush(): Promise<void> {
    this.#life.need();
  }

  async close(_options: { discard?: boolean } = {}): Promise<void> {
    this.#life.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #admit(list: readonly RequestLike[], nowMs: number): Uint8Array {
    return pushList(this.#life.gate, list, {
      nowMs,
      isOutside: true,
      depth: undefined,
      parent: 0,
    });
  }
}

function listOf(requests: unknown): readonly RequestLike[] {
  if (Array.isArray(requests)) return requests;
  const isIterable =
    typeof requests === "object" && requests !== null && Symbol.iterator in requests;
  if (isIterable) return [...(requests as Iterable<RequestLike>)];
  throw misuse("ARGUMENT_INVALID", "requests", requests, "a list of URLs or requests");
}

function withDefaults(request: RequestLike, defaults: Partial<RequestInput>): RequestInput {
  const input = typeof request === "string" ? { url: request } : request;
  return { ...defaults, ...input };
}

function countOf(value: unknown, name: string): number {
  if (value === Number.POSITIVE_INFINITY) return Number.MAX_SAFE_INTEGER;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw misuse("ARGUMENT_INVALID", name, value, "a whole number of at least 0");
}

function positiveOf(value: unknown, name: string): number {
  const count = countOf(value, name);
  if (count > 0) return count;
  throw misuse("ARGUMENT_INVALID", name, value, "a whole number of at least 1");
}

function expressionOf(pattern: unknown): RegExp {
  if (typeof pattern === "string") {
    try {
      return new RegExp(pattern, "u");
    } catch {
      // Named below with everything else that is no pattern.
    }
  }
  throw misuse("ARGUMENT_INVALID", "filter.pattern", pattern, "an ECMAScript pattern");
}
