/**
 * The built-in analyzer: links, title and what markup says about following, read in one streaming pass over the bytes.
 *
 *   bytes ─▶ charset ─▶ text ─▶ tags ─▶ hrefs ─▶ resolved against <base>, each once
 *
 *   followed      a, area: href · iframe, frame: src · link: canonical, next, prev · meta refresh
 *   not followed  rel=nofollow · all of a page with meta robots nofollow, or X-Robots-Tag
 *
 *   I1  At most `maxLinks` links and TITLE_MAX characters of title are kept, whatever the page holds.
 *   I2  Linear in the page; a long one lets others have their turn meanwhile (tags.ts).
 */
import { resolveLinks } from "../index.ts";
import { detectCharset } from "./charset.ts";
import type { Extract } from "./modules.ts";
import { encodeQueries } from "./query-encoding.ts";
import { type Attributes, readTags, type TagSink } from "./tags.ts";

export interface ExtractOptions {
  readonly url: string;
  readonly body: Buffer;
  /** Content-Type as it was sent. */
  readonly contentType: string;
  /** X-Robots-Tag as it was sent. */
  readonly robotsTag?: string;
  readonly maxLinks?: number;
}

const TITLE_MAX = 500;
const MAX_LINKS = 100_000;
const FOLLOWED_RELS = ["canonical", "next", "prev"];
const HTML_TYPES = ["text/html", "application/xhtml+xml", ""];

/** Whether the built-in analyzer reads pages of a type. */
export function isHtmlType(contentType: string): boolean {
  return HTML_TYPES.includes(contentType);
}

/**
 * Reads a page. Costs one pass over it; throws nothing for what a page can hold.
 *
 * @example
 * const { links } = await extractPage({ url, body, contentType: "text/html" });
 */
export async function extractPage(options: ExtractOptions): Promise<Extract> {
  const { body, url } = options;
  const charset = detectCharset(body, options.contentType);
  const reader = createReader(options.maxLinks ?? MAX_LINKS);
  await readTags(textOf(body, charset), reader.sink);
  const { found } = reader;
  const base = found.base === undefined ? url : (resolveLinks(url, [found.base])[0] ?? url);
  const tag = directives(options.robotsTag ?? "");
  const isNoFollow = found.isNoFollow || tag.isNoFollow;
  const canonical =
    found.canonical === undefined
      ? undefined
      : resolveLinks(base, encodeQueries([found.canonical], charset))[0];
  return {
    title: found.title.replace(/\s+/g, " ").trim(),
    textLength: found.textLength,
    charset,
    links: isNoFollow ? [] : uniqueLinks(base, encodeQueries(found.hrefs, charset)),
    ...(canonical === undefined ? {} : { canonical }),
    isNoIndex: found.isNoIndex || tag.isNoIndex,
    isNoFollow,
  };
}

interface Found {
  readonly hrefs: Set<string>;
  base: string | undefined;
  canonical: string | undefined;
  title: string;
  textLength: number;
  isNoFollow: boolean;
  isNoIndex: boolean;
}

/** Elements whose attributes say something. */
const WANTED: ReadonlySet<string> = new Set([
  "a",
  "area",
  "iframe",
  "frame",
  "base",
  "meta",
  "link",
]);

function createReader(maxLinks: number): { found: Found; sink: TagSink } {
  const found: Found = {
    hrefs: new Set(),
    base: undefined,
    canonical: undefined,
    title: "",
    textLength: 0,
    isNoFollow: false,
    isNoIndex: false,
  };
  let isTitle = false;
  let isSilent = false;
  const add = (href: string | undefined): void => {
    if (href !== undefined && found.hrefs.size < maxLinks) found.hrefs.add(href);
  };
  const sink: TagSink = {
    wants: (name) => WANTED.has(name),
    open(name, attributes) {
      if (name === "a" || name === "area") {
        if (attributes.href !== undefined && !isNoFollowRel(attributes.rel)) add(attributes.href);
      } else if (name === "title") isTitle = found.title === "";
      else if (name === "script" || name === "style") isSilent = true;
      else if (name === "iframe" || name === "frame") add(attributes.src);
      else if (name === "base") found.base ??= attributes.href;
      else if (name === "meta") readMeta(found, attributes, add);
      else if (name === "link") readLink(found, attributes, add);
    },
    text(length, read) {
      if (isSilent) return;
      if (isTitle) found.title = (found.title + read()).slice(0, TITLE_MAX);
      else found.textLength += length;
    },
    close(name) {
      if (name === "title") isTitle = false;
      else if (name === "script" || name === "style") isSilent = false;
    },
  };
  return { found, sink };
}

function readMeta(
  found: Found,
  attributes: Attributes,
  add: (href: string | undefined) => void,
): void {
  const content = attributes.content ?? "";
  if (attributes["http-equiv"]?.toLowerCase() === "refresh") {
    add(/^[\s\d.]*[;,]\s*(?:url\s*=\s*)?["']?([^"']+)/i.exec(content)?.[1]?.trim());
  }
  if (attributes.name?.toLowerCase() !== "robots") return;
  const { isNoFollow, isNoIndex } = directives(content);
  found.isNoFollow ||= isNoFollow;
  found.isNoIndex ||= isNoIndex;
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

function directives(text: string): { isNoFollow: boolean; isNoIndex: boolean } {
  const words = text.toLowerCase().split(/[\s,:]+/);
  const isNone = words.includes("none");
  return {
    isNoFollow: isNone || words.includes("nofollow"),
    isNoIndex: isNone || words.includes("noindex"),
  };
}

function isNoFollowRel(rel: string | undefined): boolean {
  return rel !== undefined && /(^|\s)nofollow(\s|$)/i.test(rel);
}

/** Resolved, each once; the fragment alone makes no other page. */
function uniqueLinks(base: string, hrefs: Iterable<string>): string[] {
  const links = new Set<string>();
  for (const link of resolveLinks(base, hrefs)) {
    const hash = link.indexOf("#");
    links.add(hash < 0 ? link : link.slice(0, hash));
  }
  return [...links];
}

function textOf(body: Buffer, charset: string): string {
  return charset === "utf-8" && body[0] !== 0xef
    ? body.toString("utf8")
    : new TextDecoder(charset).decode(body);
}
