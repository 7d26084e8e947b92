/**
 * Runs in every worker thread: returns = done, throws = retry.
 * @param {import("outrider/worker").WorkerLease} lease
 * @param {import("outrider/worker").HandlerContext} context
 */
export default async function visit(lease, context) {
  const response = await fetch(lease.url, { signal: context.signal });
  const html = await response.text();
  const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, href = ""]) => href);
  context.push(links.map((href) => new URL(href, lease.url).href)); // admitted when this returns
}
