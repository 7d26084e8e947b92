import { expect, it, onTestFinished } from "vitest";
import { readFirstRecords } from "../../../../src/engine/api/first-records.ts";
import { coreOf } from "../../../../src/engine/api/verify-frontier.ts";
import { listRecords } from "../../../../src/frontier/records/record-walk.ts";
import { openFrontier } from "../../../../src/index.ts";

const URLS = 2_000;
const MOST = 100;

it("the first records of a large frontier are read without reading the others", async () => {
  const frontier = await openFrontier({ defaults: { politeness: { delayMs: 1_000 } } });
  onTestFinished(() => frontier.close());
  const urls = Array.from({ length: URLS }, (_, at) => `http://h${at % 200}.com/${at}`);
  frontier.pushMany(urls);
  frontier.pushMany(urls.map((url) => ({ url: `${url}/later`, notBefore: 4e12 })));
  for (const state of ["pending", "waiting"] as const) {
    const views = await readFirstRecords(frontier, state, MOST);
    expect(views).toEqual([...frontier.records({ state })].slice(0, MOST));
    expect(listRecords(coreOf(frontier), new Set([state]), MOST).count).toBe(MOST);
    expect(listRecords(coreOf(frontier), new Set([state])).count).toBe(URLS);
  }
  expect(await readFirstRecords(frontier, "failed", MOST)).toEqual([]);
});
