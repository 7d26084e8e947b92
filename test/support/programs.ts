/**
 * Random programs for two frontiers side by side: commands and option sets as plain data, so that
 * a failure prints as a short list and shrinks. Few hosts and few URLs, so that everything meets.
 */
import fc from "fast-check";
import type { Clock } from "../../src/base/clock.ts";
import type {
  SyncOptions,
  SyncOutcome,
  SyncPoliteness,
  SyncPolicy,
  SyncRequest,
  SyncRequestView,
  SyncRetryOptions,
  VisitState,
} from "./frontier-surface.ts";

export type Command =
  | { do: "push"; request: SyncRequest; dueInMs?: number }
  | { do: "pushMany"; urls: string[]; priority: number }
  | { do: "poll" }
  | { do: "pollMany" | "peek"; max: number }
  | { do: "done"; lease: number; found: SyncRequest[]; outcome: SyncOutcome }
  | { do: "doneMany"; leases: number[] }
  | { do: "retry"; lease: number; options: SyncRetryOptions }
  | { do: "fail"; lease: number; outcome: SyncOutcome }
  | { do: "release"; lease: number }
  | { do: "redirect"; lease: number; url: string }
  | { do: "extend"; lease: number; ms: number }
  | { do: "record" | "explain"; url: string }
  | { do: "records"; state: VisitState; host?: string }
  | { do: "nextDueAt" | "forget" | "clear" | "pause" | "resume" | "drain" }
  | { do: "hostDelay" | "hostLimit" | "hostBlock"; host: string; value: number }
  | { do: "hold" | "unhold"; host: string }
  | { do: "update"; url: string; priority?: number; dueInMs?: number }
  | { do: "requeue"; host?: string }
  | { do: "remove"; host?: string; pattern?: string }
  | { do: "advance"; ms: number };

/** Options as data; `by: 'key'` and `accept` stand for functions that `buildOptions` puts in. */
export interface OptionSpec {
  policy: Omit<SyncPolicy, "politeness">;
  politeness?: Omit<SyncPoliteness, "by"> & { by?: "host" | "domain" | "key" };
  limits: Pick<SyncOptions, "capacity" | "leaseMs" | "maxLeases" | "maxDeliveries" | "breaker">;
  accept?: boolean;
}

export function buildOptions(spec: OptionSpec, clock: Clock): SyncOptions {
  const { by, ...politeness } = spec.politeness ?? {};
  const policy: SyncPolicy = { ...spec.policy };
  if (spec.politeness !== undefined) {
    policy.politeness = { ...politeness, by: by === "key" ? keyOfUrl : (by ?? "host") };
  }
  const options: SyncOptions = { clock, leaseMs: 1_000, ...spec.limits, defaults: policy };
  return spec.accept ? { ...options, accept } : options;
}

/** Own politeness keys: two of them, whatever the host. */
function keyOfUrl(url: string): string {
  return `unit-${new URL(url).host.charCodeAt(0) % 2}`;
}

function accept(request: SyncRequestView): boolean | { priority?: number; data?: unknown } {
  if (request.url.endsWith("/5")) return false;
  return request.url.endsWith("/4") ? { priority: request.priority + 2, data: "hooked" } : true;
}

const HOSTS = ["a.one.test", "b.one.test", "two.test:8080", "three.test"];
/** Host keys under every `by`. */
const KEYS = [...HOSTS, "one.test", "unit-0", "unit-1"];

const optional = { noNullPrototype: true } as const;
const host = fc.constantFrom(...KEYS);
const smallMs = fc.constantFrom(0, 1, 3, 5, 10, 20, 50);
/** Far from the edge, where a sum of changes and a chain of clamped changes differ. */
const priority = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: -3, max: 3 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(Number.MAX_SAFE_INTEGER - 1_000, Number.MIN_SAFE_INTEGER + 1_000),
  },
);

const goodUrl = fc
  .tuple(fc.constantFrom(...HOSTS), fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 9 }))
  .map(([name, page, form]) => {
    if (form === 0) return `HTTP://${name.toUpperCase()}/${page}`;
    if (form === 1) return `http://${name}/${page}#part`;
    if (form === 2) return `http://${name}/q?b=${page}&a=1`;
    return form === 3 ? `http://${name}/q?a=1&b=${page}` : `http://${name}/${page}`;
  });
const badUrl = fc.constantFrom(
  "not a url",
  "http://",
  "mailto:a@one.test",
  `http://a.one.test/${"x".repeat(9_000)}`,
);
const url = fc.oneof({ weight: 40, arbitrary: goodUrl }, { weight: 1, arbitrary: badUrl });

const request: fc.Arbitrary<SyncRequest> = fc.record(
  {
    url,
    priority,
    depth: fc.integer({ min: 0, max: 3 }),
    method: fc.constantFrom("GET", "POST"),
    dedup: fc.constantFrom("check" as const, "record" as const, "skip" as const),
    start: fc.boolean(),
    maxAttempts: fc.integer({ min: 1, max: 3 }),
    data: fc.constantFrom("d1", 7),
  },
  { requiredKeys: ["url"], ...optional },
);

const outcome: fc.Arbitrary<SyncOutcome> = fc.record(
  {
    status: fc.constantFrom(200, 404, 429, 500, 503),
    latencyMs: fc.constantFrom(1, 4, 20),
    retryAfterMs: fc.constantFrom(0, 7, 30),
    bytes: fc.constantFrom(10, 60),
  },
  { requiredKeys: [], ...optional },
);

const retryOptions: fc.Arbitrary<SyncRetryOptions> = fc.record(
  { delayMs: smallMs, priority, outcome },
  { requiredKeys: [], ...optional },
);

/** Mostly leases that are still open (the driver resolves the number), at times any that was. */
const lease = fc.integer({ min: 0, max: 63 });
const found = fc.array(request, { maxLength: 4 });

function when<const T extends string>(kinds: T[]): fc.Arbitrary<{ do: T }> {
  return fc.record({ do: fc.constantFrom(...kinds) }, optional);
}
function command<T extends { do: string }>(
  kind: T["do"],
  fields: { [K in Exclude<keyof T, "do">]: fc.Arbitrary<T[K]> },
): fc.Arbitrary<T> {
  const model = { do: fc.constant(kind), ...fields } as unknown as {
    [K in keyof T]: fc.Arbitrary<T[K]>;
  };
  return fc.record(model, optional) as fc.Arbitrary<T>;
}
/** The command shape to which a kind belongs. */
type Of<K, C = Command> = C extends { do: unknown } ? (K extends C["do"] ? C : never) : never;

const max = fc.integer({ min: 1, max: 6 });
const pushes: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: command<{ do: "push"; request: SyncRequest }>("push", { request }) },
  {
    weight: 1,
    arbitrary: command<{ do: "push"; request: SyncRequest; dueInMs: number }>("push", {
      request,
      dueInMs: smallMs,
    }),
  },
  {
    weight: 1,
    arbitrary: command<Of<"pushMany">>("pushMany", {
      urls: fc.array(url, { maxLength: 6 }),
      priority,
    }),
  },
);
const ends: fc.Arbitrary<Command> = fc.oneof(
  command<Of<"done">>("done", { lease, found, outcome }),
  command<Of<"doneMany">>("doneMany", { leases: fc.array(lease, { maxLength: 3 }) }),
  command<Of<"retry">>("retry", { lease, options: retryOptions }),
  command<Of<"fail">>("fail", { lease, outcome }),
  command<Of<"release">>("release", { lease }),
  command<Of<"redirect">>("redirect", { lease, url }),
  command<Of<"extend">>("extend", { lease, ms: smallMs }),
);
const questions: fc.Arbitrary<Command> = fc.oneof(
  command<Of<"record" | "explain">>("record", { url: goodUrl }),
  command<Of<"record" | "explain">>("explain", { url: goodUrl }),
  command<{ do: "records"; state: VisitState }>("records", {
    state: fc.constantFrom("waiting", "pending", "leased", "failed"),
  }),
  when(["nextDueAt"]),
);
const steering: fc.Arbitrary<Command> = fc.oneof(
  command<Of<"hostDelay">>("hostDelay", { host, value: smallMs }),
  command<Of<"hostLimit">>("hostLimit", { host, value: fc.integer({ min: 1, max: 3 }) }),
  command<Of<"hostBlock">>("hostBlock", { host, value: smallMs }),
  command<Of<"hold">>("hold", { host }),
  command<Of<"unhold">>("unhold", { host }),
  command<Of<"unhold">>("unhold", { host }),
  when(["requeue"]),
  command<{ do: "requeue"; host: string }>("requeue", { host }),
  command<{ do: "remove"; host: string }>("remove", { host }),
  command<{ do: "remove"; pattern: string }>("remove", { pattern: fc.constant("/[23]$") }),
);
const updates: fc.Arbitrary<Command> = fc.oneof(
  command<{ do: "update"; url: string; priority: number }>("update", { url: goodUrl, priority }),
  command<{ do: "update"; url: string; dueInMs: number }>("update", {
    url: goodUrl,
    dueInMs: smallMs,
  }),
);
const life: fc.Arbitrary<Command> = fc.oneof(
  { weight: 2, arbitrary: when(["pause", "drain", "forget"]) },
  { weight: 6, arbitrary: when(["resume"]) },
  { weight: 1, arbitrary: when(["clear"]) },
);

export const commandArbitrary: fc.Arbitrary<Command> = fc.oneof(
  { weight: 24, arbitrary: pushes },
  { weight: 14, arbitrary: when(["poll"]) },
  { weight: 6, arbitrary: command<Of<"pollMany">>("pollMany", { max }) },
  { weight: 6, arbitrary: command<Of<"peek">>("peek", { max }) },
  { weight: 24, arbitrary: ends },
  { weight: 8, arbitrary: questions },
  { weight: 10, arbitrary: command<Of<"advance">>("advance", { ms: smallMs }) },
  { weight: 6, arbitrary: steering },
  { weight: 4, arbitrary: updates },
  { weight: 2, arbitrary: life },
);

const spread = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Partial<T>> =>
  fc.record(fields, { requiredKeys: [], ...optional }) as fc.Arbitrary<Partial<T>>;

const policy = spread<Required<OptionSpec["policy"]>>({
  order: fc.constantFrom("fifo", "lifo"),
  startLast: fc.boolean(),
  priority: fc.integer({ min: -2, max: 2 }),
  depthPriority: fc.constantFrom(0, 1, -2),
  maxDepth: fc.integer({ min: 0, max: 3 }),
  maxAttempts: fc.integer({ min: 1, max: 4 }),
  backoff: fc.constantFrom(
    { baseMs: 4, jitter: 0 },
    { baseMs: 3, factor: 3, maxMs: 20, jitter: 0 },
  ),
  retryPriority: fc.constantFrom<number | { set: number }>(0, -1, -5, 2, { set: 0 }, { set: -3 }),
});

const politeness = spread<Required<NonNullable<OptionSpec["politeness"]>>>({
  delayMs: fc.constantFrom(0, 5, 10),
  perHost: fc.integer({ min: 1, max: 3 }),
  by: fc.constantFrom("host", "domain", "key"),
  adaptive: fc.constant({ factor: 2, minMs: 3, maxMs: 15 }),
  hostBackoff: fc.constantFrom(
    { after: 1, baseMs: 6, maxMs: 20 },
    { after: 2, baseMs: 4, maxMs: 100, giveUpAfter: 3 },
  ),
  budget: fc.constantFrom({ urls: 5 }, { bytes: 100 }, { urls: 9, bytes: 200 }),
});

const limits = spread<Required<OptionSpec["limits"]>>({
  capacity: fc.constantFrom(1, 3, 8),
  leaseMs: fc.constantFrom(5, 12, 1_000),
  maxLeases: fc.constantFrom(1, 2, 5),
  maxDeliveries: fc.constantFrom(1, 2, 4),
  breaker: fc.constant({ failures: 3, withinMs: 40, pauseMs: 25 }),
});

export const optionArbitrary: fc.Arbitrary<OptionSpec> = fc.record(
  { policy, politeness, limits, accept: fc.boolean() },
  { requiredKeys: ["policy", "limits"], ...optional },
);
