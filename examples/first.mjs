import { openFrontier } from "outrider";

const frontier = await openFrontier({ defaults: { politeness: { delayMs: 50 } } });
frontier.push("https://example.org/");

for await (const lease of frontier) {
  console.log(lease.depth, lease.url);
  const found = await visit(lease.url);
  lease.done({ found }); // the page is finished and its links are admitted, in one step
}

const { accepted, duplicate, done } = frontier.report();
console.log({ accepted, duplicate, done });
await frontier.close();

/** Your fetch and your parser go here. This stand-in is a site of three pages. */
async function visit(url) {
  const site = { "/": ["/about", "HTTPS://Example.org:443/#top"], "/about": ["/", "/team"] };
  const links = site[new URL(url).pathname] ?? ["/about"];
  return links.map((href) => new URL(href, url).href);
}
