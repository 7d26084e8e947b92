/** The published schema against the checks: whatever one refuses by its shape the other refuses too. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { givenRules, normalizeRules } from "../../../../src/frontier/rules/rule-specs.ts";
import { matchesSchema } from "../../../support/json-schema.ts";

const PATH = fileURLToPath(new URL("../../../../docs/rules.schema.json", import.meta.url));
const SCHEMA = JSON.parse(readFileSync(PATH, "utf8")) as Record<string, unknown>;

/** Rules in which every field and every alternative is given once. */
const RULES: ReadonlyArray<Record<string, unknown>> = [
  {
    id: "all",
    active: true,
    match: { hosts: ["a.com"], domains: ["b.com"], pattern: "/x", schemes: ["http", "https"] },
    share: { priority: 2, weight: 10 },
    seeds: ["http://a.com/[1-3]"],
    every: "1d 12h",
    key: {
      profile: "canonical",
      visit: "pushed",
      userInfo: "keep",
      fragment: "drop",
      sortQuery: true,
      keepParams: ["id"],
      methods: "in-key",
      exemptMethods: ["POST"],
      headers: ["accept"],
    },
    epoch: { calendar: "day", zone: "Europe/Berlin", undated: "forever" },
    order: "lifo",
    startLast: false,
    priority: 3,
    traversal: "depth-first",
    depthPriority: -1,
    maxDepth: 4,
    follow: true,
    freshHosts: 0.5,
    maxAttempts: 2,
    backoff: { baseMs: 5, factor: 2, maxMs: 50_000_000, jitter: 0.5 },
    retryPriority: -2,
    politeness: {
      delayMs: 10,
      perHost: 2,
      by: "domain",
      groups: [{ by: "domain", delayMs: 5, limit: 3 }, { by: "address" }],
      adaptive: { factor: 2, minMs: 1, maxMs: 50_000_000 },
      hostBackoff: { after: 2, baseMs: 3, maxMs: 50_000_000, giveUpAfter: 4 },
      budget: { urls: 10, bytes: 1_000 },
    },
  },
  { id: "a", epoch: "forever", retryPriority: { set: 3 }, key: { keepParams: "none" } },
  { id: "b", epoch: { every: 60_000 }, every: 5, key: { dropParams: ["x"] } },
  { id: "c", epoch: { version: 3 }, freshHosts: "share" },
  { id: "d", epoch: { adaptive: { min: "1h", max: "30d" } } },
];

/** In the place of anything; none that is wrong for a reason of its own, such as a host that is none. */
const VALUES: readonly unknown[] = [
  ...[null, true, 0, -1, 1, 1.5, 2 ** 53, 1e300, -1e300, "", "x", "forever", "1h", "01"],
  ...["none", "a.com", "POST", "  ", [], [null], [1], ["a.com"], {}, { x: 1 }, "x".repeat(20_000)],
];

/** What JSON Schema can not say: why the checks refuse a value of the right shape. By the path of the field. */
const BEYOND: ReadonlyArray<readonly [RegExp, string]> = [
  [/^\/match\/(hosts|domains)\/\d+$/, "a host that can be none"],
  [/^\/epoch\/zone$/, "a zone that the platform does not know"],
  [/^\/share\/(priority|weight)$/, "a rate without bound, of both together"],
  [/^\/epoch\/adaptive\/(min|max)$/, "a maximum below its minimum"],
  [/^\/politeness\/(adaptive\/(min|max)Ms|hostBackoff\/(base|max)Ms)$/, "the same"],
];

describe("the published schema of rules", () => {
  it("takes what the checks take, and refuses what they refuse", () => {
    const wrong: string[] = [];
    const compare = (rule: unknown, path: string, value: unknown): void => {
      const isTaken = isTakenByChecks(rule);
      const fits = matchesSchema([rule], SCHEMA);
      if (isTaken === fits) return;
      if (!isTaken && BEYOND.some(([where]) => where.test(path))) return;
      const shown = JSON.stringify(value)?.slice(0, 40);
      wrong.push(`${path} = ${shown}: the checks ${isTaken ? "take" : "refuse"} it`);
    };
    for (const rule of RULES) {
      compare(rule, "", rule);
      for (const { path, copy } of placesOf(rule)) {
        for (const value of VALUES) compare(copy(value), path, value);
        compare(copy(undefined), path, undefined);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe("what is kept of a set", () => {
  it("makes the same set again, functions, texts of patterns and shares included", () => {
    const rules = [
      ...RULES,
      { id: "patterns", match: { pattern: "a/b\\/c[/]", schemes: ["https"] } },
      { id: "hosts", match: { hosts: ["A.com:80", "b.com:81", "a.com"], schemes: ["http"] } },
      { id: "thirds", share: { priority: 3, weight: 10 }, every: 86_400_000.5 },
      { id: "own", epoch: { of: String }, politeness: { by: String, groups: [{ by: Number }] } },
      { id: "keys", key: { keyOf: String } },
    ];
    const { specs, orders } = normalizeRules(rules, { maxDepth: 7 }, "exact");
    const again = normalizeRules(givenRules(specs), { maxDepth: 7 }, "exact");
    expect(again.specs).toEqual(specs);
    expect(again.orders).toEqual(orders);
    expect(Object.keys(givenRules(specs)[2] ?? {})).toEqual([
      "id",
      "match",
      "every",
      "key",
      "epoch",
    ]);
  });

  it("is not what its giver makes of it afterwards", () => {
    const rule = structuredClone(RULES[0]) as Record<string, Record<string, unknown>>;
    const { specs } = normalizeRules([rule], {}, "exact");
    const before = JSON.stringify(givenRules(specs));
    for (const field of ["share", "key", "epoch", "backoff", "politeness", "match"]) {
      for (const name of Object.keys(rule[field] ?? {})) (rule[field] ?? {})[name] = 1;
    }
    (rule.seeds as unknown as string[]).push("http://other.com/");
    expect(JSON.stringify(givenRules(specs))).toBe(before);
  });
});

function isTakenByChecks(rule: unknown): boolean {
  try {
    normalizeRules([rule], {}, "exact");
    return true;
  } catch {
    return false;
  }
}

interface Place {
  readonly path: string;
  /** The whole with another value here; undefined: without it. */
  copy(value: unknown): unknown;
}

/** Every field and entry, and one field more in every object. */
function placesOf(whole: unknown, path = ""): Place[] {
  if (typeof whole !== "object" || whole === null) return [];
  const names = Array.isArray(whole) ? [...whole.keys()] : [...Object.keys(whole), "more"];
  return names.flatMap((name) => {
    const inside = (whole as Record<string | number, unknown>)[name];
    const at = `${path}/${name}`;
    const copy = (value: unknown): unknown => {
      if (Array.isArray(whole)) return whole.with(name as number, value ?? null);
      const { [name]: _, ...rest } = whole as Record<string, unknown>;
      return value === undefined ? rest : { ...rest, [name]: value };
    };
    const deeper = placesOf(inside, at).map((place) => ({
      path: place.path,
      copy: (value: unknown) => copy(place.copy(value)),
    }));
    return [{ path: at, copy }, ...deeper];
  });
}
