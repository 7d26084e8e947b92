/** The crawler on top: against other crawlers, and with what sites and archives ask of it. */
import type { BenchCase } from "../../harness/case.ts";
import { crawl } from "./crawl.ts";
import { freshness } from "./freshness.ts";
import { traps } from "./traps.ts";
import { archive, warc } from "./warc.ts";

export const CRAWL_CASES: readonly BenchCase[] = [crawl, warc, archive, freshness, traps];
