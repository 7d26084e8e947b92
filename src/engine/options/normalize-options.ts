/**
 * Room `src/engine/options`: options: every field checked by name, defaults filled in, presets, and what a directory was
 * opened with last. Builds nothing.
 */

/** Options: every field checked by name before anything is built, defaults filled in. */
import { type Clock, createSystemClock } from "../../base/clock.ts";
import { type FrontierErrorCode, misuse } from "../../base/errors.ts";
import {
  callable,
  count,
  INTEGER,
  kind,
  MILLISECONDS,
  oneOf,
  shape,
  textOf,
  TRUTH,
  whole,
} from "../../base/fields.ts";
import { isObject } from "../../base/type-guards.ts";
import { entropyWords } from "../../base/random.ts";
import { checkEpochMode } from "../../frontier/epochs/epoch-policy.ts";
import {
  type FrontierPolicy,
  normalizeRulePolicy,
  type RulePolicy,
} from "../../frontier/rules/rule-policy.ts";
import { defaultRule, normalizeRules, type RuleList } from "../../frontier/rules/rule-specs.ts";
import { type NormalPolicy, normalizePolicy } from "../../url/keys/key-policy.ts";
import type { Files } from "../../persistence/files.ts";
import { URL_BYTES_MAX } from "../../url/parsing/canonical-parser.ts";
import type { SpillingOptions } from "../../frontier/scheduling/spill-state.ts";
import { noteOfOptions } from "./stored-options.ts";
import type { FrontierOptions } from "../types/frontier-types.ts";

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
  /** The rules to begin with, and the defaults for fields that later rules leave out. */
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
  /** Clocks stay as the files name them: what is opened is a copy, to be written elsewhere. */
  readonly keepsClocks?: boolean;
  /** The memory begins small and grows. */
  readonly isSmall?: boolean;
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
  /** For tests: bytes of a whole snapshot below which the next one is whole too. */
  readonly partialBytesLeast?: number;
}

/** A lease without a result is handed out again after this: longer than any sane download. */
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

const isPath = (value: unknown): boolean =>
  typeof value === "string" && value !== "" && !value.includes("\0");

const readOptions = shape<FrontierOptions>({
  name: textOf(1, 200),
  directory: kind("a path", isPath),
  from: kind("the path of a snapshot's file", isPath),
  readOnly: TRUTH,
  clock: clockOf,
  // normalizeRules and normalizeRulePolicy check what is inside rules and defaults.
  rules: kind<NonNullable<FrontierOptions["rules"]>>("a list of rules", (value) => value !== null),
  defaults: kind("an object", isObject),
  seen: shape<NonNullable<FrontierOptions["seen"]>>({
    mode: kind(
      "'exact' or 'bloom'; 'tiered' needs a directory",
      (value) => value === "exact" || value === "bloom" || value === "tiered",
    ),
    capacity: count(1),
    falsePositiveRate: kind(
      "between 0 and 1",
      (value) => typeof value === "number" && value > 0 && value < 1,
    ),
    memoryBytes: count(1),
  }),
  capacity: count(0),
  maxFound: count(0),
  memoryBytes: count(1),
  durability: kind(
    "'sync', 'none' or { everyMs }",
    (value) => value === "sync" || value === "none" || isObject(value),
  ),
  snapshots: shape<NonNullable<FrontierOptions["snapshots"]>>({
    everyMs: MILLISECONDS,
    everyBytes: count(1),
    keep: count(1),
  }),
  records: oneOf("state", "full"),
  leaseMs: kind(
    "more than 0 milliseconds",
    (value) => Number.isFinite(value) && (value as number) > 0,
  ),
  maxLeases: count(1),
  maxDeliveries: count(1),
  maxUrlBytes: whole(16, URL_BYTES_LIMIT),
  keepOpen: TRUTH,
  idleTimeoutMs: MILLISECONDS,
  onIdle: callable(),
  accept: callable(),
  breaker: shape<NonNullable<FrontierOptions["breaker"]>>(
    // The times of so many failures are kept: 8 bytes each.
    { failures: whole(1, 1_000_000), withinMs: MILLISECONDS, pauseMs: MILLISECONDS },
    { needed: ["failures", "withinMs", "pauseMs"] },
  ),
  seed: INTEGER,
  onProgress: callable(),
});

const readEvery = shape<{ everyMs: number }>({ everyMs: MILLISECONDS }, { needed: ["everyMs"] });

export function normalizeOptions(given: FrontierOptions = {}): Settings {
  const options = readOptions(given, "options", "OPTION_INVALID");
  const { directory, from, defaults = {} } = options;
  const policy = normalizeRulePolicy(defaults, "options.defaults");
  const key = normalizePolicy(policy.key ?? {}, "options.defaults.key");
  const seen = seenOf(options.seen ?? {}, directory);
  checkEpochMode(policy.epoch, seen.mode, "options.defaults.epoch");
  return {
    name: options.name ?? "default",
    directory,
    from,
    readOnly: readOnlyOf(options),
    noted: directory === undefined ? undefined : noteOfOptions(options),
    records: recordsOf(options.records, directory),
    durability: durabilityOf(options.durability, directory),
    snapshots: {
      everyMs: options.snapshots?.everyMs ?? Number.POSITIVE_INFINITY,
      everyBytes: options.snapshots?.everyBytes ?? SNAPSHOT_BYTES,
      keep: options.snapshots?.keep ?? SNAPSHOTS_KEPT,
    },
    onProgress: options.onProgress,
    clock: options.clock ?? createSystemClock(),
    policy,
    key,
    rules:
      options.rules === undefined
        ? defaultRule(policy, key)
        : normalizeRules(options.rules, defaults, seen.mode),
    rulesGiven: options.rules,
    defaults,
    seen,
    memoryBytes: options.memoryBytes ?? MEMORY_BYTES,
    capacity: options.capacity ?? Number.POSITIVE_INFINITY,
    maxFound: options.maxFound ?? MAX_FOUND,
    leaseMs: options.leaseMs ?? LEASE_MS,
    maxLeases: options.maxLeases ?? Number.POSITIVE_INFINITY,
    maxDeliveries: options.maxDeliveries ?? MAX_DELIVERIES,
    maxUrlBytes: options.maxUrlBytes ?? URL_BYTES_MAX,
    keepOpen: options.keepOpen ?? false,
    idleTimeoutMs: options.idleTimeoutMs,
    onIdle: options.onIdle,
    accept: options.accept,
    breaker: options.breaker,
    seed: options.seed ?? (entropyWords(1)[0] as number),
  };
}

function readOnlyOf({ readOnly = false, directory, from }: FrontierOptions): boolean {
  if (!readOnly || (directory !== undefined && from === undefined)) return readOnly;
  const expected = "true only with options.directory, and without from";
  throw misuse("OPTION_INVALID", "options.readOnly", readOnly, expected);
}

function recordsOf(
  records: Settings["records"] = "state",
  directory: string | undefined,
): Settings["records"] {
  if (records === "state" || directory !== undefined) return records;
  const expected = "'state', or 'full' together with options.directory";
  throw misuse("OPTION_INVALID", "options.records", records, expected);
}

function seenOf(
  seen: NonNullable<FrontierOptions["seen"]>,
  directory: string | undefined,
): Settings["seen"] {
  const { mode = directory === undefined ? "exact" : "tiered", capacity = 1_000_000 } = seen;
  if (mode === "tiered" && directory === undefined) {
    const expected = "'exact' or 'bloom'; 'tiered' needs a directory";
    throw misuse("OPTION_INVALID", "options.seen.mode", mode, expected);
  }
  return {
    mode,
    // In front of a cold tier the filter takes its part of the memory, unless it shall be small.
    ...(mode === "tiered" && seen.capacity === undefined ? {} : { capacity }),
    falsePositiveRate: seen.falsePositiveRate ?? 0.001,
    memoryBytes: seen.memoryBytes ?? SEEN_MEMORY_BYTES,
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
    throw misuse(
      "OPTION_INVALID",
      path,
      durability,
      "'none', or any mode together with options.directory",
    );
  }
  return durability === "sync" ? durability : readEvery(durability, path, "OPTION_INVALID");
}

export function clockOf(clock: unknown, path: string, code: FrontierErrorCode): Clock {
  if (clock === null) throw misuse(code, path, clock, "a clock");
  const given = clock as Partial<Clock>;
  for (const method of ["now", "monotonic", "schedule"] as const) {
    if (typeof given[method] !== "function") {
      throw misuse(code, `${path}.${method}`, given[method], "a function");
    }
  }
  const after: unknown = given.after;
  if (after !== undefined && typeof after !== "function") {
    throw misuse(code, `${path}.after`, after, "a function, or nothing");
  }
  return clock as Clock;
}
