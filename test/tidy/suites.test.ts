/** What tools/suites.mjs leaves to `npm run test:rest`, so that the README's test command passes on a machine with Node and npm alone. */
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { dependsOn } from "../../tools/depends-on.mjs";
import { LONG_TESTS, QUICK_SUITES } from "../../tools/suites.mjs";
import { packageRoot } from "../support/package.ts";

const tests = QUICK_SUITES.flatMap((suite) =>
  readdirSync(`${packageRoot}test/${suite}`, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts") && !path.includes("node_modules"))
    .map((path) => `test/${suite}/${path}`),
);

it("leaves out every test that starts a Redis server", () => {
  const left = new Set(LONG_TESTS.flatMap(({ files }) => files));
  const server = `${packageRoot}test/support/redis-server.ts`;
  const needing = tests.filter((path) => dependsOn(`${packageRoot}${path}`, server));
  expect(needing.length).toBeGreaterThan(10);
  expect(needing.filter((path) => !left.has(path))).toEqual([]);
});
