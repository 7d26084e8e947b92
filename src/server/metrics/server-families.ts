/** A server's own counters, under the names of URLFrontier's service, whose dashboards work with them. */
import type { Latency } from "../../base/time/latency-histogram.ts";
import { type Family, quantilesOf, type Sample, samplesOf } from "./metrics-text.ts";
import type { ServerMetrics } from "./server-metrics.ts";

export function serverFamilies(metrics: ServerMetrics): Family[] {
  const counter = (name: string, help: string, ...samples: Array<[number, object?]>): Family => ({
    name: `frontier_${name}`,
    kind: "counter",
    help,
    samples: samples.map(([value, labels = {}]) => ({ value, labels }) as Sample),
  });
  return [
    counter("getURLs_calls_total", "Calls of GetURLs.", [metrics.getCalls]),
    counter("getURLs_total", "URLs sent.", [metrics.urlsSent]),
    latency("frontier_getURLs_latency_seconds", "Time of GetURLs.", metrics.getTimes()),
    counter("putURLs_calls_total", "Streams of PutURLs and PutDiscovered.", [metrics.putCalls]),
    counter("putURLs_total", "URLs received.", [metrics.put]),
    counter(
      "putURLs_discovered_total",
      "URLs received, discovered or known.",
      [metrics.discovered, { discovered: "true" }],
      [metrics.known, { discovered: "false" }],
    ),
    counter("putURLs_ignored_total", "Discovered URLs that were known.", [metrics.ignored]),
    counter("putURLs_completed_total", "URLs finished.", [metrics.completed]),
    latency(
      "outrider_server_put_seconds",
      "Time from a message to its answer.",
      metrics.putTimes(),
    ),
  ];
}

function latency(name: string, help: string, times: Latency): Family {
  return { name, kind: "summary", help, samples: samplesOf(quantilesOf(times)) };
}
