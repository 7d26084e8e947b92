/**
 * The records of a frontier that a program uses too, as the URLs and queues of the protocol. A pass reads each of them; sums of queues
 * are kept until the frontier's own counts change.
 */
import type { AsyncFrontier, Frontier, RecordsFilter, RecordView } from "../../index.ts";
import { type StoredUrl, textMatcher, type UrlFilter } from "./crawl.ts";
import { SCAN_RECORDS, storedOf } from "./stored-url.ts";
import { isWhole } from "./url-data.ts";

export type Given = Frontier | AsyncFrontier;

/** URLs by queue: those that are not finished, and all. */
export interface QueueSums {
  readonly active: ReadonlyMap<string, number>;
  readonly all: ReadonlyMap<string, number>;
}

export interface GivenRecords {
  sums(): Promise<QueueSums>;
  /** Whether a queue has URLs that the frontier can list. */
  has(key: string): Promise<boolean>;
  /** Whether no other queue has URLs on a host of this name. */
  isAlone(key: string): Promise<boolean>;
  urls(filter: UrlFilter): AsyncIterable<StoredUrl>;
}

const STATES = ["done", "leased", "pending", "waiting", "failed"] as const;

export function createGivenRecords(frontier: Given): GivenRecords {
  const some = async (
    where: RecordsFilter,
    isWanted: (view: RecordView) => boolean,
  ): Promise<boolean> => {
    for (const state of STATES) {
      for await (const view of viewsOf(frontier, { ...where, state }))
        if (isWanted(view)) return true;
    }
    return false;
  };
  let kept: { mark: string; sums: Promise<QueueSums> } | undefined;
  return {
    async sums() {
      const mark = await markOf(frontier);
      if (kept?.mark !== mark) {
        const made = { mark, sums: sumsOf(frontier) };
        made.sums.catch(() => {
          if (kept === made) kept = undefined;
        });
        kept = made;
      }
      return await kept.sums;
    },
    has: (key) => some({ host: key }, (view) => queueKeyOf(view) === key),
    isAlone: async (key) => !(await some({ host: key }, (view) => queueKeyOf(view) !== key)),
    async *urls(filter) {
      const where = filter.key === "" ? {} : { host: filter.key };
      const isWanted = textMatcher(filter);
      for (const state of STATES) {
        for await (const view of viewsOf(frontier, { ...where, state })) {
          const key = queueKeyOf(view);
          if (filter.key !== "" && filter.key !== key) continue; // another queue's, on this host
          const stored = shownOf(view, key, view.url ?? "");
          if (isWanted(stored.url)) yield stored;
        }
      }
    },
  };
}

/** Changes with every change of a count. */
async function markOf(frontier: Given): Promise<string> {
  const { accepted, deferred, pending, waiting, leased, done, failed, forgotten, removed } =
    await frontier.report();
  const counts = [accepted, deferred, pending, waiting, leased, done, failed, forgotten, removed];
  return counts.join();
}

async function sumsOf(frontier: Given): Promise<QueueSums> {
  const active = new Map<string, number>();
  const all = new Map<string, number>();
  for (const state of STATES) {
    for await (const view of viewsOf(frontier, { state })) {
      const key = queueKeyOf(view);
      all.set(key, (all.get(key) ?? 0) + 1);
      if (state !== "done") active.set(key, (active.get(key) ?? 0) + 1);
    }
  }
  return { active, all };
}

/** Records, with a turn for other calls now and then. Without finished ones if the frontier does not keep them. */
async function* viewsOf(frontier: Given, filter: RecordsFilter): AsyncGenerator<RecordView> {
  let readCount = 0;
  try {
    for await (const view of frontier.records(filter) as AsyncIterable<RecordView>) {
      yield view;
      if (++readCount % SCAN_RECORDS === 0) await new Promise(setImmediate);
    }
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== "UNSUPPORTED") throw cause;
  }
}

interface Queued {
  readonly host?: string | undefined;
  readonly hostKey?: string | undefined;
}

/** The key of a queue: what its URLs are polite by. */
export function queueKeyOf({ host, hostKey }: Queued): string {
  return hostKey ?? host ?? "";
}

/** A record as the protocol shows it, pushed by the program or over the wire. */
export function shownOf(
  view: Pick<RecordView, "state" | "data" | "times" | "untilMs">,
  key: string,
  url: string,
): StoredUrl {
  const { state, data, times, untilMs = 0 } = view;
  const stored = storedOf(key, url, isWhole(data) ? data : undefined);
  const createdAt = stored.createdAt || Math.floor((times?.admittedAt ?? 0) / 1_000);
  const dueAt = state === "waiting" ? Math.ceil(untilMs / 1_000) : createdAt;
  const refetchAt = state === "done" ? 0 : isWhole(data) ? stored.refetchAt : dueAt;
  return { ...stored, createdAt, refetchAt };
}
