/** Where a server of the tests keeps its crawls. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, type TestContext } from "vitest";
import type { ServeOptions } from "../../src/server.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

export const STORES = ["memory", "directory", "Redis"] as const;
export type Store = (typeof STORES)[number];

/** Options of a server over a store that ends with the test. On Redis with one partition, within which order is exact. */
export async function storeOptions(store: Store, context: TestContext): Promise<ServeOptions> {
  if (store === "memory") return {};
  if (store === "directory") {
    const directory = mkdtempSync(join(tmpdir(), "outrider-server-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    return { directory, durability: "sync" };
  }
  skipUnless(context, WITHOUT_REDIS === undefined, WITHOUT_REDIS ?? "");
  const redis = await startRedis();
  onTestFinished(() => redis.close());
  return { redis: redis.socket, partitions: 1 };
}
