import { expect, it } from "vitest";
import { failedText } from "../../../../src/cli/output/outcome-text.ts";
import { readText } from "../../../support/package.ts";

it("has words for every reason that the guide lists, and names what permits a private address", () => {
  const [, section = ""] = readText("docs/guides/crawling.md").split("### Why a page failed\n");
  const rows = [...(section.split("\n## ")[0] ?? "").matchAll(/^\| (`.*?) \|/gm)];
  const reasons = rows.flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );
  expect(reasons.length).toBeGreaterThan(25);
  for (const reason of reasons) expect(failedText(String(reason))).not.toBe(reason);
  expect(failedText("address")).toContain("--allow-private");
  // What a module of the user's gave as a reason is shown as it is.
  expect(failedText("out of stock")).toBe("out of stock");
});
