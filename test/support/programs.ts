/**
 * Random programs for two frontiers side by side: commands as plain data, so that a failure prints
 * as a short list and shrinks.
 */
import fc from "fast-check";
import { type RuleSpec, rulesOf } from "./option-sets.ts";
import type {
  SyncOutcome,
  SyncRedirect,
  SyncRequest,
  SyncRetryOptions,
  VisitState,
} from "./frontier-surface.ts";

export type Command =
  | { do: "push"; request: SyncRequest; dueInMs?: number }
  | { do: "pushMany"; urls: string[]; priority: number }
  | { do: "pushUrls"; urls: string[] }
  | { do: "put"; request: SyncRequest; dueInMs?: number; data?: string }
  | { do: "poll" }
  | { do: "pollMany" | "peek"; max: number }
  | { do: "done"; lease: number; found: SyncRequest[]; outcome: SyncOutcome }
  | { do: "doneMany"; leases: number[] }
  | { do: "retry"; lease: number; options: SyncRetryOptions }
  | { do: "fail"; lease: number; outcome: SyncOutcome }
  | { do: "release"; lease: number }
  | { do: "redirect"; lease: number; url: string; change: SyncRedirect }
  | { do: "extend"; lease: number; ms: number }
  | { do: "record" | "explain"; url: string }
  | { do: "records"; state: VisitState }
  | { do: "nextDueAt" | "clear" | "pause" | "resume" | "drain" }
  | { do: "forget"; epoch?: string }
  | { do: "hostAddress"; host: string; address: string }
  | { do: "hostDelay" | "hostLimit" | "hostBlock"; host: string; value: number }
  | { do: "hold" | "unhold"; host: string }
  | { do: "update"; url: string; priority?: number; dueInMs?: number }
  | { do: "requeue"; host?: string }
  | { do: "remove"; host?: string; pattern?: string }
  | { do: "setRules"; rules: RuleSpec[] }
  | { do: "advance"; ms: number };

/** Beyond 2³¹ milliseconds. */
export const FAR_MS = 3_000_000_000;

/** The number of different things: few hosts and pages for collisions, many for deep structures. */
export interface ProgramSize {
  /** Two-label names; each host is one of two under it, so that `by: 'domain'` joins them. */
  domains: number;
  pages: number;
  /** Most URLs of one batch and most leases of one pollMany. */
  batch: number;
}

export const SMALL: ProgramSize = { domains: 2, pages: 7, batch: 6 };
export const LARGE: ProgramSize = { domains: 12, pages: 60, batch: 60 };
/** Almost as many hosts as URLs. */
export const BROAD: ProgramSize = { domains: 40, pages: 2, batch: 24 };

const optional = { noNullPrototype: true } as const;
const smallMs = fc.constantFrom(0, 1, 3, 5, 10, 20, 50);
/** Rarely a time that does not fit into 32 bits of milliseconds. */
const dueMs = fc.oneof(
  { weight: 20, arbitrary: smallMs },
  { weight: 1, arbitrary: fc.constant(FAR_MS) },
);
/** A far step lets every lease expire, so it is rarer still. An hour reaches another period of a calendar. */
const stepMs = fc.oneof(
  { weight: 150, arbitrary: smallMs },
  { weight: 1, arbitrary: fc.constantFrom(FAR_MS, 3_600_000) },
);
/** Names that rules use too, so that requests and rules share an epoch. */
const epoch = fc.constantFrom("forever", "v1", "v2", "slot-0", "2023-11-14T22", "2023-W46");
/** Two servers; '' means unknown. */
const address = fc.constantFrom("192.0.2.1", "192.0.2.2", "");
/** Far from the edge, where a sum of changes and a chain of clamped changes differ. */
const priority = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: -3, max: 3 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(Number.MAX_SAFE_INTEGER - 1_000, Number.MIN_SAFE_INTEGER + 1_000),
  },
);
const outcome: fc.Arbitrary<SyncOutcome> = fc.record(
  {
    status: fc.constantFrom(200, 404, 429, 500, 503),
    latencyMs: fc.constantFrom(1, 4, 20),
    retryAfterMs: fc.constantFrom(0, 7, 30),
    bytes: fc.constantFrom(10, 60),
    address,
    changed: fc.boolean(),
  },
  { requiredKeys: [], ...optional },
);
const retryOptions: fc.Arbitrary<SyncRetryOptions> = fc.record(
  { delayMs: dueMs, priority, outcome },
  { requiredKeys: [], ...optional },
);

const redirectFields: fc.Arbitrary<SyncRedirect> = fc.record(
  {
    status: fc.constantFrom(301, 302, 303, 307, 308),
    priority,
    method: fc.constantFrom("GET", "POST"),
    dedup: fc.constantFrom("check" as const, "record" as const, "skip" as const),
    start: fc.boolean(),
    epoch,
    maxAttempts: fc.integer({ min: 1, max: 3 }),
    data: fc.constant("moved"),
  },
  { requiredKeys: [], ...optional },
);
/** Every other one is empty. */
const redirectChange = fc.oneof(fc.constant<SyncRedirect>({}), redirectFields);

/** One command, drawn from all kinds with the weights of a busy frontier. */
export function commandsOf(size: ProgramSize): fc.Arbitrary<Command> {
  const url = urlsOf(size);
  const good = goodUrlsOf(size);
  const request = requestsOf(url);
  const max = fc.integer({ min: 1, max: size.batch });
  return fc.oneof(
    { weight: 24, arbitrary: pushes(size, url, request) },
    { weight: 3, arbitrary: puts(request) },
    { weight: 14, arbitrary: when(["poll"]) },
    { weight: 6, arbitrary: command<Of<"pollMany">>("pollMany", { max }) },
    { weight: 6, arbitrary: command<Of<"peek">>("peek", { max }) },
    { weight: 24, arbitrary: ends(size, url, request) },
    { weight: 8, arbitrary: questions(good) },
    { weight: 10, arbitrary: command<Of<"advance">>("advance", { ms: stepMs }) },
    { weight: 6, arbitrary: steering(size) },
    { weight: 4, arbitrary: updates(good) },
    { weight: 2, arbitrary: life },
  );
}

/** The same, with many batches of URLs and nothing more. */
export function broadCommandsOf(size: ProgramSize): fc.Arbitrary<Command> {
  const urls = fc.array(urlsOf(size), { maxLength: size.batch, size: "max" });
  return fc.oneof(
    { weight: 3, arbitrary: commandsOf(size) },
    { weight: 1, arbitrary: command<Of<"pushUrls">>("pushUrls", { urls }) },
  );
}

/** The same, with swaps of the rules. */
export function ruleCommandsOf(
  size: ProgramSize,
  commands = commandsOf(size),
): fc.Arbitrary<Command> {
  const rules = rulesOf(hostsOf(size));
  return fc.oneof(
    { weight: 25, arbitrary: commands },
    { weight: 1, arbitrary: command<Of<"setRules">>("setRules", { rules }) },
  );
}

export function hostsOf({ domains }: ProgramSize): string[] {
  return Array.from({ length: domains }, (_, i) => [`a.site${i}.com`, `site${i}.com:8080`]).flat();
}

/** Host keys under every `by`. */
function keysOf(size: ProgramSize): string[] {
  return [...hostsOf(size), "site0.com", "site1.com", "unit-0", "unit-1"];
}

function goodUrlsOf(size: ProgramSize): fc.Arbitrary<string> {
  const name = fc.constantFrom(...hostsOf(size));
  const page = fc.integer({ min: 0, max: size.pages - 1 });
  return fc.tuple(name, page, fc.integer({ min: 0, max: 9 })).map(([host, number, form]) => {
    if (form === 0) return `HTTP://${host.toUpperCase()}/${number}`;
    if (form === 1) return `http://${host}/${number}#part`;
    if (form === 2) return `http://${host}/q?b=${number}&a=1`;
    return form === 3 ? `http://${host}/q?a=1&b=${number}` : `http://${host}/${number}`;
  });
}

function urlsOf(size: ProgramSize): fc.Arbitrary<string> {
  const long = `http://site0.com/${"x".repeat(9_000)}`;
  const bad = fc.constantFrom("not a url", "http://", "mailto:a@site0.com", long);
  return fc.oneof({ weight: 40, arbitrary: goodUrlsOf(size) }, { weight: 1, arbitrary: bad });
}

function requestsOf(url: fc.Arbitrary<string>): fc.Arbitrary<SyncRequest> {
  const fields = {
    url,
    priority,
    depth: fc.integer({ min: 0, max: 3 }),
    method: fc.constantFrom("GET", "POST"),
    dedup: fc.constantFrom("check" as const, "record" as const, "skip" as const),
    start: fc.boolean(),
    maxAttempts: fc.integer({ min: 1, max: 3 }),
    data: fc.constantFrom("d1", 7),
    hostKey: fc.constantFrom("unit-0", "Unit-2", "a.site0.com"),
  };
  const plain = { requiredKeys: ["url" as const], ...optional };
  return fc.oneof(
    { weight: 7, arbitrary: fc.record(fields, plain) },
    { weight: 1, arbitrary: fc.record({ ...fields, epoch }, plain) },
  );
}

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
type Any = fc.Arbitrary<Command>;
type Requests = fc.Arbitrary<SyncRequest>;

function pushes(size: ProgramSize, url: fc.Arbitrary<string>, request: Requests): Any {
  const deferred = { request, dueInMs: dueMs };
  const urls = fc.array(url, { maxLength: size.batch, size: "max" });
  return fc.oneof(
    { weight: 5, arbitrary: command<{ do: "push"; request: SyncRequest }>("push", { request }) },
    {
      weight: 1,
      arbitrary: command<{ do: "push"; request: SyncRequest; dueInMs: number }>("push", deferred),
    },
    { weight: 1, arbitrary: command<Of<"pushMany">>("pushMany", { urls, priority }) },
  );
}

function puts(request: Requests): Any {
  const again = { request, dueInMs: dueMs };
  return fc.oneof(
    command<{ do: "put"; request: SyncRequest }>("put", { request }),
    command<{ do: "put"; request: SyncRequest; data: string }>("put", {
      request,
      data: fc.constant("put"),
    }),
    command<{ do: "put"; request: SyncRequest; dueInMs: number }>("put", again),
  );
}

function ends(size: ProgramSize, url: fc.Arbitrary<string>, request: Requests): Any {
  /** Mostly leases that are still open (the driver resolves the number), sometimes any lease that ever was. */
  const lease = fc.integer({ min: 0, max: 63 });
  const found = fc.array(request, { maxLength: size.batch });
  const leases = fc.array(lease, { maxLength: size.batch });
  return fc.oneof(
    command<Of<"done">>("done", { lease, found, outcome }),
    command<Of<"done">>("done", { lease, found, outcome }),
    command<Of<"doneMany">>("doneMany", { leases }),
    command<Of<"retry">>("retry", { lease, options: retryOptions }),
    command<Of<"fail">>("fail", { lease, outcome }),
    command<Of<"release">>("release", { lease }),
    command<Of<"redirect">>("redirect", { lease, url, change: redirectChange }),
    command<Of<"extend">>("extend", { lease, ms: fc.constantFrom(1, 5, 20) }),
  );
}

function questions(url: fc.Arbitrary<string>): Any {
  const state = fc.constantFrom<VisitState>("waiting", "pending", "leased", "failed");
  return fc.oneof(
    command<Of<"record" | "explain">>("record", { url }),
    command<Of<"record" | "explain">>("explain", { url }),
    command<Of<"records">>("records", { state }),
    when(["nextDueAt"]),
  );
}

function steering(size: ProgramSize): Any {
  const host = fc.constantFrom(...keysOf(size));
  return fc.oneof(
    command<Of<"hostDelay">>("hostDelay", { host, value: smallMs }),
    command<Of<"hostLimit">>("hostLimit", { host, value: fc.integer({ min: 1, max: 3 }) }),
    command<Of<"hostBlock">>("hostBlock", { host, value: smallMs }),
    command<Of<"hold">>("hold", { host }),
    command<Of<"hostAddress">>("hostAddress", { host, address }),
    { weight: 5, arbitrary: command<Of<"unhold">>("unhold", { host }) },
    when(["requeue"]),
    command<{ do: "requeue"; host: string }>("requeue", { host }),
    command<{ do: "remove"; host: string }>("remove", { host }),
    command<{ do: "remove"; pattern: string }>("remove", { pattern: fc.constant("/[23]$") }),
  );
}

function updates(url: fc.Arbitrary<string>): Any {
  return fc.oneof(
    command<{ do: "update"; url: string; priority: number }>("update", {
      url,
      priority: fc.integer({ min: -1, max: 1 }),
    }),
    command<{ do: "update"; url: string; dueInMs: number }>("update", { url, dueInMs: dueMs }),
  );
}

const life: Any = fc.oneof(
  { weight: 3, arbitrary: when(["pause", "drain"]) },
  { weight: 18, arbitrary: when(["resume"]) },
  { weight: 3, arbitrary: when(["forget"]) },
  { weight: 3, arbitrary: command<{ do: "forget"; epoch: string }>("forget", { epoch }) },
  { weight: 1, arbitrary: when(["clear"]) },
);
