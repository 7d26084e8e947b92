/**
 * LocalFrontier: the public Frontier in one process and in memory. Each method checks its arguments, opens a call,
 * lets the rooms below decide, and closes the call. Owner: the thread that opened it.
 */
import { countOf, readClose, readTake, type TakeOptions } from "../../base/argument-checks.ts";
import { misuse } from "../../base/errors.ts";
import { type ListenOptions, readListening } from "../../base/listen-options.ts";
import { plainCopy } from "../../base/plain-copy.ts";
import { entropyWords } from "../../base/random.ts";
import { isObject } from "../../base/type-guards.ts";
import { installRules } from "../../frontier/rules/install-rules.ts";
import { givenRules, nextVersion, normalizeRules } from "../../frontier/rules/rule-specs.ts";
import { step } from "../../frontier/leases/leases.ts";
import { VERDICT_CLOSED, type Verdict, verdictOf } from "../../frontier/admission/verdicts.ts";
import { readScan, readSnapshot } from "../queries/record-filter.ts";
import { LeaseService } from "../leases/lease-service.ts";
import { openFromFile, snapshotToFile } from "../durable/memory-snapshot.ts";
import { checkEvent, EventHub } from "../event-hub.ts";
import { checkHostKey, hostView, unitKeyOf } from "../queries/host-view.ts";
import { setVisited } from "../intake/intake-context.ts";
import { iterate } from "../leases/iterate-leases.ts";
import { pollChosen } from "../leases/poll-chosen.ts";
import type { Core } from "../../frontier/core.ts";
import { epochsOf, explain, historiesOf, recordOf, recordsOf } from "../queries/record-queries.ts";
import { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { Settings } from "../options/normalize-options.ts";
import { openDirectory, storedRules } from "../durable/open-directory.ts";
import { pushFrom } from "./push-from.ts";
import { admitList } from "./push-list.ts";
import { pushResult } from "../intake/push-result.ts";
import { FailureNotes } from "../records/failure-notes.ts";
import type { RecordArchive } from "../records/record-archive.ts";
import { needArchive } from "../records/record-history.ts";
import { NOTHING_DURABLE, reportOf } from "../queries/build-report.ts";
import { requestOf, withKey } from "../intake/split-request.ts";
import { readRequest, readRequests, readRequestWith } from "../intake/request-fields.ts";
import { createRuntime, replaceTiers, type Runtime, type RuntimeHooks } from "../runtime.ts";
import { WorkerSharing } from "../sharing/share-frontier.ts";
import { forget, remove, requeue, STEERING_BYTES, update } from "./edit-records.ts";
import { put } from "./put-request.ts";
import type {
  Explanation,
  ForgetFilter,
  Frontier,
  FrontierEvents,
  FrontierHandle,
  FrontierStatus,
  HostView,
  Lease,
  PollOptions,
  PushResult,
  PutOptions,
  PutResult,
  EpochView,
  RecordsFilter,
  RecordView,
  RemoveFilter,
  Report,
  RequestInput,
  RequestLike,
  RequestView,
  RequeueFilter,
  Rule,
  SnapshotInfo,
} from "../types/frontier-types.ts";
import { type ScrapyDigests, digestCount, joinDigests } from "../intake/scrapy-digests.ts";
import { registerLifecycle } from "./lifecycles.ts";
import { fingerprintOf } from "./url-functions.ts";

/** Most leases that peek returns. */
const PEEK_MAX = 1_000;

export class LocalFrontier implements Frontier {
  readonly name: string;
  #state: Record<string, unknown> = {};
  readonly #settings: Settings;
  readonly #events: EventHub;
  readonly #lifecycle: Lifecycle;
  readonly #leases: LeaseService;
  readonly #hooks: RuntimeHooks;
  readonly #sharing: WorkerSharing;
  readonly #failures: FailureNotes;
  /** Secret of the keyed hash, where files name identities by it. */
  #secret: Uint32Array | undefined;
  #archive: RecordArchive | undefined;
  /** The last file that was asked for. */
  #written: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  /** Opens a frontier; with a directory, what that holds goes on. */
  static async open(settings: Settings): Promise<LocalFrontier> {
    const frontier = new LocalFrontier(settings);
    if (settings.directory !== undefined) frontier.#start(await frontier.#openDirectory());
    else if (settings.from !== undefined) frontier.#start(await frontier.#openFile());
    return frontier;
  }

  /** A frontier in memory runs at once; one with a directory is made by `open`. */
  constructor(settings: Settings) {
    this.name = settings.name;
    this.#settings = settings;
    this.#events = new EventHub(settings.name);
    const lifecycle = new Lifecycle(settings, this.#events);
    this.#failures = new FailureNotes(() => settings.clock.now());
    this.#lifecycle = lifecycle;
    this.#sharing = new WorkerSharing({
      frontier: this,
      lifecycle,
      events: this.#events,
      settings,
    });
    this.#hooks = {
      events: this.#events,
      failures: this.#failures,
      failure: (nowMs) => lifecycle.failure(nowMs),
    };
    this.#leases = new LeaseService(
      lifecycle,
      settings.maxFound,
      (url, extras, key = settings.key) => fingerprintOf(requestOf(url, extras), key),
    );
    registerLifecycle(this, lifecycle);
    if (settings.directory !== undefined || settings.from !== undefined) return;
    this.#secret = entropyWords(4);
    this.#start(createRuntime(settings, this.#hooks, undefined, { secret: this.#secret }));
  }

  #start(runtime: Runtime): void {
    this.#lifecycle.start(runtime, this.#leases);
  }

  async #openDirectory(): Promise<Runtime> {
    const settings = this.#settings;
    const events = this.#events;
    const { durable, archive, resumed, runtime, secret, seeded, tiers } = await openDirectory({
      ...{ settings, events, failures: this.#failures, state: () => this.state },
      make: (origin, tiers) =>
        createRuntime(settings, { ...this.#hooks, tiers }, undefined, origin),
      setState: (state) => {
        this.#state = state;
      },
    });
    this.#lifecycle.durable = durable;
    this.#archive = archive;
    this.#lifecycle.background.seeds.restore(seeded);
    this.#secret = secret;
    this.#hooks.tiers = tiers;
    if (resumed !== undefined) events.emitEarly("resumed", resumed);
    return runtime;
  }

  async #openFile(): Promise<Runtime> {
    const { runtime, resumed, secret, seeded } = await openFromFile({
      ...{ settings: this.#settings, events: this.#events, failures: this.#failures },
      state: () => this.state,
      make: (secret, isCleared) =>
        createRuntime(this.#settings, this.#hooks, undefined, { secret, isCleared }),
      setState: (state) => {
        this.#state = state;
      },
    });
    this.#lifecycle.background.seeds.restore(seeded);
    this.#secret = secret;
    this.#events.emitEarly("resumed", resumed);
    return runtime;
  }

  get state(): Record<string, unknown> {
    return this.#state;
  }

  /** A restored one is taken as it is: earlier builds wrote what is no object. */
  set state(state) {
    if (!isObject(state)) throw misuse("ARGUMENT_INVALID", "state", state, "an object");
    this.#state = state;
  }

  get status(): FrontierStatus {
    return this.#lifecycle.statusNow;
  }

  push(request: RequestLike, fields?: Partial<RequestInput>): Verdict {
    const input = readRequestWith(request, fields);
    const { core, nowMs } = this.#lifecycle.begin();
    if (core === undefined) return verdictOf(VERDICT_CLOSED);
    const codes = admitList(this.#lifecycle, [input], nowMs);
    this.#lifecycle.end(nowMs);
    return verdictOf(codes[0] as number);
  }

  pushMany(requests: Iterable<RequestLike>, defaults?: Partial<RequestInput>): PushResult {
    const list = readRequests(requests, defaults);
    const { core, nowMs } = this.#lifecycle.begin();
    if (core === undefined) {
      return pushResult(new Uint8Array(list.length).fill(VERDICT_CLOSED));
    }
    const codes = admitList(this.#lifecycle, list, nowMs);
    this.#lifecycle.end(nowMs);
    return pushResult(codes);
  }

  pushFrom(
    source: AsyncIterable<RequestLike> | Iterable<RequestLike>,
    options: { batch?: number; signal?: AbortSignal } = {},
  ): Promise<PushResult> {
    return pushFrom(this, this.#lifecycle, source, options);
  }

  put(request: RequestLike, options?: PutOptions): PutResult {
    return put(this.#lifecycle, this.#archive, request, options);
  }

  poll(): Lease | undefined {
    return this.#lifecycle.pollOne();
  }

  pollMany(max: number, options?: PollOptions): Lease[] {
    return pollChosen(this.#lifecycle, this.#leases, countOf(max, "max"), options);
  }

  take(options: TakeOptions = {}): Promise<Lease[]> {
    try {
      const { max, waitMs, signal } = readTake(options);
      return this.#lifecycle.take(max, waitMs, signal);
    } catch (cause) {
      return Promise.reject(cause);
    }
  }

  peek(max = 1): RequestView[] {
    const { core, nowMs } = this.#lifecycle.need();
    const most = Math.min(countOf(max, "max"), PEEK_MAX);
    const steppedMs = step(core, nowMs);
    const isRunning = this.#lifecycle.status === "running";
    const views = isRunning ? this.#leases.peek(core, most, steppedMs) : [];
    this.#lifecycle.end(nowMs);
    return views;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Lease, void, undefined> {
    return iterate((signal) => this.#lifecycle.take(1, undefined, signal));
  }

  done(leases: Iterable<Lease>): number {
    return this.#leases.doneMany(leases);
  }

  record(request: RequestLike): RecordView | undefined {
    const input = readRequest(request);
    const { core, nowMs } = this.#lifecycle.need();
    step(core, nowMs);
    const view = recordOf(this.#lifecycle.intake, input, nowMs, this.#archive);
    this.#lifecycle.end(nowMs);
    return view;
  }

  records(filter: RecordsFilter = {}): Iterable<RecordView> {
    const { state, ...where } = readScan(filter);
    const { core, nowMs } = this.#lifecycle.need();
    const isResting = state !== "done" || (this.#archive === undefined && core.hasKept);
    const archive = isResting ? undefined : needArchive(this.#archive);
    step(core, nowMs);
    this.#lifecycle.end(nowMs);
    const isCurrent = this.#isCurrent(core);
    const { intake } = this.#lifecycle;
    if (archive !== undefined) return historiesOf(intake, archive, where, isCurrent);
    const asked = state === undefined ? where : { ...where, state };
    return recordsOf(intake, asked, isCurrent);
  }

  explain(request: RequestLike): Explanation {
    const input = readRequest(request);
    const { core, nowMs } = this.#lifecycle.need();
    step(core, nowMs);
    const answer = explain(this.#lifecycle.intake, input, {
      status: this.#lifecycle.status,
      nowMs,
      isDiskShut: this.#lifecycle.durable?.isShut ?? false,
      fingerprint: (key, policy) => fingerprintOf(withKey(input, key), policy),
    });
    this.#lifecycle.end(nowMs);
    return answer;
  }

  epochs(): Iterable<EpochView> {
    const { core, nowMs } = this.#lifecycle.need();
    step(core, nowMs);
    this.#lifecycle.end(nowMs);
    return epochsOf(core, this.#isCurrent(core));
  }

  nextDueAt(): number | undefined {
    const { core, nowMs } = this.#lifecycle.need();
    const steppedMs = step(core, nowMs);
    this.#lifecycle.end(nowMs);
    return this.#lifecycle.dueAt(core, steppedMs);
  }

  report(): Report {
    const { core, nowMs: calledMs } = this.#lifecycle.need();
    const nowMs = step(core, calledMs);
    this.#lifecycle.end(nowMs);
    const { status, startedAt } = this.#lifecycle;
    const durability = this.#lifecycle.durable?.facts() ?? NOTHING_DURABLE;
    const droppedEvents = this.#events.dropped;
    const imported = digestCount(this.#lifecycle.intake.visited);
    return reportOf(core, { status, startedAt, nowMs, droppedEvents, durability, imported });
  }

  on<E extends keyof FrontierEvents>(
    event: E,
    listener: (payload: FrontierEvents[E]) => void,
    options?: ListenOptions,
  ): () => void {
    checkEvent(event);
    const listen = readListening(listener, options);
    const { nowMs } = this.#lifecycle.need();
    const off = listen((own) => this.#events.on(event, own));
    this.#lifecycle.end(nowMs);
    return off;
  }

  host(key: string): HostView {
    checkHostKey(key);
    return hostView(this.#lifecycle, unitKeyOf(this.#lifecycle.need().core, key));
  }

  update(request: RequestLike, change: { priority?: number; notBefore?: number | Date }): boolean {
    return update(this.#lifecycle, request, change);
  }

  requeue(filter: RequeueFilter): number {
    return requeue(this.#lifecycle, this.#archive, filter);
  }

  remove(filter: RemoveFilter): number {
    return remove(this.#lifecycle, filter);
  }

  forget(filter: ForgetFilter = {}): number {
    return forget(this.#lifecycle, filter, () => this.#sharing.refresh());
  }

  clear(): void {
    const { core, nowMs } = this.#lifecycle.need();
    this.#lifecycle.durable?.need(STEERING_BYTES);
    const origin = { secret: this.#secret };
    const runtime = createRuntime(this.#settings, this.#hooks, { core, nowMs }, origin);
    this.#lifecycle.durable?.cleared(runtime.core);
    this.#failures.clear();
    replaceTiers(this.#settings, this.#hooks);
    this.#lifecycle.replace(runtime);
    this.#lifecycle.background.begin(runtime.core, nowMs);
    this.#sharing.refresh();
    this.#lifecycle.end(nowMs);
  }

  pause(): void {
    this.#lifecycle.pause();
  }

  resume(): void {
    this.#lifecycle.resume();
  }

  async drain(): Promise<void> {
    await this.#lifecycle.drain();
  }

  /** What another program saw, by digests. @internal */
  get visited(): ScrapyDigests | undefined {
    return this.#lifecycle.intake.visited;
  }

  /** Makes digests count as seen, beside those that do; how many were new. @internal */
  async visit(digests: Uint8Array): Promise<number> {
    const { intake, durable } = this.#lifecycle;
    const visited = joinDigests(intake.visited, digests);
    await durable?.keepVisited(visited.digests);
    const count = digestCount(visited) - digestCount(intake.visited);
    setVisited(intake, visited);
    return count;
  }

  /** In memory nothing can be made durable: there is nothing to wait for. */
  async flush(): Promise<void> {
    this.#lifecycle.need();
    await this.#lifecycle.durable?.flush();
  }

  setRules(rules: Rule[], version?: number | string): void {
    const sinceMs = this.#settings.clock.monotonic();
    const list = normalizeRules(rules, this.#settings.defaults, this.#settings.seen.mode);
    if (version !== undefined && typeof version !== "string" && !Number.isFinite(version)) {
      throw misuse("ARGUMENT_INVALID", "version", version, "a number or a string");
    }
    const { core, nowMs } = this.#lifecycle.need();
    step(core, nowMs);
    this.#lifecycle.durable?.need(STEERING_BYTES);
    installRules(core, list, version ?? nextVersion(core.version), nowMs);
    core.log?.note("rules", storedRules(core));
    this.#lifecycle.background.rulesChanged(core, nowMs, sinceMs);
    this.#sharing.refresh();
    this.#lifecycle.end(nowMs);
  }

  rules(): Rule[] | undefined {
    const { core } = this.#lifecycle.need();
    return this.#isDefault(core) ? undefined : plainCopy(givenRules(core.specs));
  }

  async snapshot(options: { path?: string; whole?: boolean } = {}): Promise<SnapshotInfo> {
    const { path, whole = false } = readSnapshot(options);
    this.#lifecycle.need();
    const { durable } = this.#lifecycle;
    if (durable !== undefined && path === undefined) return durable.snapshot(whole);
    if (durable !== undefined || path === undefined) {
      const expected = "a path; none for a frontier with a directory";
      throw misuse("ARGUMENT_INVALID", "options.path", path, expected);
    }
    const done = this.#written.then(() => this.#snapshotTo(path));
    this.#written = done.catch(() => undefined);
    return done;
  }

  /** One at a time: each takes up what is logged while it is written. */
  #snapshotTo(path: string): Promise<SnapshotInfo> {
    return snapshotToFile({
      ...{ settings: this.#settings, path, secret: this.#secret as Uint32Array },
      core: () => (this.#lifecycle.isClosed ? undefined : this.#lifecycle.intake.core),
      failures: this.#failures,
      notes: () => ({
        state: this.state,
        ...this.#lifecycle.background.seeds.notes,
        ...this.#rulesNote(),
      }),
    });
  }

  /** The rules that were set last, for an opening of the file without rules. */
  #rulesNote(): { rules?: unknown } {
    const { core } = this.#lifecycle.need();
    return this.#isDefault(core) ? {} : { rules: storedRules(core) };
  }

  /** Whether no rules were ever given. */
  #isDefault(core: Core): boolean {
    const { rules, rulesGiven } = this.#settings;
    return rulesGiven === undefined && core.specs === rules.specs;
  }

  share(): FrontierHandle {
    this.#lifecycle.need();
    return this.#sharing.handle();
  }

  async close(options: { discard?: boolean | undefined } = {}): Promise<void> {
    const isDiscard = readClose(options);
    this.#closing ??= this.#closeAll(isDiscard);
    await this.#closing;
  }

  /** Applies what threads have published first. If the disk refuses the last writes, the frontier stays open. */
  async #closeAll(isDiscard: boolean): Promise<void> {
    const lifecycle = this.#lifecycle;
    // From within accept, keyOf or by: what is being admitted is admitted, and durable, before.
    if (lifecycle.isAsking) await Promise.resolve();
    try {
      const closing = this.#sharing.close();
      if (closing !== undefined) await closing;
      if (lifecycle.durable !== undefined) {
        lifecycle.shut();
        await lifecycle.durable.close(isDiscard);
      }
      lifecycle.close();
    } catch (error) {
      this.#closing = undefined;
      lifecycle.reopen();
      throw error;
    }
  }

  /** Closes as a crash would, where the disk refuses `close`: what is not durable is lost. */
  async abandon(): Promise<void> {
    this.#lifecycle.shut();
    await this.#lifecycle.durable?.abandon();
    this.#lifecycle.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Whether what is read of a core slice by slice is still valid. */
  #isCurrent(core: Core): () => boolean {
    return () => !this.#lifecycle.isClosed && this.#lifecycle.need().core === core;
  }
}
