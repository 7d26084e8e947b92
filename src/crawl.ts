/** The crawler on top: re-exports only. */
export { isPublicAddress } from "./crawl/address.ts";
export type { Lookup } from "./crawl/connect.ts";
export { type Crawl, crawl } from "./crawl/crawl.ts";
export { createDownloader, type DownloaderOptions } from "./crawl/download.ts";
export { DownloadError, type DownloadFault } from "./crawl/download-error.ts";
export { type ExtractOptions, extractPage } from "./crawl/extract.ts";
export type { CrawlFault, CrawlStage, FaultStream } from "./crawl/faults.ts";
export { createItemFile, type ItemFileOptions } from "./crawl/files.ts";
export type {
  Analysis,
  Analyzer,
  Chosen,
  Download,
  Downloader,
  DownloadRequest,
  Extract,
  ItemSource,
  ModuleCounts,
  ModuleKind,
  ModuleOf,
  ModuleRegistry,
  Page,
  Pipeline,
} from "./crawl/modules.ts";
export type { CrawlEvents } from "./crawl/monitor.ts";
export type { CrawlOptions } from "./crawl/options.ts";
export { type CrawlPlan, type PlannedSeed, planCrawl } from "./crawl/plan.ts";
export { type ScopeChange, withinScope } from "./crawl/scope.ts";
export type { CrawlReason, CrawlSample, CrawlStatus, CrawlSummary } from "./crawl/summary.ts";
export type { HostPages } from "./crawl/tally.ts";
export type { VisitedPage } from "./crawl/visit-context.ts";
