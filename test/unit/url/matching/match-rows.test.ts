import { describe, expect, it } from "vitest";
import { createVirtualClock, openFrontier } from "../../../../src/index.ts";
import { createRandom } from "../../../../src/base/random.ts";
import { testSeed } from "../../../support/seed.ts";

/** More hosts than the memo has places for: sets overflow, and hosts come back after they made way. */
const HOSTS = 90_000;
const DOMAINS = 61;

describe("the rules of a batch", () => {
  it("are those of the hosts' domains, whether a host is met first, again, or after it made way", async () => {
    // Every third domain has no rule.
    const rules = Array.from({ length: DOMAINS }, (_, n) => n)
      .filter((n) => n % 3 !== 0)
      .map((n) => ({ id: `d${n}`, match: { domains: [`d${n}.example`] } }));
    const frontier = await openFrontier({ clock: createVirtualClock(), rules, keepOpen: true });
    const random = createRandom(testSeed("rules of a batch"));
    const due = new Map<string, number>();
    let refused = 0;
    for (let round = 0; round < 3; round++) {
      const urls: string[] = [];
      for (let n = 0; n < 45_000; n++) {
        const host = random.below(HOSTS);
        const domain = host % DOMAINS;
        urls.push(`http://h${host}.d${domain}.example/${round}/${n}`);
        if (domain % 3 === 0) refused++;
        else due.set(`d${domain}`, (due.get(`d${domain}`) ?? 0) + 1);
      }
      frontier.pushMany(urls);
    }
    const report = frontier.report();
    expect(report.rejected).toEqual({ "no-rule": refused });
    for (const [id, count] of due) expect(report.rules[id]?.pending, id).toBe(count);
    await frontier.close();
  });

  it("tell hosts apart that differ in their last letter alone, at every length", async () => {
    const names: string[] = [];
    for (let length = 1; length <= 80; length++) {
      const stem = "abcdefghij".repeat(8).slice(0, length - 1);
      for (const last of ["x", "y"]) {
        const flat = stem + last;
        // A label has 63 letters at most.
        names.push(flat.length <= 60 ? flat : `${flat.slice(0, 40)}.${flat.slice(40)}`);
      }
    }
    const rules = names.map((name) => ({ id: name, match: { hosts: [name] } }));
    const frontier = await openFrontier({ clock: createVirtualClock(), rules, keepOpen: true });
    for (let round = 0; round < 3; round++) {
      frontier.pushMany(names.map((name) => `https://${name}/${round}`));
    }
    const report = frontier.report();
    for (const name of names) expect(report.rules[name]?.pending, name).toBe(3);
    await frontier.close();
  });

  it("reach as deep as each of them says, on hosts known and new", async () => {
    const rules = [
      { id: "shallow", maxDepth: 1, match: { domains: ["a.example"] } },
      { id: "deep", maxDepth: 3, match: { domains: ["b.example"] } },
      { id: "endless", match: { domains: ["c.example"] } },
    ];
    const frontier = await openFrontier({ clock: createVirtualClock(), rules, keepOpen: true });
    frontier.push("http://c.example/0");
    for (let depth = 1; depth <= 5; depth++) {
      const [page] = frontier.pollMany(1);
      const found = ["a", "b"].flatMap((host) => [`http://${host}.example/${depth}`]);
      const answer = page?.done({ found: [...found, `http://c.example/${depth}`] });
      const reasons = [0, 1, 2].map((row) => answer?.verdict(row).reason);
      expect(reasons).toEqual([
        depth > 1 ? "too-deep" : undefined,
        depth > 3 ? "too-deep" : undefined,
        undefined,
      ]);
      for (const lease of frontier.pollMany(2)) {
        if (lease.rule === "endless") lease.release();
        else lease.done();
      }
    }
    await frontier.close();
  });

  it("are found anew after the set is swapped", async () => {
    const of = (id: string) => [{ id, match: { domains: ["a.example"] } }];
    const frontier = await openFrontier({
      clock: createVirtualClock(),
      rules: [...of("old"), { id: "other", match: { domains: ["b.example"] } }],
      keepOpen: true,
    });
    frontier.pushMany(["http://a.example/1", "http://b.example/1"]);
    frontier.setRules(of("new"));
    expect(frontier.push("http://a.example/2").admitted).toBe(true);
    expect(frontier.push("http://b.example/2").reason).toBe("no-rule");
    expect(frontier.report().rules.new?.pending).toBe(2);
    await frontier.close();
  });
});
