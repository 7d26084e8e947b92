/**
 * PoolThreads: what the pool uses of Piscina: a thread for a task, and its end.
 *
 *   run ─▶ an idle thread ─ none ─▶ a new one        task over ─▶ it idles, and lives until `end` or `close`
 *
 * Because threads live on, output of the turns after a last lease (a log's last line, the last counts of a crawl) is not lost.
 *
 *   I1  A thread that is being ended, or will be after its task, gets no task: the task would end with it.
 */
import { Piscina } from "piscina";
import type { Worker } from "node:worker_threads";
import { packageFile } from "../../base/package-files.ts";
import { givenOf } from "../../base/plain-copy.ts";
import { SHARED_SEATS } from "../../layout/threads/worker-seats.ts";
import type { ResourceLimits } from "./pool-options.ts";

interface ThreadOptions {
  readonly resourceLimits: ResourceLimits | undefined;
  readonly workerData: unknown;
  /** Whether a thread lives on after its task. Called as soon as the task is over, before any other listener. */
  readonly isKept: (id: number) => boolean;
  /** A thread without a task failed: it did not start, or the rest of an earlier task has ended it. */
  readonly onFault: (cause: unknown) => void;
}

const WORKER_LOOP = packageFile("thread.cjs").href;
/** Besides the seated threads as many may be in the process of ending; Piscina starts none for waiting tasks. */
const THREADS_MAX = 2 * SHARED_SEATS;

export class PoolThreads {
  readonly #piscina: Piscina;
  /** Ids of threads that are being ended. */
  readonly #ending = new Set<number>();

  constructor({ resourceLimits, workerData, isKept, onFault }: ThreadOptions) {
    const isFree = (id: number): boolean => !this.#ending.has(id) && isKept(id); // I1
    this.#piscina = new Piscina({
      filename: WORKER_LOOP,
      name: "attend",
      minThreads: 0,
      maxThreads: THREADS_MAX,
      idleTimeout: Number.POSITIVE_INFINITY,
      concurrentTasksPerWorker: 1,
      atomics: "disabled",
      recordTiming: false,
      loadBalancer: (_, workers) =>
        workers.find(({ id, currentUsage }) => currentUsage === 0 && isFree(id)) ?? null,
      ...givenOf({ resourceLimits, workerData }),
    });
    this.#piscina.on("error", (cause: unknown) => {
      if (this.#ending.size === 0) onFault(cause); // else: a thread is being ended
    });
  }

  /** Ids of live threads, with a task or without. */
  get ids(): number[] {
    return this.#piscina.threads.map(({ threadId }) => threadId);
  }

  /** Runs a task on a thread of its own; rejects when the thread dies. The signal ends the thread with the task. */
  run(task: unknown, signal: AbortSignal): Promise<unknown> {
    return this.#piscina.run(task, { signal }) as Promise<unknown>;
  }

  at(id: number): Worker | undefined {
    return this.#piscina.threads.find(({ threadId }) => threadId === id);
  }

  /** Resolves when the thread has ended. */
  async end(thread: Worker | undefined): Promise<void> {
    if (thread === undefined) return;
    const { threadId } = thread;
    this.#ending.add(threadId); // I1
    await thread.terminate();
    this.#ending.delete(threadId);
  }

  async close(): Promise<void> {
    await this.#piscina.destroy();
  }
}
