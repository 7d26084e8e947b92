/** The suite `durability`: what a directory costs, what comes back from it, and what memory has no room for (TARGETS §3). */
import type { BenchCase } from "../../harness/case.ts";
import { durabilityCase } from "./durability.ts";
import { partialSnapshotCase } from "./partial-snapshot.ts";
import { spillCase } from "./spill.ts";
import { storesCase } from "./stores.ts";

export const DURABILITY_CASES: readonly BenchCase[] = [
  durabilityCase,
  partialSnapshotCase,
  spillCase,
  storesCase,
];
