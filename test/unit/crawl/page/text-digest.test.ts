import { describe, expect, it } from "vitest";
import { readPage } from "../../../../src/crawl/page/extract-page.ts";
import {
  createTextDigest,
  distance,
  type Similarity,
} from "../../../../src/crawl/page/text-digest.ts";
import { createRandom } from "../../../../src/base/random.ts";
import { testSeed } from "../../../support/seed.ts";

async function digestOf(html: string) {
  const digest = createTextDigest("http://a.example/");
  const body = Buffer.from(html);
  await readPage({ url: "http://a.test/", body, contentType: "text/html; charset=utf-8" }, digest);
  return { content: digest.content(), similarity: digest.similarity() };
}

describe("the digest of a page's text", () => {
  it("does not see markup, white space, comments, scripts and styles", async () => {
    const { content } = await digestOf("<title>T</title><p>one two</p>\n<p>three</p>");
    const same = [
      "<title>T</title><!-- made at 12:03:22 --><p class=x>one\n\n two</p><p>three</p>",
      "<title>T</title><p>one two<script>var t = 1732</script><style>p{}</style> three",
      "<title> T </title><div>one&nbsp;two</div><a href='?sid=7'>three</a>",
    ];
    for (const html of same)
      expect([html, (await digestOf(html)).content]).toEqual([html, content]);
    const other = ["<title>U</title><p>one two<p>three", "<title>T</title><p>one two<p>four"];
    for (const html of [...other, "<title>T</title><p>two one<p>three", ""])
      expect((await digestOf(html)).content).not.toBe(content);
  });

  it("is another for every other text of many", () => {
    const random = createRandom(testSeed("text digest"));
    const seen = new Set<string>();
    for (let n = 0; n < 20_000; n++) {
      const digest = createTextDigest();
      digest.add(`page ${n} of ${random.below(3)} words`);
      seen.add(digest.content());
    }
    expect(seen.size).toBeGreaterThan(19_990 - 10);
  });

  it("is alike for texts that share most of their words, and not for others", () => {
    const random = createRandom(testSeed("similarity"));
    const letters = "abcdefghijklmnopqrstuvwxyz";
    const words = (count: number): string[] =>
      Array.from({ length: count }, () =>
        Array.from({ length: 3 }, () => letters[random.below(26)]).join(""),
      );
    const of = (text: string[]) => {
      const digest = createTextDigest("http://a.example/");
      digest.add(text.join(" "));
      return digest.similarity() as Similarity;
    };
    for (let round = 0; round < 200; round++) {
      const text = words(200);
      const like = [...text];
      like[random.below(200)] = "other";
      expect(distance(of(text), of(like))).toBeLessThanOrEqual(12);
      expect(distance(of(text), of(words(200)))).toBeGreaterThan(12);
    }
  });

  it("compares no text of a few words", () => {
    const digest = createTextDigest("http://a.example/");
    digest.add("not found");
    expect(digest.similarity()).toBeUndefined();
  });
});
