/**
 * Room `src/integrations/redis/frontier`: the surface of a frontier on Redis: pushes, leases and their ends, waiting, edits, report.
 * Decides when the server is asked; what becomes of a URL is decided by scripts. May touch the rooms beside it, and engine.
 */

/**
 * The frontier on Redis: the surface of `AsyncFrontier` over scripts. All state is in the server; this process holds connections,
 * a kernel, the rules as it last read them, recent duplicates, and the leases that it has handed out.
 */
import type { PlainRequest } from "../../../base/request-types.ts";
import { countOf, readClose, readList, readTake } from "../../../base/argument-checks.ts";
import { FrontierError, frontierClosed, misuse } from "../../../base/errors.ts";
import { readListening } from "../../../base/listen-options.ts";
import { isMadeBy } from "../../../base/type-guards.ts";
import { checkEvent, EventHub } from "../../../engine/event-hub.ts";
import { pushResult } from "../../../engine/intake/push-result.ts";
import { readRequests, readRequestWith } from "../../../engine/intake/request-fields.ts";
import { iterate } from "../../../engine/leases/iterate-leases.ts";
import { verdictOf } from "../../../frontier/admission/verdicts.ts";
import type { AsyncHost, AsyncLease } from "../../../engine/types/async-frontier.ts";
import type {
  EpochView,
  Explanation,
  FrontierEvents,
  FrontierStatus,
  PollOptions,
  PushResult,
  PutOptions,
  PutResult,
  RecordView,
  Report,
  RequestInput,
  RequestLike,
  RequestView,
  Rule,
  Verdict,
} from "../../../engine/types/frontier-types.ts";
import { packr } from "../../../persistence/msgpack.ts";
import { readRecord } from "../requests/record-bytes.ts";
import { recordOf, type Row } from "../requests/request-reader.ts";
import { explain } from "./explain.ts";
import { pushFromSource } from "../requests/push-from-source.ts";
import { packedState } from "../server/packing.ts";
import { readState, STATE } from "../server/partition-keys.ts";
import type { RuleChange } from "../requests/rule-set.ts";
import type { RedisFrontier, RedisParts } from "./redis-types.ts";
import { Edits } from "./edits.ts";
import { hostOf } from "./redis-host.ts";
import { LeaseTaker } from "./lease-taker.ts";
import { emitApplied } from "./shared-rules.ts";
import { SharedSeeds } from "./shared-seeds.ts";
import { LeaseEnds } from "./lease-ends.ts";
import { handOuts, LeaseSource } from "./lease-source.ts";
import { Outbox } from "./outbox.ts";
import { allClosed, PushQueue } from "../requests/push-queue.ts";
import { emitRefusals, type PushParts, Pushes } from "./pushes.ts";
import { requestViewOf } from "./record-views.ts";
import { finishAll, homeOf, RedisLease } from "./redis-lease.ts";
import { readStates, reportOf, untilNoneIsOut } from "./state-report.ts";

const FAR = Number.MAX_SAFE_INTEGER;
const PEEK_MAX = 1_000;

export class OpenRedisFrontier implements RedisFrontier {
  readonly name: string;
  readonly #parts: RedisParts & PushParts;
  readonly #pushes: Pushes;
  readonly #queue = new PushQueue((list) => this.#push(list));
  readonly #edits: Edits;
  readonly #source: LeaseSource;
  readonly #taker: LeaseTaker;
  readonly #seeds: SharedSeeds;
  readonly #ends: LeaseEnds;
  readonly #events = new EventHub();
  #startedAt = 0;
  /** Hand-outs of all processes are held by a drain of this one. */
  #isDraining = false;
  #status: FrontierStatus = "running";
  #closing: Promise<void> | undefined;

  constructor(given: RedisParts) {
    const parts = {
      ...given,
      changed: (partition: number) => this.#source.wake(partition),
      admitted: (row: Row) => this.#admitted(row),
    };
    const { link, channel, reader, rules } = parts;
    this.name = parts.name;
    this.#parts = parts;
    this.#pushes = new Pushes(parts);
    const outbox = new Outbox(link, channel, rules);
    this.#ends = new LeaseEnds(parts, this.#pushes, outbox);
    this.#source = new LeaseSource({
      ...{ link, leaseMs: parts.leaseMs, maxLeases: parts.maxLeases, clock: parts.clock },
      onAnswer: async (partition, version, [generation, paused]) => {
        this.#pushes.watchGeneration(partition, Number(generation));
        if (partition === 0) this.#showPause(Number(paused) === 1);
        await rules.follow(partition, version);
      },
      onFault: (fault) => this.#events.fault(fault),
    });
    this.#edits = new Edits(parts, this.#pushes, () => this.#source.now());
    const now = (): number => this.#source.now();
    this.#seeds = new SharedSeeds({ link, reader, pushes: this.#pushes, now });
    const { keepOpen, idleTimeoutMs, onIdle } = parts;
    this.#taker = new LeaseTaker({
      ...{ link, reader, outbox, source: this.#source, events: this.#events },
      seed: () => this.#seeds.run(),
      home: homeOf({
        ...{ parts, ends: this.#ends, pushes: this.#pushes, events: this.#events },
        ...{ now, isClosed: () => this.#isClosed },
      }),
      ...{ keepOpen, idleTimeoutMs, onIdle },
      isHeld: () => this.#queue.isClosed || this.#status === "draining",
      isPaused: () => this.#status === "paused",
      isClosed: () => this.#isClosed,
    });
  }

  /** Takes the server's clock and its pause over, and pushes seeds that are due; called once before the opening resolves. */
  async seed(): Promise<void> {
    const [, now, counters] = await this.#parts.link.run("report", 0, ["0"]);
    this.#source.setNow(Number(now));
    this.#startedAt = this.#source.now();
    this.#showPause((readState(counters as Buffer)[STATE.paused] as number) > this.#source.now());
    await this.#seeds.run();
  }

  /** A message on the frontier's channel: the key of a partition that has something, or what has changed; "": some were missed. */
  receive(message: string): void {
    const [what, rest = ""] = message.split(" ", 2);
    if (what === "forget" || what === "") this.#parts.recent.clear();
    if (what === "rules") void this.#parts.rules.refresh(0).catch(() => undefined);
    else if (what === "pause") this.#setStatus(rest === "1" ? "paused" : "running");
    else {
      const partition = /\.(\d+)\}/.exec(message)?.[1];
      this.#source.wake(partition === undefined ? undefined : Number(partition));
    }
  }

  async status(): Promise<FrontierStatus> {
    return this.#status;
  }

  async push(request: RequestLike, fields?: Partial<RequestInput>): Promise<Verdict> {
    return verdictOf(await this.#queue.one(readRequestWith(request, fields)));
  }

  async pushMany(
    requests: Iterable<RequestLike>,
    defaults?: Partial<RequestInput>,
  ): Promise<PushResult> {
    return pushResult(await this.#queue.many(readRequests(requests, defaults)));
  }

  async pushFrom(
    source: AsyncIterable<RequestLike> | Iterable<RequestLike>,
    options: { batch?: number | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<PushResult> {
    this.#need();
    this.#taker.sources++;
    try {
      return await pushFromSource(source, options, this.#queue, () => this.#queue.isClosed);
    } finally {
      this.#taker.sources--;
    }
  }

  async put(request: RequestLike, options?: PutOptions): Promise<PutResult> {
    if (this.#queue.isClosed) return { status: "closed" };
    return await this.#edits.put(request, options);
  }

  async poll(): Promise<AsyncLease | undefined> {
    return (await this.#taker.poll(1))[0];
  }

  async pollMany(max: number, options?: PollOptions): Promise<AsyncLease[]> {
    return await this.#taker.pollChosen(countOf(max, "max"), options);
  }

  async take(options: Parameters<RedisFrontier["take"]>[0] = {}): Promise<AsyncLease[]> {
    const { max, waitMs, signal } = readTake(options);
    return await this.#taker.take(max, waitMs, signal);
  }

  async peek(max = 1): Promise<RequestView[]> {
    this.#need();
    const most = Math.min(countOf(max, "max"), PEEK_MAX);
    if (most === 0 || this.#status === "draining") return [];
    const shown = this.#source.shares(await this.#peekPartitions(most), most);
    return shown.map(({ record }) => this.#view(record));
  }

  [Symbol.asyncIterator](): AsyncIterator<AsyncLease> {
    return iterate((signal) => this.take({ signal }));
  }

  async done(leases: Iterable<AsyncLease>): Promise<number> {
    const list = readList(leases, "leases", "a list of leases");
    list.forEach((lease, index) => {
      if (isMadeBy(lease, RedisLease)) return;
      throw misuse("ARGUMENT_INVALID", `leases[${index}]`, lease, "a lease");
    });
    return await finishAll(list as RedisLease[]);
  }

  async record(request: RequestLike): Promise<RecordView | undefined> {
    this.#need();
    return await this.#edits.record(request);
  }

  async *records(filter?: object): AsyncGenerator<RecordView> {
    this.#need();
    yield* this.#edits.records(filter);
  }

  async explain(request: RequestLike): Promise<Explanation> {
    this.#need();
    const input = readRequestWith(request, undefined);
    const moment = { nowMs: this.#source.now(), status: this.#status };
    return await explain(this.#parts, this.#edits, input, moment);
  }

  epochs(): AsyncIterable<EpochView> {
    this.#need();
    return this.#edits.epochs();
  }

  async nextDueAt(): Promise<number | undefined> {
    this.#need();
    const times = (await this.#peekPartitions(1)).flatMap((list) => {
      if (handOuts(list).length > 0) return [this.#source.now()];
      const at = String(list[1]);
      return at === "" ? [] : [Number(at)];
    });
    return times.length === 0 ? undefined : Math.min(...times);
  }

  async report(): Promise<Report> {
    this.#need();
    await this.#pushes.flush();
    const state = await readStates(this.#parts.link, true);
    const nowMs = this.#source.now();
    const next = this.#source.nextAt();
    return reportOf(state, {
      ...{
        status: this.#status,
        droppedEvents: this.#events.dropped,
        startedAt: this.#startedAt,
        nowMs,
      },
      rules: this.#parts.reader.set,
      waitingUntil: Number.isFinite(next) && next > nowMs ? next : undefined,
    });
  }

  on<E extends keyof FrontierEvents>(
    event: E,
    listener: (payload: never) => void,
    options?: object,
  ): () => void {
    checkEvent(event);
    const add = readListening(listener as never, options as never);
    this.#need();
    return add((own) => this.#events.on(event, own as never));
  }

  host(key: string): AsyncHost {
    this.#need();
    return hostOf(this.#parts, key);
  }

  async update(request: RequestLike, change: object): Promise<boolean> {
    this.#need();
    return await this.#edits.update(request, change as never);
  }

  async requeue(filter: object): Promise<number> {
    this.#need();
    const count = await this.#edits.requeue(filter);
    this.#source.wake();
    return count;
  }

  async remove(filter: object): Promise<number> {
    this.#need();
    return await this.#edits.remove(filter);
  }

  async forget(filter?: object): Promise<number> {
    this.#need();
    const count = await this.#edits.forget(filter);
    await this.#publish("forget");
    return count;
  }

  /** Forgets everything: leases that are out become late. */
  async clear(): Promise<void> {
    this.#need();
    await this.#ends.settled();
    await this.#parts.clear();
    this.#parts.recent.clear();
    this.#seeds.clear();
    this.#source.wake();
    await this.#publish("forget");
  }

  async state(): Promise<Record<string, unknown>> {
    this.#need();
    const bytes = await this.#parts.link.ask(0, "HGET", "user");
    return bytes === null ? {} : (packr.unpack(bytes as Buffer) as Record<string, unknown>);
  }

  async setState(state: Record<string, unknown>): Promise<void> {
    this.#need();
    await this.#parts.link.run("switch", 0, ["set", "user", packedState(state)]);
  }

  async pause(): Promise<void> {
    this.#need();
    this.#isDraining = false;
    await this.#setPaused(FAR);
    this.#setStatus("paused");
    await this.#publish("pause 1");
  }

  async resume(): Promise<void> {
    this.#need();
    this.#isDraining = false;
    await this.#setPaused(0);
    this.#setStatus("running");
    this.#source.wake();
    await this.#publish("pause 0");
  }

  async drain(): Promise<void> {
    this.#need();
    this.#isDraining ||= this.#status === "running";
    this.#setStatus("draining");
    try {
      await this.#setPaused(FAR);
      await untilNoneIsOut(this.#parts.link, () => this.#status === "draining");
    } catch (cause) {
      if (!this.#queue.isClosed) throw cause;
    }
  }

  async flush(): Promise<void> {
    this.#need();
    await this.#queue.settled();
    await this.#ends.settled();
    await this.#pushes.flush();
  }

  async setRules(given: Rule[], version?: number | string): Promise<void> {
    await this.changeRules(() => ({ rules: given }), version);
  }

  async changeRules(make: RuleChange, version?: number | string): Promise<void> {
    this.#need();
    const { rules, reader } = this.#parts;
    const before = reader.set;
    const { specs, label } = await rules.replace(make, before.defaults, version);
    await this.#publish("rules");
    const isGone = before.specs.some((spec, at) => spec !== undefined && specs[at] === undefined);
    const { moved, unmatched } = isGone
      ? await this.#edits.matchAgain()
      : { moved: 0, unmatched: [] };
    await this.#seeds.run();
    this.#source.wake();
    emitApplied(this.#events, { version: label, moved, unmatched });
    this.#events.flush();
  }

  async rules(): Promise<Rule[] | undefined> {
    this.#need();
    const { rules } = this.#parts.reader.set;
    return rules === undefined ? undefined : structuredClone(rules);
  }

  async snapshot(): Promise<never> {
    this.#need();
    throw new FrontierError(
      "UNSUPPORTED",
      "snapshot: Redis (expected: `SAVE` or `BGSAVE` of the server, or `outrider export --redis`)",
    );
  }

  async share(): Promise<never> {
    this.#need();
    throw new FrontierError(
      "UNSUPPORTED",
      "share: Redis (expected: openRedisFrontier in each thread, with the same name)",
    );
  }

  async close(options: { discard?: boolean | undefined } = {}): Promise<void> {
    const discard = readClose(options);
    this.#closing ??= this.#close(discard);
    await this.#closing;
  }

  async drop(): Promise<void> {
    this.#need();
    this.#queue.close();
    this.#setStatus("stopping");
    try {
      await this.#ends.settled();
      await this.#parts.drop();
    } finally {
      this.#closing ??= this.#end();
      await this.#closing;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #isClosed(): boolean {
    return this.#status === "stopping" || this.#status === "stopped";
  }

  #need(): void {
    if (this.#isClosed) throw frontierClosed();
  }

  async #close(discard: boolean): Promise<void> {
    this.#queue.close();
    try {
      if (!discard) {
        await this.flush();
        await this.#taker.releaseAll();
        // A drain ends with the process that asked for it, or the others would wait for good.
        if (this.#status === "draining" && this.#isDraining) await this.resume();
      }
    } finally {
      this.#setStatus("stopping");
      await this.#end();
    }
  }

  async #end(): Promise<void> {
    this.#source.wake();
    const { link, end } = this.#parts;
    await link.close(end).finally(() => this.#setStatus("stopped"));
  }

  /** What the server shows of a pause whose message was lost, or was before this process. */
  #showPause(isPaused: boolean): void {
    if (this.#status === (isPaused ? "running" : "paused"))
      this.#setStatus(isPaused ? "paused" : "running");
  }

  #setStatus(to: FrontierStatus): void {
    const from = this.#status;
    if (from === to || (this.#isClosed && to !== "stopped")) return;
    this.#status = to;
    this.#events.emit("status", { from, to });
    this.#events.flush();
    if (from === "paused" || from === "draining") this.#source.wake();
  }

  async #setPaused(untilMs: number): Promise<void> {
    const { link, channel } = this.#parts;
    for (let partition = 0; partition < link.keys.length; partition++) {
      await link.run("switch", partition, ["pause", String(untilMs), channel]);
    }
  }

  #publish(message: string): Promise<void> {
    return this.#parts.link.publish(this.#parts.channel, message);
  }

  async #push(list: readonly PlainRequest[]): Promise<Uint8Array> {
    if (this.#isClosed) return allClosed(list.length);
    const origin = { nowMs: this.#source.now(), depth: undefined, parent: undefined };
    const codes = await this.#pushes.push(list, origin);
    emitRefusals(this.#events, list, codes);
    this.#events.flush();
    return codes;
  }

  #admitted(row: Row): void {
    if (this.#events.wants.accepted) this.#events.transition("accepted", this.#view(recordOf(row)));
  }

  #view(bytes: Buffer): RequestView {
    const record = readRecord(bytes);
    return requestViewOf(record, this.#parts.reader.set.ids[record.rule] ?? "");
  }

  /** What each partition would hand out now, unchanged. */
  #peekPartitions(most: number): Promise<Array<readonly unknown[]>> {
    const { link, leaseMs, maxLeases } = this.#parts;
    const rest = [String(most), String(leaseMs), Buffer.alloc(8), String(maxLeases), "peek"];
    return Promise.all(link.keys.map((_, at) => link.run("poll", at, ["", ...rest])));
  }
}
