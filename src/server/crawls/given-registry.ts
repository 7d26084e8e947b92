/** The only crawl of a server over a frontier that the program opened: it is neither created nor closed here. */
import { FrontierError } from "../../base/errors.ts";
import { type CrawlRegistry, createControl } from "./crawl-registry.ts";
import { GivenCrawl } from "./given-crawl.ts";
import type { Given } from "./given-records.ts";
import { crawlIdOf } from "./missing-key.ts";

const DELAY_DEFAULT = 1;

export interface GivenRegistryOptions {
  readonly frontier: Given;
  readonly now: () => number;
  readonly onFault: (crawl: string, cause: unknown) => void;
  /** Whether calls of the protocol will ask which URLs are known. */
  readonly needsIdentities: boolean;
}

/** Rejects with UNSUPPORTED for a frontier that does not keep finished URLs, if they are needed. */
export async function openGivenRegistry(options: GivenRegistryOptions): Promise<CrawlRegistry> {
  const { frontier, now, onFault, needsIdentities } = options;
  const { name } = frontier;
  if (needsIdentities && (await frontier.report()).seenSet.mode === "bloom") {
    const expected = "one whose seen.mode is 'exact' or 'tiered', which know every URL";
    throw new FrontierError("UNSUPPORTED", `options.frontier: '${name}' (expected: ${expected})`);
  }
  let delayDefault = DELAY_DEFAULT;
  const crawl = new GivenCrawl({ frontier, now, delayDefault: () => delayDefault });
  const stopListening = frontier.on("error", (fault) => onFault(name, fault));
  const find = (id: string): GivenCrawl | undefined =>
    id === name || id === crawlIdOf("") ? crawl : undefined;
  return {
    ...createControl(),
    open(id) {
      const found = find(id);
      if (found !== undefined) return found;
      const message = `crawlID: '${id}' (expected: '${name}', the only crawl of this server)`;
      throw new FrontierError("CRAWLS_FULL", message);
    },
    find,
    all: () => [crawl],
    frontiers: () => [[name, frontier]],
    delete: async (id) => (await find(id)?.deleteAll()) ?? 0,
    setDelayDefault(seconds) {
      delayDefault = seconds;
      crawl.delayChanged();
    },
    async close() {
      stopListening();
    },
  };
}
