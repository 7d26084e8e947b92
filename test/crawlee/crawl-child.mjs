/**
 * A crawl in a process of its own, to be killed at any moment: node crawl-child.mjs <directory> <seed URL> <log> [<most>]. With `redis:<socket>`
 * in place of the directory its queue lies on Redis, and others share it. Each handled page is a line of the log, and of standard output.
 * After so many at `most` it waits for its end.
 */
import { appendFileSync } from "node:fs";
import { CheerioCrawler, Configuration, log } from "@crawlee/cheerio";
import { FrontierRequestManager } from "../../build/plain/crawlee.js";
import { openRedisFrontier } from "../../build/plain/redis.js";

const [directory, seed, file, most = Number.POSITIVE_INFINITY] = process.argv.slice(2);
let handled = 0;
log.setLevel(log.LEVELS.OFF);

const REDIS = "redis:";
const manager = directory.startsWith(REDIS)
  ? new FrontierRequestManager({ frontier: await openShared(directory.slice(REDIS.length)) })
  : await FrontierRequestManager.open({ directory, durability: "sync" });

function openShared(redis) {
  return openRedisFrontier({ redis, name: "crawl", partitions: 4 });
}
const crawler = new CheerioCrawler(
  {
    requestQueue: manager,
    minConcurrency: 4,
    maxConcurrency: 4,
    preNavigationHooks: [
      (_context, got) => {
        got.dnsLookup = (_name, options, done = options) => {
          const address = { address: "127.0.0.1", family: 4 };
          if (options.all) done(null, [address]);
          else done(null, address.address, 4);
        };
      },
    ],
    async requestHandler({ request, enqueueLinks }) {
      if (++handled > Number(most)) await new Promise(() => undefined);
      await enqueueLinks({ strategy: "same-domain" });
      appendFileSync(file, `${request.url}\n`);
      process.stdout.write(`${request.url}\n`);
    },
  },
  new Configuration({ persistStorage: false, purgeOnStart: false }),
);
await crawler.run([seed]);
await manager.close();
if (directory.startsWith(REDIS)) await manager.frontier.close();
