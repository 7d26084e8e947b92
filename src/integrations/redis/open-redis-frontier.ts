/**
 * Room `src/integrations/redis`: one frontier for many processes, all of its state in Redis or Valkey. What must be atomic is a script
 * (`lua/`); what needs no data of other processes is decided here. May use the rooms url, kernel, frontier and engine; opens no file.
 *
 *   server      clients of other packages, scripts, keys, packing, retries
 *   requests    what becomes of requests before they are sent: rules, keys, rows, bytes of records
 *   frontier    the surface: pushes, leases and their ends, waiting, edits, report
 *   service     servers of a protocol on one Redis: crawls, queues, which servers are alive
 */
import { FrontierError, misuse } from "../../base/errors.ts";
import {
  count,
  kind,
  MILLISECONDS,
  oneOf,
  shape,
  TRUTH,
  whole,
  callable,
} from "../../base/fields.ts";
import { isObject } from "../../base/type-guards.ts";
import { clockOf } from "../../engine/options/normalize-options.ts";
import { NOTHING_RECENT, RecentDuplicates } from "./requests/recent-duplicates.ts";
import { RequestReader } from "./requests/request-reader.ts";
import { createRuleSet, type RuleSet, termFields, unsupported } from "./requests/rule-set.ts";
import type { RedisCommands, RedisFrontierOptions } from "./redis-options.ts";
import { commandsOf } from "./server/clients.ts";
import { channelOf, firstState, partitionKeys, REDIS_FORMAT } from "./server/partition-keys.ts";
import { checkServers } from "./server/server-checks.ts";
import { clearPartition } from "./server/kept-hosts.ts";
import { ServerLink } from "./server/server-link.ts";
import { withinMs } from "./server/waiting.ts";
import { OpenRedisFrontier } from "./frontier/redis-frontier.ts";
import type { RedisFrontier } from "./frontier/redis-types.ts";
import { readStoredRules, SharedRules } from "./frontier/shared-rules.ts";

const PARTITIONS = 16;
const PARTITIONS_MAX = 4_096;
const LEASE_MS = 300_000;
const MAX_FOUND = 100_000;
const MAX_DELIVERIES = 10;
const MAX_URL_BYTES = 8_192;
/** Beyond this a batch would hold the server too long. */
const URL_BYTES_LIMIT = 1024 * 1024;
const GIVE_UP_MS = 30_000;

/** Braces choose the server of a key. */
function isKeyPart(value: unknown): boolean {
  return typeof value === "string" && value.isWellFormed() && /^[^{}]{1,200}$/.test(value);
}

const readOptions = shape<RedisFrontierOptions>(
  {
    redis: kind(
      "a URL, the path of a socket, options of ioredis, or a client",
      (value) => value !== undefined && value !== null,
    ),
    name: kind("a name of 1 to 200 characters without braces", isKeyPart),
    prefix: kind("a text of 1 to 200 characters without braces", isKeyPart),
    partitions: whole(1, PARTITIONS_MAX),
    leaseMs: kind(
      "more than 0 milliseconds",
      (value) => Number.isFinite(value) && (value as number) > 0,
    ),
    rules: kind<NonNullable<RedisFrontierOptions["rules"]>>(
      "a list of rules",
      (value) => value !== null,
    ),
    defaults: kind("an object", isObject),
    clock: clockOf,
    capacity: count(0),
    ...{ maxFound: count(0), maxLeases: count(1), maxDeliveries: count(1) },
    maxUrlBytes: whole(16, URL_BYTES_LIMIT),
    ...{ keepOpen: TRUTH, idleTimeoutMs: MILLISECONDS, onIdle: callable() },
    giveUpMs: MILLISECONDS,
    mustExist: TRUTH,
    seen: shape<NonNullable<RedisFrontierOptions["seen"]>>({ mode: oneOf("exact") }),
  },
  { needed: ["redis"] },
);

/**
 * Opens a frontier whose state is in Redis (≥ 7) or Valkey, and creates it if it does not exist. All processes that open the same name
 * share its state, order, politeness and leases.
 *
 * Costs a connection, and a script for each partition. Rejects with `OPTION_INVALID` and `RULE_INVALID` for wrong options, `UNSUPPORTED`
 * for options that Redis does not support, `SERVER_UNFIT` for a server that would lose keys, `FORMAT_UNSUPPORTED` for another version of
 * the keys, `PROFILE_MISMATCH` for other partitions or another key, `SERVER_GONE` for a server that does not answer.
 *
 * @example
 * const frontier = await openRedisFrontier({ redis: "redis://10.0.0.5:6379", name: "news" });
 * for await (const lease of frontier) await lease.done({ found: await visit(lease.url) });
 */
export async function openRedisFrontier<Data = unknown>(
  options: RedisFrontierOptions,
): Promise<RedisFrontier<Data>> {
  const { frontier } = await openWithParts(options);
  return frontier as unknown as RedisFrontier<Data>;
}

/** The same with its parts, for exports and imports. `isServed`: a new frontier is created as the crawl of a server. */
export async function openWithParts(
  options: RedisFrontierOptions,
  isServed = false,
): Promise<OpenedFrontier> {
  const given = readOptions(refuseUnsupported(options), "options", "OPTION_INVALID");
  const commands = await commandsOf(given.redis);
  try {
    return await openOn(commands, given, isServed);
  } catch (cause) {
    await closeUnused(commands, given.giveUpMs);
    throw cause;
  }
}

/** Closes a client after a failed opening, whether it answers or not. */
export async function closeUnused(commands: RedisCommands, giveUpMs = GIVE_UP_MS): Promise<void> {
  await withinMs(giveUpMs, commands.close()).catch(() => undefined);
}

/** Refuses, by name, options of a frontier in one process that Redis does not support. */
function refuseUnsupported(options: RedisFrontierOptions): RedisFrontierOptions {
  if (!isObject(options)) return options;
  const others: Record<string, string> = {
    ...{
      directory: "no directory: all is in the server",
      from: "import of an export",
      readOnly: "no copies",
    },
    ...{
      durability: "the server's appendfsync",
      snapshots: "the server's save",
      memoryBytes: "the server's maxmemory",
    },
    ...{ accept: "no hook: it would have to run in the server", breaker: "pause() of your own" },
    ...{ onProgress: "nothing to be read", seed: "no seed: jitter is not shared" },
  };
  for (const [name, expected] of Object.entries(others)) {
    if ((options as unknown as Record<string, unknown>)[name] !== undefined)
      throw unsupported(`options.${name}`, expected);
  }
  const { records } = options as { records?: unknown };
  if (records !== undefined && records !== "state") throw unsupported("options.records", "'state'");
  const { records: _, ...rest } = options as RedisFrontierOptions & { records?: unknown };
  return rest;
}

/** A frontier, and what it is made of. */
export interface OpenedFrontier {
  readonly frontier: OpenRedisFrontier;
  readonly link: ServerLink;
  readonly reader: RequestReader;
  readonly rules: SharedRules;
  readonly isServed: boolean;
}

/** `isNewServed`: a frontier created here is the crawl of a server: a URL is one per queue, and the server recognises every duplicate. */
export async function openOn(
  commands: RedisCommands,
  given: RedisFrontierOptions,
  isNewServed: boolean,
): Promise<OpenedFrontier> {
  const { name = "default", prefix = "outrider", clock, giveUpMs = GIVE_UP_MS } = given;
  await checkServers(commands, giveUpMs);
  const now = (): string => (clock === undefined ? "" : String(clock.now()));
  const linkOf = (partitions: number): ServerLink =>
    new ServerLink({
      ...{ commands, now, giveUpMs },
      keys: Array.from({ length: partitions }, (_, at) => partitionKeys(prefix, name, at)),
    });
  const { partitions, isServed } = await readCreation(linkOf(1), given, isNewServed);
  if (partitions > 1) refuseForMany(given);
  const link = linkOf(partitions);
  const first = createRuleSet({
    ...{ version: 0, label: 0, rules: given.rules, defaults: given.defaults ?? {}, numbers: {} },
  });
  const { maxDeliveries = MAX_DELIVERIES } = given;
  await createPartitions(link, first, { maxDeliveries, isServed });
  const stored = (await readStoredRules(link, 0)) ?? first;
  checkKey(stored, given);
  const maxUrlBytes = given.maxUrlBytes ?? MAX_URL_BYTES;
  const reader = new RequestReader(stored, partitions, maxUrlBytes, isServed);
  const rules = new SharedRules(link, reader);
  await applyGivenRules(rules, given);
  const channel = channelOf(prefix, name);
  const drop = (): Promise<void> => dropPartitions(link);
  const unsubscribe: Array<() => Promise<void>> = [];
  const frontier = new OpenRedisFrontier({
    ...{ name, clock, link, reader, rules, channel, drop },
    recent: isServed ? NOTHING_RECENT : new RecentDuplicates(),
    capacity: given.capacity,
    leaseMs: given.leaseMs ?? LEASE_MS,
    ...{ maxLeases: given.maxLeases ?? 0, maxFound: given.maxFound ?? MAX_FOUND },
    ...{
      keepOpen: given.keepOpen ?? false,
      idleTimeoutMs: given.idleTimeoutMs,
      onIdle: given.onIdle,
    },
    clear: async () => {
      await Promise.all(link.keys.map((_, at) => clearPartition(link, at)));
    },
    end: async () => {
      await Promise.all(unsubscribe.map((off) => off()));
      await commands.close();
    },
  });
  unsubscribe.push(
    await link.retry(() => commands.subscribe(channel, (message) => frontier.receive(message))),
  );
  await frontier.seed().catch(async (cause) => {
    await frontier.close({ discard: true }).catch(() => undefined);
    throw cause;
  });
  return { frontier, link, reader, rules, isServed };
}

/** Limits over all partitions would need one place that counts. */
function refuseForMany({ capacity, maxLeases }: RedisFrontierOptions): void {
  if (capacity !== undefined)
    throw unsupported("options.capacity", "partitions: 1, or no capacity");
  if (maxLeases !== undefined) throw unsupported("options.maxLeases", "partitions: 1, or no limit");
}

/** What the frontier was created with; of a new one, what the options ask for. */
async function readCreation(
  link: ServerLink,
  { partitions: asked, mustExist, name }: RedisFrontierOptions,
  isNewServed: boolean,
): Promise<{ partitions: number; isServed: boolean }> {
  const [format, partitions, served] = (await link.ask(
    ...([0, "HMGET", "format", "partitions", "served"] as const),
  )) as [Buffer | null, Buffer | null, Buffer | null];
  if (format === null && mustExist === true)
    throw misuse("OPTION_INVALID", "options.name", name, "a frontier that is there");
  if (format === null) return { partitions: asked ?? PARTITIONS, isServed: isNewServed };
  if (Number(format) !== REDIS_FORMAT) {
    const expected = `${REDIS_FORMAT}; use the version that made them, or another name`;
    const message = `redis: keys of format ${Number(format)} (expected: ${expected})`;
    throw new FrontierError("FORMAT_UNSUPPORTED", message);
  }
  const stored = Number(partitions);
  if (asked !== undefined && asked !== stored) throw otherPartitions(asked, stored);
  return { partitions: stored, isServed: served !== null };
}

function otherPartitions(asked: number, stored: number): FrontierError {
  const expected = `${stored}, which the frontier was made with`;
  return misuse("PROFILE_MISMATCH", "options.partitions", asked, expected);
}

async function createPartitions(
  link: ServerLink,
  set: RuleSet,
  { maxDeliveries, isServed }: { maxDeliveries: number; isServed: boolean },
): Promise<void> {
  const state = firstState(maxDeliveries);
  const fields = ["format", String(REDIS_FORMAT), "partitions", String(link.keys.length)];
  if (isServed) fields.push("served", "1");
  const made = await Promise.all(
    link.keys.map(async (_, partition) => {
      const answer = (await link.runPlain("create", partition, [state, ...fields])) as unknown[];
      const stored = Number(answer[2]);
      // Another process made it in the same moment, with another number.
      if (stored !== link.keys.length) throw otherPartitions(link.keys.length, stored);
      return Number(answer[0]) === 1;
    }),
  );
  const version = String(set.version + 1);
  await Promise.all(
    made.map(async (isNew, partition) => {
      // One that was made by a process that died before it wrote the rules has version 0.
      const args = ["0", version, String(set.numbers.size), set.text, ...termFields(set)];
      if (isNew || partition === 0) await link.run("rules", partition, args);
    }),
  );
}

/** Replaces the rules and defaults in the server by those of the options, if they differ. */
async function applyGivenRules(
  rules: SharedRules,
  { rules: own, defaults }: RedisFrontierOptions,
): Promise<void> {
  if (own === undefined && defaults === undefined) return;
  const { current } = rules;
  const wanted = createRuleSet({
    ...{ version: current.version, label: current.label },
    rules: own ?? current.rules,
    defaults: defaults ?? current.defaults,
    numbers: Object.fromEntries(current.numbers),
  });
  if (wanted.text !== current.text) {
    await rules.replace((stored) => ({ rules: own ?? stored }), wanted.defaults);
  }
}

/** Keys of records that are there were made by the stored key policy. */
function checkKey({ defaults }: RuleSet, given: RedisFrontierOptions): void {
  if (given.defaults?.key === undefined) return;
  if (JSON.stringify(given.defaults.key) === JSON.stringify(defaults.key ?? {})) return;
  const expected = "the key policy that the frontier was made with";
  throw misuse("PROFILE_MISMATCH", "options.defaults.key", given.defaults.key, expected);
}

/**
 * Drops all partitions at the same time, but the first one last: it holds their number, which another process needs to finish after a
 * crash.
 */
export async function dropPartitions(link: ServerLink): Promise<void> {
  for (const keys of link.keys.toReversed()) {
    const [key = ""] = keys;
    await link.retry(() => link.commands.call(key, "UNLINK", keys));
  }
}
