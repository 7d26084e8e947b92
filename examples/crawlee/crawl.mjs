/** A crawler of Crawlee's on a frontier: node crawl.mjs <directory> <url>. Stop it at any moment, and start it again. */
import { CheerioCrawler, Configuration } from "@crawlee/cheerio";
import { FrontierRequestManager } from "outrider/crawlee";

const [directory = "crawl-data", seed = "https://example.org/"] = process.argv.slice(2);

const requestQueue = await FrontierRequestManager.open({
  directory,
  defaults: { politeness: { delayMs: 100 } },
});
const crawler = new CheerioCrawler(
  {
    requestQueue,
    async requestHandler({ request, $, enqueueLinks }) {
      console.log(request.url, $("title").text());
      await enqueueLinks();
    },
  },
  new Configuration({ persistStorage: false }),
);
await crawler.run([seed]);

const { totalRequestCount, handledRequestCount } = await requestQueue.getInfo();
console.log({ totalRequestCount, handledRequestCount });
await requestQueue.close();
