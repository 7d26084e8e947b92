/** The suite `peers`: other frontiers, through the same steps. */
import type { BenchCase } from "../../harness/case.ts";
import { peersDurable } from "./durable.ts";
import { peers, peersHosts } from "./memory.ts";
import { peersQueues } from "./queues.ts";

export const PEER_CASES: readonly BenchCase[] = [peers, peersHosts, peersDurable, peersQueues];
