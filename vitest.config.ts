import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/tidy/fixtures/**"],
    env: { OUTRIDER_VERIFY: "1" },
    pool: "forks",
    testTimeout: 120_000,
  },
});
