/**
 * Two sides: a frontier on this thread and one on a thread of its own, given the same calls. A call is plain data; what it answers
 * is compared without the parts that depend only on the clock.
 */
import type { Random } from "../../src/base/random.ts";
import type { FrontierError } from "../../src/base/errors.ts";
import type { AsyncFrontier } from "../../src/engine/types/async-frontier.ts";
import type {
  Frontier,
  HostView,
  Lease,
  PushResult,
} from "../../src/engine/types/frontier-types.ts";

export interface Call {
  readonly do: string;
  readonly args: readonly unknown[];
  /** Selects a lease, host or wait: a number taken modulo how many there are. */
  readonly pick: number;
  /** May wait until another call is made. */
  readonly waits: boolean;
}

/** Either surface: methods by name, with arguments that may be missing. */
interface Loose {
  (...args: readonly unknown[]): Loose;
  readonly [name: string | symbol]: Loose;
}
type Fields = Record<string, unknown>;

const A = "http://a.test/";
const URLS = Array.from({ length: 12 }, (_, at) => `http://${"abc"[at % 3]}.test/${at}`);
/** Work that keeps the owner of the frontier busy: duplicates, except for the first few. */
export const HEAVY: Call = {
  do: "pushMany",
  args: [Array.from({ length: 5_000 }, (_, at) => `http://heavy.test/${at % 5}`)],
  pick: 0,
  waits: false,
};

const unreadable = {
  get url(): string {
    throw new Error("no");
  },
};
const REQUESTS: readonly unknown[] = [
  ...URLS,
  ...URLS,
  "no url",
  "mailto:a@b.test",
  { url: A, priority: 5, data: { deep: [1n, new Date(0)] } },
  { url: `${A}skip`, dedup: "skip", handler: "page" },
  ...[{ url: A, data: () => 1 }, { url: A, priority: 0.5 }, {}, 5, null, undefined, unreadable],
];
const LISTS: readonly unknown[] = [
  ...[URLS, URLS.slice(3, 7), [], [A, "no url", A], new Set(URLS.slice(0, 3))],
  ...[undefined, null, 5, A, [5], [{ url: A, data: () => 1 }, URLS[1]]],
];
const COUNTS: readonly unknown[] = [1, 2, 3, 5, 0, Infinity, -1, 1.5, "2", undefined, null];
const RESULTS: readonly unknown[] = [
  ...[undefined, {}, { found: URLS.slice(0, 4) }, { found: new Set([`${A}found`]) }],
  ...[{ errors: ["odd"] }, { outcome: { status: 200 } }, { found: [{ url: A, data: () => 1 }] }],
  ...[null, 5, { found: 5 }, { found: A }, { errors: 5 }, { outcome: { status: 0.5 } }, { odd: 1 }],
];
const RETRIES: readonly unknown[] = [
  ...[undefined, {}, { delayMs: 0 }, { priority: 3, delayMs: 0 }, { reason: "slow" }],
  ...[null, 5, { delayMs: -1 }, { priority: 0.5 }, { reason: 5 }, { odd: 1 }, { reason: () => 1 }],
];
const FILTERS: readonly unknown[] = [
  ...[{}, { host: "a.test" }, { rule: "none" }, { state: "failed" }, { host: 5 }, { odd: 1 }, 5],
];
const EVENTS = [
  ...["accepted", "duplicate", "rejected", "leased", "done", "retried", "failed", "released"],
  ...["status", "error", "odd"],
];
const LISTENING: readonly unknown[] = [
  ...[undefined, undefined, {}, { once: true }, { once: true }, { signal: AbortSignal.abort() }],
  ...[5, { once: 5 }, { signal: 5 }, { odd: 1 }],
];
const HOST_SETS: readonly unknown[] = [
  ...[{ delayMs: 0 }, { limit: 3 }, { address: "192.0.2.7" }, { delayMs: -1 }, { limit: 0 }],
  { address: 5 },
];

/** Names of calls, each as often as its share; and their arguments. */
const MENU: ReadonlyArray<[number, string, (random: Random) => unknown[]]> = [
  [10, "push", (random) => [oneOf(random, REQUESTS)]],
  [6, "pushMany", (random) => [oneOf(random, LISTS), oneOf(random, [undefined, { depth: 1 }, 5])]],
  [8, "pollMany", (random) => [oneOf(random, COUNTS)]],
  [3, "poll", () => []],
  [6, "take", (random) => [oneOf(random, [{}, { max: 3 }, { timeoutMs: 0 }, { max: 0 }, 5])]],
  [3, "abort", () => []],
  [2, "leave", () => []],
  [3, "next", () => []],
  [8, "lease.done", (random) => [oneOf(random, RESULTS)]],
  [4, "lease.retry", (random) => [oneOf(random, RETRIES)]],
  [3, "lease.fail", (random) => [oneOf(random, [undefined, "gone", 5])]],
  [3, "lease.release", () => []],
  [3, "dispose", () => []],
  [4, "lease.redirect", (random) => [oneOf(random, [...URLS, 5]), oneOf(random, [undefined, 5])]],
  [4, "lease.extend", (random) => [oneOf(random, [1_000, -1, 0, Number.NaN, "5", 1e12])]],
  [4, "done", () => []],
  [1, "doneOdd", (random) => [oneOf(random, [5, null, [5], [{}]])]],
  [2, "record", (random) => [oneOf(random, REQUESTS)]],
  [2, "explain", (random) => [oneOf(random, REQUESTS)]],
  [2, "peek", (random) => [oneOf(random, COUNTS)]],
  [2, "records", (random) => [oneOf(random, FILTERS)]],
  [2, "update", (random) => [oneOf(random, REQUESTS), oneOf(random, [{ priority: 7 }, 5, {}])]],
  [2, "requeue", (random) => [oneOf(random, FILTERS)]],
  [1, "remove", (random) => [oneOf(random, FILTERS)]],
  [1, "forget", (random) => [oneOf(random, [undefined, { epoch: "none" }, 5, { odd: 1 }])]],
  [
    1,
    "setRules",
    (random) => [oneOf(random, [undefined, [5], [{ id: 5 }], [{ id: "a", odd: 1 }]])],
  ],
  [1, "snapshot", (random) => [oneOf(random, [{ path: 5 }, { odd: 1 }, 5])]],
  [1, "rules", () => []],
  [1, "epochs", () => []],
  [1, "nextDueAt", () => []],
  [1, "clear", () => []],
  [1, "pause", () => []],
  [2, "resume", () => []],
  [1, "drain", () => []],
  [1, "flush", () => []],
  [3, "report", () => []],
  [1, "host", (random) => [oneOf(random, ["a.test", "b.test", "", 5])]],
  [2, "host.set", (random) => [oneOf(random, HOST_SETS)]],
  [1, "host.view", () => []],
  [1, "host.hold", () => []],
  [1, "host.unhold", () => []],
  [1, "host.blockUntil", (random) => [oneOf(random, [0, "soon", Number.NaN])]],
  [1, "on", (random) => listeningOf(random)],
  [1, "closeOdd", (random) => [oneOf(random, [5, null, { discard: 5 }, { odd: 1 }])]],
];
const WEIGHT = MENU.reduce((all, [weight]) => all + weight, 0);
const WAITING = new Set(["take", "next", "drain"]);

/** `closes`: a close stands somewhere among them; `hasRoom`: no push has to wait. */
export function callsOf(
  random: Random,
  { count, closes, hasRoom }: { count: number; closes: boolean; hasRoom: boolean },
): Call[] {
  const calls = Array.from({ length: count }, () => callOf(random));
  if (hasRoom) calls.splice(random.below(count), 0, sourceOf(random));
  if (closes) calls.splice(random.below(count), 0, plainCall("close"));
  return calls;
}

function plainCall(name: string, ...args: unknown[]): Call {
  return { do: name, args, pick: 0, waits: false };
}

function callOf(random: Random): Call {
  let at = random.below(WEIGHT);
  for (const [weight, name, argsOf] of MENU) {
    at -= weight;
    if (at >= 0) continue;
    return { do: name, args: argsOf(random), pick: random.below(1e6), waits: WAITING.has(name) };
  }
  throw new Error("unreachable");
}

function sourceOf(random: Random): Call {
  const lists = [URLS.slice(0, 5), [A, "no url"], [A, 5], [], 5, null];
  const kind = oneOf(random, ["list", "slow", "broken"]);
  return plainCall(
    "pushFrom",
    oneOf(random, lists),
    kind,
    oneOf(random, [{}, {}, { batch: 0 }, 5]),
  );
}

/** Faults after an event's listener are kept by the side that has them. */
function listeningOf(random: Random): unknown[] {
  const event = oneOf(random, EVENTS);
  const options = event === "error" ? undefined : oneOf(random, LISTENING);
  return [event, oneOf(random, [true, true, true, false]), options];
}

function oneOf<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}

export class Side {
  readonly frontier: Frontier | AsyncFrontier;
  /** Events received by listeners, by event and the number of its `on`. */
  readonly heard: Record<string, unknown[]> = {};
  readonly #loose: Loose;
  readonly #leases: Loose[] = [];
  readonly #hosts: Loose[] = [];
  readonly #aborts: AbortController[] = [];
  #iterator: Loose | undefined;
  /** Leases of this burst, in the order of their calls. */
  readonly #coming: Array<Promise<Loose[]>> = [];
  #listeners = 0;

  constructor(frontier: Frontier | AsyncFrontier) {
    this.frontier = frontier;
    this.#loose = frontier as unknown as Loose;
  }

  /** Makes a call now; returns the result as plain data. */
  make(call: Call): Promise<unknown> {
    let given: unknown;
    try {
      given = this.#call(call);
    } catch (cause) {
      return Promise.resolve(faultOf(cause));
    }
    if (POLLS.has(call.do)) this.#coming.push(leasesOf(given));
    return Promise.resolve(given).then(plainOf, faultOf);
  }

  /** Ends calls that wait, by itself. */
  letGo(): void {
    for (const controller of this.#aborts) controller.abort(new Error("enough"));
    this.#leave();
    void this.make(plainCall("resume"));
  }

  /** Called after all calls of a burst were answered: its leases can be used. */
  async rest(): Promise<void> {
    for (const leases of await Promise.all(this.#coming.splice(0))) this.#leases.push(...leases);
    await this.make(plainCall("report")); // after the earlier messages
  }

  #call({ do: name, args, pick }: Call): unknown {
    const frontier = this.#loose;
    const calls = (method: string, given: readonly unknown[] = args): Loose | undefined =>
      frontier[method]?.(...given);
    if (name.startsWith("lease.")) {
      const lease = this.#leases[pick % this.#leases.length];
      return lease?.[name.slice(6)]?.(...args);
    }
    if (name.startsWith("host.")) return this.#ofHost(name.slice(5), args, pick);
    switch (name) {
      case "dispose":
        return this.#dispose(pick);
      case "take":
        return calls(name, [this.#waiting(args[0])]);
      case "abort":
        return this.#aborts.at(-1)?.abort(new Error("enough"));
      case "next":
        this.#iterator ??= frontier[Symbol.asyncIterator]?.();
        return this.#iterator?.next?.();
      case "leave":
        return this.#leave();
      case "done":
        return calls(name, [this.#some(pick)]);
      case "doneOdd":
        return calls("done");
      case "records":
      case "epochs":
        return spread(calls(name));
      case "host":
        this.#hosts.push(calls(name) as Loose);
        return undefined;
      case "pushFrom":
        return calls(name, [sourceFrom(args[0], args[1]), args[2]]);
      case "on":
        return this.#listen(args[0] as string, args[1] === true, args[2]);
      case "close":
      case "closeOdd":
        return calls("close");
      default:
        return calls(name);
    }
  }

  #dispose(pick: number): unknown {
    const lease = this.#leases[pick % this.#leases.length];
    return lease?.[Symbol.asyncDispose in lease ? Symbol.asyncDispose : Symbol.dispose]?.();
  }

  #waiting(options: unknown): unknown {
    if (typeof options !== "object") return options;
    const controller = new AbortController();
    this.#aborts.push(controller);
    return { ...options, signal: controller.signal };
  }

  #leave(): unknown {
    const iterator = this.#iterator;
    this.#iterator = undefined;
    return iterator?.return?.(undefined);
  }

  /** A few leases, one of them twice. */
  #some(pick: number): unknown[] {
    const { length } = this.#leases;
    if (length === 0) return [];
    return [0, 7, 0, 13].map((step) => this.#leases[(pick + step) % length]);
  }

  #ofHost(name: string, args: readonly unknown[], pick: number): unknown {
    const host = this.#hosts[pick % this.#hosts.length];
    if (host === undefined) return undefined;
    if ("view" in host) return host[name]?.(...args);
    const view = host as unknown as HostView;
    if (name === "set") return Object.assign(view, args[0]) && undefined;
    if (name !== "view") return host[name]?.(...args);
    const { key, delayMs, limit, address, leased, held, failures, admitted, bytes } = view;
    const { blockedUntil } = view;
    return { key, delayMs, limit, address, leased, held, failures, admitted, bytes, blockedUntil };
  }

  #listen(event: string, isListener: boolean, options: unknown): unknown {
    const name = `${event} ${this.#listeners++}`;
    const listener = (payload: unknown): void => {
      this.heard[name] ??= [];
      this.heard[name].push(...[plainOf(payload)].flat());
    };
    this.#loose.on?.(event, isListener ? listener : 5, options);
    return undefined;
  }
}

const POLLS = new Set(["poll", "pollMany", "take", "next"]);

async function leasesOf(given: unknown): Promise<Loose[]> {
  try {
    const answer = (await given) as Fields | undefined;
    const isStep = answer !== undefined && "done" in answer && "value" in answer;
    const leases = [isStep ? answer.value : answer].flat();
    return leases.filter((one) => one !== undefined) as Loose[];
  } catch {
    return [];
  }
}

function spread(given: unknown): unknown {
  return Symbol.asyncIterator in (given as object)
    ? gather(given as AsyncIterable<unknown>)
    : [...(given as Iterable<unknown>)];
}

async function gather(given: AsyncIterable<unknown>): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of given) items.push(item);
  return items;
}

function sourceFrom(list: unknown, kind: unknown): unknown {
  if (!Array.isArray(list) || kind === "list") return list;
  return (async function* () {
    for (const one of list) {
      await undefined;
      yield one;
    }
    if (kind === "broken") throw new Error("broken");
  })();
}

const REPORTED = [
  ...["pushed", "accepted", "deferred", "duplicate", "rejected", "full", "retried", "expired"],
  ...["lateResults", "reasons", "droppedEvents", "pending", "waiting", "leased", "done", "failed"],
  ...["forgotten", "removed", "hosts", "seen", "depths", "rules"],
];

/** Without functions, and without times. */
export function plainOf(value: unknown): unknown {
  if (typeof value === "number") return value > 1e11 ? "a time" : value;
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  if (value instanceof Error) return faultOf(value);
  if (Array.isArray(value)) return value.map(plainOf);
  const fields = value as Fields;
  if (typeof fields.verdict === "function") return codesOf(value as PushResult);
  if (typeof fields.release === "function") return leaseOf(value as Lease);
  const names = "lateResults" in value ? REPORTED : Object.keys(value);
  const kept = names.filter((name) => !TIMES.has(name) && typeof fields[name] !== "function");
  return Object.fromEntries(kept.map((name) => [name, plainOf(fields[name])]));
}

/** Fields that are readings of a clock, in milliseconds. */
const TIMES = new Set(["readyAt", "dueAt", "atMs", "canGoAt"]);

function codesOf(result: PushResult & { late?: boolean }): unknown {
  const { size, accepted, deferred, duplicate, rejected, full, late } = result;
  const codes = Array.from({ length: Math.min(size, 100) }, (_, at) => plainOf(result.verdict(at)));
  return { size, accepted, deferred, duplicate, rejected, full, late: late === true, codes };
}

function leaseOf(lease: Lease): unknown {
  const { url, method, priority, depth, attempt, deliveries, host, rule, parent } = lease;
  const { handler, redirects, data, fingerprint } = lease;
  return {
    ...{ url, method, priority, depth, attempt, deliveries, host, rule, parent },
    ...{ handler, redirects, data, fingerprint },
  };
}

function faultOf(cause: unknown): unknown {
  const { name, code, message, details } = cause as FrontierError;
  const { expected, name: field } = (details ?? {}) as { expected?: string; name?: string };
  return ["thrown", name, code, message, field, expected];
}
