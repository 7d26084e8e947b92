/**
 * Crawlee's CheerioCrawler on the synthetic web, where it is installed: links and title read with Cheerio, requests in its
 * RequestQueue in memory, autoscaling held at one concurrency so that it does not begin slowly.
 */
import type { Course, Crawled } from "../crawler.ts";
import { loadPackage } from "../installed.ts";

interface CheerioContext {
  readonly request: { readonly loadedUrl?: string; readonly url: string };
  readonly $: (selector: string) => { first(): { text(): string } };
  enqueueLinks(options: { strategy: string }): Promise<unknown>;
}

interface CheerioModule {
  Configuration: new (
    options: Record<string, unknown>,
  ) => { useStorageClient(client: unknown): void };
  CheerioCrawler: new (
    options: Record<string, unknown>,
    config: unknown,
  ) => { run(urls: string[]): Promise<unknown>; teardown(): Promise<void> };
  log: { setLevel(level: number): void };
}

export async function runCheerio({ seed, concurrency }: Course): Promise<Crawled> {
  const { CheerioCrawler, Configuration, log } = loadPackage("@crawlee/cheerio") as CheerioModule;
  const { MemoryStorage } = loadPackage("@crawlee/memory-storage") as {
    MemoryStorage: new (options: Record<string, unknown>) => unknown;
  };
  log.setLevel(0);
  const config = new Configuration({ persistStorage: false, purgeOnStart: false });
  config.useStorageClient(new MemoryStorage({ persistStorage: false, writeMetadata: false }));
  const titles = new Map<string, string>();
  const crawler = new CheerioCrawler(
    {
      minConcurrency: concurrency,
      maxConcurrency: concurrency,
      useSessionPool: false,
      respectRobotsTxtFile: true,
      async requestHandler({ request, $, enqueueLinks }: CheerioContext) {
        titles.set(new URL(request.loadedUrl ?? request.url).pathname, $("title").first().text());
        await enqueueLinks({ strategy: "same-hostname" });
      },
    },
    config,
  );
  await crawler.run([seed]);
  await crawler.teardown();
  return { titles };
}
