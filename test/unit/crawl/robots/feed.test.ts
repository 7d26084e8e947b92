/** Feeds: what RSS and Atom list, and nothing of what stands in the text of an entry. */
import { describe, expect, it } from "vitest";
import { isFeedText, isFeedType, readFeed } from "../../../../src/crawl/robots/feed.ts";

const BASE = "https://news.example/feeds/all.xml";
const urlsOf = async (text: string): Promise<unknown[]> =>
  (await readFeed(text, BASE)).map(({ url }) => url);

describe("readFeed", () => {
  it("reads RSS 2.0: links, permanent identifiers, dates, in CDATA too", async () => {
    const text = `<?xml version="1.0"?><!-- a feed --><rss version="2.0" xmlns:dc="x"><channel>
      <title>News</title><link>https://news.example/</link>
      <image><link>https://news.example/logo</link></image>
      <item><title>1</title><link> https://news.example/1?a=1&amp;b=2 </link>
        <pubDate>Thu, 26 Nov 2026 08:00:00 GMT</pubDate></item>
      <item><guid isPermaLink="true">https://news.example/2</guid><dc:date>2026-11-25</dc:date></item>
      <item><guid isPermaLink="false">https://news.example/no</guid></item>
      <item><guid>urn:uuid:1</guid></item>
      <item><link><![CDATA[/3]]></link><guid>https://news.example/other</guid></item>
      <item><description>&lt;a href="https://news.example/in-text"&gt;</description></item>
    </channel></rss>`;
    expect(isFeedText(text)).toBe(true);
    expect(await readFeed(text, BASE)).toEqual([
      {
        url: "https://news.example/1?a=1&b=2",
        data: { lastmod: "Thu, 26 Nov 2026 08:00:00 GMT" },
      },
      { url: "https://news.example/2", data: { lastmod: "2026-11-25" } },
      { url: "https://news.example/3" },
    ]);
  });

  it("reads Atom: the alternate link alone, and not those of the text or of the feed it was taken from", async () => {
    const text = `<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="/feeds/all.xml"/>
      <link href="https://news.example/"/><updated>2026-11-26T00:00:00Z</updated>
      <entry><link rel="edit" href="/edit/1"/><link rel="enclosure" href="/1.mp3"/>
        <link rel="alternate" href="../1"/><link href="/second"/>
        <published>2026-01-01T00:00:00Z</published><updated>2026-02-02T00:00:00Z</updated>
        <source><id>https://else.example/</id><link href="https://else.example/"/></source>
        <content type="xhtml"><div><link href="/in-text"/><entry><link href="/nested"/></entry></div></content></entry>
      <entry><id>https://news.example/2</id><published>2026-01-01T00:00:00Z</published></entry>
      <entry><id>tag:news.example,2026:3</id></entry>
      <entry><link href="mailto:me@news.example"/></entry></feed>`;
    expect(isFeedText(text)).toBe(true);
    expect(await readFeed(text, BASE)).toEqual([
      { url: "https://news.example/1", data: { lastmod: "2026-02-02T00:00:00Z" } },
      { url: "https://news.example/2", data: { lastmod: "2026-01-01T00:00:00Z" } },
    ]);
  });

  it("reads RSS 1.0, whose items stand beside the channel", async () => {
    const text = `<rdf:RDF xmlns="http://purl.org/rss/1.0/"><channel><link>https://news.example/</link></channel>
      <item rdf:about="x"><link>https://news.example/1</link></item></rdf:RDF>`;
    expect(isFeedText(text)).toBe(true);
    expect(await urlsOf(text)).toEqual(["https://news.example/1"]);
  });

  it("resolves links against xml:base, of the feed, the entry and the link", async () => {
    const text = `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/blog/">
      <entry><link href="1"/></entry>
      <entry xml:base="2026/"><link href="2"/></entry>
      <entry xml:base="2026/"><link xml:base="11/" href="3"/></entry>
      <entry><id>tag:x</id><link href="/4"/></entry></feed>`;
    const at = "https://news.example";
    expect(await urlsOf(text)).toEqual([
      ...[`${at}/blog/1`, `${at}/blog/2026/2`, `${at}/blog/2026/11/3`, `${at}/4`],
    ]);
    const rss = `<rss xml:base="https://else.example/a/"><channel><item><link>5</link></item></channel></rss>`;
    expect(await urlsOf(rss)).toEqual(["https://else.example/a/5"]);
  });

  it("survives what is broken or meant to harm", async () => {
    expect(await urlsOf("<rss><item><link>https://a.example/1")).toEqual([]);
    expect(await urlsOf("</item></rss><item><link>https://a.example/1</link></item>")).toEqual([
      "https://a.example/1",
    ]);
    expect(
      await urlsOf(`<rss><item><link>${"x".repeat(1 << 20)}</link></item></rss>`),
    ).toHaveLength(1);
    const many = "<item><link>https://a.example/1</link></item>".repeat(10_010);
    expect(await urlsOf(`<rss>${many}</rss>`)).toHaveLength(10_000);
    const nested = "<item>".repeat(50_000);
    expect(await urlsOf(`<rss>${nested}`)).toEqual([]);
  });

  it("tells feeds from other documents", () => {
    expect(isFeedText("<urlset><url/></urlset>")).toBe(false);
    expect(isFeedText("<html><body><rss></body></html>")).toBe(false);
    expect(isFeedText(`<!--${"-".repeat(100_000)}`)).toBe(false);
    expect(isFeedText("<!-- -->".repeat(1_000))).toBe(false);
    expect(isFeedType("application/rss+xml")).toBe(true);
    expect(isFeedType("text/html")).toBe(false);
  });
});
