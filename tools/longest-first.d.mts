import type { TestSequencer, Vitest } from "vitest/node";

export declare class LongestFirst implements TestSequencer {
  constructor(vitest: Vitest);
  shard: TestSequencer["shard"];
  sort: TestSequencer["sort"];
}
