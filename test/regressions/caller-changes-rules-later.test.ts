/** Rules are the frontier's own once they are set: a snapshot in memory kept what their giver had made of them since. */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/base/clock.ts";
import type { Rule } from "../../src/engine/types/frontier-types.ts";
import { openMemoryRig } from "../support/durable-rig.ts";
import { createMemoryFiles } from "../support/memory-files.ts";

it("rules that their giver changes after they were set are kept in a file as they were set", async () => {
  for (const isGivenAtOpening of [true, false]) {
    const files = createMemoryFiles();
    const rules: Rule[] = [{ id: "a", match: { hosts: ["a.com"] }, share: { weight: 5 } }];
    const options = isGivenAtOpening ? { rules } : {};
    const { frontier } = await openMemoryRig(files, createVirtualClock(0), options);
    if (!isGivenAtOpening) frontier.setRules(rules);
    (rules[0]?.match?.hosts as string[])[0] = "b.com";
    rules.push({ id: "b" });
    await frontier.snapshot({ path: "/alone" });
    const again = await openMemoryRig(files, createVirtualClock(0), { from: "/alone" });
    const urls = ["http://a.com/", "http://b.com/", "http://c.com/"];
    expect(urls.map((url) => again.frontier.explain(url).rule)).toEqual([
      "a",
      undefined,
      undefined,
    ]);
  }
});
