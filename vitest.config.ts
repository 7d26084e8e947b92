import { existsSync, readFileSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./tools/longest-first.mjs";
import { SkipReporter } from "./tools/skips.mjs";
import { StuckReporter } from "./tools/stuck.mjs";

const ROOT = fileURLToPath(new URL(".", import.meta.url));
const SOURCE = join(ROOT, "src/");
const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, "tsconfig.build.json"), "utf8"));
/** Where the build puts the modules of src/, one file for one. */
const BUILT = join(ROOT, compilerOptions.outDir, "/");

/** What hangs is found late: a machine that is busy and ten times slower is no fault. */
const TEST_TIMEOUT_MS = 600_000;
/** Of a wait for a condition; vitest's own second is short on such a machine. */
const POLL_TIMEOUT_MS = 240_000;

/** The built module of a module of src/; an outdated one is refused, since its tests would check code that is no more. */
function builtOf(source: string): string {
  const built = join(BUILT, source.slice(SOURCE.length).replace(/\.ts$/, ".js"));
  if (!existsSync(built) || statSync(built).mtimeMs < statSync(source).mtimeMs)
    throw new Error(`${built}: older than ${source} (expected: npm run build before the tests)`);
  return built;
}

export default defineConfig({
  plugins: [
    {
      // Tests import src/ by name and run what was built from it: compiled once for all of them, and a fifth faster than modules that
      // vitest rewrites, since calls between its modules go through getters.
      name: "built-modules",
      enforce: "pre",
      resolveId(name: string, importer: string | undefined) {
        if (importer === undefined || !name.startsWith(".") || !name.endsWith(".ts")) return null;
        const source = resolve(dirname(importer.split("?")[0] as string), name);
        if (!source.startsWith(SOURCE)) return null;
        return { id: builtOf(source), external: true };
      },
    },
  ],
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/tidy/fixtures/**", "test/*/node_modules/**"],
    setupFiles: ["test/support/setup.ts"],
    reporters: [["default", { summary: false }], new SkipReporter(), new StuckReporter()],
    sequence: { sequencer: LongestFirst },
    // Long simulations do without the asserts of hot loops: OUTRIDER_VERIFY=0.
    env: { OUTRIDER_VERIFY: process.env.OUTRIDER_VERIFY ?? "1" },
    // A test without an expectation fails, and so does a forgotten `only`.
    expect: { requireAssertions: true, poll: { timeout: POLL_TIMEOUT_MS } },
    allowOnly: false,
    server: { deps: { external: [BUILT] } },
    pool: "forks",
    // Files share a process, which has then loaded the engine: starting 271 costs more than half of the unit tests.
    isolate: false,
    // vitest leaves one core free: on two cores half the machine would wait.
    maxWorkers: availableParallelism(),
    testTimeout: TEST_TIMEOUT_MS,
    hookTimeout: TEST_TIMEOUT_MS,
  },
});
