/**
 * Sitemaps: turns an index, a list of URLs, plain text or a feed (feed.ts), also compressed, into requests. `lastmod` is stored in the
 * request's data.
 *
 *   I1  At most SITEMAP_URLS_MAX entries and SITEMAP_BYTES_MAX inflated bytes are read, as sitemaps.org bounds them.
 */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { RequestInput } from "../../index.ts";
import { downloadError } from "../http/download-error.ts";
import { readTags } from "../page/html-tags.ts";
import { isFeedText, readFeed } from "./feed.ts";

/** Name of the handler that reads sitemaps. */
export const SITEMAP_HANDLER = "sitemap";
export const SITEMAP_BYTES_MAX = 50 * 1024 * 1024;
const SITEMAP_URLS_MAX = 50_000;
const GZIP_MAGIC = 0x1f8b;
const START_BYTES = 8_192;
const SITEMAP_ROOT = /<(?:urlset|sitemapindex)[\s>]/i;
/** Types under which servers send sitemaps. */
const SITEMAP_TYPES: readonly string[] = [
  "application/xml",
  "text/xml",
  "application/gzip",
  "application/x-gzip",
];

/** Whether an answer is a sitemap by its path and type. */
export function isSitemapPath(url: string, type: string): boolean {
  return SITEMAP_TYPES.includes(type) && /\.xml(?:\.gz)?$/i.test(new URL(url).pathname);
}

/** Whether a document is a sitemap or feed by its root; a compressed one is not inflated for it. */
export function isSitemapBody(body: Buffer): boolean {
  if (body.length > 2 && body.readUInt16BE(0) === GZIP_MAGIC) return true;
  const start = new TextDecoder().decode(body.subarray(0, START_BYTES));
  return SITEMAP_ROOT.test(start) || isFeedText(start);
}

/** The requests in the sitemap or feed at `url`: pages, and further sitemaps. Throws DownloadError for a decompression bomb. */
export async function readSitemap(body: Buffer, url: string): Promise<RequestInput[]> {
  let plain = body;
  if (body.length > 2 && body.readUInt16BE(0) === GZIP_MAGIC) {
    try {
      plain = await promisify(gunzip)(body, { maxOutputLength: SITEMAP_BYTES_MAX });
    } catch (cause) {
      throw downloadError(cause);
    }
  }
  const text = new TextDecoder().decode(plain);
  if (isFeedText(text)) return readFeed(text, url);
  return /^\s*</.test(text) ? readXml(text) : readLines(text);
}

function readLines(text: string): RequestInput[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const urls = lines.filter((line) => /^https?:\/\//i.test(line));
  return urls.slice(0, SITEMAP_URLS_MAX).map((url) => ({ url }));
}

async function readXml(text: string): Promise<RequestInput[]> {
  const requests: RequestInput[] = [];
  let field = "";
  let url = "";
  let lastmod = "";
  const sink = {
    wants: () => false,
    open(name: string) {
      field = name;
      if (name !== "url" && name !== "sitemap") return;
      url = "";
      lastmod = "";
    },
    text(_: number, read: () => string) {
      if (field === "loc") url += read();
      else if (field === "lastmod") lastmod += read();
    },
    close(name: string) {
      field = "";
      if ((name !== "url" && name !== "sitemap") || url.trim() === "") return;
      if (requests.length >= SITEMAP_URLS_MAX) return;
      requests.push({
        url: url.trim(),
        ...(name === "sitemap" ? { handler: SITEMAP_HANDLER } : {}),
        ...(lastmod.trim() === "" ? {} : { data: { lastmod: lastmod.trim() } }),
      });
    },
  };
  await readTags(text, sink, true);
  return requests;
}
