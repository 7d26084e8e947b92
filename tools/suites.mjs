/**
 * Which tests run where.
 *
 *   npm test             QUICK_SUITES without LONG_TESTS, at quick sizes (test/support/size.ts): what finds most faults soonest
 *   npm run test:full    QUICK_SUITES whole, at full sizes
 *   npm run test:rest    of test:full, what npm test did not run as test:full has it
 *   npm run test:stress, test:crash, test:simulation      SLOW_SUITES: they take STRESS_SECONDS
 *
 * .ci/run runs all of them.
 */

/** The folders of test/ that hold tests (CONTRIBUTING.md, Tests), in the order in which they answer fastest. */
export const QUICK_SUITES = [
  "unit",
  "ancestors",
  "model",
  "differential",
  "conformance",
  "interleave",
  "api",
  "archives",
  "server",
  "crawlee",
  "tidy",
  "regressions",
  "guard",
];

/** These take STRESS_SECONDS and run by their own scripts. */
export const SLOW_SUITES = ["stress", "crash", "simulation"];

/** Parts of the quick suites that `npm test` leaves to `npm run test:full`, with what they are. */
export const LONG_TESTS = [
  {
    what: "handlers that write over the memory they share",
    files: ["test/regressions/handler-writes-shared-memory.test.ts"],
  },
  {
    what: "the protocol's meanings and streams, and a Python client",
    files: [
      "test/model/server-calls.redis.test.ts",
      "test/model/server-calls.test.ts",
      "test/server/edges.test.ts",
      "test/server/finished.test.ts",
      "test/server/given-frontier.test.ts",
      "test/server/meanings.test.ts",
      "test/server/reference.test.ts",
      "test/server/http.test.ts",
      "test/server/page.test.ts",
      "test/server/nodes.test.ts",
      "test/server/python.test.ts",
      "test/server/reserved-metadata.test.ts",
      "test/server/restart.test.ts",
      "test/server/streams.test.ts",
      "test/server/unread.test.ts",
    ],
  },
  {
    what: "broken copies of the engine, each of which the models must catch",
    files: ["test/model/frontier-hosts-spill.test.ts", "test/model/frontier-mutants.test.ts"],
  },
  {
    what: "every allocation of every call refused in turn",
    files: [
      "test/regressions/poll-without-memory.test.ts",
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
      "test/api/async-frontier.test.ts",
      "test/unit/engine/owner-thread/thread-frontier.test.ts",
      "test/unit/workers/pool/worker-pool.resize.test.ts",
      "test/unit/workers/remote/worker-port.deaths.test.ts",
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
    what: "the contract of a frontier over directories, threads and Redis",
    files: [
      "test/ancestors/rows.redis.test.ts",
      "test/api/cli-crawl-redis.test.ts",
      "test/api/cli-redis.test.ts",
      "test/conformance/broken.test.ts",
      "test/conformance/directory.test.ts",
      "test/conformance/redis.test.ts",
      "test/conformance/redis-cluster.test.ts",
      "test/conformance/redis-faults.test.ts",
      "test/conformance/redis-endings.test.ts",
      "test/conformance/redis-large-partition.test.ts",
      "test/conformance/redis-lost-writes.test.ts",
      "test/conformance/redis-options.test.ts",
      "test/conformance/redis-together.test.ts",
      "test/differential/large-batches-elsewhere.test.ts",
      "test/differential/redis-long-queues.test.ts",
      "test/differential/redis-mixed-batches.test.ts",
      "test/regressions/endless-redis-script.test.ts",
      "test/regressions/redis-differences.test.ts",
      "test/regressions/redis-finish-beside-slow-poll.test.ts",
      "test/regressions/redis-first-attempt-done.test.ts",
      "test/regressions/redis-bounds.test.ts",
      "test/regressions/redis-bytes.test.ts",
      "test/regressions/redis-gave-up.test.ts",
      "test/regressions/redis-idle-poll.test.ts",
      "test/regressions/redis-key-of-another-type.test.ts",
      "test/regressions/redis-many-overdue.test.ts",
      "test/regressions/redis-poll-beyond-max.test.ts",
      "test/regressions/redis-refused-on-retry.test.ts",
      "test/regressions/redis-repeated-call.test.ts",
      "test/regressions/redis-rules-change-in-push.test.ts",
      "test/regressions/redis-same-url-in-batch.test.ts",
      "test/regressions/redis-server-locale.test.ts",
      "test/regressions/redis-slow-server.test.ts",
      "test/regressions/redis-take-finished.test.ts",
      "test/regressions/redis-take-in-pause.test.ts",
      "test/regressions/rules-beyond-65536.test.ts",
      "test/unit/integrations/redis/open-redis-frontier.test.ts",
      "test/unit/integrations/redis/frontier/lease-ends.test.ts",
      "test/unit/integrations/redis/server/clients.test.ts",
      "test/unit/integrations/redis/transfer/import-redis.test.ts",
      "test/conformance/thread.test.ts",
    ],
  },
  {
    what: "crawls over TLS, against limits, and into archives that another reader checks",
    files: [
      "test/regressions/subdomain-trap-starves-hosts.test.ts",
      "test/unit/crawl/synthetic-web/web-log.test.ts",
      "test/unit/crawl/synthetic-web/web-traps.test.ts",
      "test/api/crawl-https.test.ts",
      "test/archives/warc.test.ts",
      "test/unit/crawl/run/crawl.bounds.test.ts",
    ],
  },
  {
    what: "Crawlee's own crawlers and queues on our frontier",
    files: [
      "test/crawlee/as-crawlee.test.ts",
      "test/crawlee/crawlers.test.ts",
      "test/crawlee/prolong-lock.test.ts",
      "test/crawlee/redis.test.ts",
      "test/crawlee/rename.test.ts",
      "test/crawlee/request-instances.test.ts",
      "test/crawlee/request-manager.test.ts",
      "test/crawlee/storage.test.ts",
    ],
  },
  {
    what: "large tables, tiers, many hosts, and histories of restarts",
    files: [
      "test/model/frontier-spill.test.ts",
      "test/regressions/forget-refused-by-disk.test.ts",
      "test/regressions/kill-then-power-loss.test.ts",
      "test/regressions/memory-bound.test.ts",
      "test/unit/engine/durable/durability.files.test.ts",
      "test/unit/engine/intake/scrapy-digests.test.ts",
      "test/unit/engine/sharing/apply-results.test.ts",
      "test/unit/frontier/admission/sighting.test.ts",
      "test/unit/frontier/politeness/host-groups.test.ts",
      "test/differential/pattern-searches.test.ts",
      "test/regressions/epoch-forgotten-during-snapshot.test.ts",
      "test/regressions/journal-of-gigabytes.test.ts",
      "test/regressions/table-growth-moves-slots.test.ts",
      "test/unit/engine/durable/durability.clock-jumps.test.ts",
      "test/unit/kernel/kernel.hash-collisions.test.ts",
      "test/unit/structures/seen/move-to-cold-tier.test.ts",
      "test/unit/structures/seen/seen-bloom.test.ts",
      "test/unit/structures/seen/seen-tiered.test.ts",
      "test/differential/lease-spill.test.ts",
      "test/model/export.test.ts",
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
    what: "every call in every status of a frontier",
    files: ["test/api/meanings/states.test.ts"],
  },
  {
    what: "benchmarks at smoke size, and the adapters of their peers",
    files: [
      "test/api/bench-compare.test.ts",
      "test/api/bench.test.ts",
      "test/api/bench-java.test.ts",
    ],
  },
  {
    what: "programs in the documentation, examples, crawls on threads",
    files: [
      "test/api/recipes.test.ts",
      "test/api/reference.test.ts",
      "test/api/crawl-threads.test.ts",
      "test/api/docs.test.ts",
      "test/api/examples.test.ts",
    ],
  },
  {
    what: "a site that nginx serves, crawled as a guide has it, and beside wget",
    files: ["test/api/site-guide.test.ts"],
  },
  {
    what: "commands of the shell on crawls and directories, in processes of their own",
    files: [
      "test/api/cli.test.ts",
      "test/api/cli-flags.test.ts",
      "test/unit/crawl/run/crawl-plan.test.ts",
      "test/api/cli-everyday.test.ts",
      "test/api/cli-left.test.ts",
      "test/api/cli-terminal.test.ts",
      "test/api/cli-transfer.test.ts",
      "test/api/listening.test.ts",
    ],
  },
];

/**
 * The files that take longest, longest first, at the size of `npm run test:full` (longest-first.mjs). One that is missing here costs time
 * and nothing else.
 */
export const LONGEST_TESTS = [
  "test/crash/journal-fuzz.test.ts",
  "test/model/frontier-mutants.test.ts",
  "test/api/bench.test.ts",
  "test/model/frontier.test.ts",
  "test/crawlee/crawlers.test.ts",
  "test/unit/engine/durable/disk-tiers.test.ts",
  "test/model/frontier-rules.test.ts",
  "test/conformance/memory.test.ts",
];
