/** The suite `rules`: many rules against one, sets that are swapped (TARGETS §2), and many open epochs. */
import type { BenchCase } from "../../harness/case.ts";
import { epochsCase } from "./epochs.ts";
import { rulesCase } from "./rules.ts";
import { swapCase } from "./swap.ts";

export const RULES_CASES: readonly BenchCase[] = [rulesCase, swapCase, epochsCase];
