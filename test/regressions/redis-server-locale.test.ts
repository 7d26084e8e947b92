/** The order of coming across hosts does not depend on the locale under which the server runs: Lua compares texts as it has them. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { openRedisFrontier } from "../../src/redis.ts";
import { startRedis, WITHOUT_REDIS } from "../support/redis-server.ts";
import { skipUnless } from "../support/skip.ts";

const folder = mkdtempSync(join(tmpdir(), "locale-"));
const WITHOUT_LOCALE = WITHOUT_REDIS ?? makeLocale();
const env = { LOCPATH: folder, LC_ALL: "en_US.UTF-8" };
const server = WITHOUT_LOCALE === undefined ? await startRedis({ env }) : undefined;
afterAll(async () => {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach((context) => skipUnless(context, server !== undefined, WITHOUT_LOCALE ?? ""));

/** Makes a locale that passes over control characters; why it cannot, or undefined. */
function makeLocale(): string | undefined {
  try {
    execFileSync("localedef", ["-i", "en_US", "-f", "UTF-8", join(folder, "en_US.UTF-8")]);
  } catch {
    return "no localedef with en_US here";
  }
  return undefined;
}

it("hands out records of several hosts in the order of their coming, whatever the server's locale", async () => {
  const frontier = await openRedisFrontier({
    redis: server?.socket as string,
    name: "order",
    partitions: 1,
  });
  onTestFinished(() => frontier.close());
  const urls = Array.from({ length: 12 }, (_, at) => `http://${"bac"[at % 3]}.test/${at}`);
  await frontier.pushMany(urls);
  const leases = await frontier.pollMany(urls.length);
  expect(leases.map(({ url }) => url)).toEqual(urls);
});
