/** The suite `core`: the frontier in memory through its public API (TARGETS §2). */
import type { BenchCase } from "../../harness/case.ts";
import { frontierCase } from "./frontier.ts";
import { polite } from "./polite.ts";
import { scaleFinished, scaleHosts, scalePending } from "./scale.ts";

export const CORE_CASES: readonly BenchCase[] = [
  frontierCase,
  polite,
  scalePending,
  scaleHosts,
  scaleFinished,
];
