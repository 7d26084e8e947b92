/** The sides of the case `redis` by name. */
import { crawleeMissing } from "../../peers/crawlee/queue.ts";
import { packageMissing } from "../../peers/installed.ts";
import { redisMissing } from "../../peers/stores/redis.ts";
import { openBullMq } from "./job-queues.ts";
import { openMemoryQueue } from "./memory-queue.ts";
import { openPrototype } from "./prototype.ts";
import { openOutrider } from "./outrider.ts";
import type { RedisSide, RedisSideOptions } from "./side.ts";
import { openWebmagic, openWebmagicPipelined } from "./webmagic.ts";

interface SideKind {
  open(options: RedisSideOptions): Promise<RedisSide>;
  /** URLs beyond which a run takes minutes. */
  readonly urlsMax?: number;
  /** Whether more than one process may work on it. */
  readonly isShared: boolean;
  missing?(): string | undefined;
}

export const SIDES: Readonly<Record<string, SideKind>> = {
  outrider: { open: openOutrider, isShared: true },
  prototype: { open: openPrototype, isShared: true },
  webmagic: { open: openWebmagic, isShared: true, urlsMax: 100_000 },
  "webmagic-pipelined": { open: openWebmagicPipelined, isShared: true },
  bullmq: {
    open: openBullMq,
    isShared: true,
    urlsMax: 100_000,
    missing: () => packageMissing("bullmq"),
  },
  "crawlee-memory": {
    open: openMemoryQueue,
    isShared: false,
    urlsMax: 20_000,
    missing: crawleeMissing,
  },
};

/** Why a side cannot run at a size; undefined: it can. */
export function sideMissing(side: string, urls: number, processes: number): string | undefined {
  const { urlsMax = Number.POSITIVE_INFINITY, isShared, missing } = SIDES[side] as SideKind;
  if (urls > urlsMax) return `takes minutes beyond ${urlsMax} URLs`;
  if (!isShared && processes > 1) return "one process alone can use it";
  return redisMissing() ?? missing?.();
}
