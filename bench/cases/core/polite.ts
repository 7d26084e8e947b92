/**
 * polite: poll + lease + done while hosts must rest between two visits, and the same queue without politeness.
 *
 *   pending URLs over h hosts, each as often ─▶ one round over all hosts (not timed) ─▶ calls of 32 leases, done, + 1 ms
 *                                                                                     delay h / 64 ms, one a host
 *
 * Half of the hosts rest at any moment, so that every poll moves a host from its clock to the ready ones and back. The
 * clock is virtual: no side waits. Checksum: every URL in order, which must be plain's order.
 *
 * Estimate: plain pays two heap operations on objects, 300 ns at 10² hosts and 1.5 µs of misses at 10⁶. Outrider pays its 500
 * ns of a lease, two heap operations and a move between ranks, each some 100 ns and five misses at 10⁶: 0.8 to 1.3 µs.
 */
import { type BenchCase, type Job, numberOf, type Params } from "../../harness/case.ts";
import { createTextSum } from "../../harness/urls.ts";
import { delayFor, drainAll, openWarmQueue, pushAll } from "./rig.ts";

export const polite: BenchCase = {
  name: "polite",
  suite: "core",
  about: "push, and poll + lease + done, with politeness and without, at so many hosts",
  unit: "URL",
  process: "fresh",
  pairs: [
    ["outrider", "plain"],
    ["outrider-impolite", "plain-impolite"],
  ],
  target: "≥ 500,000 polite polls/s",
  sizes: {
    smoke: [{ hosts: 100, pending: 6_000, polls: 3_000 }],
    real: [
      { hosts: 100, pending: 1_000_000, polls: 300_000 },
      { hosts: 10_000, pending: 1_000_000, polls: 300_000 },
      { hosts: 1_000_000, pending: 2_000_000, polls: 300_000 },
    ],
    suite: [{ hosts: 10_000, pending: 400_000, polls: 200_000 }],
  },
  rounds: 3,
  setup,
};

async function setup(side: string, params: Params): Promise<Job> {
  const hosts = numberOf(params, "hosts");
  const pending = numberOf(params, "pending");
  const polls = numberOf(params, "polls");
  const isPolite = !side.endsWith("-impolite");
  const delayMs = isPolite ? delayFor(hosts) : 0;
  const queue = await openWarmQueue(side.replace("-impolite", ""), delayMs, pending);
  const sum = createTextSum();
  const drive = { start: 0, count: pending, shape: { hosts, isUniform: true } };
  return {
    async run() {
      const pushed = await pushAll(queue, drive);
      await drainAll(queue, { count: Math.min(hosts, pending - polls), isPolite, sum });
      const drained = await drainAll(queue, { count: polls, isPolite, sum });
      return {
        times: { push: pushed.spent / pending, "poll + done": drained.spent / drained.taken },
      };
    },
    checksum: () => sum.value(),
    close: () => queue.close(),
  };
}
