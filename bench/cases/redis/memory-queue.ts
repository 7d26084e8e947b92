/** Crawlee's RequestQueue on its memory storage: no server at all, one process. */
import { openCrawleeQueue } from "../../peers/crawlee/queue.ts";
import { CALL, type RedisSide } from "./side.ts";

export async function openMemoryQueue(): Promise<RedisSide> {
  const queue = await openCrawleeQueue();
  return {
    async push(urls) {
      for (let from = 0; from < urls.length; from += CALL) {
        await queue.addRequests(urls.slice(from, from + CALL).map((url) => ({ url })));
      }
    },
    async drain() {
      for (let count = 0; ; count++) {
        const request = await queue.fetchNextRequest();
        if (request === null) return count;
        await queue.markRequestHandled(request);
      }
    },
    close: async () => void (await queue.drop()),
  };
}
