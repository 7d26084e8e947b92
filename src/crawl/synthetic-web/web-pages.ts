/**
 * Pages of the synthetic web as bytes: a plan written as HTML, robots.txt and sitemaps.
 *
 * Links have every form that markup allows: relative, absolute, without a scheme, with a fragment. A page's title and text depend
 * only on host and page, so that a crawl can be compared with the plan.
 */
import { gzipSync } from "node:zlib";
import { HIDDEN_PAGES, TRAP_HOST, type WebLink, type WebPlan } from "./web-plan.ts";

export type WebPages = ReturnType<typeof createWebPages>;

const FILLER_BYTES = 128 * 1024;
const WORDS = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor".split(
  " ",
);
const LASTMOD = "2026-11-01";

export function createWebPages(plan: WebPlan) {
  const filler = makeFiller(plan);
  return {
    contentType(host: number): string {
      const charset = plan.charsetOf(host);
      // UTF-16 is declared only by its byte order mark.
      return charset === "utf-16le" ? "text/html" : `text/html; charset=${charset}`;
    },
    html(host: number, page: number, authority: (host: string) => string): Buffer {
      const links = plan
        .linksOf(host, page)
        .map((link, index) => anchor(plan, link, { host, index, authority }));
      if (host === 0 && page === 0 && plan.shape.traps)
        links.push(`<a href="//${authority(TRAP_HOST)}/">traps</a>`);
      if (page === 0) links.push('<a href="http://elsewhere.invalid/">out of scope</a>');
      const from = plan.draw(20, host, page) % (FILLER_BYTES / 2);
      const size = Math.min(plan.fillerOf(host, page), FILLER_BYTES / 2);
      const text = `<!doctype html>
<html lang="en"><head><title>Page ${page} of host ${host} – café</title></head>
<body><h1>Page ${page}</h1>
<p>${filler.slice(from, from + size)}</p>
<ul>
${links.join("\n")}
</ul></body></html>
`;
      return encode(text, plan.charsetOf(host));
    },
    robots(host: number, authority: (host: string) => string): string {
      if (plan.robotsOf(host) === "closed") return "User-agent: *\nDisallow: /\n";
      const name = authority(plan.hostName(host));
      const sitemap = plan.hasSitemap(host) ? `Sitemap: http://${name}/sitemap.xml\n` : "";
      return `# ${name}\nUser-agent: *\nDisallow: /private/\n\n${sitemap}`;
    },
    /** undefined: no such sitemap. */
    sitemap(
      host: number,
      path: string,
      origin: string,
    ): { type: string; body: Buffer } | undefined {
      if (!plan.hasSitemap(host)) return undefined;
      const hidden = Array.from(
        { length: HIDDEN_PAGES },
        (_, index) => `${origin}/hidden/${index}`,
      );
      const half = HIDDEN_PAGES / 2;
      if (path === "/sitemap.xml") {
        const parts = [`${origin}/sitemap-pages.xml.gz`, `${origin}/sitemap.txt`];
        return xml("sitemapindex", "sitemap", parts);
      }
      if (path === "/sitemap-pages.xml.gz") {
        const { body } = xml("urlset", "url", hidden.slice(0, half));
        return { type: "application/gzip", body: gzipSync(body) };
      }
      if (path !== "/sitemap.txt") return undefined;
      return { type: "text/plain", body: Buffer.from(`${hidden.slice(half).join("\n")}\n`) };
    },
  };
}

/** One link in one of the possible forms. */
function anchor(
  plan: WebPlan,
  { host, path, isTwice }: WebLink,
  at: { host: number; index: number; authority: (host: string) => string },
): string {
  const absolute = `//${at.authority(plan.hostName(host))}${path}`;
  const own = at.index % 2 === 0 ? path : `http:${absolute}`;
  const href = host === at.host ? own : at.index % 3 === 0 ? absolute : `http:${absolute}`;
  const again = isTwice ? ` <a href='${href}#again'>again</a>` : "";
  return `<li><a href="${href}">${path}</a>${again}`;
}

function xml(list: string, entry: string, urls: string[]): { type: string; body: Buffer } {
  const rows = urls.map(
    (url) => `<${entry}><loc>${url}</loc><lastmod>${LASTMOD}</lastmod></${entry}>`,
  );
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<${list} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${rows.join("\n")}
</${list}>
`;
  return { type: "application/xml", body: Buffer.from(text) };
}

function encode(text: string, charset: "utf-8" | "windows-1252" | "utf-16le"): Buffer {
  if (charset === "utf-8") return Buffer.from(text);
  if (charset === "utf-16le") return Buffer.from(`\ufeff${text}`, "utf16le");
  return Buffer.from(text.replaceAll("–", "\u0096"), "latin1");
}

function makeFiller(plan: WebPlan): string {
  const words: string[] = [];
  for (let bytes = 0, at = 0; bytes < FILLER_BYTES; at++) {
    const word = WORDS[plan.draw(21, at, 0) % WORDS.length] as string;
    words.push(word);
    bytes += word.length + 1;
  }
  return words.join(" ");
}
