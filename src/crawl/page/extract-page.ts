/**
 * Room `src/crawl/page`: from a page's bytes to links, title and directives. Pure except for the parser it drives; no lease,
 * no network.
 */

/**
 * The built-in analyzer: reads links, title and the directives about following in one streaming pass over the bytes.
 *
 *   bytes ─▶ charset ─▶ text ─▶ tags ─▶ hrefs ─▶ resolved against <base>, each once
 *
 *   followed      a, area: href · iframe, frame: src · link: canonical, next, prev · meta refresh
 *   not followed  rel=nofollow · all of a page with meta robots nofollow, or X-Robots-Tag, to all or to us by name
 *
 *   I1  At most `maxLinks` links and TITLE_MAX characters of title are kept, whatever the page holds.
 *   I2  Linear in the page; other work gets its turn during a long one (html-tags.ts).
 */
import { kind, readObject, shape, TEXT, whole } from "../../base/fields.ts";
import { isList } from "../../base/type-guards.ts";
import { resolveLinks } from "../../index.ts";
import { detectCharset } from "./charset.ts";
import { USER_AGENT } from "../http/downloader.ts";
import type { Extract } from "../module-registry.ts";
import { encodeQueries } from "./query-encoding.ts";
import { productOf } from "../robots/robots-rules.ts";
import {
  bothDirectives,
  type RobotsDirectives,
  robotsMeta,
  robotsTag,
} from "../robots/robots-meta.ts";
import type { TextDigest } from "./text-digest.ts";
import { type Attributes, readTags, type TagSink } from "./html-tags.ts";

/** Input of `extractPage`. */
export interface ExtractOptions {
  /** URL of the page, against which relative links are resolved. */
  readonly url: string;
  /** The page. */
  readonly body: Buffer;
  /** Content-Type header. */
  readonly contentType: string;
  /** X-Robots-Tag header, or a list of them. */
  readonly robotsTag?: string | readonly string[];
  /** Product name under which a page may address robots rules. */
  readonly userAgent?: string;
  /** Most links; the others are counted as `tooMany`. 100,000 unless given. */
  readonly maxLinks?: number;
}

const readOptions = shape<ExtractOptions>(
  {
    url: TEXT,
    body: kind("a Buffer", Buffer.isBuffer),
    contentType: TEXT,
    robotsTag: kind(
      "a text or a list of texts",
      (value) =>
        typeof value === "string" ||
        (isList(value) && value.every((each) => typeof each === "string")),
    ),
    userAgent: TEXT,
    maxLinks: whole(0),
  },
  { needed: ["url", "body", "contentType"] },
);

const TITLE_MAX = 500;
const MAX_LINKS = 100_000;
/** Characters of meta robots beyond which no further element is read. */
const DIRECTIVES_MAX = 4_096;
const FOLLOWED_RELS = ["canonical", "next", "prev"];
/** The longest URL that is a link. */
const URL_BYTES_MAX = 8_192;
/** Most bytes that one letter becomes: three bytes of three letters each. */
const LETTER_BYTES_MAX = 9;
const HTML_TYPES = ["text/html", "application/xhtml+xml", ""];

/** Whether the built-in analyzer reads pages of a type. */
export function isHtmlType(contentType: string): boolean {
  return HTML_TYPES.includes(contentType);
}

/**
 * Reads a page. Costs one pass over it; rejects for no content of a page.
 *
 * @example
 * const { links } = await extractPage({ url, body, contentType: "text/html" });
 */
export async function extractPage(options: ExtractOptions): Promise<Extract> {
  return await readPage(readObject(readOptions, options, "options", "ARGUMENT_INVALID"));
}

/** As `extractPage`; the visible text goes to a digest as well. */
export async function readPage(options: ExtractOptions, digest?: TextDigest): Promise<Extract> {
  const { body, url } = options;
  const charset = detectCharset(body, options.contentType);
  const product = productOf(options.userAgent ?? USER_AGENT);
  const reader = createReader(options.maxLinks ?? MAX_LINKS, product, digest);
  await readTags(textOf(body, charset), reader.sink);
  const { found } = reader;
  const base = found.base === undefined ? url : (resolveLinks(url, [found.base])[0] ?? url);
  const tag = robotsTag(options.robotsTag ?? "", product);
  const isNoFollow = found.directives?.isNoFollow === true || tag.isNoFollow;
  const canonical =
    found.canonical === undefined
      ? undefined
      : resolveLinks(base, encodeQueries([found.canonical], charset))[0];
  const hrefs = isNoFollow ? [] : [...encodeQueries(found.hrefs, charset)];
  return {
    title: found.title.replace(/\s+/g, " ").trim(),
    textLength: found.textLength,
    charset,
    links: uniqueLinks(base, hrefs),
    tooLong: hrefs.filter((href) => isTooLong(base, href)).length,
    tooMany: isNoFollow ? 0 : found.tooMany,
    ...(canonical === undefined ? {} : { canonical }),
    isNoIndex: found.directives?.isNoIndex === true || tag.isNoIndex,
    isNoFollow,
    metaRobots: found.directives?.text ?? "",
  };
}

interface Found {
  readonly hrefs: Set<string>;
  /** Links beyond the maximum. */
  tooMany: number;
  base: string | undefined;
  canonical: string | undefined;
  title: string;
  textLength: number;
  /** Of its meta elements, as far as they are for us. */
  directives: RobotsDirectives | undefined;
}

/** Elements whose attributes are read. */
const WANTED: ReadonlySet<string> = new Set([
  "a",
  "area",
  "iframe",
  "frame",
  "base",
  "meta",
  "link",
]);

function createReader(
  maxLinks: number,
  product: string,
  digest: TextDigest | undefined,
): { found: Found; sink: TagSink } {
  const found: Found = {
    hrefs: new Set(),
    tooMany: 0,
    base: undefined,
    canonical: undefined,
    title: "",
    textLength: 0,
    directives: undefined,
  };
  let isTitle = false;
  let isSilent = false;
  let isLink = false;
  const add = (href: string | undefined): void => {
    if (href === undefined) return;
    if (found.hrefs.size < maxLinks) found.hrefs.add(href);
    else if (!found.hrefs.has(href)) found.tooMany++;
  };
  const sink: TagSink = {
    wants: (name) => WANTED.has(name) || (name === "img" && digest !== undefined),
    open(name, attributes) {
      if (name === "a" || name === "area") {
        isLink = name === "a" && attributes.href !== undefined;
        if (attributes.href !== undefined && !isNoFollowRel(attributes.rel)) add(attributes.href);
      } else if (name === "title") isTitle = found.title === "";
      else if (name === "script" || name === "style") isSilent = true;
      else if (name === "iframe" || name === "frame") add(attributes.src);
      else if (name === "base") found.base ??= attributes.href;
      else if (name === "meta") readMeta(found, attributes, { add, product });
      else if (name === "link") readLink(found, attributes, add);
      else if (name === "img") digest?.image(attributes.src ?? "");
    },
    text(length, read) {
      if (isSilent) return;
      digest?.add(read(), isLink);
      if (isTitle) found.title = (found.title + read()).slice(0, TITLE_MAX);
      else found.textLength += length;
    },
    close(name) {
      if (name === "title") isTitle = false;
      else if (name === "a") isLink = false;
      else if (name === "script" || name === "style") isSilent = false;
    },
  };
  return { found, sink };
}

function readMeta(
  found: Found,
  attributes: Attributes,
  { add, product }: { add: (href: string | undefined) => void; product: string },
): void {
  const content = attributes.content ?? "";
  if (attributes["http-equiv"]?.toLowerCase() === "refresh") add(refreshed(content));
  const name = attributes.name?.toLowerCase();
  if (name !== "robots" && name !== product) return;
  if ((found.directives?.text.length ?? 0) < DIRECTIVES_MAX)
    found.directives = bothDirectives(found.directives, robotsMeta(content));
}

/** The target of a refresh, as browsers read it: `3; url='next'`, `3,next`, `3 next`. */
function refreshed(content: string): string | undefined {
  const target = /^\s*(?:[\d.]+(?:\s*[;,]\s*|\s+)|[;,]\s*)(?:url\s*=\s*)?(.+)$/is.exec(
    content,
  )?.[1];
  const quote = target?.[0];
  if (target === undefined || (quote !== "'" && quote !== '"')) return target?.trim();
  return target.slice(1).split(quote, 1)[0]?.trim();
}

function readLink(
  found: Found,
  attributes: Attributes,
  add: (href: string | undefined) => void,
): void {
  const rels = (attributes.rel ?? "").toLowerCase().split(/\s+/);
  if (rels.includes("canonical")) found.canonical ??= attributes.href;
  if (rels.some((rel) => FOLLOWED_RELS.includes(rel))) add(attributes.href);
}

function isNoFollowRel(rel: string | undefined): boolean {
  return rel !== undefined && /(^|\s)nofollow(\s|$)/i.test(rel);
}

/** Resolved, each once; a fragment alone does not make another page. */
function uniqueLinks(base: string, hrefs: Iterable<string>): string[] {
  const links = new Set<string>();
  for (const link of resolveLinks(base, hrefs)) {
    const hash = link.indexOf("#");
    links.add(hash < 0 ? link : link.slice(0, hash));
  }
  return [...links];
}

/** Whether a link is an http(s) URL that was dropped only for its length. */
function isTooLong(base: string, href: string): boolean {
  if (base.length + LETTER_BYTES_MAX * href.length <= URL_BYTES_MAX) return false;
  if (!URL.canParse(href, base) || resolveLinks(base, [href]).length > 0) return false;
  return /^https?:$/.test(new URL(href, base).protocol);
}

function textOf(body: Buffer, charset: string): string {
  return charset === "utf-8" && body[0] !== 0xef
    ? body.toString("utf8")
    : new TextDecoder(charset).decode(body);
}
