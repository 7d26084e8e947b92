/** The frontier over the wire, for crawlers in other languages and on other machines: re-exports only. */
export { FrontierError } from "./base/errors.ts";
export { metricsText } from "./server/metrics/metrics-text.ts";
export {
  type CollectNumbers,
  type NumberSink,
  type ObservableMeter,
  observeFrontier,
  type ObserveOptions,
} from "./server/metrics/otel-metrics.ts";
export type { ServeFault, ServeOptions, ServeTls } from "./server/options.ts";
export { serve, type Server } from "./server/serve.ts";
