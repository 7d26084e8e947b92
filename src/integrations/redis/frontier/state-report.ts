/** The state of all partitions: counters added up, the report, and whether everything is done. */
import { NOTHING_DURABLE, describeReport } from "../../../engine/queries/build-report.ts";
import type { FrontierStatus, Report } from "../../../engine/types/frontier-types.ts";
import { createLatencyHistogram, latencyOf } from "../../../base/time/latency-histogram.ts";
import { NO_RULE_NUMBER, type RuleSet } from "../requests/rule-set.ts";
import { readState, STATE } from "../server/partition-keys.ts";
import type { ServerLink } from "../server/server-link.ts";
import { pause } from "../server/waiting.ts";

/** Calls that a report makes for what has become due, before it counts the rest as it is. */
const DUE_ROUNDS = 80;
const DRAIN_MS = 100;

/** Counters of all partitions, and texts of their states. */
export interface StateSum {
  readonly sum: readonly number[];
  readonly each: ReadonlyArray<readonly number[]>;
  readonly fields: Map<string, number>;
  readonly rules: Map<number, number[]>;
  readonly families: Map<string, number>;
  /** Links on their way between partitions. */
  readonly parcels: number;
}

export async function readStates(link: ServerLink, isWhole: boolean): Promise<StateSum> {
  const answers = await Promise.all(
    link.keys.map((_, partition) => readOne(link, partition, isWhole)),
  );
  const each = answers.map((answer) => readState(answer[2] as Buffer));
  const sum =
    each[0]?.map((_, at) => each.reduce((all, one) => all + (one[at] as number), 0)) ?? [];
  const fields = new Map<string, number>();
  const rules = new Map<number, number[]>();
  const families = new Map<string, number>();
  for (const answer of answers) {
    eachPair(answer[3] as Buffer[], (name, value) => {
      const text = name.toString("latin1");
      if (text.startsWith("x:") || text.startsWith("d:")) {
        fields.set(text, (fields.get(text) ?? 0) + Number(value));
      }
      if (text[0] === "e" && text[1] === ":") families.set(name.toString("utf8", 2), Number(value));
    });
    eachPair(answer[4] as Buffer[], (name, value) => {
      if (name[0] !== 0x63 || name.length !== 3) return;
      const number = name.readUInt16BE(1);
      const before = rules.get(number) ?? [0, 0, 0, 0, 0];
      rules.set(
        number,
        before.map((count, at) => count + value.readDoubleBE(at * 8)),
      );
    });
  }
  const parcels = answers.reduce((all, answer) => all + Number(answer[6]), 0);
  return { sum, each, fields, rules, families, parcels };
}

/** One partition's counters, after what has become due by itself, up to some thousands of records. */
async function readOne(
  link: ServerLink,
  partition: number,
  isWhole: boolean,
): Promise<readonly unknown[]> {
  for (let round = 1; ; round++) {
    const answer = await link.run("report", partition, [isWhole ? "1" : "0"]);
    if (Number(answer[5]) === 0 || round === DUE_ROUNDS) return answer;
  }
}

function eachPair(list: readonly Buffer[], visit: (name: Buffer, value: Buffer) => void): void {
  for (let at = 0; at + 1 < list.length; at += 2) visit(list[at] as Buffer, list[at + 1] as Buffer);
}

/** Resolves when no lease is out, or `isAsked` is no longer. */
export async function untilNoneIsOut(link: ServerLink, isAsked: () => boolean): Promise<void> {
  while (isAsked() && (await leasedOf(link)) > 0) await pause(DRAIN_MS);
}

/** Leases that are out, of all processes. */
export async function leasedOf(link: ServerLink): Promise<number> {
  return at((await readStates(link, false)).sum, "leased");
}

/** Whether a partition has a live record. */
export async function isLive(link: ServerLink, partition: number): Promise<boolean> {
  const answer = await readOne(link, partition, false);
  return hasLive(readState(answer[2] as Buffer));
}

/** A partition that has a live record; -1: none has. */
export function livePartition({ each }: StateSum): number {
  return each.findIndex(hasLive);
}

function hasLive(state: readonly number[]): boolean {
  return at(state, "pending") + at(state, "waiting") + at(state, "leased") > 0;
}

/** Whether nothing is left: no record live, and no links on their way between partitions. */
export function isOver({ sum, parcels }: StateSum): boolean {
  const live = at(sum, "pending") + at(sum, "waiting") + at(sum, "leased");
  return live === 0 && parcels === 0;
}

export function wasAdmitted({ sum }: StateSum): boolean {
  return at(sum, "accepted") + at(sum, "deferred") > 0;
}

/** Whether two rounds found the same: nothing was under way between them. */
export function isSame(a: StateSum, b: StateSum): boolean {
  const names = ["accepted", "deferred", "sent", "received", "done", "failed", "retried"] as const;
  return a.each.every((one, part) =>
    names.every((name) => one[STATE[name]] === b.each[part]?.[STATE[name]]),
  );
}

function at(sum: readonly number[], name: keyof typeof STATE): number {
  return sum[STATE[name]] ?? 0;
}

interface ReportFacts {
  readonly status: FrontierStatus;
  readonly droppedEvents: number;
  readonly startedAt: number;
  readonly nowMs: number;
  readonly rules: RuleSet;
  readonly waitingUntil: number | undefined;
}

/** The report. What only the server's own INFO reports, such as bytes, is 0. */
export function reportOf(state: StateSum, facts: ReportFacts): Report {
  const { sum, fields } = state;
  const rejected: Record<string, number> = {};
  const depths: number[] = [];
  for (const [name, count] of fields) {
    if (name.startsWith("x:")) rejected[name.slice(2)] = count;
    else depths[Number(name.slice(2))] = count;
  }
  const none = latencyOf(createLatencyHistogram());
  const seconds = Math.max((facts.nowMs - facts.startedAt) / 1000, 0.001);
  const rules = rulesOf(state, facts.rules);
  const served = Object.values(rules).reduce((all, { served: one }) => all + one, 0);
  const report = {
    ...{ status: facts.status, waitingUntil: facts.waitingUntil },
    ...{ pushed: at(sum, "pushed"), accepted: at(sum, "accepted"), deferred: at(sum, "deferred") },
    ...{ duplicate: at(sum, "duplicate"), rejected, full: at(sum, "full") },
    ...{ retried: at(sum, "retried"), expired: at(sum, "expired"), lateResults: at(sum, "late") },
    reasons: { retried: {}, failed: {} },
    latency: { leases: none, fetches: none },
    droppedEvents: facts.droppedEvents,
    ...{ pending: at(sum, "pending"), waiting: at(sum, "waiting"), leased: at(sum, "leased") },
    ...{ done: at(sum, "done"), failed: at(sum, "failed") },
    ...{ forgotten: at(sum, "forgotten"), removed: at(sum, "removed") },
    ...{ hosts: at(sum, "hosts"), lanes: 0, seen: at(sum, "seen") + at(sum, "epochSeen") },
    depths: Array.from(depths, (count) => count ?? 0),
    rules,
    seenSet: {
      ...{ mode: "exact" as const, bytes: 0, load: 0, bitsPerUrl: 0, falsePositiveRate: 0 },
      ...{ expectedLost: 0, maybeButNew: 0, coldReads: 0, imported: 0 },
    },
    epochs: { open: state.families.size, identities: 0 },
    resting: at(sum, "resting"),
    spilled: { records: 0, out: 0, in: 0 },
    memory: {
      heapBytes: process.memoryUsage().heapUsed,
      ...{ offHeapBytes: 0, spilledBytes: 0, bytesPerUrl: 0 },
    },
    durability: NOTHING_DURABLE,
    rates: {
      pushed: at(sum, "pushed") / seconds,
      leased: served / seconds,
      done: at(sum, "done") / seconds,
    },
    startedAt: facts.startedAt,
  };
  Object.defineProperty(report, "toString", { value: () => describeReport(report) });
  return report;
}

function rulesOf({ rules }: StateSum, set: RuleSet): Report["rules"] {
  const named: Report["rules"] = {};
  set.ids.forEach((id, number) => {
    const [pending = 0, leased = 0, done = 0, failed = 0, served = 0] = rules.get(number) ?? [];
    if (set.specs[number] === undefined && pending + leased + failed === 0) return;
    const { [id]: before = { pending: 0, leased: 0, done: 0, failed: 0, served: 0 } } = named;
    named[id] = {
      ...{ pending: before.pending + pending, leased: before.leased + leased },
      ...{ done: before.done + done, failed: before.failed + failed },
      served: before.served + served,
    };
  });
  const [, , , failed = 0] = rules.get(NO_RULE_NUMBER) ?? [];
  if (failed > 0) named[""] = { pending: 0, leased: 0, done: 0, failed, served: 0 };
  return named;
}
