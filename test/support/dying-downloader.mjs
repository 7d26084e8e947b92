/** A downloader for crawls on threads: one page leads on, another ends its thread. */
const PAGE = '<!doctype html><title>page</title><a href="/die">die</a><a href="/last">last</a>';

export async function download({ url }) {
  if (url.endsWith("/die")) process.exit(1);
  const body = Buffer.from(PAGE);
  const headers = { "content-type": "text/html; charset=utf-8" };
  return {
    ...{ url, status: 200, headers, body, bytes: body.length },
    ...{ isTruncated: false, isSkipped: false, latencyMs: 1 },
  };
}
