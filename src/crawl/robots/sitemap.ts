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
import { detectCharset } from "../page/charset.ts";
import { readTags } from "../page/html-tags.ts";
import { isFeedText, readFeed } from "./feed.ts";

/** Name of the handler that reads sitemaps. */
export const SITEMAP_HANDLER = "sitemap";
export const SITEMAP_BYTES_MAX = 50 * 1024 * 1024;
const SITEMAP_URLS_MAX = 50_000;
const GZIP_MAGIC = 0x1f8b;
const START_BYTES = 8_192;
const DECLARATION_BYTES = 200;
const DECLARATION = /^<\?xml\s[^>]*encoding\s*=\s*["']([\w.:-]+)/;
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
  const start = textOf(body.subarray(0, START_BYTES), "");
  return SITEMAP_ROOT.test(start) || isFeedText(start);
}

/** The requests in the sitemap or feed at `url`: pages, and further sitemaps. Throws DownloadError for a decompression bomb. */
export async function readSitemap(
  body: Buffer,
  url: string,
  contentType = "",
): Promise<RequestInput[]> {
  let plain = body;
  if (body.length > 2 && body.readUInt16BE(0) === GZIP_MAGIC) {
    try {
      plain = await promisify(gunzip)(body, { maxOutputLength: SITEMAP_BYTES_MAX });
    } catch (cause) {
      throw downloadError(cause);
    }
  }
  const text = textOf(plain, contentType);
  if (isFeedText(text)) return readFeed(text, url);
  return /^\s*</.test(text) ? readXml(text) : readLines(text);
}

/** By its byte order mark, its Content-Type, or its declaration, which is readable as single bytes and so no UTF-16. */
function textOf(body: Buffer, contentType: string): string {
  const declared =
    DECLARATION.exec(body.subarray(0, DECLARATION_BYTES).latin1Slice())?.[1] ?? "utf-8";
  const label = /^utf-?16/i.test(declared) ? "utf-8" : declared;
  const type = /charset/i.test(contentType) ? contentType : `charset=${label}`;
  return new TextDecoder(detectCharset(body, type)).decode(body);
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
  let published = "";
  const sink = {
    wants: () => false,
    open(name: string) {
      field = name;
      if (name !== "url" && name !== "sitemap") return;
      url = "";
      lastmod = "";
      published = "";
    },
    text(_: number, read: () => string) {
      if (field === "loc") url += read();
      else if (field === "lastmod") lastmod += read();
      else if (field === "news:publication_date") published += read();
    },
    close(name: string) {
      field = "";
      if ((name !== "url" && name !== "sitemap") || url.trim() === "") return;
      if (requests.length >= SITEMAP_URLS_MAX) return;
      const date = lastmod.trim() || published.trim();
      requests.push({
        url: url.trim(),
        ...(name === "sitemap" ? { handler: SITEMAP_HANDLER } : {}),
        ...(date === "" ? {} : { data: { lastmod: date } }),
      });
    },
  };
  await readTags(text, sink, true);
  return requests;
}
