/**
 * The built-in analyzer: links, title and what markup says about following, read in one streaming pass over the bytes.
 *
 *   bytes ─▶ charset ─▶ text in slices ─▶ tags ─▶ hrefs ─▶ resolved against <base>, each once
 *
 *   followed      a, area: href · iframe, frame: src · link: canonical, next, prev · meta refresh
 *   not followed  rel=nofollow · all of a page with meta robots nofollow, or X-Robots-Tag
 *
 *   I1  At most `maxLinks` links and TITLE_MAX characters of title are kept, whatever the page holds.
 *   I2  A page of many slices lets others have their turn between them.
 */
import { Parser } from "htmlparser2";
import { resolveLinks } from "../index.ts";
import { detectCharset } from "./charset.ts";
import type { Extract } from "./modules.ts";

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
const SLICE_BYTES = 64 * 1024;
/** Slices between two turns of the event loop: about a megabyte, some ten milliseconds. */
const SLICES_PER_TURN = 16;
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
  const parser = new Parser(reader.handlers, { decodeEntities: true });
  if (body.length <= SLICE_BYTES) parser.write(textOf(body, charset));
  else {
    const decoder = new TextDecoder(charset);
    for (let at = 0, slice = 1; at < body.length; at += SLICE_BYTES, slice++) {
      parser.write(decoder.decode(body.subarray(at, at + SLICE_BYTES), { stream: true }));
      if (slice % SLICES_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    parser.write(decoder.decode());
  }
  parser.end();
  const { found } = reader;
  const base = found.base === undefined ? url : (resolveLinks(url, [found.base])[0] ?? url);
  const tag = directives(options.robotsTag ?? "");
  const isNoFollow = found.isNoFollow || tag.isNoFollow;
  const canonical =
    found.canonical === undefined ? undefined : resolveLinks(base, [found.canonical])[0];
  return {
    title: found.title.replace(/\s+/g, " ").trim(),
    textLength: found.textLength,
    charset,
    links: isNoFollow ? [] : uniqueLinks(base, found.hrefs),
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

function createReader(maxLinks: number): {
  found: Found;
  handlers: ConstructorParameters<typeof Parser>[0];
} {
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
  let silent = 0;
  const add = (href: string | undefined): void => {
    if (href !== undefined && found.hrefs.size < maxLinks) found.hrefs.add(href);
  };
  const handlers: ConstructorParameters<typeof Parser>[0] = {
    onopentag(name, attributes) {
      if (name === "a" || name === "area") {
        if (attributes.href !== undefined && !isNoFollowRel(attributes.rel)) add(attributes.href);
      } else if (name === "title") isTitle = found.title === "";
      else if (name === "script" || name === "style") silent++;
      else if (name === "iframe" || name === "frame") add(attributes.src);
      else if (name === "base") found.base ??= attributes.href;
      else if (name === "meta") readMeta(found, attributes, add);
      else if (name === "link") readLink(found, attributes, add);
    },
    ontext(text) {
      if (silent > 0) return;
      if (isTitle) found.title = (found.title + text).slice(0, TITLE_MAX);
      else found.textLength += text.length;
    },
    onclosetag(name) {
      if (name === "title") isTitle = false;
      else if ((name === "script" || name === "style") && silent > 0) silent--;
    },
  };
  return { found, handlers };
}

type Attributes = Readonly<Record<string, string | undefined>>;

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
