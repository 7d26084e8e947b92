/**
 * Feeds: turns RSS 0.9 to 2.0 and Atom 1.0 into requests for the pages of their entries. The date of an entry is stored as `lastmod`, as
 * that of a sitemap is.
 *
 *   item    RSS    link, else a guid that is one · pubDate, dc:date
 *   entry   Atom   link whose rel is alternate or missing · updated, else published
 *
 *   I1  Only what stands directly in an entry counts: not the links of its text, nor those of the feed that it was taken from.
 *       A relative link is one of `xml:base`, of its own or of what it stands in, else of the feed's URL.
 *   I2  At most FEED_ENTRIES_MAX entries are read.
 */
import type { RequestInput } from "../../index.ts";
import { type Attributes, readTags } from "../page/html-tags.ts";

const FEED_ENTRIES_MAX = 10_000;
/** Letters of one field that are read. */
const FIELD_LETTERS_MAX = 8_192;

const FEED_TYPES: readonly string[] = ["application/rss+xml", "application/atom+xml"];
/** What may stand before the root: how it begins and ends. */
const PROLOGUE = [
  ["<?", "?>"],
  ["<!--", "-->"],
  ["<!", ">"],
] as const;
const ENTRIES = new Set(["item", "entry"]);
const ROOTS = new Set(["feed", "rss", "rdf:rdf", "channel"]);
/** Fields by name: the first that an entry has counts. */
const LINKS = ["link", "guid", "id"];
const DATES = ["updated", "pubdate", "dc:date", "published"];

/** Whether a content type is that of a feed. */
export function isFeedType(type: string): boolean {
  return FEED_TYPES.includes(type);
}

/** Whether a document begins as a feed does, whatever its content type. Linear. */
export function isFeedText(text: string): boolean {
  let rest = text.slice(0, FIELD_LETTERS_MAX).trimStart();
  for (;;) {
    const end = PROLOGUE.find(([begin]) => rest.startsWith(begin))?.[1];
    if (end === undefined) return /^<(?:rss|feed|rdf:RDF)[\s>]/i.test(rest);
    const at = rest.indexOf(end);
    if (at < 0) return false;
    rest = rest.slice(at + end.length).trimStart();
  }
}

/** The requests of a feed's entries, in its order. */
export async function readFeed(text: string, url: string): Promise<RequestInput[]> {
  const requests: RequestInput[] = [];
  let depth = 0;
  /** Depth of the entry that is open; 0: none. */
  let entryAt = 0;
  let field = "";
  let fields = new Map<string, string>();
  let [feedBase, base] = [url, url];
  const add = (name: string, letters: string): void => {
    const before = fields.get(name) ?? "";
    if (before.length < FIELD_LETTERS_MAX) fields.set(name, before + letters);
  };
  const sink = {
    wants: (name: string) => LINKS.includes(name) || ENTRIES.has(name) || ROOTS.has(name),
    open(name: string, attributes: Attributes) {
      depth++;
      field = "";
      if (entryAt === 0 && ENTRIES.has(name)) {
        entryAt = depth;
        fields = new Map();
        base = baseOf(attributes, feedBase);
      } else if (entryAt === 0 && ROOTS.has(name)) {
        feedBase = baseOf(attributes, feedBase);
      } else if (entryAt > 0 && depth === entryAt + 1) {
        if (name !== "guid" || attributes.ispermalink?.toLowerCase() !== "false") field = name;
        const { href, rel = "alternate" } = attributes;
        if (name !== "link" || href === undefined) return;
        field = "";
        if (rel.toLowerCase() === "alternate" && !fields.has("link"))
          add("link", pageOf(href, baseOf(attributes, base)) ?? href);
      }
    },
    text(_: number, read: () => string) {
      if (field !== "") add(field, read());
    },
    close(name: string) {
      field = "";
      if (depth === entryAt && ENTRIES.has(name)) {
        entryAt = 0;
        const request = requestOf(fields, base);
        if (request !== undefined && requests.length < FEED_ENTRIES_MAX) requests.push(request);
      }
      depth = Math.max(depth - 1, 0);
    },
  };
  await readTags(text, sink, true);
  return requests;
}

function baseOf({ "xml:base": own = "" }: Attributes, base: string): string {
  return own !== "" && URL.canParse(own, base) ? new URL(own, base).href : base;
}

function requestOf(fields: ReadonlyMap<string, string>, base: string): RequestInput | undefined {
  const url = firstOf(fields, LINKS, (link) => pageOf(link, base));
  if (url === undefined) return undefined;
  const lastmod = firstOf(fields, DATES, (date) => (date === "" ? undefined : date));
  return lastmod === undefined ? { url } : { url, data: { lastmod } };
}

function firstOf(
  fields: ReadonlyMap<string, string>,
  names: readonly string[],
  read: (text: string) => string | undefined,
): string | undefined {
  for (const name of names) {
    const found = read((fields.get(name) ?? "").trim());
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A link as the URL of a page; undefined for an identifier that is none. */
function pageOf(link: string, base: string): string | undefined {
  if (link === "" || !URL.canParse(link, base)) return undefined;
  const { href, protocol } = new URL(link, base);
  return protocol === "http:" || protocol === "https:" ? href : undefined;
}
