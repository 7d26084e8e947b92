/** Frontiers with worker threads for tests: opened, run and closed in one place, so that no thread outlives a test. */
import { openFrontier } from "../../src/engine/api/open-frontier.ts";
import type {
  Frontier,
  FrontierFault,
  FrontierOptions,
} from "../../src/engine/types/frontier-types.ts";
import type { WorkerPoolOptions } from "../../src/workers/pool/pool-options.ts";
import { WorkerPool } from "../../src/workers/pool/worker-pool.ts";

export const HANDLERS = new URL("./pool-visit.mjs", import.meta.url);

export interface Rig {
  readonly frontier: Frontier;
  readonly pool: WorkerPool;
  readonly faults: FrontierFault[];
}

export interface RigOptions {
  readonly frontier?: FrontierOptions;
  readonly pool?: Partial<WorkerPoolOptions>;
}

/** Opens both, runs the test, closes both. */
export async function withPool(
  options: RigOptions,
  test: (rig: Rig) => Promise<void>,
): Promise<void> {
  const frontier = await openFrontier(options.frontier);
  const faults: FrontierFault[] = [];
  frontier.on("error", (fault) => faults.push(fault));
  const pool = new WorkerPool({ frontier, handler: HANDLERS, threads: 2, ...options.pool });
  try {
    await test({ frontier, pool, faults });
  } finally {
    await pool.close();
    await frontier.close();
  }
}

/** Waits until a condition holds, with a deadline; runs `between` before each further check. */
export async function until(
  condition: () => boolean,
  what: string,
  between = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5)),
): Promise<void> {
  const deadline = performance.now() + 240_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`still not: ${what}`);
    await between();
  }
}

/** Waits until the process uses less than `most` of a core for `windowMs`, and returns the share that it used. */
export async function untilIdle(windowMs: number, most = 0.1): Promise<number> {
  let share = 1;
  // Work left over from starting takes some time; a spin would never end.
  await until(
    () => share < most,
    "idle",
    async () => {
      const before = process.cpuUsage();
      await new Promise((resolve) => setTimeout(resolve, windowMs));
      const { user, system } = process.cpuUsage(before);
      share = (user + system) / (windowMs * 1_000);
    },
  );
  return share;
}
