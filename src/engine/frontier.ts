/**
 * MemoryFrontier: the public Frontier in one process and in memory. Each method checks its arguments, opens a call,
 * lets the rooms below decide, and closes the call. Owner: the thread that opened it.
 */
import { countOf, readClose, readTake, type TakeOptions } from "../base/arguments.ts";
import { misuse } from "../base/errors.ts";
import { type ListenOptions, readListening } from "../base/listening.ts";
import { plainCopy } from "../base/plain-copy.ts";
import { entropyWords } from "../base/random.ts";
import { installRules } from "../frontier/rule-set.ts";
import { givenRules, normalizeRules } from "../frontier/rules.ts";
import { step } from "../frontier/leases.ts";
import { VERDICT_CLOSED, VERDICT_FULL_DISK, type Verdict, verdictOf } from "../frontier/verdict.ts";
import type { RecordState } from "../frontier/record-state.ts";
import { readScan, readSnapshotPath } from "./arguments.ts";
import { Desk } from "./desk.ts";
import { openAlone, snapshotTo } from "./alone.ts";
import { checkEvent, EventHub } from "./events.ts";
import { checkHostKey, hostView } from "./host-view.ts";
import { bytesToSay, pushList, refuseAll } from "./intake.ts";
import { iterate } from "./iterate.ts";
import type { Core } from "../frontier/core.ts";
import { epochsOf, explain, recordOf, recordsOf } from "./knowing.ts";
import { Life } from "./life.ts";
import type { Settings } from "./options.ts";
import { openDurable, storedRules } from "./open-durable.ts";
import { pushFrom } from "./push-from.ts";
import { pushResult } from "./push-result.ts";
import type { RecordKeeper } from "./record-keeper.ts";
import { doneStories, needKeeper } from "./stories.ts";
import { NOTHING_DURABLE, reportOf } from "./report.ts";
import { requestOf, withKey } from "./request.ts";
import { readRequest, readRequests } from "./request-fields.ts";
import { createRuntime, replaceTiers, type Runtime, type RuntimeHooks } from "./runtime.ts";
import { Sharing } from "./sharing.ts";
import { forget, remove, requeue, STEERING_BYTES, update } from "./steering.ts";
import type {
  Explanation,
  Frontier,
  FrontierEvents,
  FrontierHandle,
  FrontierStatus,
  HostView,
  Lease,
  PushResult,
  EpochView,
  RecordView,
  Report,
  RequestInput,
  RequestLike,
  RequestView,
  Rule,
  SnapshotInfo,
} from "./types.ts";
import { sortDigests } from "../persistence/digest-file.ts";
import { createVisited, type Visited, visitedCount } from "./visited.ts";
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
  readonly #sharing: Sharing;
  /** Secret of the keyed hash, where files name identities by it. */
  #secret: Uint32Array | undefined;
  #keeper: RecordKeeper | undefined;
  /** The last file that was asked for. */
  #written: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  /** Opens a frontier; with a directory, what that holds goes on. */
  static async open(settings: Settings): Promise<MemoryFrontier> {
    const frontier = new MemoryFrontier(settings);
    if (settings.directory !== undefined) frontier.#start(await frontier.#openDirectory());
    else if (settings.from !== undefined) frontier.#start(await frontier.#openFile());
    return frontier;
  }

  /** A frontier in memory runs at once; one with a directory is made by `open`. */
  constructor(settings: Settings) {
    this.name = settings.name;
    this.#settings = settings;
    const life = new Life(settings, this.#events);
    this.#life = life;
    this.#sharing = new Sharing({ frontier: this, life, events: this.#events, settings });
    this.#hooks = { events: this.#events, failure: (nowMs) => life.failure(nowMs) };
    this.#desk = new Desk(life, settings.maxFound, (url, extras, key = settings.key) =>
      fingerprintOf(requestOf(url, extras), key),
    );
    nameCore(this, () => life.coreAsLeft);
    if (settings.directory !== undefined || settings.from !== undefined) return;
    this.#secret = entropyWords(4);
    this.#start(createRuntime(settings, this.#hooks, undefined, { secret: this.#secret }));
  }

  #start(runtime: Runtime): void {
    this.#life.start(runtime, (core, max, nowMs) => this.#desk.take(core, max, nowMs));
  }

  async #openDirectory(): Promise<Runtime> {
    const settings = this.#settings;
    const events = this.#events;
    const { durable, keeper, resumed, runtime, secret, seeded, tiers } = await openDurable({
      ...{ settings, events, state: () => this.state },
      make: (origin, tiers) =>
        createRuntime(settings, { ...this.#hooks, tiers }, undefined, origin),
      setState: (state) => {
        this.state = state;
      },
    });
    this.#life.durable = durable;
    this.#keeper = keeper;
    this.#life.chores.seeds.restore(seeded);
    this.#secret = secret;
    this.#hooks.tiers = tiers;
    if (resumed !== undefined) events.emitEarly("resumed", resumed);
    return runtime;
  }

  async #openFile(): Promise<Runtime> {
    const { runtime, resumed, secret, seeded } = await openAlone({
      ...{ settings: this.#settings, events: this.#events, state: () => this.state },
      make: (secret, isCleared) =>
        createRuntime(this.#settings, this.#hooks, undefined, { secret, isCleared }),
      setState: (state) => {
        this.state = state;
      },
    });
    this.#life.chores.seeds.restore(seeded);
    this.#secret = secret;
    this.#events.emitEarly("resumed", resumed);
    return runtime;
  }

  get status(): FrontierStatus {
    return this.#life.statusNow;
  }

  push(request: RequestLike): Verdict {
    const input = readRequest(request);
    const { core, nowMs } = this.#life.begin();
    if (core === undefined) return verdictOf(VERDICT_CLOSED);
    const codes = this.#admit([input], nowMs);
    this.#life.end(nowMs);
    return verdictOf(codes[0] as number);
  }

  pushMany(requests: Iterable<RequestLike>, defaults?: Partial<RequestInput>): PushResult {
    const list = readRequests(requests, defaults);
    const { core, nowMs } = this.#life.begin();
    if (core === undefined) {
      return pushResult(new Uint8Array(list.length).fill(VERDICT_CLOSED));
    }
    const codes = this.#admit(list, nowMs);
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

  take(options: TakeOptions = {}): Promise<Lease[]> {
    try {
      const { max, waitMs, signal } = readTake(options);
      return this.#life.take(max, waitMs, signal);
    } catch (cause) {
      return Promise.reject(cause);
    }
  }

  peek(max = 1): RequestView[] {
    const { core, nowMs } = this.#life.need();
    const most = Math.min(countOf(max, "max"), PEEK_MAX);
    step(core, nowMs);
    const views = this.#life.status === "running" ? this.#desk.peek(core, most, nowMs) : [];
    this.#life.end(nowMs);
    return views;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Lease, void, undefined> {
    return iterate((signal) => this.#life.take(1, undefined, signal));
  }

  done(leases: Iterable<Lease>): number {
    return this.#desk.doneMany(leases);
  }

  record(request: RequestLike): RecordView | undefined {
    const input = readRequest(request);
    const { core, nowMs } = this.#life.need();
    step(core, nowMs);
    const view = recordOf(this.#life.gate, input, nowMs, this.#keeper);
    this.#life.end(nowMs);
    return view;
  }

  records(
    filter: { state?: RecordState; rule?: string; host?: string } = {},
  ): Iterable<RecordView> {
    const { state, ...where } = readScan(filter);
    const { core, nowMs } = this.#life.need();
    const keeper = state === "done" ? needKeeper(this.#keeper, "filter.state:") : undefined;
    step(core, nowMs);
    this.#life.end(nowMs);
    const isCurrent = this.#isCurrent(core);
    if (keeper !== undefined) return doneStories(core, keeper, where, isCurrent);
    return recordsOf(core, state === undefined ? where : { ...where, state }, isCurrent);
  }

  explain(request: RequestLike): Explanation {
    const input = readRequest(request);
    const { core, nowMs } = this.#life.need();
    step(core, nowMs);
    const answer = explain(this.#life.gate, input, {
      status: this.#life.status,
      nowMs,
      isDiskShut: this.#life.durable?.isShut ?? false,
      fingerprint: (key, policy) => fingerprintOf(withKey(input, key), policy),
    });
    this.#life.end(nowMs);
    return answer;
  }

  epochs(): Iterable<EpochView> {
    const { core, nowMs } = this.#life.need();
    step(core, nowMs);
    this.#life.end(nowMs);
    return epochsOf(core, this.#isCurrent(core));
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
    const durability = this.#life.durable?.facts() ?? NOTHING_DURABLE;
    const droppedEvents = this.#events.dropped;
    const imported = visitedCount(this.#life.gate.visited);
    return reportOf(core, { status, startedAt, nowMs, droppedEvents, durability, imported });
  }

  on<E extends keyof FrontierEvents>(
    event: E,
    listener: (payload: FrontierEvents[E]) => void,
    options?: ListenOptions,
  ): () => void {
    checkEvent(event);
    const listen = readListening(listener, options);
    const { nowMs } = this.#life.need();
    const off = listen((own) => this.#events.on(event, own));
    this.#life.end(nowMs);
    return off;
  }

  host(key: string): HostView {
    checkHostKey(key);
    this.#life.need();
    return hostView(this.#life, this.#unitKey(key));
  }

  update(request: RequestLike, change: { priority?: number; notBefore?: number | Date }): boolean {
    return update(this.#life, request, change);
  }

  requeue(filter: { state?: "failed" | "done"; rule?: string; host?: string } = {}): number {
    return requeue(this.#life, this.#keeper, filter);
  }

  remove(filter: { host?: string; rule?: string; pattern?: string } = {}): number {
    return remove(this.#life, filter);
  }

  forget(filter: { epoch?: string } = {}): number {
    return forget(this.#life, filter, () => this.#sharing.refresh());
  }

  clear(): void {
    const { core, nowMs } = this.#life.need();
    this.#life.durable?.need(STEERING_BYTES);
    const origin = { secret: this.#secret };
    const runtime = createRuntime(this.#settings, this.#hooks, { core, nowMs }, origin);
    this.#life.durable?.cleared(runtime.core);
    replaceTiers(this.#settings, this.#hooks);
    this.#life.replace(runtime);
    this.#life.chores.begin(runtime.core, nowMs);
    this.#sharing.refresh();
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

  /** What another program saw, by digests. @internal */
  get visited(): Visited | undefined {
    return this.#life.gate.visited;
  }

  /** Makes digests count as seen, beside those that do; how many were new. @internal */
  async visit(digests: Uint8Array): Promise<number> {
    const { gate, durable } = this.#life;
    const before = gate.visited?.digests ?? new Uint8Array(0);
    const visited = createVisited(sortDigests(Buffer.concat([before, digests])));
    await durable?.keepVisited(visited.digests);
    const count = visitedCount(visited) - visitedCount(gate.visited);
    gate.visited = visited;
    return count;
  }

  /** In memory nothing can be made durable; what was said is already as safe as it gets. */
  async flush(): Promise<void> {
    this.#life.need();
    await this.#life.durable?.flush();
  }

  setRules(rules: Rule[], version?: number | string): void {
    const sinceMs = this.#settings.clock.monotonic();
    const list = normalizeRules(rules, this.#settings.defaults, this.#settings.seen.mode);
    if (version !== undefined && typeof version !== "string" && !Number.isFinite(version)) {
      throw misuse("ARGUMENT_INVALID", "version", version, "a number or a text");
    }
    const { core, nowMs } = this.#life.need();
    step(core, nowMs);
    this.#life.durable?.need(STEERING_BYTES);
    installRules(core, list, version ?? nextVersion(core.version), nowMs);
    core.log?.note("rules", storedRules(core));
    this.#life.chores.rulesChanged(core, nowMs, sinceMs);
    this.#sharing.refresh();
    this.#life.end(nowMs);
  }

  rules(): Rule[] | undefined {
    const { core } = this.#life.need();
    return this.#isDefault(core) ? undefined : plainCopy(givenRules(core.specs));
  }

  async snapshot(options: { path?: string } = {}): Promise<SnapshotInfo> {
    const { path } = readSnapshotPath(options);
    this.#life.need();
    const { durable } = this.#life;
    if (durable !== undefined && path === undefined) return durable.snapshot();
    if (durable !== undefined || path === undefined) {
      const expected = "a path without a directory, none with one";
      throw misuse("ARGUMENT_INVALID", "options.path", path, expected);
    }
    const done = this.#written.then(() => this.#snapshotTo(path));
    this.#written = done.catch(() => undefined);
    return done;
  }

  /** One at a time: each hears what is said while it is written. */
  #snapshotTo(path: string): Promise<SnapshotInfo> {
    return snapshotTo({
      ...{ settings: this.#settings, path, secret: this.#secret as Uint32Array },
      core: () => (this.#life.isClosed ? undefined : this.#life.gate.core),
      notes: () => ({
        state: this.state,
        ...this.#life.chores.seeds.notes,
        ...this.#rulesNote(),
      }),
    });
  }

  /** The rules that were set last, for who opens the file without any. */
  #rulesNote(): { rules?: unknown } {
    const { core } = this.#life.need();
    return this.#isDefault(core) ? {} : { rules: storedRules(core) };
  }

  /** Whether no rules were ever given. */
  #isDefault(core: Core): boolean {
    const { rules, rulesGiven } = this.#settings;
    return rulesGiven === undefined && core.specs === rules.specs;
  }

  share(): FrontierHandle {
    this.#life.need();
    return this.#sharing.handle();
  }

  async close(options: { discard?: boolean } = {}): Promise<void> {
    const isDiscard = readClose(options);
    this.#closing ??= this.#closeAll(isDiscard);
    await this.#closing;
  }

  /** Threads first: what they have published comes in. Where the disk refuses the last words it stays open. */
  async #closeAll(isDiscard: boolean): Promise<void> {
    const life = this.#life;
    // From within accept, keyOf or by: what is being admitted is admitted, and durable, before.
    if (life.isAsking) await Promise.resolve();
    try {
      const closing = this.#sharing.close();
      if (closing !== undefined) await closing;
      if (life.durable !== undefined) {
        life.shut();
        await life.durable.close(isDiscard);
      }
      life.close();
    } catch (error) {
      this.#closing = undefined;
      life.reopen();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #unitKey(key: string): string {
    const { active } = this.#life.need().core;
    return active.some(({ policy }) => typeof policy.by === "function") ? key : key.toLowerCase();
  }

  /** Whether what is told of a core slice by slice still stands. */
  #isCurrent(core: Core): () => boolean {
    return () => !this.#life.isClosed && this.#life.need().core === core;
  }

  #admit(list: readonly RequestLike[], nowMs: number): Uint8Array {
    const { durable, gate } = this.#life;
    if (durable?.refuses(bytesToSay(list)) === true) {
      return refuseAll(gate, VERDICT_FULL_DISK, list);
    }
    return pushList(this.#life.gate, list, {
      nowMs,
      isOutside: true,
      depth: undefined,
      parent: 0,
    });
  }
}

/** Sets that come without a version are counted. */
function nextVersion(version: number | string): number {
  return typeof version === "number" ? version + 1 : 1;
}
