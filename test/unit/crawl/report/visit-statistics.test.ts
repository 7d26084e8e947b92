import { expect, it } from "vitest";
import { createVisitStatistics } from "../../../../src/crawl/report/visit-statistics.ts";

it("keeps the last hundred URLs that failed, and counts all", () => {
  const statistics = createVisitStatistics();
  for (let at = 0; at < 250; at++) {
    statistics.failed({ url: `http://a.test/${at}`, reason: "status 404", depth: 0 });
  }
  expect(statistics.failedCount).toBe(250);
  expect(statistics.failing.map(({ url }) => url)).toEqual(
    Array.from({ length: 100 }, (_, at) => `http://a.test/${150 + at}`),
  );
});
