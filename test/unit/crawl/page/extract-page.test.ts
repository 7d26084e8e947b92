import { describe, expect, it } from "vitest";
import { detectCharset } from "../../../../src/crawl/page/charset.ts";
import { extractPage } from "../../../../src/crawl/page/extract-page.ts";
import { isTrapUrl } from "../../../../src/crawl/page/trap-links.ts";
import { trapAnswer } from "../../../../src/crawl/synthetic-web/web-traps.ts";

const url = "http://x.example/dir/page";
const read = (html: string | Buffer, contentType = "text/html", robotsTag = "") =>
  extractPage({ url, body: Buffer.from(html as string), contentType, robotsTag });

describe("extractPage", () => {
  it("finds every form of link, resolved, each once, in the order of the page", async () => {
    const { links } = await read(`
      <a href="a">1</a><AREA HREF='/b?x=1&amp;y=2'><iframe src=//y.example/c></iframe>
      <link rel="stylesheet next" href="d"><link rel=stylesheet href=never.css>
      <meta http-equiv=Refresh content="3; URL='e'"><a href="a#top">again</a><a href=" f ">
      <a href="mailto:x@y">m</a><a href="javascript:go()">j</a><a href="data:text/html,x">d</a>
      <a href="#">h</a><a href="">e</a><a>none</a><a href="http://[bad">bad</a>`);
    expect(links).toEqual([
      "http://x.example/dir/a",
      "http://x.example/b?x=1&y=2",
      "http://y.example/c",
      "http://x.example/dir/d",
      "http://x.example/dir/e",
      "http://x.example/dir/f",
    ]);
  });

  it("takes the first base, wherever it stands, relative to the page", async () => {
    const html = `<a href=early><base href="/other/"><base href="/late/"><a href=x>`;
    expect((await read(html)).links).toEqual([
      "http://x.example/other/early",
      "http://x.example/other/x",
    ]);
  });

  it("keeps to nofollow on a link, on a page and in a header", async () => {
    const links = `<a rel="ugc NOFOLLOW" href=no><a rel=nofollowing href=yes>`;
    expect((await read(links)).links).toEqual(["http://x.example/dir/yes"]);
    expect((await read(`<meta name=ROBOTS content="noindex,nofollow">${links}`)).links).toEqual([]);
    expect(await read(links, "text/html", "none")).toMatchObject({ links: [], isNoIndex: true });
  });

  it.each([
    ["nofollow", true],
    ["noindex, NoFollow", true],
    ["outrider: nofollow", true],
    ["otherbot: nofollow", false],
    ["otherbot: noindex, nofollow", false],
    ["otherbot: noindex, outrider: nofollow", true],
    [["otherbot: noindex", "nofollow"], true],
    ["unavailable_after: Wed, 03 Dec 2025 13:09:53 GMT, nofollow", true],
    ["max-snippet: 0, nofollow", true],
    ["", false],
    [":", false],
  ] as const)("of X-Robots-Tag %j keeps what is for all and for us: %s", async (robotsTag, is) => {
    const body = Buffer.from("<a href=x>");
    const { isNoFollow, links } = await extractPage({ url, body, contentType: "", robotsTag });
    expect([isNoFollow, links.length]).toEqual([is, is ? 0 : 1]);
    const named = robotsTag.toString().replaceAll("outrider", "mine");
    const userAgent = "Mine/2.0 (+https://mine.example)";
    const mine = await extractPage({ url, body, contentType: "", robotsTag: named, userAgent });
    expect(mine.isNoFollow).toBe(named.includes("otherbot: noindex,nofollow") ? false : is);
  });

  it("keeps what a meta element says to us by name, and not what it says to others", async () => {
    const links = "<a href=x>";
    expect((await read(`<meta name=outrider content=nofollow>${links}`)).links).toEqual([]);
    expect((await read(`<meta name=otherbot content=nofollow>${links}`)).links).toHaveLength(1);
  });

  it.each([
    ["3; url=next", "next"],
    ["3;url='it is'", "it%20is"],
    [`0; URL = "a'b"`, "a'b"],
    ["0;url=it's", "it's"],
    ["0,next", "next"],
    ["0 next", "next"],
    ["0.5 ; next", "next"],
    [";url=next", "next"],
    ["0; url='cut", "cut"],
    ["5", undefined],
    ["5;", undefined],
    ["next", undefined],
    [" ".repeat(50_000), undefined],
    [`0${" ".repeat(50_000)};${" ".repeat(50_000)}`, undefined],
  ])("reads a refresh of %j as browsers do", async (content, to) => {
    const { links } = await read(
      `<meta http-equiv=refresh content="${content.replaceAll('"', "&quot;")}">`,
    );
    expect(links).toEqual(to === undefined ? [] : [`http://x.example/dir/${to}`]);
  });

  it.each([
    "javascript:alert(1)//",
    "data:text/html,",
    "mailto:x@y",
    "http://[bad",
    "",
    "#",
    "about:blank",
  ])("takes no base of %j", async (base) => {
    expect((await read(`<base href="${base}"><a href=x>`)).links).toEqual([
      "http://x.example/dir/x",
    ]);
  });

  it("counts the links that it leaves: too long as they are or when written, or beyond its bound", async () => {
    const long = "x".repeat(8_200);
    const body = Buffer.from(
      `<a href=/${long}><a href=/${"é".repeat(2_000)}><a href="mailto:${long}"><a href=/short>`,
    );
    const some = await extractPage({ url, body, contentType: "" });
    expect(some).toMatchObject({ links: ["http://x.example/short"], tooLong: 2, tooMany: 0 });
    const deep = `http://x.example/${"d".repeat(8_000)}/`;
    const far = Buffer.from(`<a href=/x><a href=${"y".repeat(500)}>`);
    expect(await extractPage({ url: deep, body: far, contentType: "" })).toMatchObject({
      links: ["http://x.example/x"],
      tooLong: 1,
    });
    const few = await extractPage({ url, body, contentType: "", maxLinks: 1 });
    expect(few).toMatchObject({ links: [], tooLong: 1, tooMany: 3 });
  });

  it("reads title, text and canonical form", async () => {
    const html = `<title> A
      &amp; B </title><link rel=canonical href=/c><script>var x = "<a href=no>"</script>four`;
    expect(await read(html)).toMatchObject({
      title: "A & B",
      textLength: 4,
      canonical: "http://x.example/c",
      links: ["http://x.example/c"],
    });
  });

  it.each([
    [
      "a byte order mark",
      Buffer.from("\ufeff<title>é</title>", "utf16le"),
      "text/html",
      "utf-16le",
    ],
    [
      "the header",
      Buffer.from("<title>é</title>", "latin1"),
      "text/html; charset=ISO-8859-1",
      "windows-1252",
    ],
    [
      "a meta element",
      Buffer.from("<meta charset=windows-1252><title>é</title>", "latin1"),
      "text/html",
      "windows-1252",
    ],
    ["its bytes", Buffer.from("<title>é</title>", "latin1"), "text/html", "windows-1252"],
    ["nothing at all", Buffer.from("<title>é</title>"), "text/html; charset=no-such", "utf-8"],
  ])("knows the charset by %s", async (_, body, contentType, charset) => {
    expect(await extractPage({ url, body, contentType })).toMatchObject({ charset, title: "é" });
  });

  it("decodes Shift_JIS in title and links", async () => {
    const body = trapAnswer("/charset")?.body as Buffer;
    const { title, links } = await extractPage({ url, body, contentType: "text/html" });
    expect(title).toBe("日本");
    expect(links).toEqual([`http://x.example/named/${encodeURIComponent("日本")}`]);
  });

  it("reads a page of 10 MB to its end and 100,000 links up to its bound", async () => {
    const huge = trapAnswer("/huge")?.body as string;
    expect((await read(huge)).links).toEqual([
      "http://x.example/end-of-start",
      "http://x.example/far",
    ]);
    const many = trapAnswer("/links")?.body as string;
    expect((await read(many)).links).toHaveLength(100_000);
    const some = await extractPage({ url, body: Buffer.from(many), contentType: "", maxLinks: 10 });
    expect(some.links).toHaveLength(10);
  });

  it("a million elements that nobody closes take no longer than a million that somebody does", async () => {
    const open = await read(`${"<b>".repeat(1_000_000)}<a href=x>`);
    expect(open.links).toEqual(["http://x.example/dir/x"]);
  });

  it("markup across the slices of a long page is put together again", async () => {
    for (const pad of [524_287, 524_280, 524_270]) {
      const html = `${" ".repeat(pad)}<a title="é" href="/a?b=1&amp;c=2">x</a><title>T &amp; U</title>`;
      expect(await read(html)).toMatchObject({
        title: "T & U",
        links: ["http://x.example/a?b=1&c=2"],
      });
    }
  });

  it("a character cut by a slice is put together again", async () => {
    const { title } = await read(`<!--${"é".repeat(40_000)}x--><title>é日</title>`);
    expect(title).toBe("é日");
  });
});

describe("detectCharset", () => {
  it("reads a header in time that grows with its length", () => {
    const blanks = " ".repeat(1_000_000); // the square of which would take hours
    const page = Buffer.from("x");
    expect(detectCharset(page, `text/html; charset=${blanks}; x`)).toBe("utf-8");
    expect(detectCharset(page, `text/html; charset${blanks}=${blanks}"${blanks}koi8-r"`)).toBe(
      "koi8-r",
    );
  });

  it("finds a meta element far down in the page, as browsers do, but not in a comment", () => {
    const far = (html: string, pad: number) =>
      Buffer.from(`${"<!-- -->".repeat(pad / 8)}${html}\xe9 x`, "latin1");
    const meta = "<meta http-equiv=content-type content='text/html; charset=koi8-r'>";
    for (const pad of [0, 1_024, 40_000]) expect(detectCharset(far(meta, pad), "")).toBe("koi8-r");
    expect(detectCharset(far(`<!--${meta}-->`, 0), "")).toBe("windows-1252");
    expect(detectCharset(far(`<!--${meta}--><META charset=koi8-u>`, 0), "")).toBe("koi8-u");
    expect(detectCharset(far(`<!--${meta}`, 0), "")).toBe("windows-1252");
    expect(detectCharset(far(`<meta name=x><meta charset=klingon>${meta}`, 0), "")).toBe("koi8-r");
    expect(detectCharset(Buffer.from("<meta".repeat(13_000)), "")).toBe("utf-8");
  });

  it("does not believe a page of plain bytes that says UTF-16, nor a label that nobody knows", () => {
    expect(detectCharset(Buffer.from("<meta charset=utf-16>"), "")).toBe("utf-8");
    expect(detectCharset(Buffer.from("<meta charset=klingon>"), "text/html; charset=x")).toBe(
      "utf-8",
    );
    expect(detectCharset(Buffer.alloc(0), "")).toBe("utf-8");
  });
});

describe("isTrapUrl", () => {
  it.each([
    ["http://x/a/b/c/d/e/f", false],
    ["http://x/", false],
    ["http://x", false],
    ["http://x/a/a/a/a", false],
    ["http://x/a/a/a/a/a", true],
    ["http://x/a/b/a/b/a/b/a/b/a/b", true],
    ["http://x/?q=/a/a/a/a/a/a/a", false],
    [`http://x/${Array.from({ length: 50 }, (_, n) => n).join("/")}`, true],
  ])("%s: %s", (link, isTrap) => expect(isTrapUrl(link)).toBe(isTrap));
});
