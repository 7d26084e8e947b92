/** Seeded options of `openFrontier`, as data (values.mjs). Few limits at once, since too many leave nothing to order. */

/** Hosts in pairs under one domain, so that groups join them. */
export const HOSTS = Array.from({ length: 6 }, (_, at) => [
  `a.site${at}.com`,
  `site${at}.com:8080`,
]).flat();

/** Each field is there in one case of three. */
function some(random, fields) {
  const chosen = {};
  for (const [name, list] of Object.entries(fields)) {
    const value = random.pick(list);
    if (random.once(3)) chosen[name] = value;
  }
  return chosen;
}

const KEYS = [
  ...[{ profile: "url" }, { profile: "w3lib" }, { visit: "canonical" }, { fragment: "keep" }],
  ...[{ sortQuery: false }, { keepParams: ["a"] }, { keepParams: "none" }, { dropParams: ["b"] }],
  ...[{ methods: "in-key" }, { methods: "ignore" }, { exemptMethods: ["POST"] }],
  ...[{ headers: ["accept-language"], methods: "in-key" }, { keyOf: { $: "pathOnly" } }],
  { profile: "url", fragment: "drop", visit: "canonical" },
];
const EPOCHS = [
  ...["forever", { calendar: "hour" }, { calendar: "week", undated: "forever" }],
  ...[
    { calendar: "day", zone: "America/New_York" },
    { calendar: "month", zone: "UTC" },
  ],
  ...[{ every: 12 }, { every: 40 }, { every: "1s" }, { version: "v1" }, { version: 2 }],
  ...[{ of: { $: "slotOf" } }, { of: { $: "throws" } }],
  ...[{ adaptive: { min: 6, max: 20 } }, { adaptive: { min: 8, max: 10 } }],
];
const SHIFTS = [0, -1, -5, 2, { set: 0 }, { set: -3 }];

export function policyOf(random) {
  return some(random, {
    key: random.once(3) ? KEYS : [{}],
    epoch: random.once(2) ? EPOCHS : ["forever"],
    order: ["fifo", "lifo"],
    startLast: [true, false],
    priority: [-2, -1, 0, 1, 2],
    depthPriority: [0, 1, -2],
    maxDepth: [1, 2, 3, 30],
    follow: [true, true, true, false],
    maxAttempts: [1, 2, 3, 4],
    backoff: [
      { baseMs: 4, jitter: 0 },
      { baseMs: 3, factor: 3, maxMs: 20, jitter: 0.5 },
    ],
    retryPriority: SHIFTS,
    redirectPriority: SHIFTS,
  });
}

export function politenessOf(random, mayHaveKeys = true) {
  const kinds = ["domain", "address", { $: "unitOfHost" }];
  const from = random.below(3);
  const groups = kinds
    .slice(from, from + 1 + random.below(2))
    .map((by) => ({ by, ...some(random, { delayMs: [0, 4, 9], limit: [1, 2, 3] }) }));
  return some(random, {
    delayMs: [0, 5, 10],
    perHost: [1, 2, 3],
    by: mayHaveKeys ? ["host", "domain", { $: "keyOfUrl" }, { $: "throws" }] : ["host", "domain"],
    groups: [groups],
    adaptive: [{ factor: 2, minMs: 3, maxMs: 15 }],
    hostBackoff: [
      { after: 1, baseMs: 6, maxMs: 20 },
      { after: 2, baseMs: 4, maxMs: 100, giveUpAfter: 3 },
    ],
    budget: [{ urls: 15 }, { bytes: 900 }, { urls: 29, bytes: 1_200 }],
  });
}

/** Up to four rules; most sets end with one that takes what is left. */
export function rulesOf(random) {
  const ids = ["a", "b", "c", "d"];
  const from = random.below(4);
  const rules = Array.from({ length: random.below(4) }, (_, at) => ({
    id: ids[(from + at) % 4],
    match: some(random, {
      hosts: [[random.pick(HOSTS)], HOSTS.slice(0, 4)],
      domains: [["com"], ["site0.com"], ["site1.com", "a.site0.com"]],
      pattern: ["/[0-3]$", "^http://a", "q\\?", "^https?://a\\.site0\\.com/"],
      schemes: [["http"], ["https"], ["http", "https"]],
    }),
    ...(random.once(2)
      ? { share: some(random, { priority: [1, 2, 3, 0.5], weight: [0, 10, 50, -50] }) }
      : {}),
    ...policyOf(random),
    ...(random.once(3) ? { politeness: politenessOf(random, false) } : {}),
    ...(random.once(8) ? { active: false } : {}),
    ...(random.once(6)
      ? { seeds: ["http://a.site0.com/[1-3]", "http://a.site1.com/s#.html#1#3#1"] }
      : {}),
    ...(random.once(8) ? { every: random.pick([600_000, "1h"]) } : {}),
  }));
  return random.once(5) ? rules : [...rules, { id: ids[(from + 3) % 4] }];
}

const PRESETS = ["webmagic", "vscrawler", "scrapy", "gopcp", "neocrawler"];

/** Options of a frontier. `isDurable`: it has a directory. */
export function optionsOf(random, isDurable) {
  const isPolite = random.once(2);
  const options = {
    seed: random.word(),
    leaseMs: random.pick([5, 40, 1_000, 1_000, 1_000, 1_000, 1_000, 60_000]),
    defaults: { ...policyOf(random), ...(isPolite ? { politeness: politenessOf(random) } : {}) },
    ...some(random, {
      capacity: [3, 20, 300],
      maxLeases: [2, 5, 20],
      maxDeliveries: [1, 2, 4],
      maxUrlBytes: [60, 2_000],
      maxFound: [3, 10],
    }),
    ...(random.once(4) ? { rules: rulesOf(random) } : {}),
    ...(random.once(8) ? { breaker: { failures: 3, withinMs: 40, pauseMs: 25 } } : {}),
    ...(random.once(8) ? { accept: { $: random.pick(["accept", "accept", "throws"]) } } : {}),
    ...(random.once(8) ? { keepOpen: true } : {}),
    ...(random.once(8) ? { idleTimeoutMs: 30 } : {}),
    ...(random.once(8) ? { onIdle: { $: random.pick(["idleTwice", "throws"]) } } : {}),
    // By default a frontier makes room for a million URLs at once: that takes long, so it is rare here.
    ...(random.once(10) ? {} : { seen: seenOf(random, isDurable) }),
    ...(isDurable ? durableOf(random) : {}),
  };
  if (!random.once(6)) return options;
  const { rules, defaults, ...rest } = options;
  const preset = random.pick(PRESETS);
  return { preset, ...rest, ...(random.once(2) ? { defaults } : {}) };
}

function seenOf(random, isDurable) {
  const mode = random.pick(isDurable ? ["exact", "tiered", "tiered", "bloom"] : ["exact", "bloom"]);
  if (mode === "bloom")
    return { mode, capacity: random.pick([16, 1_000]), falsePositiveRate: 1e-9 };
  if (mode === "tiered") return { mode, memoryBytes: 8 * 1_048_576, capacity: 1_000 };
  return { mode, capacity: random.pick([1, 16, 4_000]) };
}

function durableOf(random) {
  return {
    durability: random.pick(["sync", { everyMs: 5 }, { everyMs: 100 }, "none"]),
    ...(random.once(2) ? { memoryBytes: random.pick([20_000, 200_000]) } : {}),
    ...(random.once(2)
      ? { snapshots: { everyBytes: random.pick([4_000, 40_000]), keep: random.pick([1, 2]) } }
      : {}),
    ...(random.once(6) ? { records: "full" } : {}),
  };
}

const WRONG = [null, -1, 0.5, "x", { odd: 1 }, [], { $: "nan" }, { $: "function" }];
const NAMES = [
  ...["name", "directory", "from", "readOnly", "clock", "rules", "defaults", "seen", "capacity"],
  ...["maxFound", "memoryBytes", "durability", "snapshots", "records", "leaseMs", "maxLeases"],
  ...["maxDeliveries", "maxUrlBytes", "keepOpen", "idleTimeoutMs", "onIdle", "accept", "breaker"],
  ...["seed", "odd"],
];
const POLICY_NAMES = [
  ...["key", "epoch", "order", "startLast", "priority", "depthPriority", "maxDepth", "follow"],
  ...["maxAttempts", "backoff", "retryPriority", "redirectPriority", "politeness", "odd"],
];
const RULE_NAMES = [...POLICY_NAMES, "id", "active", "match", "share", "seeds", "every"];

/** Options with a wrong value somewhere, or with one that only looks wrong. */
export function wrongOptionsOf(random) {
  const wrong = random.pick(WRONG);
  switch (random.below(5)) {
    case 0:
      return { defaults: { [random.pick(POLICY_NAMES)]: wrong } };
    case 1:
      return {
        defaults: {
          politeness: {
            ...politenessOf(random),
            [random.pick([
              "delayMs",
              "perHost",
              "by",
              "groups",
              "adaptive",
              "hostBackoff",
              "budget",
              "odd",
            ])]: wrong,
          },
        },
      };
    case 2:
      return { rules: [{ id: "a", [random.pick(RULE_NAMES)]: wrong }] };
    case 3:
      return {
        seen: {
          [random.pick(["mode", "capacity", "falsePositiveRate", "memoryBytes", "odd"])]: wrong,
        },
      };
    default:
      return {
        [random.pick(
          NAMES.filter((name) => wrong !== "x" || !["directory", "from"].includes(name)),
        )]: wrong,
      };
  }
}
