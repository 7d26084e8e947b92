import { expect, it, onTestFinished } from "vitest";
import { openFrontier } from "../../../../src/index.ts";
import { createGivenRecords } from "../../../../src/server/crawls/given-records.ts";

it("has a queue while it has URLs in any state, by its own key alone", async () => {
  const frontier = await openFrontier({ keepOpen: true, defaults: { maxAttempts: 1 } });
  onTestFinished(() => frontier.close());
  const records = createGivenRecords(frontier);
  await frontier.push("http://leased.com/");
  const lease = frontier.poll();
  await frontier.push("http://pending.com/");
  await frontier.push({ url: "http://host.com/", hostKey: "queue" });
  await frontier.put("http://done.com/");
  await frontier.put("http://waiting.com/", { dueAt: Date.now() + 3_600_000 });
  for (const key of ["pending.com", "leased.com", "queue", "done.com", "waiting.com"]) {
    expect([key, await records.has(key)]).toEqual([key, true]);
  }
  for (const key of ["host.com", "other.com", ""]) {
    expect([key, await records.has(key)]).toEqual([key, false]);
  }
  lease?.fail("broken");
  expect((await frontier.report()).failed).toBe(1);
  expect(await records.has("leased.com")).toBe(true);
  await frontier.remove({ host: "pending.com" });
  expect(await records.has("pending.com")).toBe(false);
  expect(await records.isAlone("host.com")).toBe(false);
  expect(await records.isAlone("done.com")).toBe(true);
});
