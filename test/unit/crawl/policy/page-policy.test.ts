import { describe, expect, it } from "vitest";
import {
  policyNames,
  policyOf,
  type PolicySources,
} from "../../../../src/crawl/policy/page-policy.ts";
import { robotsMeta, robotsTag } from "../../../../src/crawl/robots/robots-meta.ts";
import { parseRobots } from "../../../../src/crawl/robots/robots-rules.ts";

const NOTHING: PolicySources = {
  ...{ headers: {}, robots: [], meta: undefined, nowMs: 0 },
  tag: robotsTag("", "outrider"),
};

describe("statements of robots.txt", () => {
  // The example of draft-ietf-aipref-attach-05.
  const example = `User-Agent: *
Allow: /
Disallow: /never/
Content-Usage: / train-ai=n
Content-Usage: /ai-ok/ train-ai=y

User-Agent: ExampleBot
Allow: /
Content-Usage: / train-ai=y
`;
  const textsFor = (text: string, path: string, agent = "Outrider"): string[] =>
    parseRobots(text)
      .statements(agent, `https://a.example${path}`)
      .map(({ kind, text: said, line }) => `${kind} ${said} ${line}`);

  it("those of our group with the longest path hold", () => {
    expect(textsFor(example, "/test")).toEqual(["content-usage train-ai=n 4"]);
    expect(textsFor(example, "/ai-ok/test")).toEqual(["content-usage train-ai=y 5"]);
    expect(textsFor(example, "/ai-ok/test", "ExampleBot/2.0")).toEqual([
      "content-usage train-ai=y 9",
    ]);
  });

  it("without a path they hold for all, and of equal paths all count", () => {
    const text = `User-agent: *
Content-Signal: search=yes,ai-train=no # ours
Content-usage: train-ai=y
Content-Usage: / train-ai=n
Content-Usage: /*.pdf search=n
Content-Usage:
Disallow:`;
    expect(textsFor(text, "/a")).toEqual([
      "content-signal search=yes,ai-train=no 2",
      "content-usage train-ai=y 3",
      "content-usage train-ai=n 4",
    ]);
    expect(textsFor(text, "/a.pdf")).toEqual([
      "content-signal search=yes,ai-train=no 2",
      "content-usage search=n 5",
    ]);
  });

  it("they hold for the names before them, and change no rule of others", () => {
    const text = `User-agent: *
Content-Signal: ai-train=no
User-agent: otherbot
Disallow: /`;
    expect(textsFor(text, "/")).toEqual(["content-signal ai-train=no 2"]);
    expect(textsFor(text, "/", "otherbot")).toEqual([]);
    // As Google's parser has it, no such line ends the names of a group.
    expect(parseRobots(text).isAllowed("Outrider", "https://a.example/")).toBe(false);
  });
});

describe("a page's policy", () => {
  it("is nothing where nothing is said", () => {
    expect(policyOf(NOTHING)).toBeUndefined();
    expect(policyOf({ ...NOTHING, headers: { "content-type": "text/html" } })).toBeUndefined();
  });

  it("has what forbids from wherever it is said, and every statement", () => {
    const policy = policyOf({
      ...NOTHING,
      robots: [
        { source: "robots.txt", kind: "content-usage", text: "train-ai=n, search=y", line: 2 },
        { source: "robots.txt", kind: "content-signal", text: "search=yes, ai-train=yes", line: 3 },
      ],
      headers: {
        "content-usage": ["train-ai=y", "ai-use=y"],
        "content-signal": "ai-train=no, use=full",
      },
      tag: robotsTag(["nofollow", "otherbot: noindex"], "outrider"),
      meta: robotsMeta("NOINDEX, noarchive"),
    });
    expect(policy).toEqual({
      usage: { "train-ai": "disallow", search: "allow", "ai-use": "allow" },
      signals: { search: "yes", "ai-train": "no", use: "full" },
      ...{ isNoIndex: true, isNoFollow: true },
      statements: [
        { source: "robots.txt", kind: "content-usage", text: "train-ai=n, search=y", line: 2 },
        { source: "robots.txt", kind: "content-signal", text: "search=yes, ai-train=yes", line: 3 },
        { source: "header", kind: "content-usage", text: "train-ai=y, ai-use=y" },
        { source: "header", kind: "content-signal", text: "ai-train=no, use=full" },
        { source: "header", kind: "robots", text: "nofollow" },
        { source: "meta", kind: "robots", text: "NOINDEX, noarchive" },
      ],
    });
    expect(policyNames(policy as NonNullable<typeof policy>)).toEqual([
      ...["train-ai=disallow", "search=allow", "ai-use=allow"],
      ...["search=yes", "ai-train=no", "use=full", "noindex", "nofollow"],
    ]);
  });

  it("is noindex from the time of unavailable_after on, however its date is written", () => {
    const at = (text: string, nowMs: number): unknown => {
      const tag = robotsTag(text, "outrider");
      const policy = policyOf({ ...NOTHING, tag, nowMs });
      return [policy?.isNoIndex, policy?.unavailableAfterMs];
    };
    const endMs = Date.UTC(2025, 7, 25, 15);
    for (const date of [
      "Mon, 25 Aug 2025 15:00:00 GMT",
      "Monday, 25-Aug-25 15:00:00 UTC",
      "25 Aug 2025 15:00:00 UTC",
      "2025-08-25T15:00:00Z",
    ]) {
      expect(at(`noarchive, unavailable_after: ${date}`, endMs - 1)).toEqual([false, endMs]);
      expect(at(`unavailable_after: ${date}, noarchive`, endMs)).toEqual([true, endMs]);
      expect(at(`outrider: unavailable_after: ${date}`, endMs)).toEqual([true, endMs]);
      expect(at(`otherbot: unavailable_after: ${date}`, endMs)).toEqual([undefined, undefined]);
    }
    expect(at("unavailable_after: never", endMs)).toEqual([false, undefined]);
    // A date is no directive: none of its words counts.
    expect(robotsTag("unavailable_after: none", "outrider").isNoFollow).toBe(false);
  });

  it("a directive's value is no directive of its own", () => {
    const text = "max-image-preview: none, max-snippet:0, max-video-preview:-1, noarchive";
    for (const read of [robotsTag(text, "outrider"), robotsMeta(text)])
      expect([read.isNoIndex, read.isNoFollow, read.text]).toEqual([
        ...[
          false,
          false,
          "max-image-preview: none, max-snippet:0, max-video-preview:-1, noarchive",
        ],
      ]);
    for (const after of ["max-image-preview:none, nofollow", "nofollow max-image-preview:none"])
      expect([robotsMeta(after).isNoIndex, robotsMeta(after).isNoFollow]).toEqual([false, true]);
  });

  it("keeps a bounded number of statements, and counts them all", () => {
    const many = Array.from({ length: 1_000 }, (_, at) => ({
      ...{ source: "robots.txt" as const, kind: "content-usage" as const, line: at },
      text: at === 999 ? "train-ai=n" : `search=y;${"x".repeat(1_000)}`,
    }));
    const policy = policyOf({ ...NOTHING, robots: many });
    expect(policy?.usage).toEqual({ search: "allow", "train-ai": "disallow" });
    expect(policy?.statements).toHaveLength(32);
    expect(policy?.statements[0]?.text).toHaveLength(500);
  });
});
