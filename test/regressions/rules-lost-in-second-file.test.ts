/**
 * The rules that a frontier goes on under are written to the next file too: a frontier that had them from a file lost them in the
 * second one. And they are those that it was opened with, whatever their giver makes of them while a directory is being opened.
 */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import type { Rule } from "../../src/engine/types/frontier-types.ts";
import { openMemoryRig, openRig } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

const URLS = ["http://a.com/news/1", "http://a.com/", "http://b.com/"];
const rulesNow = (): Rule[] => [
  { id: "news", match: { domains: ["a.com"], pattern: "/news/" }, share: { weight: 5 } },
  { id: "rest", match: { hosts: ["a.com"], schemes: ["http"] }, maxDepth: 3 },
];

it("rules that came with a file go along into the next one", async () => {
  const files = createMemoryFiles();
  const first = await openMemoryRig(files, createVirtualClock(0), { rules: rulesNow() });
  await first.frontier.snapshot({ path: "/first" });
  const second = await openMemoryRig(files, createVirtualClock(0), { from: "/first" });
  await second.frontier.snapshot({ path: "/second" });
  const third = await openMemoryRig(files, createVirtualClock(0), { from: "/second" });
  for (const { frontier } of [first, second, third]) {
    expect(URLS.map((url) => frontier.explain(url).rule)).toEqual(["rest", "rest", undefined]);
    expect(frontier.explain("https://a.com/news/1").rule).toBe("news");
  }
});

it("rules that their giver changes while a directory is opened are kept as they were given", async () => {
  const files = createMemoryFiles();
  const rules = rulesNow();
  const opening = openRig(files, createVirtualClock(0), { rules });
  rules.splice(0, 2, { id: "other" });
  const { frontier } = await opening;
  const before = URLS.map((url) => frontier.explain(url).rule);
  await frontier.close();
  const again = await openRig(files, createVirtualClock(0));
  expect(URLS.map((url) => again.frontier.explain(url).rule)).toEqual(before);
});
