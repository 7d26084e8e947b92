/** The crawler on top, against other crawlers. */
import type { BenchCase } from "../../harness/case.ts";
import { crawl } from "./crawl.ts";

export const CRAWL_CASES: readonly BenchCase[] = [crawl];
