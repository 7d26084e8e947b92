import { describe, expect, it } from "vitest";
import type { FrontierError } from "../../../../src/base/errors.ts";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import { normalizeOptions } from "../../../../src/engine/options/normalize-options.ts";
import type { FrontierOptions } from "../../../../src/engine/types/frontier-types.ts";
import { thrownBy } from "../../../support/bench-frontier.ts";

const polite = (politeness: unknown): unknown => ({ politeness });

/** Path of an option, values that it must not take. */
const wrong: Array<[path: string, values: unknown[]]> = [
  ["name", ["", 5, null, "x".repeat(201)]],
  ["directory", ["", 5, null, "a\0b"]],
  ["from", ["", 5, null, "a\0b"]],
  ["clock", [null]],
  ["clock.now", [{}, 5]],
  ["defaults", [null, 5, []]],
  ["seen", [null, 5]],
  ["capacity", [-1, 0.5, "5", null, Number.NaN]],
  ["maxFound", [-1, "5", null]],
  ["memoryBytes", [0, "5", null]],
  ["leaseMs", [0, -1, "5", Number.POSITIVE_INFINITY, null]],
  ["maxLeases", [0, 1.5, "5", null]],
  ["maxDeliveries", [0, "5", null]],
  ["maxUrlBytes", [5, "5", 2 ** 40, null]],
  ["keepOpen", [1, "yes", null]],
  ["idleTimeoutMs", [-1, "5", Number.NaN, null]],
  ["onIdle", [5, null]],
  ["accept", [5, null]],
  ["breaker", [5, null]],
  ["seed", [0.5, "5", null]],
  ["unknown", [1]],
];

/** The same below `defaults` and in other groups. */
const nested: Array<[path: string, options: unknown]> = [
  ["seen.mode", { seen: { mode: "tiered" } }],
  ["seen.falsePositiveRate", { seen: { falsePositiveRate: "0.5" } }],
  ["seen.capacity", { seen: { capacity: 0 } }],
  ["seen.sise", { seen: { sise: 0 } }],
  ["breaker.failures", { breaker: { failures: 0, withinMs: 1, pauseMs: 1 } }],
  ["breaker.withinMs", { breaker: { failures: 1, withinMs: "1", pauseMs: 1 } }],
  ["defaults.order", { defaults: { order: "random" } }],
  ["defaults.startLast", { defaults: { startLast: 1 } }],
  ["defaults.priority", { defaults: { priority: 0.5 } }],
  ["defaults.depthPriority", { defaults: { depthPriority: "1" } }],
  ["defaults.maxDepth", { defaults: { maxDepth: -1 } }],
  ["defaults.follow", { defaults: { follow: null } }],
  ["defaults.maxAttempts", { defaults: { maxAttempts: 0 } }],
  ["defaults.backoff.jitter", { defaults: { backoff: { baseMs: 1, jitter: "0.5" } } }],
  ["defaults.backoff.factor", { defaults: { backoff: { baseMs: 1, factor: 0.5 } } }],
  ["defaults.backoff.baseMs", { defaults: { backoff: {} } }],
  ["defaults.retryPriority", { defaults: { retryPriority: "1" } }],
  ["defaults.retryPriority.sett", { defaults: { retryPriority: { sett: 1 } } }],
  ["defaults.politeness.delayMs", { defaults: polite({ delayMs: -1 }) }],
  ["defaults.politeness.perHost", { defaults: polite({ perHost: 0 }) }],
  ["defaults.politeness.by", { defaults: polite({ by: "page" }) }],
  [
    "defaults.politeness.adaptive.maxMs",
    { defaults: polite({ adaptive: { factor: 1, minMs: 2, maxMs: 1 } }) },
  ],
  [
    "defaults.politeness.hostBackoff.after",
    { defaults: polite({ hostBackoff: { after: 0, baseMs: 1, maxMs: 1 } }) },
  ],
  ["defaults.politeness.budget.urls", { defaults: polite({ budget: { urls: -1 } }) }],
  ["records", { records: "full" }], // without a directory
  ["records", { records: "some", directory: "/nowhere" }],
  ["from", { from: "" }],
  ["defaults.key.profile", { defaults: { key: { profile: "exact" } } }],
];

describe("options", () => {
  it.each(wrong)("%s that is wrong is named", (path, values) => {
    const [group, field] = path.split(".") as [string, string | undefined];
    for (const value of values) {
      const error = thrownBy(() => normalizeOptions({ [group]: value })) as FrontierError;
      expect(error.code).toBe("OPTION_INVALID");
      expect(error.message.startsWith(`options.${group}${field ? `.${field}` : ""}: `)).toBe(true);
      expect(error.message).toMatch(/ \(expected: .+\)$/s);
    }
  });

  it.each(nested)("%s that is wrong is named", (path, options) => {
    const error = thrownBy(() => normalizeOptions(options as FrontierOptions)) as FrontierError;
    expect(error.code).toBe("OPTION_INVALID");
    expect(error.message.startsWith(`options.${path}: `)).toBe(true);
  });

  it("that can not be read are refused as wrong ones, whatever they throw", async () => {
    const fails = (): never => {
      throw new RangeError("a getter");
    };
    const unreadable = [
      Object.defineProperty({}, "capacity", { get: fails, enumerable: true }),
      { defaults: new Proxy({}, { ownKeys: fails }) },
      { rules: new Proxy([], { get: fails }) },
      { clock: new Proxy({}, { get: fails }) },
    ];
    for (const options of unreadable) {
      const opened = openFrontier(options as FrontierOptions);
      await expect(opened).rejects.toMatchObject({ code: "OPTION_INVALID" });
    }
  });

  it("of a bloom that no memory can hold are refused", async () => {
    const seen = { mode: "bloom" as const, capacity: Number.POSITIVE_INFINITY };
    await expect(openFrontier({ seen })).rejects.toMatchObject({ name: "FrontierError" });
  });
});
