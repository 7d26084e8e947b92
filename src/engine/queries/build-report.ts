/** Report: counters and gauges as plain data, derived from transitions alone; toString() for people. */
import { timeText } from "../../base/clock.ts";
import { latencyOf } from "../../base/time/latency-histogram.ts";
import type { Core, RuleState, SteppedMs } from "../../frontier/core.ts";
import { getHeapStatistics } from "node:v8";
import { nextDueAt } from "../../frontier/scheduling/due.ts";
import { heapCount } from "../../structures/ordering/heap.ts";
import { seenStats } from "../../structures/seen/seen-set.ts";
import { usedBytes } from "../../structures/store.ts";
import { countLanes } from "./count-lanes.ts";
import type { FrontierStatus, Report } from "../types/frontier-types.ts";

interface ReportContext {
  readonly status: FrontierStatus;
  readonly droppedEvents: number;
  readonly startedAt: number;
  readonly nowMs: SteppedMs;
  readonly durability: Report["durability"];
  readonly imported: number;
}

/** What a frontier without a directory reports of its disk. */
export const NOTHING_DURABLE: Report["durability"] = {
  flushedAt: undefined,
  journalBytes: 0,
  snapshotAt: undefined,
};

export function reportOf(core: Core, context: ReportContext): Report {
  const { counters } = core;
  const seen = seenStats(core.seen);
  // Pending records wait for a clock too, where it is that of their host.
  const due = counters.leased === 0 ? nextDueAt(core, context.nowMs) : undefined;
  const isWaiting = due !== undefined && due > context.nowMs;
  const offHeapBytes = usedBytes(core.store);
  const live = counters.pending + counters.waiting + counters.leased;
  const seconds = Math.max((context.nowMs - context.startedAt) / 1000, 0.001);
  const report = {
    status: context.status,
    waitingUntil: isWaiting ? due : undefined,
    pushed: counters.pushed,
    accepted: counters.accepted,
    deferred: counters.deferred,
    duplicate: counters.duplicate,
    rejected: Object.fromEntries(counters.rejected),
    full: counters.full,
    retried: counters.retried,
    expired: counters.expired,
    lateResults: counters.lateResults,
    reasons: {
      retried: Object.fromEntries(core.reasons.retried),
      failed: Object.fromEntries(core.reasons.failed),
    },
    latency: latencies(core),
    droppedEvents: context.droppedEvents,
    pending: counters.pending,
    waiting: counters.waiting,
    leased: counters.leased,
    done: counters.done,
    failed: counters.failed,
    forgotten: counters.forgotten,
    removed: counters.removed,
    hosts: core.hosts.count,
    lanes: countLanes(core),
    seen: counters.seen,
    depths: Array.from(counters.depths, (count) => count ?? 0),
    rules: rulesOf(core),
    seenSet: {
      mode: seen.mode,
      bytes: seen.bytes,
      load: seen.load,
      bitsPerUrl: seen.bitsPerUrl,
      falsePositiveRate: seen.falsePositiveRate,
      expectedLost: seen.expectedLost,
      maybeButNew: seen.maybeButNew,
      coldReads: seen.coldReads,
      imported: context.imported,
    },
    epochs: { open: core.epochs.count, identities: core.epochs.members },
    resting: heapCount(core.resting),
    spilled: spilledOf(core),
    memory: {
      heapBytes: getHeapStatistics().used_heap_size,
      offHeapBytes,
      spilledBytes: core.spilling?.spill.tier.stats().liveBytes ?? 0,
      bytesPerUrl: live === 0 ? 0 : offHeapBytes / live,
    },
    durability: context.durability,
    rates: {
      pushed: counters.pushed / seconds,
      leased: counters.leases / seconds,
      done: counters.done / seconds,
    },
    startedAt: context.startedAt,
  };
  Object.defineProperty(report, "toString", { value: () => describeReport(report) });
  return report;
}

function latencies({ leaseTimes }: Core): Report["latency"] {
  return { leases: latencyOf(leaseTimes.leases), fetches: latencyOf(leaseTimes.fetches) };
}

function spilledOf({ spilling }: Core): Report["spilled"] {
  const { count = 0, written = 0 } = spilling?.spill ?? {};
  return { records: count, out: written, in: written - count };
}

/**
 * The rules of the set in their order, each with what is left of those of its id before it; then what is left of rules that have gone;
 * "": failed for want of a rule.
 */
function rulesOf(core: Core): Report["rules"] {
  const rules = new Map(core.active.map((rule) => [rule.id, countsOf(rule)]));
  for (const rule of core.rules) {
    const { id, isGone, pending, leased, failed } = rule;
    if (!isGone) continue;
    const known = rules.get(id);
    if (known !== undefined) addCounts(known, rule);
    else if (pending + leased + failed > 0) rules.set(id, countsOf(rule));
  }
  return Object.fromEntries(rules);
}

function countsOf(rule: RuleState): Report["rules"][string] {
  const { pending, leased, done, failed, served } = rule;
  return { pending, leased, done, failed, served };
}

function addCounts(counts: Report["rules"][string], rule: RuleState): void {
  counts.pending += rule.pending;
  counts.leased += rule.leased;
  counts.done += rule.done;
  counts.failed += rule.failed;
  counts.served += rule.served;
}

/** The report as lines of text. */
export function describeReport(report: Omit<Report, "toString">): string {
  const n = (value: number): string => Math.round(value).toLocaleString("en-US");
  const mebibytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`;
  const named = (names: Record<string, number>): string =>
    Object.entries(names)
      .map(([name, count]) => `${name} ${n(count)}`)
      .join(", ");
  const { accepted, deferred, duplicate, full, rejected, rates, memory } = report;
  const { pending, waiting, leased, done, failed } = report;
  const { leases } = report.latency;
  const slowest = `p50 ${n(leases.p50)} ms, p99 ${n(leases.p99)} ms, at most ${n(leases.max)} ms`;
  const until = report.waitingUntil === undefined ? "" : `, until ${timeText(report.waitingUntil)}`;
  const refused = Object.keys(rejected).length === 0 ? "" : `, rejected: ${named(rejected)}`;
  return [
    `status     ${report.status}${until}`,
    `pushed     ${n(report.pushed)}: ${named({ accepted, deferred, duplicate, full })}${refused}`,
    `now        ${named({ pending, waiting, leased, done, failed })}`,
    `hosts      ${n(report.hosts)}, lanes ${n(report.lanes)}`,
    `seen-set   ${report.seenSet.mode}, ${n(report.seen)} URLs, ${mebibytes(report.seenSet.bytes)}`,
    `memory     off-heap ${mebibytes(memory.offHeapBytes)}, heap ${mebibytes(memory.heapBytes)}`,
    `per second ${named({ pushed: rates.pushed, leased: rates.leased, done: rates.done })}`,
    ...(leases.count === 0 ? [] : [`leases     ${n(leases.count)} ended, after ${slowest}`]),
  ].join("\n");
}
