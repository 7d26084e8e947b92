/** A crawl on worker threads: this thread keeps the frontier, two others fetch and read pages. */
import { createServer } from "node:http";
import { openFrontier } from "outrider";
import { WorkerPool } from "outrider/pool";

// A site of 400 pages, so that the example needs no network: page n links to 2n + 1, 2n + 2 and the front page.
const site = createServer((request, response) => {
  const page = Number(request.url?.slice(1));
  const links = [0, page * 2 + 1, page * 2 + 2].filter((next) => next < 400);
  response.end(links.map((next) => `<a href="/${next}">page ${next}</a>`).join("\n"));
});
await new Promise((resolve) => site.listen(0, () => resolve(undefined)));
const { port } = /** @type {import("node:net").AddressInfo} */ (site.address());

const frontier = await openFrontier();
frontier.on("error", ({ stage, url, cause }) => console.error(stage, url, cause));
frontier.push(`http://localhost:${port}/0`);

const handler = new URL("./visit.mjs", import.meta.url);
const pool = new WorkerPool({ frontier, handler, threads: 2, concurrency: 8 });
await pool.run(); // until nothing is left

const { done, duplicate } = frontier.report();
console.log(`${done} pages, ${duplicate} links to pages known already`);
await pool.close();
await frontier.close();
site.close();
site.closeAllConnections();
