/**
 * spill: push and poll + done with a bound on memory that most records do not fit in, against one that they do.
 *
 *   push n ─▶ [ hot end | blocks on disk ] ─▶ poll + done all, in order           side "spilled": memoryBytes as given
 *                                                                                 side "held": room for all
 * Checksum: how many came back.
 *
 * Estimate: a record is packed, written, read and unpacked once: 4 copies of 130 bytes and a checksum each way, 0.4 µs beside a
 * push and a poll of 0.7 µs each: 1.5 ×.
 */
import { openFrontier } from "../../../src/index.ts";
import { type BenchCase, type Job, nowNs, numberOf, type Params } from "../../harness/case.ts";
import { fill, temporary } from "./directory.ts";

const LEASES = 1_000;

export const spillCase: BenchCase = {
  name: "spill",
  suite: "durability",
  about: "push and poll + done beyond memoryBytes, against a memory that has room for all",
  unit: "URL",
  process: "fresh",
  pairs: [["spilled", "held"]],
  target: "at most 2 × at 10⁸ with 256 MiB (against 10⁶)",
  sizes: {
    smoke: [{ urls: 4_000, memoryBytes: 100_000 }],
    real: [
      { urls: 1_000_000, memoryBytes: 16_777_216 },
      { urls: 10_000_000, memoryBytes: 268_435_456 },
    ],
    suite: [{ urls: 300_000, memoryBytes: 5_033_164 }],
    large: [{ urls: 100_000_000, memoryBytes: 268_435_456 }],
  },
  rounds: 1,
  setup,
};

async function setup(side: string, params: Params): Promise<Job> {
  const urls = numberOf(params, "urls");
  const most = numberOf(params, "memoryBytes");
  let answer = "";
  return {
    async run() {
      const { path: directory, remove } = temporary();
      const memoryBytes = side === "spilled" ? most : 2 ** 40;
      const seen = { memoryBytes: 2 ** 28 };
      try {
        const frontier = await openFrontier({ directory, memoryBytes, seen, keepOpen: true });
        const push = await fill(frontier, urls, { hosts: 10_000, isUniform: true });
        const { offHeapBytes, spilledBytes } = frontier.report().memory;
        let out = 0;
        const from = nowNs();
        for (;;) {
          const leases = frontier.pollMany(LEASES);
          if (leases.length === 0) break;
          out += frontier.done(leases);
          await new Promise((resolve) => setImmediate(resolve));
        }
        const poll = nowNs() - from;
        answer = `${out} done`;
        await frontier.close();
        return {
          times: { push: push / urls, poll: poll / urls },
          facts: { offHeapBytes, spilledBytes },
        };
      } finally {
        remove();
      }
    },
    checksum: () => answer,
  };
}
