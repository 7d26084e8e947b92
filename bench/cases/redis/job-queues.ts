/** BullMQ, where bench/peers has it: `addBulk` with the URL's digest as the job's id, and a worker. Jobs that are finished are removed. */
import { createHash } from "node:crypto";
import { loadPackage } from "../../peers/installed.ts";
import { CALL, IN_FLIGHT, type RedisSide, type RedisSideOptions } from "./side.ts";
import { inFlight } from "./prototype.ts";

interface BullQueue {
  addBulk(jobs: object[]): Promise<unknown>;
  getJobCounts(...states: string[]): Promise<Record<string, number>>;
  close(): Promise<void>;
}

interface BullWorker {
  on(event: string, listener: () => void): void;
  close(force?: boolean): Promise<void>;
}

interface Bull {
  Queue: new (name: string, options: object) => BullQueue;
  Worker: new (name: string, work: () => Promise<void>, options: object) => BullWorker;
}

/** Jobs that a worker has at once. */
const CONCURRENCY = 200;
/** How often it is asked whether anything is left. */
const ASK_MS = 20;

export async function openBullMq({ socket }: RedisSideOptions): Promise<RedisSide> {
  const { Queue, Worker } = loadPackage("bullmq") as Bull;
  const connection = { path: socket, maxRetriesPerRequest: null };
  const queue = new Queue("bench", { connection });
  const pushCall = (urls: readonly string[]): Promise<unknown> =>
    queue.addBulk(
      urls.map((url) => ({
        name: "visit",
        data: url,
        opts: { jobId: createHash("md5").update(url).digest("hex"), removeOnComplete: true },
      })),
    );
  return {
    push: (urls) => inFlight(urls, CALL / IN_FLIGHT, pushCall),
    async drain() {
      let count = 0;
      const worker = new Worker("bench", async () => undefined, {
        ...{ connection, concurrency: CONCURRENCY },
      });
      worker.on("completed", () => {
        count++;
      });
      for (;;) {
        const { waiting = 0, active = 0 } = await queue.getJobCounts("waiting", "active");
        if (waiting + active === 0) break;
        await new Promise((resolve) => setTimeout(resolve, ASK_MS));
      }
      await worker.close();
      return count;
    },
    close: () => queue.close(),
  };
}
