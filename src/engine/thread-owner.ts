/**
 * The thread that owns a frontier for another one (thread-frontier.ts): opens it, makes the calls that come, says what came
 * of each. Nobody else touches the frontier; workers sit down at it as at any other.
 *
 *   I1  Calls are made in the order they were sent, and each is answered once.
 *   I2  A lease that was settled, or whose time is over, is forgotten: what is said of it later is late.
 */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { createSystemClock } from "../base/clock.ts";
import { openFrontier } from "./open.ts";
import { type Call, plainError, plainLease, plainResult } from "./thread-protocol.ts";
import type {
  Frontier,
  FrontierEvents,
  FrontierFault,
  FrontierOptions,
  Lease,
  PushResult,
  RequestLike,
} from "./types.ts";

/** Hand-outs between two looks for leases that ran out and were never settled. */
const SWEEP_COUNT = 4_096;
/** A lease is remembered for so long after its end, so that what comes late is counted. */
const LATE_MS = 60_000;

type Method = (...args: unknown[]) => unknown;

/** Requests that are fed into a pushFrom batch by batch. */
interface Source {
  readonly batches: Array<{ list: readonly RequestLike[] | undefined; taken: () => void }>;
  readonly aborting: AbortController;
  wake: (() => void) | undefined;
}

class ThreadOwner {
  readonly #frontier: Frontier;
  readonly #port: MessagePort;
  readonly #clock = createSystemClock();
  readonly #leases = new Map<number, Lease>();
  readonly #sources = new Map<number, Source>();
  readonly #takes = new Map<number, AbortController>();
  readonly #offs = new Map<string, () => void>();
  /** Answers under way, those of close apart. */
  readonly #answers = new Set<Promise<void>>();
  #count = 0;

  constructor(frontier: Frontier, port: MessagePort) {
    this.#frontier = frontier;
    this.#port = port;
    port.on("message", (call: Call) => {
      const answered = this.#answer(call);
      if (call.method === "close") return; // it waits for the others
      this.#answers.add(answered);
      void answered.then(() => this.#answers.delete(answered));
    });
  }

  async #answer(call: Call): Promise<void> {
    try {
      const value = await this.#make(call);
      // Who waited is told so before the thread ends.
      if (call.method === "close") await Promise.all(this.#answers);
      const isClosed = call.on === "frontier" && call.method === "close";
      this.#port.postMessage({ id: call.id, value, isClosed });
    } catch (cause) {
      this.#port.postMessage({ id: call.id, error: plainError(cause) });
    }
  }

  #make(call: Call): unknown {
    if (call.on === "lease") return this.#ofLease(call);
    if (call.on === "host") return this.#ofHost(call);
    if (call.on === "source") return this.#ofSource(call);
    return this.#ofFrontier(call);
  }

  #ofFrontier({ method, args, id }: Call): unknown {
    const frontier = this.#frontier;
    switch (method) {
      case "status":
        return frontier.status;
      case "push":
        return frontier.push(args[0] as RequestLike);
      case "pushMany":
        return plainResult(frontier.pushMany(args[0] as RequestLike[], args[1] as object));
      case "pollMany":
        return this.#plain(frontier.pollMany(args[0] as number));
      case "take":
        return this.#take(id, args[0] as object);
      case "cancel":
        return this.#takes.get(args[0] as number)?.abort();
      case "done":
        return this.#doneMany(args[0] as number[]);
      case "records":
        return [...frontier.records(args[0] as object)];
      case "epochs":
        return [...frontier.epochs()];
      case "report": {
        const report = frontier.report();
        return { report: { ...report }, text: String(report) };
      }
      case "state":
        return frontier.state;
      case "setState":
        frontier.state = args[0] as Record<string, unknown>;
        return undefined;
      case "listen":
        return this.#listen(args[0] as keyof FrontierEvents, args[1] as boolean);
      default:
        return (frontier[method as keyof Frontier] as Method).apply(frontier, [...args]);
    }
  }

  async #take(id: number, options: object): Promise<unknown> {
    const controller = new AbortController();
    this.#takes.set(id, controller);
    try {
      return this.#plain(await this.#frontier.take({ ...options, signal: controller.signal }));
    } finally {
      this.#takes.delete(id);
    }
  }

  #plain(leases: readonly Lease[]): unknown {
    return leases.map((lease) => {
      this.#count++;
      if (this.#count % SWEEP_COUNT === 0) this.#sweep();
      this.#leases.set(this.#count, lease);
      return plainLease(lease, this.#count);
    });
  }

  #sweep(): void {
    const nowMs = this.#clock.now();
    for (const [number, lease] of this.#leases) {
      if (lease.deadlineMs + LATE_MS < nowMs) this.#leases.delete(number);
    }
  }

  #doneMany(numbers: readonly number[]): number {
    const leases = numbers.map((number) => this.#leases.get(number));
    const count = this.#frontier.done(leases.filter((lease) => lease !== undefined));
    // Where the disk refuses, nothing comes here: they live on.
    for (const number of numbers) this.#leases.delete(number);
    return count;
  }

  #ofLease({ key, method, args }: Call): unknown {
    const number = key as number;
    const lease = this.#leases.get(number);
    if (lease === undefined) return { isGone: true, isClosed: this.#hasClosed };
    const value = (lease[method as keyof Lease] as Method).apply(lease, [...args]);
    if (method !== "redirect" && method !== "extend") this.#leases.delete(number);
    if (method !== "done") return { value, deadlineMs: lease.deadlineMs };
    return { value: plainResult(value as PushResult), deadlineMs: lease.deadlineMs };
  }

  /** Its close has begun, and may go on: it answers as a closed one already. */
  get #hasClosed(): boolean {
    const { status } = this.#frontier;
    return status === "stopping" || status === "stopped";
  }

  #ofHost({ key, method, args }: Call): unknown {
    const host = this.#frontier.host(key as string);
    if (method === "set") {
      Object.assign(host, args[0]);
      return undefined;
    }
    if (method !== "view") {
      (host[method as "hold"] as Method).apply(host, [...args]);
      return undefined;
    }
    const { delayMs, limit, address, leased, readyAt, held, failures, admitted, bytes } = host;
    return { key, delayMs, limit, address, leased, readyAt, held, failures, admitted, bytes };
  }

  /** open: a pushFrom begins, and is answered when it ends; feed: one batch more, answered when it was taken; abort: it ends. */
  #ofSource({ key, method, args }: Call): unknown {
    const number = key as number;
    if (method === "open") {
      const source: Source = { batches: [], aborting: new AbortController(), wake: undefined };
      this.#sources.set(number, source);
      const { signal } = source.aborting;
      const result = this.#frontier.pushFrom(fedBy(source), { ...(args[0] as object), signal });
      return result.then(plainResult).finally(() => {
        this.#sources.delete(number);
        for (const { taken } of source.batches.splice(0)) taken();
      });
    }
    const source = this.#sources.get(number);
    if (source === undefined) return undefined;
    if (method === "abort") return source.aborting.abort();
    return new Promise<void>((taken) => {
      source.batches.push({ list: args[0] as RequestLike[] | undefined, taken });
      source.wake?.();
    });
  }

  #listen(event: keyof FrontierEvents, isOn: boolean): void {
    this.#offs.get(event)?.();
    this.#offs.delete(event);
    if (!isOn) return;
    const tell = (payload: unknown): void => {
      this.#port.postMessage({ event, payload: event === "error" ? plainFault(payload) : payload });
    };
    this.#offs.set(event, this.#frontier.on(event, tell));
  }
}

async function* fedBy(source: Source): AsyncIterable<RequestLike> {
  for (;;) {
    const batch = source.batches.shift();
    if (batch === undefined) {
      await new Promise<void>((resolve) => {
        source.wake = resolve;
      });
      continue;
    }
    if (batch.list !== undefined) yield* batch.list;
    batch.taken();
    if (batch.list === undefined) return;
  }
}

function plainFault(payload: unknown): unknown {
  const fault = payload as FrontierFault;
  return { ...fault, cause: plainError(fault.cause) };
}

/** Opens the frontier that this thread was started for. */
export async function own(port: MessagePort, options: FrontierOptions): Promise<void> {
  try {
    const frontier = await openFrontier(options);
    new ThreadOwner(frontier, port);
    port.postMessage({ id: 0, value: { name: frontier.name } });
  } catch (cause) {
    port.postMessage({ id: 0, error: plainError(cause) });
    port.close();
  }
}

if (parentPort !== null && workerData?.outrider === "owner") {
  await own(workerData.port as MessagePort, workerData.options as FrontierOptions);
}
