/**
 * Seeded operations as plain data: `{ do, … }`, so that the last ones of a failure print as a list. What one needs to know of a
 * frontier (which leases are out) comes in; nothing else decides it but the seed.
 */
import { HOSTS, politenessOf, policyOf, rulesOf } from "./options.mjs";
import { FILTERED, LATER_ARGUMENTS } from "./renames.mjs";

/** Weights by phase: a frontier grows, is worked on, or is steered. */
const MENU = {
  //                 grow, work, steer
  push: [[20, 8, 6], pushOf],
  pushMany: [[14, 3, 2], pushManyOf],
  poll: [[8, 22, 8], () => ({})],
  pollMany: [[4, 18, 6], (random) => ({ max: random.between(1, 8) })],
  peek: [[2, 2, 3], (random) => ({ max: random.pick([undefined, 1, 5, 60]) })],
  advance: [[5, 14, 8], advanceOf],
  "lease.done": [[8, 24, 6], doneOf],
  "lease.retry": [
    [2, 6, 3],
    (random) => ({ options: random.once(3) ? undefined : retryOf(random) }),
  ],
  "lease.fail": [
    [1, 4, 2],
    (random) => ({
      reason: random.pick([undefined, "gone", "http-500"]),
      outcome: outcomeOf(random),
    }),
  ],
  "lease.release": [[1, 3, 2], () => ({})],
  "lease.redirect": [
    [2, 5, 2],
    (random) => ({ url: urlOf(random), change: random.once(2) ? undefined : changeOf(random) }),
  ],
  "lease.extend": [[1, 3, 1], (random) => ({ ms: random.pick([1, 5, 20, 2_000]) })],
  "lease.read": [[1, 2, 1], () => ({})],
  done: [[2, 6, 2], () => ({})],
  record: [[2, 2, 3], (random) => ({ request: requestOf(random) })],
  records: [[0.3, 0.3, 1], (random) => ({ filter: random.once(6) ? undefined : filterOf(random) })],
  explain: [[2, 3, 4], (random) => ({ request: requestOf(random) })],
  epochs: [[0.3, 0.3, 1], () => ({})],
  nextDueAt: [[1, 3, 2], () => ({})],
  report: [[0.5, 0.5, 1], () => ({})],
  on: [
    [0.3, 0.3, 1],
    (random) => ({
      event: random.pick(EVENTS),
      kind: random.pick(["hears", "hears", "throws", "pushes"]),
    }),
  ],
  off: [[0.3, 0.3, 1], () => ({})],
  setRules: [
    [0.1, 0.1, 1],
    (random) => ({ rules: rulesOf(random), version: random.pick([undefined, 7, "v7"]) }),
  ],
  rules: [[0.1, 0.1, 0.5], () => ({})],
  host: [[1, 2, 8], hostOf],
  update: [[2, 2, 6], updateOf],
  requeue: [
    [0.3, 0.6, 2],
    (random) => ({
      filter: { ...random.pick([{ state: "failed" }, { state: "done" }]), ...placeOf(random) },
    }),
  ],
  remove: [[0.1, 0.2, 1], (random) => ({ filter: removedOf(random) })],
  forget: [
    [0.05, 0.05, 0.6],
    (random) => ({
      filter: random.pick([undefined, {}, { epoch: "forever" }, { epoch: epochOf(random) }]),
    }),
  ],
  clear: [[0.01, 0.01, 0.1], () => ({})],
  state: [
    [0.2, 0.2, 1],
    (random) => ({
      value: random.pick([undefined, { at: random.below(99) }, { deep: { $: "rich" } }, {}]),
    }),
  ],
  pause: [[0.1, 0.1, 0.6], () => ({})],
  resume: [[1, 1, 5], () => ({})],
  drain: [[0.1, 0.1, 0.6], () => ({})],
  take: [[0.5, 3, 1], takeOf],
  abort: [[0.5, 1, 1], () => ({})],
  next: [[0.3, 2, 0.5], () => ({})],
  leave: [[0.1, 0.4, 0.3], () => ({})],
  pushFrom: [[1, 0.3, 0.3], pushFromOf],
  flush: [[0.1, 0.2, 0.2], () => ({})],
  snapshot: [[0.05, 0.05, 0.1], () => ({})],
  odd: [[1, 1, 3], oddOf],
};

export const EVENTS = [
  ...["accepted", "duplicate", "rejected", "leased", "done", "retried", "failed", "expired"],
  ...["released", "empty", "ready", "idle", "finished", "resumed", "rulesApplied", "snapshot"],
  ...["error", "status"],
];

/** Which events a program listens to: mostly all, else some or none, so that views are not built. */
export function eventsOf(random) {
  if (random.once(2)) return EVENTS;
  return random.once(3) ? [] : EVENTS.filter(() => random.once(3));
}

const PHASES = [0, 1, 2].map((phase) =>
  Object.entries(MENU).map(([name, [weights, make]]) => ({
    ...{ name, weight: Math.round(weights[phase] * 100), make },
  })),
);
const SUMS = PHASES.map((menu) => menu.reduce((sum, { weight }) => sum + weight, 0));
/** Operations of one phase. */
const PHASE_LENGTH = 120;

/** Makes operations one after the other; `leases` has `count` and `open` (numbers that are not ended). */
export function createGenerator(random, { skip = [] } = {}) {
  /** URLs that were pushed lately, to ask for. */
  const met = [];
  let phase = 0;
  let left = 0;
  return (leases) => {
    if (left-- <= 0) {
      phase = random.pick([0, 0, 1, 1, 1, 2]);
      left = PHASE_LENGTH;
    }
    for (;;) {
      const { name, make } = drawn(random, phase);
      const operation = { do: name, ...make(random) };
      if (name.startsWith("lease.")) operation.lease = leaseOf(random, leases);
      if (ASKS.has(name) && met.length > 0 && !random.once(4)) operation.request = random.pick(met);
      note(met, operation);
      if (name === "done") operation.leases = someLeases(random, leases);
      if (!skip.includes(name)) return operation;
    }
  };
}

const ASKS = new Set(["record", "explain", "update"]);
const MET_MOST = 60;

function note(met, operation) {
  if (operation.do === "push") met.push(operation.request);
  if (operation.do === "pushMany") met.push(...operation.requests.slice(0, 3));
  if (met.length > MET_MOST) met.splice(0, met.length - MET_MOST);
}

function drawn(random, phase) {
  let at = random.below(SUMS[phase]);
  for (const entry of PHASES[phase]) {
    at -= entry.weight;
    if (at < 0) return entry;
  }
  throw new Error("unreachable");
}

/** One that is out; now and then any that ever was. */
function leaseOf(random, { open, count }) {
  if (count === 0) return -1;
  return open.length > 0 && !random.once(12) ? random.pick(open) : random.below(count);
}

function someLeases(random, leases) {
  return Array.from({ length: random.below(5) }, () => leaseOf(random, leases)).filter(
    (one) => one >= 0,
  );
}

/** Mostly few pages, so that identities meet; now and then a new one. */
export function urlOf(random) {
  const host = random.pick(HOSTS);
  const page = random.once(3) ? random.below(4_000) : random.below(30);
  switch (random.below(24)) {
    case 0:
      return `HTTP://${host.toUpperCase()}/${page}`;
    case 1:
      return `http://${host}/${page}#part`;
    case 2:
      return `http://${host}/q?b=${page}&a=1`;
    case 3:
      return `http://${host}/q?a=1&b=${page}`;
    case 4:
      return `https://new${page}.example/ä/${page}`;
    case 5:
      return random.pick([
        ...["not a url", "http://", "mailto:a@site0.com", `http://site0.com/${"x".repeat(9_000)}`],
        ...["http://münchen.de/ß?ü", "http://[::1]:8080/", "http://user:pw@site1.com/%7Ea/../b"],
        ...["javascript:void 0", "//site0.com/x", "http://192.168.0.1/", "ftp://site0.com/f", ""],
      ]);
    default:
      return `http://${host}/${page}`;
  }
}

function epochOf(random) {
  return random.pick(["v1", "v2", "slot-0", "2023-11-14T22", "2023-W46", "round-1"]);
}

/** A time of the near future; rarely one that needs more than 32 bits of milliseconds. */
function dueOf(random) {
  return { $in: random.once(30) ? 3_000_000_000 : random.pick([-5, 0, 1, 5, 10, 20, 50]) };
}

function requestOf(random) {
  const url = urlOf(random);
  if (!random.once(3)) return url;
  const request = { url };
  const add = (times, name, list) => {
    const value = random.pick(list);
    if (random.once(times)) request[name] = value;
  };
  add(3, "priority", [-3, -1, 0, 1, 2, 5, Number.MAX_SAFE_INTEGER - 1_000]);
  add(4, "depth", [0, 1, 2, 3]);
  add(4, "method", ["GET", "POST", "post", "HEAD"]);
  add(8, "body", ["a=1", { $: "bytes" }]);
  add(8, "headers", [{ "accept-language": "de" }, { "Accept-Language": "en", "x-odd": "1" }]);
  add(4, "notBefore", [dueOf(random), dueOf(random), { $: "date" }]);
  add(8, "epoch", [epochOf(random)]);
  add(8, "key", ["one", "two", url]);
  add(5, "dedup", ["check", "record", "skip"]);
  add(5, "start", [true, false]);
  add(8, "handler", ["page", "list"]);
  add(6, "maxAttempts", [1, 2, 3]);
  add(8, "volatile", [true]);
  add(4, "data", [
    "d1",
    7,
    { at: [1, { b: null }] },
    { $: "rich" },
    { $: "rich" },
    { $: "function" },
    { $: "map" },
  ]);
  return request;
}

function requestsOf(random, most) {
  return Array.from({ length: random.below(most) }, () => requestOf(random));
}

function pushOf(random) {
  return { request: requestOf(random) };
}

function pushManyOf(random) {
  if (random.once(3)) {
    return {
      requests: requestsOf(random, 10),
      defaults: random.pick([undefined, { depth: 1 }, { priority: 2, data: "all" }]),
    };
  }
  const host = random.pick(HOSTS);
  const from = random.below(300);
  const urls = Array.from({ length: random.below(12) }, (_, at) =>
    random.once(3) ? urlOf(random) : `http://${host}/${from + at}`,
  );
  return {
    requests: urls,
    defaults: random.pick([undefined, undefined, { priority: 1 }, { start: true }]),
  };
}

function pushFromOf(random) {
  return {
    requests: requestsOf(random, 12),
    kind: random.pick(["list", "slow", "broken"]),
    options: random.pick([undefined, { batch: 2 }, { batch: 0 }]),
  };
}

function advanceOf(random) {
  if (random.once(6)) return { ms: "next" };
  // A far step lets every lease expire, so it is rare; an hour goes over to another period of a calendar.
  return {
    ms: random.once(80)
      ? random.pick([3_000_000_000, 3_600_000, 600_000])
      : random.pick([0, 1, 3, 5, 10, 20, 50, 400]),
  };
}

function outcomeOf(random) {
  if (random.once(2)) return undefined;
  const outcome = {};
  const fields = {
    status: [200, 304, 404, 429, 500, 503],
    latencyMs: [1, 4, 20],
    retryAfterMs: [0, 7, 30],
    bytes: [10, 60],
    address: ["192.0.2.1", "192.0.2.2", ""],
    changed: [true, false],
    visited: [true, true, false],
  };
  for (const [name, list] of Object.entries(fields)) {
    const value = random.pick(list);
    if (random.once(3)) outcome[name] = value;
  }
  return outcome;
}

function doneOf(random) {
  if (random.once(4)) return { result: undefined };
  const outcome = outcomeOf(random);
  return {
    result: {
      ...(random.once(3) ? {} : { found: requestsOf(random, 6) }),
      ...(outcome === undefined ? {} : { outcome }),
      ...(random.once(10) ? { errors: ["odd", { message: "no" }] } : {}),
    },
  };
}

function retryOf(random) {
  const outcome = outcomeOf(random);
  return {
    ...(random.once(2) ? { delayMs: random.pick([0, 3, 20, 3_000_000_000]) } : {}),
    ...(random.once(3) ? { priority: random.pick([-2, 3]) } : {}),
    ...(random.once(3) ? { reason: random.pick(["slow", "timeout"]) } : {}),
    ...(outcome === undefined ? {} : { outcome }),
  };
}

function changeOf(random) {
  const { url: _, depth: __, ...change } = Object(requestOf(random));
  if (random.once(2)) change.status = random.pick([301, 302, 303, 307, 308]);
  return typeof change === "object" && !("0" in change) ? change : undefined;
}

function placeOf(random) {
  return {
    ...(random.once(2) ? { host: random.pick(HOSTS) } : {}),
    ...(random.once(6) ? { rule: random.pick(["a", "default", "none"]) } : {}),
  };
}

/** Rarely all: what is pending shall grow. */
function removedOf(random) {
  if (random.once(30)) return { pattern: "" };
  const pattern = random.pick(["/[23]$", "q\\?"]);
  return random.once(2) ? { host: random.pick(HOSTS) } : { ...placeOf(random), pattern };
}

function filterOf(random) {
  const state = random.pick(["waiting", "pending", "leased", "failed", "done", "removed"]);
  return { ...(random.once(4) ? {} : { state }), ...placeOf(random) };
}

function hostOf(random) {
  const key = random.pick([...HOSTS, "site0.com", "site1.com", "unit-0", "unit-1", "half-0"]);
  const act = random.pick([
    "view",
    "delayMs",
    "limit",
    "address",
    "blockUntil",
    "hold",
    "unhold",
    "unhold",
    "unhold",
  ]);
  const values = {
    delayMs: [0, 1, 5, 20],
    limit: [1, 2, 3],
    address: ["192.0.2.1", "192.0.2.2", ""],
    blockUntil: [{ $in: 0 }, { $in: 5 }, { $in: 50 }, { $: "date" }],
  };
  return { key, act, ...(values[act] === undefined ? {} : { value: random.pick(values[act]) }) };
}

function updateOf(random) {
  return {
    request: requestOf(random),
    change: random.pick([
      { priority: random.between(-2, 2) },
      { notBefore: dueOf(random) },
      { priority: 1, notBefore: dueOf(random) },
      {},
    ]),
  };
}

function takeOf(random) {
  return {
    options: {
      ...(random.once(2) ? { max: random.between(1, 4) } : {}),
      ...(random.once(2) ? { timeoutMs: random.pick([0, 5, 50]) } : {}),
    },
  };
}

const VALUES = [
  undefined,
  null,
  5,
  -1,
  0.5,
  "x",
  "",
  [],
  [5],
  {},
  { odd: 1 },
  { $: "function" },
  { $: "nan" },
  { $: "unreadable" },
];
const ODD = [
  ...["push", "pushMany", "pollMany", "take", "peek", "done", "record", "records", "explain"],
  ...["setRules", "host", "update", "requeue", "remove", "forget", "snapshot", "pushFrom", "on"],
  ...["close", "lease.done", "lease.retry", "lease.fail", "lease.redirect", "lease.extend"],
];
const ODD_SETS = [
  [[{ id: "a" }, { id: "a" }]],
  [[{ id: "a", match: { pattern: "(" } }]],
  [[{ id: "a", every: "soon" }]],
  [[{ id: "a", politeness: { groups: [{ by: "domain" }, { by: "domain" }] } }]],
];

/** A call with arguments that are mostly wrong. */
function oddOf(random) {
  const method = random.pick(ODD);
  const args = Array.from({ length: random.below(3) }, () => random.pick(VALUES));
  if (method === "setRules") {
    if (random.once(2)) return { method, args: random.pick(ODD_SETS) };
    return {
      method,
      args: [[{ id: "a", ...policyOf(random), politeness: politenessOf(random), odd: 1 }]],
    };
  }
  // Nothing that works by accident: a close ends the program, an empty filter removes all.
  if (method === "close")
    return { method, args: [random.pick([5, { odd: 1 }, { discard: 5 }, null])] };
  if (LATER_ARGUMENTS.includes(method)) return { method, args: args.slice(0, 1) };
  // A link that cannot be read is refused by name since then.
  if (method === "lease.redirect" && args[0]?.$ === "unreadable") return { method, args: [5] };
  if (FILTERED.includes(method) && isEmpty(args[0])) return { method, args: [5] };
  return { method, args };
}

function isEmpty(filter) {
  if (filter === undefined) return true;
  return typeof filter === "object" && filter !== null && Object.keys(filter).length === 0;
}
