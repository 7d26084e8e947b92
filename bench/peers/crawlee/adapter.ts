/** Crawlee's RequestQueue among the peers: requests in by lists, out and marked as handled one by one. */
import { packageVersion } from "../installed.ts";
import type { Peer, PeerQueue } from "../peer.ts";
import { crawleeMissing, type CrawleeRequest, openCrawleeQueue } from "./queue.ts";

export const crawleePeer: Peer = {
  name: "crawlee",
  title: () => `Crawlee ${packageVersion("@crawlee/core")}, RequestQueue on MemoryStorage`,
  missing: crawleeMissing,
  urlsMax: 60_000,
  // A file for each request, and each poll after a resume looks through them: at 20,000 a round did not end in 20 minutes of a busy machine.
  durableUrlsMax: 2_000,
  isDurable: true,
  async open({ directory }) {
    const inner = await openCrawleeQueue(directory);
    const queue: PeerQueue<CrawleeRequest> = {
      async push(urls) {
        const { processedRequests } = await inner.addRequests(urls.map((url) => ({ url })));
        return processedRequests.filter(({ wasAlreadyPresent }) => !wasAlreadyPresent).length;
      },
      async poll(max) {
        const requests: CrawleeRequest[] = [];
        while (requests.length < max) {
          const request = await inner.fetchNextRequest();
          if (request === null) break;
          requests.push(request);
        }
        return requests;
      },
      urlOf: ({ url }) => url,
      async done(requests) {
        for (const request of requests) await inner.markRequestHandled(request);
      },
      close: () => {},
    };
    return queue as PeerQueue;
  },
};
