/**
 * Room `src/integrations/redis/transfer`: a frontier on Redis as lines and back: what can be carried, in which order, and what is refused by
 * name. May touch the rooms beside it, and engine/transfer.
 */

/**
 * exportRedisFrontier: all of a frontier on Redis, as lines of JSON.
 *
 *   head ─▶ hosts ─▶ finished identities ─▶ records in the order of their numbers ─▶ end       each partition in slices
 *
 *   I1  What changes meanwhile would be missing, or there twice: an export of the whole compares the counters of its beginning and its end.
 */
import { FrontierError } from "../../../base/errors.ts";
import { hostOfUrl } from "../../../url/parsing/host-of-url.ts";
import type { RecordState } from "../../../engine/types/frontier-types.ts";
import type { Line } from "../../../persistence/transfer/export-lines.ts";
import { REDIS_EXPORT_NAME } from "../../../persistence/transfer/import-sections.ts";
import { encode } from "../../../persistence/transfer/tagged-json.ts";
import { readScanned } from "../frontier/record-views.ts";
import { readStates, type StateSum } from "../frontier/state-report.ts";
import { type OpenedFrontier, openWithParts } from "../open-redis-frontier.ts";
import type { RedisFrontierOptions } from "../redis-options.ts";
import { STATE } from "../server/partition-keys.ts";
import { hostLine, type LineNames, recordLine, seenLines } from "./redis-lines.ts";

export const REDIS_EXPORT_VERSION = 1;
const RECORDS = 160;
const HOSTS = 128;
const BUCKETS = 128;
/** Places of keys (lua/lib-state.lua). */
const RULES_KEY = 13;
const SHARES_KEY = 14;

/** Counters that an import takes over. */
export const HISTORY = [
  ...(["pushed", "accepted", "deferred", "duplicate", "full", "retried"] as const),
  ...(["expired", "late", "done", "forgotten", "removed"] as const),
];

/**
 * Which frontier on Redis is exported, and what of it.
 *
 * @example
 * const options = { redis: "redis://10.0.0.5", name: "news", drain: true };
 */
export interface RedisExportOptions
  extends Pick<RedisFrontierOptions, "redis" | "name" | "prefix"> {
  /**
   * Exports only these records, as lines to push; the result is not a whole frontier.
   * @defaultValue all of it
   */
  readonly only?:
    | {
        /**
         * Records in this state.
         * @defaultValue any
         */
        readonly state?: RecordState | undefined;
        /**
         * Records under this rule.
         * @defaultValue any
         */
        readonly rule?: string | undefined;
        /**
         * Records of this host.
         * @defaultValue any
         */
        readonly host?: string | undefined;
      }
    | undefined;
  /**
   * Hands nothing out, in any process, while the export is written, and waits until no lease is out.
   * @defaultValue false
   */
  readonly drain?: boolean | undefined;
  /**
   * Called now and then with the lines so far and the number of records among them.
   * @defaultValue none
   */
  readonly onProgress?: ((lines: number, records: number) => void) | undefined;
}

/**
 * Exports a frontier on Redis as lines of JSON, each without its line break: rules, hosts, finished identities and records, of which
 * `importRedisFrontier` makes an equal frontier. Leases that are out are pending. Costs a pass over its keys, in slices of about a
 * millisecond of the server.
 *
 * Rejects with `OPTION_INVALID` where there is no such frontier, with `STATE_INVALID` where its pages or links changed meanwhile
 * (`drain` prevents it; with `only` it does not matter), and as `openRedisFrontier` does.
 *
 * @example
 * for await (const line of exportRedisFrontier({ redis: "redis://10.0.0.5", name: "news" })) console.log(line);
 */
export async function* exportRedisFrontier({
  only,
  drain = false,
  onProgress,
  ...options
}: RedisExportOptions): AsyncGenerator<string> {
  const on = await openWithParts({ ...options, mustExist: true });
  const { frontier, link } = on;
  let isDrained = false;
  let [lines, records] = [0, 0];
  try {
    const first = await readStates(link, true);
    const isPaused = first.each.some((state) => (state[STATE.paused] as number) > 0);
    if (drain && !isPaused) {
      isDrained = true;
      await frontier.drain();
    }
    const before = await readStates(link, true);
    for await (const line of linesOf(on, before, only)) {
      yield JSON.stringify(line);
      if (line.url !== undefined) records++;
      if (++lines % 1_024 === 0) onProgress?.(lines, records);
    }
    if (only === undefined) checkSame(before, await readStates(link, false));
    onProgress?.(lines, records);
  } finally {
    if (isDrained) await frontier.resume();
    await frontier.close();
  }
}

type Only = NonNullable<RedisExportOptions["only"]>;

async function* linesOf(
  on: OpenedFrontier,
  state: StateSum,
  only: Only | undefined,
): AsyncGenerator<Line> {
  const { link, reader } = on;
  const epochs = new Map([...state.families].map(([name, number]) => [number, name]));
  // A family has its number in each partition of its own.
  const namesOf = async (partition: number): Promise<LineNames> => ({
    ids: reader.set.ids,
    epochs: epochs.size === 0 ? epochs : await epochsOf(on, partition),
  });
  const all = await Promise.all(link.keys.map((_, at) => namesOf(at)));
  const counts = { hosts: 0, seen: 0, records: 0 };
  if (only === undefined) {
    yield await headLine(on, state);
    for await (const line of hostLines(on)) {
      if (line.host !== undefined) counts.hosts++;
      yield line;
    }
    for await (const line of identityLines(on, all)) {
      counts.seen++;
      yield line;
    }
  }
  for await (const line of recordLines(on, all)) {
    if (only !== undefined && !isAsked(line, only)) continue;
    counts.records++;
    yield line;
  }
  if (only === undefined) yield { end: counts };
}

async function epochsOf({ link }: OpenedFrontier, partition: number): Promise<Map<number, string>> {
  const [key = ""] = link.keys[partition] as readonly string[];
  const fields = (await link.retry(() => link.commands.call(key, "HGETALL", [key]))) as Buffer[];
  const epochs = new Map<number, string>();
  for (let at = 0; at < fields.length; at += 2) {
    const name = String(fields[at]);
    if (name.startsWith("e:")) epochs.set(Number(fields[at + 1]), name.slice(2));
  }
  return epochs;
}

function isAsked(line: Line, { state, rule, host }: Only): boolean {
  const own = line.state === "resting" || line.state === "kept" ? "done" : line.state;
  if (state !== undefined && state !== own) return false;
  if (rule !== undefined && rule !== line.rule) return false;
  return host === undefined || host === line.host || host === hostOfUrl(String(line.url));
}

/** What an import needs before all others. */
async function headLine(on: OpenedFrontier, state: StateSum): Promise<Line> {
  const { link, reader, frontier, isServed } = on;
  const { label, rules, defaults } = reader.set;
  const served: Record<string, number[]> = {};
  for (const [number, [, , done = 0, , handedOut = 0]] of state.rules) {
    const id = reader.set.ids[number];
    if (id !== undefined) served[id] = [done, handedOut];
  }
  return {
    outrider: REDIS_EXPORT_NAME,
    version: REDIS_EXPORT_VERSION,
    partitions: link.keys.length,
    ...(isServed ? { served: true } : {}),
    maxDeliveries: (state.each[0] as readonly number[])[STATE.maxDeliveries],
    rules: { label, rules: rules ?? null, defaults },
    user: encode(await frontier.state()),
    counters: Object.fromEntries(HISTORY.map((name) => [name, state.sum[STATE[name]]])),
    fields: Object.fromEntries(state.fields),
    byRule: served,
    parts: await Promise.all(link.keys.map((_, at) => partOf(on, state, at))),
  };
}

/** Turns, passes and places of one partition. */
async function partOf(
  { link, reader }: OpenedFrontier,
  state: StateSum,
  partition: number,
): Promise<Line> {
  const keys = link.keys[partition] as readonly string[];
  const ask = async (name: string, place: number, ...rest: string[]): Promise<Buffer[]> => {
    const key = keys[place] as string;
    return (await link.retry(() => link.commands.call(key, name, [key, ...rest]))) as Buffer[];
  };
  const passes: Record<string, number> = {};
  const add = (member: Buffer, pass: number): void => {
    const id = reader.set.ids[member.readUInt16BE(0)];
    if (id !== undefined) passes[id] = pass;
  };
  const rules = await ask("HGETALL", RULES_KEY);
  for (let at = 0; at < rules.length; at += 2) {
    const field = rules[at] as Buffer;
    if (field.length === 3 && field[0] === 0x73) add(field.subarray(1), Number(rules[at + 1]));
  }
  const shares = await ask("ZRANGE", SHARES_KEY, "0", "-1", "WITHSCORES");
  for (let at = 0; at < shares.length; at += 2) {
    const member = shares[at] as Buffer;
    if (member.length === 2) add(member, Number(shares[at + 1]));
  }
  const own = state.each[partition] as readonly number[];
  const { turn, joined, pass, nextFailure } = STATE;
  return {
    ...{ turn: own[turn], joined: own[joined], pass: own[pass], failures: own[nextFailure] },
    passes,
  };
}

async function* hostLines({ link }: OpenedFrontier): AsyncGenerator<Line> {
  for (let partition = 0; partition < link.keys.length; partition++) {
    const argsAt = (cursor: string) => ["hosts", cursor, String(HOSTS)];
    for await (const answer of link.slices("dump", partition, argsAt)) {
      for (const bytes of answer.slice(2)) yield { ...hostLine(bytes as Buffer), partition };
    }
  }
}

async function* identityLines(
  { link }: OpenedFrontier,
  names: readonly LineNames[],
): AsyncGenerator<Line> {
  for (let partition = 0; partition < link.keys.length; partition++) {
    const argsAt = (cursor: string) => ["seen", cursor, String(BUCKETS)];
    for await (const answer of link.slices("dump", partition, argsAt)) {
      const page = answer.slice(2) as Buffer[];
      for (let at = 0; at < page.length; at += 2) {
        const field = page[at] as Buffer;
        if (field.length === 0) continue;
        for (const line of seenLines(field, page[at + 1] as Buffer, names[partition] as LineNames))
          yield { ...line, partition };
      }
    }
  }
}

async function* recordLines(
  { link }: OpenedFrontier,
  names: readonly LineNames[],
): AsyncGenerator<Line> {
  for (let partition = 0; partition < link.keys.length; partition++) {
    for (let from = "0"; from !== ""; ) {
      const answer = await link.run("dump", partition, ["records", from, String(RECORDS)]);
      from = String(answer[1]);
      for (const bytes of answer.slice(2))
        yield recordLine(readScanned(bytes as Buffer), names[partition] as LineNames);
    }
  }
}

/** What was read is of one moment only where nothing was admitted or ended since (I1). */
function checkSame(before: StateSum, after: StateSum): void {
  const names = HISTORY.filter(
    (name) => !["pushed", "duplicate", "expired", "late"].includes(name),
  );
  const changed = [...names, "failed" as const, "generation" as const].find(
    (name) => before.sum[STATE[name]] !== after.sum[STATE[name]],
  );
  if (changed === undefined) return;
  const expected = "no process at work meanwhile, or `drain`";
  throw new FrontierError("STATE_INVALID", `export: ${changed} changed (expected: ${expected})`);
}
