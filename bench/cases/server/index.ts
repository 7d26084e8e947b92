/** The suite `server`: the frontier over the wire (TARGETS §9). */
import type { BenchCase } from "../../harness/case.ts";
import { serverCase } from "./server.ts";

export const SERVER_CASES: readonly BenchCase[] = [serverCase];
