/** The Grafana dashboards: every query of ours, and of URLFrontier's own, names what the exporter has. */
import { expect, it } from "vitest";
import { readText } from "../support/package.ts";
import { connect, found, known, serving } from "./client.ts";

interface Dashboard {
  readonly panels: ReadonlyArray<{ title: string; targets: ReadonlyArray<{ expr: string }> }>;
  readonly templating: { list: ReadonlyArray<{ query: unknown }> };
}

/** The queries of URLFrontier's dashboard: names, and the labels that they choose by. */
const THEIRS = [
  'rate(frontier_putURLs_total{instance=~"$instance"}[1m])',
  'rate(frontier_getURLs_total{instance=~"$instance"}[1m])',
  'increase(frontier_putURLs_completed_total{instance=~"$instance"}[1m])',
  'increase(frontier_putURLs_discovered_total{instance=~"$instance", discovered="false"}[1m])',
  'increase(frontier_putURLs_discovered_total{instance=~"$instance", discovered="true"}[1m])',
  'increase(frontier_putURLs_ignored_total{instance=~"$instance"}[1m])',
  'increase(frontier_getURLs_latency_seconds_sum{instance=~"$instance"}[1m])',
  'increase(frontier_getURLs_calls_total{instance=~"$instance"}[1m])',
  'increase(frontier_putURLs_calls_total{instance=~"$instance"}[1m])',
];

it("every query of a dashboard finds a number of the exporter", async () => {
  const { httpPort, port } = await serving();
  const client = connect(port);
  await client.put(
    found("http://a.com/1"),
    found("http://a.com/1"),
    found(`http://a.com/${"x".repeat(9_000)}`),
    known("http://a.com/2", 0),
  );
  await client.get();
  await client.put(known("http://a.com/1", 0));
  const text = await (await fetch(`http://127.0.0.1:${httpPort}/metrics`)).text();
  const samples = text.split("\n").filter((line) => !line.startsWith("#"));
  const finds = (query: string): boolean => {
    const selectors = [...query.matchAll(/((?:outrider|frontier)_\w+)(?:\{([^}]*)\})?/g)];
    return (
      selectors.length > 0 &&
      selectors.every(([, name, chosen = ""]) => {
        const labels = [...chosen.matchAll(/(\w+)(=~?)"([^"]*)"/g)].filter(
          ([, label]) => label !== "instance",
        );
        return samples.some(
          (line) =>
            (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) &&
            labels.every(([, label, sign, value]) => {
              if (value?.startsWith("$")) return line.includes(`${label}="`);
              const pattern = sign === "=" ? value : `(${value})`;
              return new RegExp(`${label}="${pattern}"`).test(line);
            }),
        );
      })
    );
  };
  const ours = JSON.parse(readText("docs/grafana-dashboard.json")) as Dashboard;
  const queries = ours.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  expect(queries.length).toBeGreaterThan(12);
  // A crawl without politeness by rule has no failures; their names are there once one fails.
  const later = queries.filter((query) => query.includes("outrider_failures_total"));
  expect(
    [...queries, ...THEIRS].filter((query) => !later.includes(query) && !finds(query)),
  ).toEqual([]);
  expect(finds("rate(outrider_no_such_total[1m])")).toBe(false);
});
