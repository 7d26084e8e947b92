/** The crawler on top: re-exports only. */
export { isPublicAddress } from "./crawl/http/address-guard.ts";
export type { Lookup } from "./crawl/http/guarded-connector.ts";
export { type Crawl, crawl } from "./crawl/run/crawl.ts";
export { createDownloader } from "./crawl/http/downloader.ts";
export type { DownloaderOptions } from "./crawl/http/downloader-options.ts";
export { DownloadError, type DownloadFault } from "./crawl/http/download-error.ts";
export { type ExtractOptions, extractPage } from "./crawl/page/extract-page.ts";
export { crawlLogOf } from "./crawl/report/crawl-log.ts";
export {
  type ExplainUrlOptions,
  explainUrl,
  type UrlExplanation,
} from "./crawl/report/explain-url.ts";
export type { CrawlFault, CrawlStage, FaultStream } from "./crawl/report/fault-stream.ts";
export {
  createRobotsGate,
  type GatedLease,
  type LeaseGate,
  type RobotsGateOptions,
} from "./crawl/robots/robots-helper.ts";
export { createWarcFile, type WarcFile, type WarcFileOptions } from "./crawl/archive/warc-file.ts";
export { createItemFile, type ItemFileOptions } from "./crawl/files.ts";
export {
  type Identity,
  type IdentityFile,
  type IdentityKey,
  identityOf,
  type KeyDirectory,
  openIdentity,
  withNewKey,
} from "./crawl/identity/identity.ts";
export type { PrivateJwk } from "./crawl/identity/ed25519.ts";
export type { PagePolicy, PolicyStatement } from "./crawl/policy/page-policy.ts";
export type { PolicyDecision, PolicyHook, TakenDecision } from "./crawl/policy/policy-hook.ts";
export type { UsagePreference } from "./crawl/policy/usage-preferences.ts";
export type {
  Analysis,
  Analyzer,
  Chosen,
  Download,
  Downloader,
  DownloadRequest,
  Exchange,
  Extract,
  ItemSource,
  ModuleCounts,
  ModuleKind,
  ModuleOf,
  ModuleRegistry,
  Page,
  Pipeline,
} from "./crawl/module-registry.ts";
export {
  parseRobots,
  type RobotsDecision,
  type RobotsFile,
  type RobotsGroup,
  type RobotsRule,
} from "./crawl/robots/robots-rules.ts";
export type { CrawlEvents } from "./crawl/run/crawl-monitor.ts";
export type { CrawlOptions, OpeningOptions } from "./crawl/run/crawl-options.ts";
export { type CrawlPlan, type PlannedSeed, planCrawl } from "./crawl/run/crawl-plan.ts";
export { type ScopeChange, type ScopeWord, withinScope } from "./crawl/run/crawl-scope.ts";
export type {
  CrawlReason,
  CrawlSample,
  CrawlStatus,
  CrawlSummary,
} from "./crawl/report/crawl-summary.ts";
export type {
  FailedUrl,
  SlowHost,
  SlowPage,
  Visit,
} from "./crawl/report/visit-statistics.ts";
export type { CrawlHost, SickHost } from "./crawl/report/host-health.ts";
export type { TrapReport } from "./crawl/traps/trap-watch.ts";
export type { HostPages } from "./crawl/report/named-counts.ts";
export type { VisitedPage } from "./crawl/run/visit-context.ts";
