import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/tidy/fixtures/**"],
    // Long simulations do without the asserts of hot loops: OUTRIDER_VERIFY=0.
    env: { OUTRIDER_VERIFY: process.env.OUTRIDER_VERIFY ?? "1" },
    pool: "forks",
    // vitest leaves one core free: on two cores half the machine would wait.
    maxWorkers: availableParallelism(),
    // What hangs is found late; a machine that is busy and ten times slower is no fault.
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
