/** The suite `redis`: a frontier that processes share on a Redis server. */
import type { BenchCase } from "../../harness/case.ts";
import { redis } from "./redis.ts";

export const REDIS_CASES: readonly BenchCase[] = [redis];
