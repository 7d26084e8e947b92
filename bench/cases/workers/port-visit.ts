/** The worker's thread of the sides `port` and `port batch` of `pool`: a list of pages in, their links out. */
import { parentPort } from "node:worker_threads";
import { linksOf } from "./pool-visit.ts";

const port = parentPort as NonNullable<typeof parentPort>;
port.on("message", (pages: ReadonlyArray<{ url: string; depth: number }>) => {
  port.postMessage(pages.map(({ url, depth }) => linksOf(url, depth)));
});
