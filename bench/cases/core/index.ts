/** The suite `core`: the frontier in memory through its public API (TARGETS §2). */
import type { BenchCase } from "../../harness/case.ts";
import { broad } from "./broad.ts";
import { broadScale } from "./broad-scale.ts";
import { channels } from "./channels.ts";
import { coldStart } from "./cold-start.ts";
import { frontierCase } from "./frontier.ts";
import { latency } from "./latency.ts";
import { polite } from "./polite.ts";
import { scaleFinished, scaleHosts, scalePending } from "./scale.ts";
import { scaling } from "./scaling.ts";
import { workloads } from "./workloads.ts";

export const CORE_CASES: readonly BenchCase[] = [
  channels,
  coldStart,
  frontierCase,
  latency,
  polite,
  broad,
  broadScale,
  workloads,
  scaling,
  scalePending,
  scaleHosts,
  scaleFinished,
];
