/**
 * Links beyond `maxFound` are refused, and change nothing of those before: a request with fields among them once made the strings before it
 * unreadable, so that they were lost as invalid.
 */
import { expect, it } from "vitest";
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import { verifyFrontier } from "../../src/engine/api/verify-frontier.ts";

it("admits the first maxFound links of a page, whatever stands behind them", async () => {
  const frontier = await openFrontier({ maxFound: 3, keepOpen: true });
  frontier.push("http://a.example/");
  const [lease] = frontier.pollMany(1);
  const links = [1, 2, 3].map((n) => `http://b.example/${n}`);
  const result = lease?.done({ found: [...links, { url: "http://b.example/4" }] });
  const verdicts = [0, 1, 2, 3].map(
    (at) => result?.verdict(at).reason ?? result?.verdict(at).status,
  );
  expect(verdicts).toEqual(["accepted", "accepted", "accepted", "max-found"]);
  const { accepted, duplicate, pushed, rejected } = frontier.report();
  expect([accepted, duplicate, pushed, rejected]).toEqual([4, 0, 5, { "max-found": 1 }]);
  expect(frontier.pollMany(9).map(({ url }) => url)).toEqual(links);
  verifyFrontier(frontier);
  await frontier.close();
});

it("counts no link behind the cut as a duplicate", async () => {
  const frontier = await openFrontier({ maxFound: 3, keepOpen: true });
  frontier.pushMany([1, 2, 3, 4, 5, 6].map((n) => `http://a.example/${n}`));
  const seen = [1, 2, 3, 4, 5, 6].map((n) => `http://a.example/${n}`);
  expect(frontier.pushMany(seen).duplicate).toBe(6);
  const [lease] = frontier.pollMany(1);
  lease?.done({ found: [1, 2, 3, 4, 5, 6].map((n) => `http://b.example/${n}`) });
  const { accepted, duplicate, rejected } = frontier.report();
  expect([accepted, duplicate, rejected]).toEqual([9, 6, { "max-found": 3 }]);
  await frontier.close();
});
