/**
 * An option that is undefined is not there, for the types (this package is checked with exactOptionalPropertyTypes) and
 * for what happens. Filters are another matter: test/unit/engine/queries/record-filter.test.ts.
 */
import { expect, it } from "vitest";
import {
  type FrontierOptions,
  type KeyPolicy,
  type ListenOptions,
  openFrontier,
  type Outcome,
  presets,
  type RequestInput,
  type RetryOptions,
  type Rule,
} from "../../../../src/index.ts";
import { normalizeOptions } from "../../../../src/engine/options/normalize-options.ts";
import type { WorkerPoolOptions } from "../../../../src/pool.ts";

const none = undefined;

const options: FrontierOptions = {
  ...{ name: none, directory: none, from: none, readOnly: none, clock: none, rules: none },
  ...{ defaults: none, seen: none, capacity: none, maxFound: none, memoryBytes: none },
  ...{ snapshots: none, records: none, durability: none, leaseMs: none, maxLeases: none },
  ...{ maxDeliveries: none, maxUrlBytes: none, keepOpen: none, idleTimeoutMs: none },
  ...{ onIdle: none, accept: none, breaker: none, onProgress: none, seed: none },
};
const key: KeyPolicy = {
  ...{ profile: none, visit: none, fragment: none, sortQuery: none, keepParams: none },
  ...{ dropParams: none, methods: none, exemptMethods: none, headers: none, keyOf: none },
};
const rule: Rule = {
  ...{ id: "r", active: none, match: none, share: none, seeds: none, every: none, key: none },
  ...{ epoch: none, order: none, startLast: none, priority: none, traversal: none },
  ...{ depthPriority: none, maxDepth: none, follow: none, maxAttempts: none, backoff: none },
  ...{ retryPriority: none, redirectPriority: none, politeness: none },
};
const request: RequestInput = {
  ...{ url: "https://a.example/", method: none, body: none, headers: none, priority: none },
  ...{ depth: none, notBefore: none, epoch: none, key: none, dedup: none, start: none },
  ...{ handler: none, maxAttempts: none, volatile: none, data: none },
};
const outcome: Outcome = {
  ...{ status: none, latencyMs: none, retryAfterMs: none, bytes: none, address: none },
  ...{ changed: none, visited: none },
};
const retry: RetryOptions = { delayMs: none, priority: none, reason: none, outcome: none };
const listen: ListenOptions = { signal: none, once: none };
const pool: Omit<WorkerPoolOptions, "frontier" | "handler"> = {
  ...{ threads: none, concurrency: none, timeoutMs: none, resourceLimits: none, workerData: none },
};

it("options that are undefined are those of a frontier without any", () => {
  const { clock: _, seed: __, ...given } = normalizeOptions(options);
  const { clock: ___, seed: ____, ...plain } = normalizeOptions();
  expect(JSON.stringify(given)).toBe(JSON.stringify(plain));
  const snapshots = { everyMs: none, everyBytes: none, keep: none };
  expect(normalizeOptions({ snapshots }).snapshots).toEqual(normalizeOptions().snapshots);
  const seen = { mode: none, capacity: none, falsePositiveRate: none, memoryBytes: none };
  expect(normalizeOptions({ seen }).seen).toEqual(normalizeOptions().seen);
});

it("rules, requests, leases and listeners take them", async () => {
  const hostBackoff = { after: 9, baseMs: 1, maxMs: 1, giveUpAfter: none };
  const politeness = { delayMs: none, perHost: none, by: none, groups: none, adaptive: none };
  const frontier = await openFrontier({
    rules: [rule],
    defaults: { key, politeness: { ...politeness, hostBackoff, budget: none } },
  });
  frontier.on("leased", () => undefined, listen);
  expect(frontier.push(request, { priority: none }).status).toBe("accepted");
  const [lease] = await frontier.take({ max: none, timeoutMs: none, signal: none });
  expect(lease?.retry(retry)).toBe("requeued");
  frontier.update(request, { priority: none, notBefore: none });
  frontier.poll()?.redirect("/x", { status: none, priority: none });
  expect(frontier.report().leased).toBe(1);
  await frontier.pushFrom([], { batch: none, signal: none });
  await frontier.close({ discard: none });
  expect(pool).toHaveProperty("threads");
  expect(outcome).toHaveProperty("status");
});

it("presets keep what they say where an option beside it is undefined", () => {
  const { idleTimeoutMs, ...rest } = presets.vscrawler();
  expect(presets.vscrawler({ idleTimeoutMs: none })).toEqual({ ...rest, idleTimeoutMs });
  const given = presets.scrapy({ defaults: { order: none, key: none, politeness: none } });
  expect(given).toEqual(presets.scrapy());
});
