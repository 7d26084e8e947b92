import { describe, expect, it } from "vitest";
import { extractPage } from "../../../../src/crawl/page/extract-page.ts";
import { encodeQueries } from "../../../../src/crawl/page/query-encoding.ts";

const url = "http://x.example/dir/page";

/** Links of a page in the encoding that its Content-Type names. */
async function linksOf(body: Buffer, charset: string): Promise<string[]> {
  const contentType = `text/html; charset=${charset}`;
  return (await extractPage({ url, body, contentType })).links;
}

describe("letters in the query of a link", () => {
  it.each([
    ["windows-1251", Buffer.from([0xef, 0xf0, 0xe8]), "%EF%F0%E8"],
    ["koi8-r", Buffer.from([0xd0, 0xd2, 0xc9]), "%D0%D2%C9"],
    ["iso-8859-1", Buffer.from([0xe9]), "%E9"],
    ["shift_jis", Buffer.from([0x93, 0xfa, 0x96, 0x7b]), "%93%FA%96%7B"],
    ["euc-jp", Buffer.from([0xc6, 0xfc, 0xcb, 0xdc]), "%C6%FC%CB%DC"],
    ["gbk", Buffer.from([0xd6, 0xd0]), "%D6%D0"],
    ["gb18030", Buffer.from([0xd6, 0xd0]), "%D6%D0"],
    ["big5", Buffer.from([0xa4, 0xa4]), "%A4%A4"],
    ["euc-kr", Buffer.from([0xc7, 0xd1]), "%C7%D1"],
    ["utf-8", Buffer.from("é"), "%C3%A9"],
  ])("are sent in the page's own encoding, %s", async (charset, letters, encoded) => {
    const body = Buffer.concat([Buffer.from("<a href='s?q="), letters, Buffer.from("&x=1#é'>")]);
    expect(await linksOf(body, charset)).toEqual([`http://x.example/dir/s?q=${encoded}&x=1`]);
  });

  it("that it has not are sent as their numbers; a path is UTF-8 in every page", async () => {
    const body = Buffer.from("<a href='/&#233;?q=&#9731;&#233;'>", "latin1");
    expect(await linksOf(body, "windows-1252")).toEqual([
      "http://x.example/%C3%A9?q=%26%239731%3B%E9",
    ]);
    expect(await linksOf(body, "utf-16le").then((links) => links.length)).toBe(0);
  });

  it("and what is there before stays as it is", async () => {
    const body = Buffer.from("<a href='?q=%E9%zz'><a href='x?q=a'>", "latin1");
    const links = ["http://x.example/dir/page?q=%E9%zz", "http://x.example/dir/x?q=a"];
    expect(await linksOf(body, "windows-1251")).toEqual(links);
  });

  it("of the canonical form are sent as those of the same link are", async () => {
    const body = Buffer.from("<link rel=canonical href='/c?q=\xef'>", "latin1");
    const page = await extractPage({ url, body, contentType: "text/html; charset=windows-1251" });
    expect([page.canonical, ...page.links]).toEqual(Array(2).fill("http://x.example/c?q=%EF"));
  });

  it("of question marks alone, however many, are read once", () => {
    // It took half a minute where what stands behind each of them was looked through.
    const marks = "?".repeat(200_000);
    const [plain, lettered, behind] = encodeQueries(
      [marks, `${marks}é`, `${marks}#é`],
      "windows-1252",
    );
    expect([plain === marks, lettered === `${marks}%E9`, behind === `${marks}#é`]).toEqual([
      true,
      true,
      true,
    ]);
  });
});
