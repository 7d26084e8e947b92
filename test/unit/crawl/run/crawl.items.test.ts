/** Items of a crawl have a type: from the analyzer through the pipelines to the event. */
import { expect, expectTypeOf, it } from "vitest";
import { crawl } from "../../../../src/crawl.ts";

interface Item {
  readonly title: string;
}

it("crawl<Item> types analyzers, pipelines and the event item", async () => {
  const run = crawl<Item>({
    seeds: "https://a.example/",
    robots: false,
    delayMs: 0,
    downloaders: [
      {
        download: async ({ url }) => {
          const body = Buffer.from("<title>A</title>");
          const headers = { "content-type": "text/html" };
          return { url, status: 200, headers, body, bytes: body.length, latencyMs: 0 };
        },
      },
    ],
    analyzers: [
      { analyze: async (page) => ({ items: [(await page.extract()).title].map(itemOf) }) },
    ],
    pipelines: [
      {
        processors: [
          (item) => {
            expectTypeOf(item).toEqualTypeOf<Item>();
            return item;
          },
        ],
      },
    ],
  });
  const items: Item[] = [];
  run.on("item", ({ item }) => items.push(item));
  await run.finished;
  expect(items).toEqual([{ title: "A" }]);
  const other = { analyze: () => ({ items: [{ name: "" }] }) };
  // @ts-expect-error: what is found must be an Item.
  const wrong = (): unknown => crawl<Item>({ analyzers: [other] });
  expect(wrong).toBeTypeOf("function");
});

function itemOf(title: string): Item {
  return { title };
}

it.each(["analyzers", "downloaders", "pipelines"] as const)(
  "a module among %s that exports an object without its function is refused by name",
  async (option) => {
    const path = new URL("data:text/javascript,export default {}");
    const run = crawl({ seeds: "https://a.example/", robots: false, [option]: [path] });
    await expect(run.finished).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  },
);
