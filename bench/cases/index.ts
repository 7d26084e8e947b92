/** All cases, in the order in which they run. */
import type { BenchCase } from "../harness/case.ts";
import { CORE_CASES } from "./core/index.ts";
import { CRAWL_CASES } from "./crawl/index.ts";
import { CRAWLEE_CASES } from "./crawlee/index.ts";
import { DURABILITY_CASES } from "./durability/index.ts";
import { KERNEL_CASES } from "./kernel/index.ts";
import { PEER_CASES } from "./peers/index.ts";
import { REDIS_CASES } from "./redis/index.ts";
import { RULES_CASES } from "./rules/index.ts";
import { SERVER_CASES } from "./server/index.ts";
import { WORKER_CASES } from "./workers/index.ts";

export const CASES: readonly BenchCase[] = [
  ...KERNEL_CASES,
  ...CORE_CASES,
  ...RULES_CASES,
  ...DURABILITY_CASES,
  ...WORKER_CASES,
  ...CRAWL_CASES,
  ...PEER_CASES,
  ...SERVER_CASES,
  ...REDIS_CASES,
  ...CRAWLEE_CASES,
];
