/** The suite `workers`: rings between threads, the pool, wake-ups (TARGETS §4). */
import type { BenchCase } from "../../harness/case.ts";
import { lane } from "./lane.ts";
import { pool } from "./pool.ts";
import { wake } from "./wake.ts";

export const WORKER_CASES: readonly BenchCase[] = [lane, pool, wake];
