/**
 * PoolThreads: what the pool asks of Piscina: a thread for a task, and its end.
 *
 *   run ─▶ one that idles ─ none ─▶ a new one        task over ─▶ it idles, and lives until `end` or `close`
 *
 * What a thread says in the turns after its last lease (a log's last line, the last counts of a crawl) goes over because it lives on.
 *
 *   I1  A thread that is being ended, or will be once its task is over, gets no task: it would take it along.
 */
import { Piscina } from "piscina";
import type { Worker } from "node:worker_threads";
import { packageFile } from "../../base/package-files.ts";
import { SHARED_SEATS } from "../../layout/threads/worker-seats.ts";
import type { ResourceLimits } from "./pool-options.ts";

interface ThreadOptions {
  readonly resourceLimits: ResourceLimits | undefined;
  readonly workerData: unknown;
  /** Whether a thread shall go on once it is free. Asked as soon as its task is over, before anybody else hears of that. */
  readonly isKept: (id: number) => boolean;
  /** A thread failed that had no task: it did not start, or what an earlier task left behind has ended it. */
  readonly onFault: (cause: unknown) => void;
}

const WORKER_LOOP = packageFile("thread.cjs").href;
/** Beside those at the seats there may be as many that are being ended; Piscina starts none for who waits. */
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
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
      ...(workerData === undefined ? {} : { workerData }),
    });
    this.#piscina.on("error", (cause: unknown) => {
      if (this.#ending.size === 0) onFault(cause); // else: the last cry of one that goes
    });
  }

  /** Threads that live, with a task or without, by their ids. */
  get ids(): number[] {
    return this.#piscina.threads.map(({ threadId }) => threadId);
  }

  /** A task on a thread of its own; rejects when that dies. A signal ends the thread with the task. */
  run(task: unknown, signal: AbortSignal): Promise<unknown> {
    return this.#piscina.run(task, { signal }) as Promise<unknown>;
  }

  at(id: number): Worker | undefined {
    return this.#piscina.threads.find(({ threadId }) => threadId === id);
  }

  /** Resolves when a thread is gone. */
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
