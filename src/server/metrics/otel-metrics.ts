/** The same numbers through OpenTelemetry, whose API is an optional peer: `npm install @opentelemetry/api`. */
import { FrontierError } from "../../base/errors.ts";
import type { AsyncFrontier, Frontier } from "../../index.ts";
import { familiesOf } from "./metrics-text.ts";

/** The part of OpenTelemetry's `Meter` that is called. Written here, so that the types of this entry need no package of others. */
export interface ObservableMeter {
  /** Makes an instrument for a number that only rises. */
  createObservableCounter(name: string, about: Record<"description", string>): object;
  /** Makes an instrument for a number that rises and falls. */
  createObservableGauge(name: string, about: Record<"description", string>): object;
  /** Calls `collect` for each collection. */
  addBatchObservableCallback(collect: CollectNumbers, instruments: object[]): void;
  /** Calls `collect` no more. */
  removeBatchObservableCallback(collect: CollectNumbers, instruments: object[]): void;
}

/** Adds the numbers to a collection. */
export type CollectNumbers = (collection: NumberSink) => Promise<void>;

/** A collection. */
export interface NumberSink {
  /** Takes one number. */
  observe(instrument: object, value: number, labels: Record<string, string>): void;
}

/**
 * How `observeFrontier` observes.
 *
 * @example
 * const stop = await observeFrontier(frontier, { attributes: { crawl: "news" } });
 */
export interface ObserveOptions {
  /**
   * The meter to make instruments with.
   * @defaultValue the global provider's meter `outrider`
   */
  meter?: ObservableMeter | undefined;
  /**
   * Attributes of each number.
   * @defaultValue none
   */
  attributes?: Record<string, string> | undefined;
}

/**
 * Reports a frontier through OpenTelemetry, under the names of `metricsText`; summaries become gauges by quantile. The report is
 * read once for each collection. Returns what ends it. Rejects with `PACKAGE_MISSING` without `@opentelemetry/api`. Costs a
 * report and some 40 observations for each collection.
 *
 * @example
 * const stop = await observeFrontier(frontier);
 */
export async function observeFrontier(
  frontier: Frontier | AsyncFrontier,
  options: ObserveOptions = {},
): Promise<() => void> {
  const meter = options.meter ?? (await loadMeter());
  const attributes = options.attributes ?? {};
  const instruments = new Map<string, object>();
  for (const { name, kind, help } of familiesOf([])) {
    const about = { description: help };
    const instrument =
      kind === "counter"
        ? meter.createObservableCounter(name, about)
        : meter.createObservableGauge(name, about);
    instruments.set(name, instrument);
  }
  const all = [...instruments.values()];
  const collect: CollectNumbers = async (result) => {
    const report = await frontier.report();
    for (const { name, samples } of familiesOf([[attributes, report]])) {
      const instrument = instruments.get(name) as object;
      for (const { labels, suffix, value } of samples) {
        if (suffix === undefined) result.observe(instrument, value, labels);
      }
    }
  };
  meter.addBatchObservableCallback(collect, all);
  return () => meter.removeBatchObservableCallback(collect, all);
}

async function loadMeter(): Promise<ObservableMeter> {
  try {
    const { metrics } = await import("@opentelemetry/api");
    return metrics.getMeter("outrider");
  } catch (cause) {
    const message = "@opentelemetry/api: not installed (expected: npm install @opentelemetry/api)";
    throw new FrontierError("PACKAGE_MISSING", message, cause);
  }
}
