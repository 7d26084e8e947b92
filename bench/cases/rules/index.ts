/** The suite `rules`: many rules against one, and sets that are swapped (TARGETS §2). */
import type { BenchCase } from "../../harness/case.ts";
import { rulesCase } from "./rules.ts";
import { swapCase } from "./swap.ts";

export const RULES_CASES: readonly BenchCase[] = [rulesCase, swapCase];
