/** The suite `crawlee`: our frontier below Crawlee's crawlers. */
import type { BenchCase } from "../../harness/case.ts";
import { crawleeQueue } from "./crawlee-queue.ts";
import { crawleeRun } from "./crawlee-run.ts";

export const CRAWLEE_CASES: readonly BenchCase[] = [crawleeRun, crawleeQueue];
