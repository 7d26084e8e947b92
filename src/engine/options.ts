/** Options: every field checked by name before anything is built, defaults filled in. */
import type { Clock } from "../base/clock.ts";
import { createSystemClock } from "../base/clock.ts";
import { misuse } from "../base/errors.ts";
import { entropyWords } from "../base/random.ts";
import { checkEpochMode } from "../frontier/epoch-policy.ts";
import {
  checkObject,
  count,
  flag,
  type FrontierPolicy,
  integer,
  milliseconds,
  normalizeRulePolicy,
  type RulePolicy,
} from "../frontier/policy.ts";
import { defaultRule, normalizeRules, type RuleList } from "../frontier/rules.ts";
import { type NormalPolicy, normalizePolicy } from "../url/policy.ts";
import type { Files } from "../persistence/files.ts";
import { URL_BYTES_MAX } from "../url/canonical.ts";
import type { SpillingOptions } from "../frontier/spill-state.ts";
import { noteOfOptions } from "./stored.ts";
import type { FrontierOptions } from "./types.ts";

export interface Settings {
  readonly name: string;
  /** undefined: in memory alone. */
  readonly directory: string | undefined;
  readonly records: "state" | "full";
  /** The file to begin with. */
  readonly from: string | undefined;
  /** Nothing of the directory is changed. */
  readonly readOnly: boolean;
  /** What the directory keeps of these options. */
  readonly noted: unknown;
  readonly durability: "sync" | { readonly everyMs: number } | "none";
  readonly snapshots: { everyMs: number; everyBytes: number; keep: number };
  readonly onProgress: FrontierOptions["onProgress"];
  readonly clock: Clock;
  readonly policy: FrontierPolicy;
  /** The key of requests that no rule takes. */
  readonly key: NormalPolicy;
  /** As they were given; undefined: those of the directory, if it has any. */
  readonly rulesGiven: FrontierOptions["rules"];
  /** The rules to begin with, and what stands in for fields that later ones do not give. */
  readonly rules: RuleList;
  readonly defaults: RulePolicy;
  readonly seen: {
    readonly mode: "exact" | "tiered" | "bloom";
    readonly capacity?: number;
    readonly falsePositiveRate: number;
    readonly memoryBytes: number;
  };
  /** Memory for pending records; more go to the spill tier. */
  readonly memoryBytes: number;
  readonly capacity: number;
  readonly maxFound: number;
  readonly leaseMs: number;
  readonly maxLeases: number;
  readonly maxDeliveries: number;
  readonly maxUrlBytes: number;
  readonly keepOpen: boolean;
  readonly idleTimeoutMs: number | undefined;
  readonly onIdle: FrontierOptions["onIdle"];
  readonly accept: FrontierOptions["accept"];
  readonly breaker: FrontierOptions["breaker"];
  readonly seed: number;
  /** For tests: most pages of the region, and most idle hosts remembered. */
  readonly pageCountMax?: number;
  readonly hostIdleCountMax?: number;
  /** Where pending records beyond memoryBytes go; a directory brings it. */
  readonly spill?: Omit<SpillingOptions, "budgetBytes">;
  /** For tests: the files of the directory, and the secret of a new one. */
  readonly files?: Files;
  readonly secret?: Uint32Array;
  /** For tests: rows of a snapshot's chunk. */
  readonly snapshotRows?: number;
}

const FIELDS = [
  "name",
  "directory",
  "from",
  "readOnly",
  "clock",
  "rules",
  "defaults",
  "seen",
  "capacity",
  "maxFound",
  "memoryBytes",
  "durability",
  "snapshots",
  "records",
  "leaseMs",
  "maxLeases",
  "maxDeliveries",
  "maxUrlBytes",
  "keepOpen",
  "idleTimeoutMs",
  "onIdle",
  "accept",
  "breaker",
  "seed",
  "onProgress",
];

/** A lease that nobody answers is given out again after this: longer than any sane download. */
const LEASE_MS = 300_000;
const MEMORY_BYTES = 1024 * 1024 * 1024;
/** What a crash may cost by default: a tenth of a second. */
const EVERY_MS = 100;
/** The journal may grow to this, or to the size of the last snapshot, before the next one is written. */
const SNAPSHOT_BYTES = 64 * 1024 * 1024;
const SNAPSHOTS_KEPT = 2;
const MAX_FOUND = 100_000;
const MAX_DELIVERIES = 10;
const SEEN_MEMORY_BYTES = 512 * 1024 * 1024;
/** Longest URL that may be allowed: 16 MiB, far above what any server takes. */
const URL_BYTES_LIMIT = 16 * 1024 * 1024;

export function normalizeOptions(options: FrontierOptions = {}): Settings {
  checkObject(options, "options", FIELDS);
  const { directory, from } = options;
  checkPath(directory, "options.directory", "a path");
  checkPath(from, "options.from", "the path of a snapshot's file");
  const defaults = options.defaults ?? {};
  const policy = normalizeRulePolicy(defaults, "options.defaults");
  const key = normalizePolicy(policy.key ?? {}, "options.defaults.key");
  const seen = seenOf(options.seen ?? {}, directory);
  checkEpochMode(policy.epoch, seen.mode, "options.defaults.epoch");
  return {
    name: nameOf(options.name ?? "default"),
    directory,
    from,
    readOnly: readOnlyOf(options),
    noted: directory === undefined ? undefined : noteOfOptions(options),
    records: recordsOf(options.records, directory),
    durability: durabilityOf(options.durability, directory),
    snapshots: snapshotsOf(options.snapshots ?? {}),
    onProgress: hook(options.onProgress, "options.onProgress"),
    clock: clockOf(options.clock),
    policy,
    key,
    rules:
      options.rules === undefined
        ? defaultRule(policy, key)
        : normalizeRules(options.rules, defaults, seen.mode),
    rulesGiven: options.rules,
    defaults,
    seen,
    memoryBytes: count(options.memoryBytes ?? MEMORY_BYTES, "options.memoryBytes", 1),
    capacity: count(options.capacity ?? Number.POSITIVE_INFINITY, "options.capacity", 0),
    maxFound: count(options.maxFound ?? MAX_FOUND, "options.maxFound", 0),
    leaseMs: positive(options.leaseMs ?? LEASE_MS, "options.leaseMs"),
    maxLeases: count(options.maxLeases ?? Number.POSITIVE_INFINITY, "options.maxLeases", 1),
    maxDeliveries: count(options.maxDeliveries ?? MAX_DELIVERIES, "options.maxDeliveries", 1),
    maxUrlBytes: urlBytes(options.maxUrlBytes ?? URL_BYTES_MAX),
    keepOpen: flag(options.keepOpen ?? false, "options.keepOpen"),
    idleTimeoutMs:
      options.idleTimeoutMs === undefined
        ? undefined
        : milliseconds(options.idleTimeoutMs, "options.idleTimeoutMs"),
    onIdle: hook(options.onIdle, "options.onIdle"),
    accept: hook(options.accept, "options.accept"),
    breaker: breakerOf(options.breaker),
    seed:
      options.seed === undefined
        ? (entropyWords(1)[0] as number)
        : integer(options.seed, "options.seed"),
  };
}

function checkPath(path: unknown, name: string, expected: string): void {
  if (path === undefined) return;
  if (typeof path === "string" && path !== "" && !path.includes("\0")) return;
  throw misuse("OPTION_INVALID", name, path, expected);
}

function readOnlyOf({ readOnly = false, directory, from, records }: FrontierOptions): boolean {
  const isOn = flag(readOnly, "options.readOnly");
  if (!isOn) return false;
  if (directory === undefined || from !== undefined || records === "full") {
    const expected = "a directory beside it, and neither from nor records: 'full'";
    throw misuse("OPTION_INVALID", "options.readOnly", readOnly, expected);
  }
  return true;
}

function recordsOf(records: unknown, directory: string | undefined): Settings["records"] {
  if (records === undefined || records === "state") return "state";
  if (records === "full" && directory !== undefined) return "full";
  const expected = "'state', or 'full' with a directory beside it";
  throw misuse("OPTION_INVALID", "options.records", records, expected);
}

function seenOf(
  seen: NonNullable<FrontierOptions["seen"]>,
  directory: string | undefined,
): Settings["seen"] {
  checkObject(seen, "options.seen", ["mode", "capacity", "falsePositiveRate", "memoryBytes"]);
  const mode = seen.mode ?? (directory === undefined ? "exact" : "tiered");
  const isKnown = mode === "exact" || mode === "bloom" || mode === "tiered";
  if (!isKnown || (mode === "tiered" && directory === undefined)) {
    const expected = "'exact' or 'bloom'; 'tiered' needs a directory";
    throw misuse("OPTION_INVALID", "options.seen.mode", mode, expected);
  }
  const rate = seen.falsePositiveRate ?? 0.001;
  if (!(typeof rate === "number" && rate > 0 && rate < 1)) {
    throw misuse("OPTION_INVALID", "options.seen.falsePositiveRate", rate, "between 0 and 1");
  }
  const memoryBytes = seen.memoryBytes ?? SEEN_MEMORY_BYTES;
  const capacity = count(seen.capacity ?? 1_000_000, "options.seen.capacity", 1);
  return {
    mode,
    // In front of a cold tier the filter takes its part of the memory, unless it shall be small.
    ...(mode === "tiered" && seen.capacity === undefined ? {} : { capacity }),
    falsePositiveRate: rate,
    memoryBytes: count(memoryBytes, "options.seen.memoryBytes", 1),
  };
}

function durabilityOf(
  durability: FrontierOptions["durability"],
  directory: string | undefined,
): Settings["durability"] {
  const path = "options.durability";
  if (durability === undefined) return directory === undefined ? "none" : { everyMs: EVERY_MS };
  if (durability === "none") return durability;
  if (directory === undefined) {
    throw misuse("OPTION_INVALID", path, durability, "'none', or a directory beside it");
  }
  if (durability === "sync") return durability;
  checkObject(durability, path, ["everyMs"]);
  return { everyMs: milliseconds(durability.everyMs, `${path}.everyMs`) };
}

function snapshotsOf(given: NonNullable<FrontierOptions["snapshots"]>): Settings["snapshots"] {
  const path = "options.snapshots";
  checkObject(given, path, ["everyMs", "everyBytes", "keep"]);
  return {
    everyMs:
      given.everyMs === undefined
        ? Number.POSITIVE_INFINITY
        : milliseconds(given.everyMs, `${path}.everyMs`),
    everyBytes: count(given.everyBytes ?? SNAPSHOT_BYTES, `${path}.everyBytes`, 1),
    keep: count(given.keep ?? SNAPSHOTS_KEPT, `${path}.keep`, 1),
  };
}

function breakerOf(breaker: FrontierOptions["breaker"]): FrontierOptions["breaker"] {
  if (breaker === undefined) return undefined;
  const path = "options.breaker";
  checkObject(breaker, path, ["failures", "withinMs", "pauseMs"]);
  // The times of so many failures are kept: 8 bytes each.
  const failures = count(breaker.failures, `${path}.failures`, 1);
  if (failures > 1_000_000) {
    throw misuse("OPTION_INVALID", `${path}.failures`, failures, "at most 1,000,000");
  }
  return {
    failures,
    withinMs: milliseconds(breaker.withinMs, `${path}.withinMs`),
    pauseMs: milliseconds(breaker.pauseMs, `${path}.pauseMs`),
  };
}

function nameOf(name: unknown): string {
  if (typeof name === "string" && name !== "" && name.length <= 200) return name;
  throw misuse("OPTION_INVALID", "options.name", name, "a text of 1 to 200 characters");
}

function clockOf(clock: unknown): Clock {
  if (clock === undefined) return createSystemClock();
  const given = clock as Partial<Clock> | null;
  for (const method of ["now", "monotonic", "schedule"] as const) {
    if (typeof given?.[method] !== "function") {
      throw misuse("OPTION_INVALID", `options.clock.${method}`, given?.[method], "a function");
    }
  }
  const after: unknown = given?.after;
  if (after !== undefined && typeof after !== "function") {
    throw misuse("OPTION_INVALID", "options.clock.after", after, "a function, or nothing");
  }
  return clock as Clock;
}

function hook<F>(value: F, path: string): F {
  if (value === undefined || typeof value === "function") return value;
  throw misuse("OPTION_INVALID", path, value, "a function");
}

function positive(value: unknown, path: string): number {
  const ms = milliseconds(value, path);
  if (ms > 0) return ms;
  throw misuse("OPTION_INVALID", path, value, "more than 0 milliseconds");
}

function urlBytes(value: unknown): number {
  const bytes = count(value, "options.maxUrlBytes", 16);
  if (bytes <= URL_BYTES_LIMIT) return bytes;
  throw misuse("OPTION_INVALID", "options.maxUrlBytes", value, `at most ${URL_BYTES_LIMIT}`);
}
