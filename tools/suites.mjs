/**
 * Which tests run where.
 *
 *   npm test             QUICK_SUITES without LONG_TESTS, at quick sizes (test/support/size.ts): what finds most faults soonest
 *   npm run test:full    QUICK_SUITES whole, at full sizes
 *   npm run test:stress, test:crash, test:simulation      SLOW_SUITES: they take STRESS_SECONDS
 *
 * .ci/run runs all of them.
 */

/** The folders of test/ that hold tests (STYLE.md §5), in the order in which they answer fastest. */
export const QUICK_SUITES = [
  "unit",
  "ancestors",
  "model",
  "differential",
  "conformance",
  "interleave",
  "api",
  "archives",
  "tidy",
  "regressions",
  "guard",
];

/** These take STRESS_SECONDS and run by their own scripts. */
export const SLOW_SUITES = ["stress", "crash", "simulation"];

/** Parts of the quick suites that `npm test` leaves to `npm run test:full`, with what they are. */
export const LONG_TESTS = [
  {
    what: "broken copies of the engine, each of which the models must catch",
    files: ["test/model/frontier-mutants.test.ts"],
  },
  {
    what: "every allocation of every call refused in turn",
    files: [
      "test/model/memory-exhausted.test.ts",
      "test/model/memory-faults.bulk.test.ts",
      "test/model/memory-faults.test.ts",
    ],
  },
  {
    what: "every order of atomic steps: lanes, locks, the seating of workers",
    files: [
      "test/interleave/lock.test.ts",
      "test/interleave/seating.test.ts",
      "test/interleave/spsc-lane.test.ts",
    ],
  },
  {
    what: "rows of the five ancestors on disk and on worker threads",
    files: [
      "test/ancestors/rows.disk.test.ts",
      "test/ancestors/scrapy.disk.test.ts",
      "test/ancestors/vscrawler.disk.test.ts",
      "test/ancestors/webmagic.disk.test.ts",
      "test/ancestors/workers.threads.test.ts",
    ],
  },
  {
    what: "worker threads that die, restart and hand over",
    files: [
      "test/differential/thread-frontier.test.ts",
      "test/unit/engine/owner-thread/thread-frontier.deaths.test.ts",
      "test/unit/engine/owner-thread/call-channel.test.ts",
      "test/unit/workers/pool/pool-threads.test.ts",
      "test/unit/workers/pool/worker-pool.test.ts",
      "test/unit/workers/remote/link-filter.rules.test.ts",
      "test/unit/workers/remote/worker-port.points.test.ts",
    ],
  },
  {
    what: "crawls over TLS, against limits, and into archives that another reader checks",
    files: [
      "test/api/crawl-https.test.ts",
      "test/archives/warc.test.ts",
      "test/unit/crawl/run/crawl.bounds.test.ts",
    ],
  },
  {
    what: "large tables, tiers and histories of restarts",
    files: [
      "test/unit/engine/durable/durability.restarts.test.ts",
      "test/unit/engine/durable/disk-tiers.test.ts",
      "test/unit/structures/table/table-growth.test.ts",
      "test/unit/engine/intake/split-request.test.ts",
    ],
  },
  {
    what: "the package as it is against the one of an earlier commit",
    files: ["test/guard/guard.test.ts"],
  },
  {
    what: "the rules that npm run check applies, and what keeps a test from checking nothing",
    files: ["test/tidy/doors.test.ts", "test/tidy/skips.test.ts", "test/tidy/tidy.test.ts"],
  },
  {
    what: "benchmarks at smoke size, and the adapters of their peers",
    files: ["test/api/bench.test.ts", "test/api/bench-java.test.ts"],
  },
  {
    what: "programs in the documentation, examples, crawls on threads",
    files: ["test/api/crawl-threads.test.ts", "test/api/docs.test.ts", "test/api/examples.test.ts"],
  },
];
