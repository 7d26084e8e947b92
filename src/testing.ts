/** Tests without the internet and without waiting: a web on loopback, a clock that is moved by hand. Re-exports only. */
export { type Clock, createVirtualClock } from "./base/clock.ts";
export type { WebLog, WebLogEntry } from "./crawl/synthetic-web/web-log.ts";
export type {
  Fate,
  RobotsKind,
  WebLink,
  WebPlan,
  WebShape,
} from "./crawl/synthetic-web/web-plan.ts";
export {
  openSyntheticWeb,
  type SyntheticWeb,
  type SyntheticWebOptions,
} from "./crawl/synthetic-web/web-server.ts";
export {
  openSyntheticWebThread,
  type SyntheticWebThread,
  type WebManners,
} from "./crawl/synthetic-web/web-thread.ts";
