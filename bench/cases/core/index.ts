/** The suite `core`: the frontier in memory through its public API (TARGETS §2). */
import type { BenchCase } from "../../harness/case.ts";

export const CORE_CASES: readonly BenchCase[] = [];
