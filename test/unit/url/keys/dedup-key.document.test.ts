/** The worked tables of docs/formats/canonical-url.md, row by row, so that page and code agree. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { BATCH_INVALID, BATCH_SCHEME } from "../../../../src/layout/calls/url-batch.ts";
import { type ParsedUrl, parseUrl } from "../../../../src/url/parsing/canonical-parser.ts";
import { visitUrl } from "../../../../src/url/keys/dedup-key.ts";
import { type KeyPolicy, normalizePolicy } from "../../../../src/url/keys/key-policy.ts";
import { canonicalizePlain } from "../../../support/plain-url.ts";

const page = readFileSync(
  new URL("../../../../docs/formats/canonical-url.md", import.meta.url),
  "utf8",
);

/** The rows of the table whose head line is given: of each cell, what stands in backticks. */
function rowsBelow(head: string): string[][][] {
  const lines = page.slice(page.indexOf(head)).split("\n").slice(2);
  const end = lines.findIndex((line) => !line.startsWith("|"));
  return lines.slice(0, end).map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((found) => found[1] as string)),
  );
}

/** A policy as the page writes it: an object's fields in JavaScript's notation. */
function policyOf(text: string | undefined): KeyPolicy {
  const json = (text ?? "").replaceAll("'", '"').replace(/(\w+):/g, '"$1":');
  return JSON.parse(`{${json}}`) as KeyPolicy;
}

describe("the page's tables", () => {
  it("of visit URLs holds", () => {
    const verdicts = new Map<string | undefined, number>([
      ["invalid-url", BATCH_INVALID],
      ["scheme", BATCH_SCHEME],
    ]);
    const rows = rowsBelow("| pushed | base | visit URL or verdict |");
    expect(rows.length).toBeGreaterThan(10);
    for (const [pushed = [], [base] = [], [expected] = []] of rows) {
      for (const text of pushed) {
        const parsedBase = base === undefined ? undefined : parseUrl(base, undefined, 8192);
        const result = parseUrl(text, parsedBase as ParsedUrl | undefined, 8192);
        const shown = typeof result === "number" ? result : visitUrl(result, normalizePolicy());
        expect([text, shown]).toEqual([text, verdicts.get(expected) ?? expected]);
      }
    }
  });

  it("of canonical keys holds", () => {
    const rows = rowsBelow("| pushed | policy | key |");
    expect(rows.length).toBeGreaterThan(8);
    for (const [[pushed] = [], [policy] = [], [expected] = []] of rows) {
      const key = canonicalizePlain(pushed as string, normalizePolicy(policyOf(policy)));
      expect([pushed, key]).toEqual([pushed, expected]);
    }
  });

  it("of what profile url visits holds", () => {
    const rows = rowsBelow("| pushed, profile `url` | policy | visited |");
    expect(rows.length).toBeGreaterThan(3);
    for (const [[pushed] = [], [policy] = [], [expected] = []] of rows) {
      const parsed = parseUrl(pushed as string, undefined, 8192) as ParsedUrl;
      const normal = normalizePolicy({ profile: "url", ...policyOf(policy) });
      expect([pushed, visitUrl(parsed, normal)]).toEqual([pushed, expected]);
    }
  });

  it("of w3lib keys holds", () => {
    const rows = rowsBelow("| rule | pushed | key |");
    expect(rows.length).toBeGreaterThan(10);
    for (const [, [pushed] = [], [expected] = []] of rows) {
      const key = canonicalizePlain(pushed as string, normalizePolicy({ profile: "w3lib" }));
      expect([pushed, key]).toEqual([pushed, expected]);
    }
  });
});
