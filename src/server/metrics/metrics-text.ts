/**
 * Room `src/server/metrics`: counters and reports as Prometheus' text format, in our names and in URLFrontier's. Measures
 * nothing by itself.
 */

/** A frontier's report in Prometheus' text format, version 0.0.4. */
import type { Report } from "../../index.ts";

type Kind = "counter" | "gauge" | "summary";
type Labels = Readonly<Record<string, string>>;

/** One number, with the labels that distinguish it from others of its name. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** `_sum` and `_count` of a summary. */
  readonly suffix?: string;
}

/** All numbers of one name. */
export interface Family {
  readonly name: string;
  readonly kind: Kind;
  readonly help: string;
  readonly samples: Sample[];
}

/** Name, kind, help, and the numbers of one report; undefined: the report has none. */
type Row = readonly [
  name: string,
  kind: Kind,
  help: string,
  read: (report: Report) => number | undefined | ReadonlyArray<readonly [Labels, number, string?]>,
];

const STATES = ["pending", "waiting", "leased", "done", "failed", "forgotten", "removed"] as const;
const STATUSES = ["opening", "running", "paused", "draining", "stopping", "stopped"] as const;
const QUANTILES = { p50: "0.5", p90: "0.9", p99: "0.99" } as const;

const ROWS: readonly Row[] = [
  ["outrider_pushed_total", "counter", "Requests pushed.", ({ pushed }) => pushed],
  ["outrider_accepted_total", "counter", "Requests accepted.", ({ accepted }) => accepted],
  [
    "outrider_deferred_total",
    "counter",
    "Requests admitted for later.",
    ({ deferred }) => deferred,
  ],
  ["outrider_duplicate_total", "counter", "Requests known already.", ({ duplicate }) => duplicate],
  [
    ...(["outrider_rejected_total", "counter", "Requests refused, by reason."] as const),
    ({ rejected }) => Object.entries(rejected).map(([reason, count]) => [{ reason }, count]),
  ],
  ["outrider_full_total", "counter", "Requests without room.", ({ full }) => full],
  ["outrider_retried_total", "counter", "Attempts that go on.", ({ retried }) => retried],
  ["outrider_expired_total", "counter", "Leases that ran out.", ({ expired }) => expired],
  [
    "outrider_late_results_total",
    "counter",
    "Results after the deadline.",
    ({ lateResults }) => lateResults,
  ],
  [
    "outrider_dropped_events_total",
    "counter",
    "Events dropped.",
    ({ droppedEvents }) => droppedEvents,
  ],
  [
    ...(["outrider_failures_total", "counter", "Records given up, by reason."] as const),
    ({ reasons }) => Object.entries(reasons.failed).map(([reason, count]) => [{ reason }, count]),
  ],
  [
    ...(["outrider_records", "gauge", "Records by state."] as const),
    (report) => STATES.map((state) => [{ state }, report[state]]),
  ],
  [
    ...(["outrider_status", "gauge", "1 for the status it is in."] as const),
    ({ status }) => STATUSES.map((one) => [{ status: one }, Number(one === status)]),
  ],
  ["outrider_hosts", "gauge", "Hosts in memory.", ({ hosts }) => hosts],
  ["outrider_lanes", "gauge", "Lanes.", ({ lanes }) => lanes],
  ["outrider_seen", "gauge", "Identities seen.", ({ seen }) => seen],
  [
    ...(["outrider_rule_records", "gauge", "Records by rule and state."] as const),
    ({ rules }) =>
      Object.entries(rules).flatMap(([rule, counts]) =>
        (["pending", "leased", "done", "failed"] as const).map(
          (state) => [{ rule, state }, counts[state]] as const,
        ),
      ),
  ],
  [
    ...(["outrider_rule_served_total", "counter", "Leases by rule."] as const),
    ({ rules }) => Object.entries(rules).map(([rule, { served }]) => [{ rule }, served]),
  ],
  ["outrider_seen_bytes", "gauge", "Bytes of the seen-set.", ({ seenSet }) => seenSet.bytes],
  ["outrider_seen_load_ratio", "gauge", "Load of the seen-set.", ({ seenSet }) => seenSet.load],
  [
    ...(["outrider_seen_false_positive_ratio", "gauge", "Rate of false positives."] as const),
    ({ seenSet }) => seenSet.falsePositiveRate,
  ],
  [
    "outrider_seen_cold_reads_total",
    "counter",
    "Reads of the cold tier.",
    ({ seenSet }) => seenSet.coldReads,
  ],
  ["outrider_heap_bytes", "gauge", "JavaScript heap.", ({ memory }) => memory.heapBytes],
  ["outrider_off_heap_bytes", "gauge", "Memory off the heap.", ({ memory }) => memory.offHeapBytes],
  [
    "outrider_spilled_bytes",
    "gauge",
    "Pending records on disk.",
    ({ memory }) => memory.spilledBytes,
  ],
  [
    "outrider_journal_bytes",
    "gauge",
    "Journal since the last snapshot.",
    ({ durability }) => durability.journalBytes,
  ],
  [
    ...(["outrider_flushed_timestamp_seconds", "gauge", "When all was durable last."] as const),
    ({ durability }) => secondsOf(durability.flushedAt),
  ],
  [
    ...([
      "outrider_snapshot_timestamp_seconds",
      "gauge",
      "When a snapshot was written last.",
    ] as const),
    ({ durability }) => secondsOf(durability.snapshotAt),
  ],
  [
    "outrider_start_timestamp_seconds",
    "gauge",
    "When it was opened.",
    ({ startedAt }) => startedAt / 1_000,
  ],
  [
    ...(["outrider_lease_seconds", "summary", "Time from lease to result."] as const),
    ({ latency }) => quantilesOf(latency.leases),
  ],
  [
    ...(["outrider_fetch_seconds", "summary", "Time of fetches, as outcomes report it."] as const),
    ({ latency }) => quantilesOf(latency.fetches),
  ],
];

function secondsOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}

/** A histogram as a summary, in seconds. */
export function quantilesOf(latency: {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}): Array<readonly [Labels, number, string?]> {
  const { count, mean } = latency;
  const quantiles = (["p50", "p90", "p99"] as const).map(
    (name) => [{ quantile: QUANTILES[name] }, latency[name] / 1_000] as const,
  );
  return [
    ...(count === 0 ? [] : quantiles),
    [{}, (mean * count) / 1_000, "_sum"],
    [{}, count, "_count"],
  ];
}

/** The families of many reports, each with labels of its own. */
export function familiesOf(reports: Iterable<readonly [Labels, Report]>): Family[] {
  const list = [...reports];
  return ROWS.map(([name, kind, help, read]) => ({
    name,
    kind,
    help,
    samples: list.flatMap(([labels, report]) => {
      const found = read(report);
      if (found === undefined) return [];
      const rows = typeof found === "number" ? [[{}, found] as const] : found;
      return rows.map(([own, value, suffix]) => ({
        labels: { ...labels, ...own },
        value,
        ...(suffix === undefined ? {} : { suffix }),
      }));
    }),
  }));
}

/** Families as text; those without a sample are left out. */
export function textOf(families: Iterable<Family>): string {
  const lines: string[] = [];
  for (const { name, kind, help, samples } of families) {
    if (samples.length === 0) continue;
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`);
    for (const { labels, value, suffix = "" } of samples) {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
      const set = pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
      lines.push(`${name}${suffix}${set} ${numberOf(value)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function numberOf(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

/**
 * A report as Prometheus' text format: names begin with `outrider_`, times are in seconds. `labels` stand at each number, to
 * distinguish the frontiers of one process. Costs some 20 µs and 10 µs more for each rule. Never throws for a report.
 *
 * @example
 * response.setHeader("content-type", "text/plain; version=0.0.4").end(metricsText(frontier.report()));
 */
export function metricsText(report: Report, labels: Record<string, string> = {}): string {
  return textOf(familiesOf([[labels, report]]));
}
