/**
 * importRedisFrontier: lines into a frontier on Redis.
 *
 *   an export of Redis, no frontier of the name ─▶ an equal frontier: hosts, finished identities, records in their states and order
 *   other lines, or a frontier that is there     ─▶ requests, pushed
 *
 *   I1  A whole export is taken in completely, or not at all: the frontier that was made for it is dropped.
 */
import { FrontierError, misuse } from "../../../base/errors.ts";
import { isObject } from "../../../base/type-guards.ts";
import type { ImportResult } from "../../../engine/transfer/import-frontier.ts";
import { chained, isDigest, parsedLines } from "../../../engine/transfer/import-lines.ts";
import { addReasons, BATCH, COUNTS, Requests } from "../../../engine/transfer/import-requests.ts";
import type { RequestInput, RequestLike } from "../../../engine/types/frontier-types.ts";
import { verdictOf } from "../../../frontier/admission/verdicts.ts";
import type { Rule, RulePolicy } from "../../../frontier/rules/rule-policy.ts";
import type { Line } from "../../../persistence/transfer/export-lines.ts";
import { isExportHead, REDIS_EXPORT_NAME } from "../../../persistence/transfer/import-sections.ts";
import { decode } from "../../../persistence/transfer/tagged-json.ts";
import { readStates } from "../frontier/state-report.ts";
import { type OpenedFrontier, openWithParts } from "../open-redis-frontier.ts";
import type { RedisFrontierOptions } from "../redis-options.ts";
import { numberOf } from "../requests/rule-set.ts";
import { packed, type Packable } from "../server/packing.ts";
import { STATE } from "../server/partition-keys.ts";
import { HISTORY, REDIS_EXPORT_VERSION } from "./export-redis.ts";
import { restoredHost, restoredRecord, restoredSeen } from "./redis-lines.ts";

/** Things of one script call. */
const SLICE = 64;

/**
 * Into which frontier on Redis lines are imported. A whole export brings rules and partitions of its own.
 *
 * @example
 * const options = { redis: "redis://10.0.0.5", name: "copy" };
 */
export interface RedisImportOptions
  extends Pick<RedisFrontierOptions, "redis" | "name" | "prefix" | "partitions"> {
  /**
   * Number of first lines that were visited elsewhere: they count as seen and are not pending.
   * @defaultValue 0
   */
  readonly visited?: number | undefined;
  /**
   * Called now and then with the number of lines so far.
   * @defaultValue none
   */
  readonly onProgress?: ((lines: number) => void) | undefined;
}

/**
 * Imports lines into a frontier on Redis, which is created if it does not exist. A new frontier becomes equal to one that
 * `exportRedisFrontier` exported. All other lines are pushed: URLs, requests as JSON, and, into an existing frontier, the requests of an
 * export's records. Costs what pushing the lines costs.
 *
 * Rejects with `FORMAT_UNSUPPORTED` for a directory's whole export where no frontier is there, since its finished identities have hashes that
 * Redis cannot look up; with `UNSUPPORTED` for fingerprints of Scrapy's `requests.seen`; with `SNAPSHOT_CORRUPT` where a line of an export is wrong or
 * missing, and no frontier is left of it; and as `openRedisFrontier` does.
 *
 * @example
 * await importRedisFrontier({ redis: "redis://10.0.0.5", name: "copy" }, ["https://example.org/"]);
 */
export async function importRedisFrontier(
  { visited = 0, onProgress, ...options }: RedisImportOptions,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<ImportResult> {
  if (!(Number.isSafeInteger(visited) && visited >= 0))
    throw misuse("OPTION_INVALID", "options.visited", visited, "a whole number from 0");
  const parsed = parsedLines(lines, { visited, onProgress });
  const first = await parsed.next();
  const head = first.done === true ? undefined : first.value;
  if (head !== undefined && isDigest(head)) {
    const expected = "URLs or requests: Redis has other fingerprints";
    throw new FrontierError(
      "UNSUPPORTED",
      `line 1: a fingerprint of Scrapy's (expected: ${expected})`,
    );
  }
  const rest = chained(head === undefined ? [] : [head], parsed);
  const isThere = await isMade(options);
  if (isObject(head) && !isThere) {
    if (head.outrider === REDIS_EXPORT_NAME) return await restore(options, head, parsed);
    if (isExportHead(head)) throw otherStore();
  }
  const on = await openWithParts(options);
  try {
    const pushed = await pushAll(on, rest, visited);
    return { kind: "requests", ...pushed };
  } finally {
    await on.frontier.close();
  }
}

function otherStore(): FrontierError {
  const expected = "an export with `--redis`, or one of records alone: `--state pending`";
  const message = `outrider: "frontier", of a directory (expected for Redis: ${expected})`;
  return new FrontierError("FORMAT_UNSUPPORTED", message);
}

async function isMade({ redis, name, prefix }: RedisImportOptions): Promise<boolean> {
  try {
    const { frontier } = await openWithParts({ redis, name, prefix, mustExist: true });
    await frontier.close();
    return true;
  } catch (cause) {
    const { code, message } = cause as FrontierError;
    if (code === "OPTION_INVALID" && message.includes("options.name")) return false;
    throw cause;
  }
}

type Counts = Omit<ImportResult, "kind">;

async function pushAll(
  on: OpenedFrontier,
  lines: AsyncIterable<Line | string>,
  visited: number,
): Promise<Counts> {
  const sum = { size: 0, accepted: 0, deferred: 0, duplicate: 0, rejected: 0, full: 0 };
  const reasons: Record<string, number> = {};
  const requests = new Requests(lines, (request) => on.reader.locate(request, 0).spec?.policy);
  let batch: RequestLike[] = [];
  const push = async (): Promise<void> => {
    const known = batch.slice(0, Math.max(visited - sum.size, 0));
    const result = await on.frontier.pushMany(batch.slice(known.length));
    await markSeen(on, known);
    sum.size += known.length;
    sum.duplicate += known.length;
    for (const name of COUNTS) sum[name] += result[name];
    addReasons(reasons, result);
    batch = [];
  };
  for await (const request of requests) if (batch.push(request) === BATCH) await push();
  await push();
  return { ...sum, passed: requests.passed, reasons };
}

/** Requests that were visited elsewhere: identities alone. */
async function markSeen(on: OpenedFrontier, list: readonly RequestLike[]): Promise<void> {
  const lists = new Lists(on, "seen");
  for (const request of list) {
    const input = typeof request === "string" ? { url: request } : (request as RequestInput);
    const { hasIdentity, partition, fingerprint, epoch } = on.reader.locate(input, 0);
    if (hasIdentity) await lists.add(partition, [fingerprint, epoch, REMOVED, 0, 0]);
  }
  await lists.end();
}

const REMOVED = 2;

/** Things on their way to the partitions, some at once. */
class Lists {
  readonly #on: OpenedFrontier;
  readonly #what: string;
  readonly #lists = new Map<number, Packable[]>();
  /** How many were new. */
  count = 0;

  constructor(on: OpenedFrontier, what: string) {
    this.#on = on;
    this.#what = what;
  }

  async add(partition: number, one: Packable): Promise<void> {
    const list = this.#lists.get(partition) ?? [];
    this.#lists.set(partition, list);
    if (list.push(one) >= SLICE) await this.#send(partition);
  }

  async end(): Promise<void> {
    for (const partition of this.#lists.keys()) await this.#send(partition);
  }

  async #send(partition: number): Promise<void> {
    const list = this.#lists.get(partition) ?? [];
    this.#lists.delete(partition);
    if (list.length === 0) return;
    const { link } = this.#on;
    const answer = await link.run("restore", partition, [link.batch(), this.#what, packed(list)]);
    this.count += Number(answer[1]);
  }
}

/** An equal frontier of a whole export, in place of none. */
async function restore(
  options: Omit<RedisImportOptions, "visited" | "onProgress">,
  head: Line,
  lines: AsyncIterable<Line | string>,
): Promise<ImportResult> {
  const { rules, defaults } = headOf(head);
  const partitions = options.partitions ?? Number(head.partitions);
  const on = await openWithParts(
    {
      ...options,
      ...{ partitions, defaults, maxDeliveries: Number(head.maxDeliveries) },
      ...(rules === null ? {} : { rules }),
    },
    head.served === true,
  );
  try {
    const counts = await takeLines(on, head, lines);
    await takeState(on, head);
    const user = decode(head.user) as Record<string, unknown>;
    if (Object.keys(user).length > 0) await on.frontier.setState(user);
    const { accepted, deferred } = await on.frontier.report();
    await on.frontier.close();
    const none = { duplicate: 0, full: 0, passed: 0 };
    return { kind: "frontier", accepted, deferred, ...none, ...counts };
  } catch (cause) {
    await on.frontier.drop();
    if (cause instanceof FrontierError) throw cause;
    const message = `export: ${(cause as Error).message} (expected: lines as they were exported)`;
    throw new FrontierError("SNAPSHOT_CORRUPT", message, { cause });
  }
}

function headOf(head: Line): { rules: Rule[] | null; defaults: RulePolicy } {
  if (head.version !== REDIS_EXPORT_VERSION) {
    const expected = `version ${REDIS_EXPORT_VERSION}; use the version that wrote it`;
    throw new FrontierError(
      "FORMAT_UNSUPPORTED",
      `version: ${head.version} (expected: ${expected})`,
    );
  }
  const { rules, parts, counters } = head;
  if (!isObject(rules) || !Array.isArray(parts) || !isObject(counters)) throw wrong(1, "the head");
  return rules as unknown as { rules: Rule[] | null; defaults: RulePolicy };
}

function wrong(line: number, what: string): FrontierError {
  const message = `line ${line}: ${what} (expected: a line as it was exported)`;
  return new FrontierError("SNAPSHOT_CORRUPT", message, { line });
}

async function takeLines(
  on: OpenedFrontier,
  head: Line,
  lines: AsyncIterable<Line | string>,
): Promise<Pick<ImportResult, "size" | "rejected" | "reasons">> {
  const { reader, link } = on;
  const [hosts, seen, records] = ["hosts", "seen", "records"].map(
    (what) => new Lists(on, what),
  ) as [Lists, Lists, Lists];
  const isSame = link.keys.length === Number(head.partitions);
  const counts = { hosts: 0, seen: 0, records: 0 };
  const reasons: Record<string, number> = {};
  let rejected = 0;
  let number = 1;
  let isEnded = false;
  for await (const line of lines) {
    number++;
    if (isEnded || !isObject(line)) throw wrong(number, "beyond the end");
    if (typeof line.url === "string") {
      counts.records++;
      const restored = restoredRecord(line as Line, reader, 0);
      if (typeof restored === "number") {
        const { reason = "rejected" } = verdictOf(restored);
        reasons[reason] = (reasons[reason] ?? 0) + 1;
        rejected++;
      } else await records.add(restored.partition, restored.packed);
    } else if (line.host !== undefined || line.fresh !== undefined) {
      if (line.host !== undefined) counts.hosts++;
      else if (!isSame) continue;
      await hosts.add(
        isSame ? Number(line.partition) : hostPartition(on, line),
        restoredHost(line),
      );
    } else if (line.seen !== undefined) {
      counts.seen++;
      await seen.add(seenPartition(line, isSame), restoredSeen(line));
    } else if (isObject(line.end)) {
      for (const [name, count] of Object.entries(counts))
        if ((line.end as Line)[name] !== count) throw wrong(number, `${name}: ${count}`);
      isEnded = true;
    } else throw wrong(number, "no part of an export");
  }
  if (!isEnded) throw wrong(number + 1, "missing");
  for (const one of [hosts, seen, records]) await one.end();
  return { size: records.count, rejected, reasons };
}

function hostPartition({ reader, isServed }: OpenedFrontier, { host }: Line): number {
  return reader.partitionOf(isServed ? String(host) : undefined, String(host));
}

/** A finished identity names no host: with other partitions it has no place. */
function seenPartition({ partition }: Line, isSame: boolean): number {
  if (isSame) return Number(partition);
  const expected = "those of the export, since finished identities name no host";
  throw misuse("OPTION_INVALID", "options.partitions", partition, expected);
}

/** Turns, passes and counts, when all others are there. */
async function takeState(on: OpenedFrontier, head: Line): Promise<void> {
  const { link, reader } = on;
  const specs = new Map(reader.set.list.specs.map((spec) => [spec.id, spec]));
  const byNumber = <T>(list: unknown): Record<string, T> =>
    Object.fromEntries(
      Object.entries((list ?? {}) as Record<string, T>).flatMap(([id, value]) => {
        const spec = specs.get(id);
        return spec === undefined ? [] : [[String(numberOf(reader.set, spec)), value]];
      }),
    );
  const { sum } = await readStates(link, false);
  const counters = head.counters as Record<string, number>;
  const added: Record<string, number> = {};
  const add = (place: number, by: number): void => {
    added[String(place + 1)] = by;
  };
  for (const name of HISTORY) add(STATE[name], Number(counters[name]) - (sum[STATE[name]] ?? 0));
  add(STATE.namelessDone, Number(counters.done) - (sum[STATE.done] ?? 0));
  const isSame = link.keys.length === Number(head.partitions);
  for (const [partition, part] of (head.parts as Line[]).entries()) {
    if (partition >= link.keys.length) break;
    const { turn, joined, pass, failures, passes } = part;
    const own = isSame ? [turn, joined, pass, failures, byNumber(passes)] : [0, 0, 0, failures, {}];
    const whole = partition === 0 ? [byNumber(head.byRule), added, head.fields] : [{}, {}, {}];
    const list = packed([[...own, ...whole]] as Packable);
    await link.run("restore", partition, [link.batch(), "state", list]);
  }
}
