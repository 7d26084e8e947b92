/**
 * Worker threads: a small web is visited to its end by a pool, and by a thread that attached itself. Threads decide who comes first, so
 * that what is compared is what became of each page, not when.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { Duel } from "./duel.mjs";
import { createRandom } from "./random.mjs";
import { optionsFor, Side } from "./side.mjs";
import { linksOf, urlOfPage } from "./visit.mjs";

const HANDLER = new URL("./visit.mjs", import.meta.url);
const THREAD = new URL("./port-thread.mjs", import.meta.url);
const COUNTED = [
  "accepted",
  "deferred",
  "done",
  "failed",
  "pending",
  "waiting",
  "leased",
  "retried",
  "reasons",
  "rules",
  "seen",
  "forgotten",
  "removed",
  "expired",
  "lateResults",
];

/** One program counts as the operations of the handlers: 400 pages, each a take and an end. */
export async function poolProgram({ packages, seed, note }) {
  const random = createRandom(seed);
  const spec = {
    seed: random.word(),
    maxDeliveries: 50,
    defaults: { maxAttempts: random.between(2, 3), order: random.pick(["fifo", "lifo"]) },
    ...(random.once(2) ? { capacity: 10_000 } : {}),
  };
  const seeds = Array.from({ length: random.between(5, 40) }, () => urlOfPage(random.below(400)));
  const pool = { threads: random.between(1, 2), concurrency: random.pick([1, 8]) };
  const duel = new Duel(
    packages.map((pkg) => new Side(pkg)),
    seed,
  );
  note?.(duel, { spec, pool });
  await duel.answer({ do: "pool", pool, seeds }, ({ pkg, reader }) =>
    run(pkg, reader, async (frontier) => {
      const workers = new (pkg.api("WorkerPool", "./pool"))({
        frontier,
        handler: HANDLER,
        ...pool,
      });
      try {
        await workers.run();
        const { threads, isRunning, restarts, recycled, called, accepted, completed, handling } =
          workers.report();
        return { threads, isRunning, restarts, recycled, called, accepted, completed, handling };
      } finally {
        await workers.close();
      }
    }),
  );
  await duel.answer({ do: "attach", seeds }, ({ pkg, reader }) =>
    run(pkg, reader, async (frontier) => {
      const workerData = { handle: frontier.share(), worker: pkg.urlOf("./worker") };
      const thread = new Worker(THREAD, { workerData });
      const [{ said, urls }] = await once(thread, "message");
      return { said, urls: urls.sort() };
    }),
  );
  await duel.answer(
    { do: "odd pool" },
    ({ pkg }) =>
      new (pkg.api("WorkerPool", "./pool"))({ threads: 0, handler: HANDLER, frontier: {} }),
  );

  async function run(pkg, { report, plain }, work) {
    const frontier = await pkg.api("openFrontier")(optionsFor(pkg, spec));
    try {
      frontier.pushMany(seeds);
      const answer = await work(frontier);
      const all = report(frontier.report());
      const records = Array.from({ length: 400 }, (_, page) => frontier.record(urlOfPage(page)));
      return {
        ...{ answer, links: linksOf(7) },
        report: Object.fromEntries(COUNTED.map((name) => [name, all[name]])),
        records: records.map((one) => one && [one.state, one.attempts]).map(plain),
      };
    } finally {
      await frontier.close();
    }
  }
}
